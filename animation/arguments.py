# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the arguments of the functions in `animation` against the annotations of the parameters.

A wrong type raises TypeError, and a value out of range raises ValueError. The error message names the argument.
"""

from __future__ import annotations

import functools
import inspect
import math
import reprlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from numbers import Integral, Real
from operator import index
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import bpy

from ..interp.keys import LOWEST, PARAMETERS
from .text import n_, rpt_

_P = ParamSpec("_P")
_R = TypeVar("_R")

LARGEST = 2.0**128 - 2.0**104
"""The largest float32, and therefore the limit for Blender's properties, F-curves and .3ds files."""
_TOO_LARGE = 2.0**128 - 2.0**103
"""The smallest number that float32 rounds to infinity."""
_NAMES = {float: n_("a number"), int: n_("a whole number"), str: "str", bool: n_("True or False")}


def _rule(holds: Callable[[Any], bool], text: str) -> Callable[[str, Any], None]:
    """Return a check that raises ValueError with the name of the argument and its value."""

    def check(name: str, value: Any) -> None:
        if not holds(value):
            raise ValueError(rpt_(text, name, *(value if isinstance(value, tuple) else (value,))))

    return check


def _check_parameters(name: str, parameters: Mapping[str, float]) -> None:
    for parameter in parameters:
        if parameter not in PARAMETERS:
            raise ValueError(rpt_("{:s}: {!r} is not one of {:s}", name, parameter, ", ".join(PARAMETERS)))
        low = float(LOWEST[PARAMETERS.index(parameter), 0])
        if not low <= parameters[parameter] <= 1.0:
            text = rpt_("{:s}[{!r}] must be from {:g} to 1, not {:g}", name, parameter, low, parameters[parameter])
            raise ValueError(text)


Positive = Annotated[float, _rule(lambda number: number > 0.0, n_("{:s} {:g} is not a positive number"))]
MoreThanTwo = Annotated[float, _rule(lambda number: number > 2.0, n_("{:s} {:g} is not greater than 2"))]
NotNegative = Annotated[float, _rule(lambda number: number >= 0.0, n_("{:s} {:g} is negative"))]
Count = Annotated[int, _rule(lambda number: number >= 1, n_("{:s} {:d} is below 1"))]
FrameRange = Annotated[tuple[float, float], _rule(lambda ends: ends[0] <= ends[1], n_("{:s} {:g} to {:g} is empty"))]
Point = tuple[float, float, float]
Parameters = Annotated[Mapping[str, float], _check_parameters]


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a function to check its arguments, and to convert iterables to tuples and numbers to float or int."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        annotations = _annotations(function)
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            annotation = annotations[name]
            if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                bound.arguments[name] = {key: _converted(key, annotation, item) for key, item in value.items()}
            else:
                bound.arguments[name] = _converted(name, annotation, value)
        return function(*bound.args, **bound.kwargs)

    return call


def check_fields(options: Any) -> None:
    """Check the fields of a frozen dataclass in the same way that `checked` checks arguments."""
    annotations = _annotations(options.__class__)
    for field in fields(options):
        value = getattr(options, field.name)
        # Most fields have their default value, which needs no check.
        if value is not field.default:
            object.__setattr__(options, field.name, _converted(field.name, annotations[field.name], value))


@functools.cache
def _annotations(of: object) -> dict[str, object]:
    # Resolve annotations on the first call, because they may name classes that are defined later.
    return get_type_hints(of, include_extras=True)


def _converted(name: str, annotation: object, value: object) -> object:
    """Return the value converted to the annotated type. Raise TypeError or ValueError with the argument's name."""
    origin, type_args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        base, *rules = type_args
        converted = _converted(name, base, value)
        for rule in rules:
            rule(name, converted)
        return converted
    if origin in (Union, UnionType):
        return _converted_union(name, annotation, value)
    if origin is Literal:
        if isinstance(value, str) and value not in type_args:
            raise ValueError(rpt_("{:s} must be one of {:s}, not {!r}", name, ", ".join(type_args), value))
        return _instance(name, str, value)
    if origin is Callable:
        if not callable(value):
            raise _type_error(name, annotation, value)
        return value
    if origin is not None:
        return _converted_container(name, annotation, value)
    if annotation is float:
        return _number(name, value)
    if annotation is int:
        return _whole_number(name, value)
    return _instance(name, annotation, value)


