# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the arguments of the functions in `animation` against the annotations of the parameters.

A wrong type raises TypeError, and a value out of range raises ValueError. The error message names the argument.
"""

from __future__ import annotations

import functools
import inspect
import math
import reprlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from numbers import Integral, Real
from operator import index
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import bpy

from ..interp.keys import LOWEST, PARAMETERS
from .translation import n_, rpt_

_P = ParamSpec("_P")
_R = TypeVar("_R")

LARGEST = 2.0**128 - 2.0**104
"""The largest float32, and therefore the limit for Blender's properties, F-curves and .3ds files."""
_TOO_LARGE = 2.0**128 - 2.0**103
"""The smallest number that float32 rounds to infinity."""
_NAMES = {float: n_("a number"), int: n_("a whole number"), str: "str", bool: n_("True or False")}


def _positive(name: str, number: float) -> None:
    if not number > 0.0:
        raise ValueError(rpt_("{:s} {:g} is not a positive number", name, number))


def _more_than_two(name: str, number: float) -> None:
    if not number > 2.0:
        raise ValueError(rpt_("{:s} {:g} is not greater than 2", name, number))


def _not_negative(name: str, number: float) -> None:
    if number < 0.0:
        raise ValueError(rpt_("{:s} {:g} is negative", name, number))


def _at_least_one(name: str, number: int) -> None:
    if number < 1:
        raise ValueError(rpt_("{:s} {:d} is below 1", name, number))


def _ascending(name: str, ends: tuple[float, float]) -> None:
    if not ends[0] <= ends[1]:
        raise ValueError(rpt_("{:s} {:g} to {:g} is empty", name, *ends))


def _three(name: str, numbers: tuple[float, ...]) -> None:
    if len(numbers) != 3:
        raise ValueError(rpt_("{:s} must have 3 numbers, not {:d}", name, len(numbers)))


def _known(name: str, parameters: Mapping[str, float]) -> None:
    for parameter in parameters:
        if parameter not in PARAMETERS:
            raise ValueError(rpt_("{:s}: {!r} is not one of {:s}", name, parameter, ", ".join(PARAMETERS)))
        low = float(LOWEST[PARAMETERS.index(parameter), 0])
        if not low <= parameters[parameter] <= 1.0:
            text = rpt_("{:s}[{!r}] must be from {:g} to 1, not {:g}", name, parameter, low, parameters[parameter])
            raise ValueError(text)


Positive = Annotated[float, _positive]
MoreThanTwo = Annotated[float, _more_than_two]
NotNegative = Annotated[float, _not_negative]
Count = Annotated[int, _at_least_one]
FrameRange = Annotated[tuple[float, float], _ascending]
Point = Annotated[tuple[float, ...], _three]
Parameters = Annotated[Mapping[str, float], _known]


Datablocks = Mapping[bpy.types.ID, Iterable[str] | None] | Iterable[bpy.types.ID]
"""Several datablocks. A mapping contains the path prefixes of each datablock's tracks, or None for all tracks."""


def by_datablock(datablocks: Datablocks, prefixes: Iterable[str] | None) -> dict[bpy.types.ID, list[str] | None]:
    """Return the path prefixes for each datablock, from the mapping or else from the common `prefixes`."""
    if isinstance(datablocks, Mapping):
        return {datablock: None if own is None else list(own) for datablock, own in datablocks.items()}
    common = None if prefixes is None else list(prefixes)
    return dict.fromkeys(datablocks, common)


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a function to check its arguments, and to convert iterables to lists and numbers to float or int."""
    signature = inspect.signature(function)
    names, every = [*signature.parameters], signature.parameters.values()
    required = sum(each.default is inspect.Parameter.empty for each in every)
    are_plain = all(each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for each in every)

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        wanted = _annotations(function)
        if are_plain and not kwargs and required <= len(args) <= len(names):
            # Binding the arguments would take most of the time of the check.
            return function(*map(_fitting, names, map(wanted.get, names), args))  # type: ignore[call-arg, arg-type]
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            kind = signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                bound.arguments[name] = _each(name, wanted[name], value)
            elif kind is inspect.Parameter.VAR_KEYWORD:
                bound.arguments[name] = {key: _fitting(key, wanted[name], each) for key, each in value.items()}
            else:
                bound.arguments[name] = _fitting(name, wanted[name], value)
        return function(*bound.args, **bound.kwargs)

    return call


def check_fields(options: Any) -> None:
    """Check the fields of a frozen dataclass in the same way that `checked` checks arguments."""
    wanted = _annotations(options.__class__)
    for field in fields(options):
        value = getattr(options, field.name)
        # Most fields have their default value, which needs no check.
        if value is not field.default:
            object.__setattr__(options, field.name, _fitting(field.name, wanted[field.name], value))


@functools.cache
def _annotations(of: object) -> dict[str, object]:
    # Resolve annotations on the first call, because they may name classes that are defined later.
    return get_type_hints(of, include_extras=True)


def _fitting(name: str, wanted: object, value: object) -> object:
    """Return the value converted to the required type. Raise TypeError or ValueError with the argument's name."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin is Annotated:
        fitting = _fitting(name, parts[0], value)
        for rule in parts[1:]:
            rule(name, fitting)
        return fitting
    if origin in (Union, UnionType):
        return _one_of(name, wanted, value)
    if origin is Literal:
        if isinstance(value, str) and value not in parts:
            raise ValueError(rpt_("{:s} must be one of {:s}, not {!r}", name, ", ".join(parts), value))
        return _instance(name, str, value)
    if origin is not None and origin not in (type, Callable):
        return _container(name, wanted, value)
    if wanted is float:
        return _number(name, value)
    if wanted is int:
        return _whole_number(name, value)
    if origin is Callable:
        if not callable(value):
            raise _mistaken(name, wanted, value)
        return value
    return _instance(name, wanted, value)


def _container(name: str, wanted: Any, value: object) -> object:
    """Return a tuple, mapping or set with its items converted by `_fitting`."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin is tuple and parts[-1] is not Ellipsis:
        several = _several(name, wanted, value)
        if len(several) != len(parts):
            raise ValueError(rpt_("{:s} must have {:d} numbers, not {:d}", name, len(parts), len(several)))
        return tuple(_fitting(f"{name}[{n}]", *each) for n, each in enumerate(zip(parts, several, strict=True)))
    if issubclass(origin, Mapping):
        return {
            _fitting(rpt_("a key of {:s}", name), parts[0], key): _fitting(f"{name}[{_shown(key)}]", parts[1], each)
            for key, each in _instance(name, wanted, value).items()
        }
    if issubclass(origin, Iterable):
        return (frozenset if origin is frozenset else tuple)(_each(name, parts[0], _several(name, wanted, value)))
    return _instance(name, wanted, value)


def _one_of(name: str, wanted: object, value: object) -> object:
    others = [part for part in get_args(wanted) if part is not NoneType]
    if value is None and len(others) < len(get_args(wanted)):
        return None
    if len(others) == 1:
        return _fitting(name, others[0], value)
    for part in others:
        if isinstance(value, Mapping) and get_origin(part) in (Mapping, dict):
            # Otherwise, the keys of a mapping would be accepted as a list of values.
            return _fitting(name, part, value)
        try:
            return _fitting(name, part, value)
        except TypeError:
            continue
    raise _mistaken(name, wanted, value)


def _each(name: str, wanted: object, values: Iterable[object]) -> list[object]:
    return [_fitting(f"{name}[{number}]", wanted, value) for number, value in enumerate(values)]


def _several(name: str, wanted: object, value: Any) -> list[object]:
    """Return the elements of an iterable. Raise TypeError for str, bytes and Blender structs."""
    if not isinstance(value, str | bytes | bpy.types.bpy_struct):
        # Blender vectors can be iterated but are not instances of Iterable.
        with suppress(TypeError):
            return list(iter(value))
    raise _mistaken(name, wanted, value)


def _instance(name: str, wanted: Any, value: object) -> Any:
    if not isinstance(value, get_origin(wanted) or wanted):
        raise _mistaken(name, wanted, value)
    if isinstance(value, bpy.types.ID):
        try:
            value.as_pointer()
        except ReferenceError as error:
            raise ValueError(rpt_("{:s} was removed from the file", name)) from error
    return value


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _mistaken(name, float, value)
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
    if isinstance(value, Integral) and not isinstance(value, bool):
        return index(value)
    if not isinstance(value, float):
        raise _mistaken(name, int, value)
    if not value.is_integer():
        raise ValueError(rpt_("{:s} {:g} is not a whole number", name, value))
    return int(value)


def _mistaken(name: str, wanted: object, value: object) -> TypeError:
    return TypeError(rpt_("{:s} must be {:s}, not {:s}", name, _named(wanted), _shown(value)))


def _shown(value: object) -> str:
    return reprlib.repr(value)


def _named(wanted: Any) -> str:
    """Return the name of a type for use in messages."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin is Annotated:
        return _named(parts[0])
    if origin in (Union, UnionType):
        names = [_named(part) for part in parts if part is not NoneType]
        return functools.reduce(lambda others, name: rpt_("{:s} or {:s}", others, name), names)
    if origin is tuple and parts[-1] is not Ellipsis:
        return rpt_("{:d} numbers", len(parts))
    if origin is Callable:
        return rpt_("callable")
    if origin is Literal:
        choices = ", ".join(parts)
        return rpt_("one of {:s}", choices)
    if origin is not None and issubclass(origin, Mapping):
        return rpt_("a mapping from {:s} to {:s}", *map(_named, parts))
    if origin is not None:
        each = rpt_("numbers") if parts[0] is float else _named(parts[0])
        return rpt_("a list of {:s}", each)
    if wanted in _NAMES:
        return rpt_(_NAMES[wanted])
    module = "bpy.types." if issubclass(wanted, bpy.types.ID) else ""
    return f"{module}{wanted.__name__}"