def _converted_union(name: str, annotation: object, value: object) -> object:
    """Return the value converted to the first type of the union that accepts the value."""
    types = [type_ for type_ in get_args(annotation) if type_ is not NoneType]
    if value is None and len(types) < len(get_args(annotation)):
        return None
    if len(types) == 1:
        return _converted(name, types[0], value)
    for type_ in types:
        if isinstance(value, Mapping) and get_origin(type_) is Mapping:
            # Otherwise, the keys of a mapping would be accepted as a list of values.
            return _converted(name, type_, value)
        with suppress(TypeError):
            return _converted(name, type_, value)
    raise _type_error(name, annotation, value)


def _converted_container(name: str, annotation: Any, value: object) -> object:
    """Return a tuple or mapping with converted items."""
    origin, type_args = get_origin(annotation), get_args(annotation)
    if issubclass(origin, Mapping):
        key_type, value_type = type_args
        return {
            _converted(rpt_("a key of {:s}", name), key_type, key): _converted(
                f"{name}[{reprlib.repr(key)}]", value_type, item
            )
            for key, item in _instance(name, annotation, value).items()
        }
    items = _items(name, annotation, value)
    types = type_args if origin is tuple else type_args[:1] * len(items)
    if len(items) != len(types):
        raise ValueError(rpt_("{:s} must have {:d} numbers, not {:d}", name, len(types), len(items)))
    return tuple(
        _converted(f"{name}[{number}]", type_, item)
        for number, (type_, item) in enumerate(zip(types, items, strict=True))
    )


def _items(name: str, annotation: object, value: Any) -> list[object]:
    """Return the items of an iterable. Raise TypeError for str, bytes and Blender structs."""
    if not isinstance(value, str | bytes | bpy.types.bpy_struct):
        # Blender vectors can be iterated but are not instances of Iterable.
        with suppress(TypeError):
            return list(iter(value))
    raise _type_error(name, annotation, value)


def _instance(name: str, annotation: Any, value: object) -> Any:
    """Return the value if it is an instance of the type. Raise ValueError for a datablock that was removed."""
    if not isinstance(value, get_origin(annotation) or annotation):
        raise _type_error(name, annotation, value)
    if isinstance(value, bpy.types.ID):
        try:
            value.as_pointer()
        except ReferenceError as error:
            raise ValueError(rpt_("{:s} was removed from the file", name)) from error
    return value


def _number(name: str, value: object) -> float:
    """Return a finite number in the range of float32."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _type_error(name, float, value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(rpt_("{:s} {:g} is not a finite number", name, number))
    # Blender prints the largest float as a decimal that is slightly larger.
    if abs(number) >= _TOO_LARGE:
        raise ValueError(rpt_("{:s} {:g} exceeds the range of float32", name, number))
    return number


def _whole_number(name: str, value: object) -> int:
    """Return an integer, which may be given as a float."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return index(value)
    if not isinstance(value, float):
        raise _type_error(name, int, value)
    if not value.is_integer():
        raise ValueError(rpt_("{:s} {:g} is not a whole number", name, value))
    return int(value)


def _type_error(name: str, annotation: object, value: object) -> TypeError:
    return TypeError(rpt_("{:s} must be {:s}, not {:s}", name, _type_name(annotation), reprlib.repr(value)))


def _type_name(annotation: Any) -> str:
    """Return the name of a type for use in messages."""
    origin, type_args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type_name(type_args[0])
    if origin in (Union, UnionType):
        names = [_type_name(type_) for type_ in type_args if type_ is not NoneType]
        return functools.reduce(lambda others, name: rpt_("{:s} or {:s}", others, name), names)
    if origin is tuple:
        return rpt_("{:d} numbers", len(type_args))
    if origin is Callable:
        return rpt_("callable")
    if origin is Literal:
        choices = ", ".join(type_args)
        return rpt_("one of {:s}", choices)
    if origin is not None and issubclass(origin, Mapping):
        return rpt_("a mapping from {:s} to {:s}", *map(_type_name, type_args))
    if origin is not None:
        item_name = rpt_("numbers") if type_args[0] is float else _type_name(type_args[0])
        return rpt_("a list of {:s}", item_name)
    if annotation in _NAMES:
        return rpt_(_NAMES[annotation])
    module = "bpy.types." if issubclass(annotation, bpy.types.ID) else ""
    return f"{module}{annotation.__name__}"
