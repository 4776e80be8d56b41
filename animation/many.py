# SPDX-License-Identifier: GPL-3.0-or-later
"""Make functions for several datablocks, `verb_many(datablocks, ...)`, from functions for one, `verb(datablock, ...)`.

The other arguments are the same. If the verb takes path prefixes, they are its second argument.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import bpy

from .arguments import checked
from .report import AnimationError, Report

_Datablock = TypeVar("_Datablock", bound=bpy.types.ID)
_P = ParamSpec("_P")
_R = TypeVar("_R")
_EMPTY = inspect.Parameter.empty

Datablocks = Mapping[bpy.types.ID, Iterable[str] | None] | Iterable[bpy.types.ID]
"""Several datablocks. A mapping contains the path prefixes of each datablock's tracks, or None for all tracks."""


def by_datablock(datablocks: Datablocks, prefixes: Iterable[str] | None) -> dict[bpy.types.ID, list[str] | None]:
    """Return the path prefixes for each datablock, from the mapping or else from the common `prefixes`."""
    if isinstance(datablocks, Mapping):
        return {datablock: None if paths is None else list(paths) for datablock, paths in datablocks.items()}
    return dict.fromkeys(datablocks, None if prefixes is None else list(prefixes))


def on_each(
    verb: Callable[Concatenate[_Datablock, _P], Report], example: str = "[ball, rig]"
) -> Callable[Concatenate[Datablocks, _P], Report]:
    """Return a function that calls the verb for each datablock, adds up the reports, and lists failures in `errors`.

    F-curves that several datablocks share are processed with the first of these datablocks. It is therefore not an
    error if nothing is left to do for the other datablocks. `example` contains the arguments for the example in the
    docstring.
    """
    process: Callable[..., Report] = verb
    takes_prefixes = "prefixes" in inspect.signature(verb).parameters

    def process_each(datablocks: Mapping[bpy.types.ID, list[str] | None], *args: Any, **kwargs: Any) -> Report:
        report = Report()
        for datablock, prefixes in datablocks.items():
            own_args = (prefixes, *args) if takes_prefixes else args
            try:
                report.add(process(datablock, *own_args, **kwargs))
            except AnimationError as refusal:
                report.errors += refusal.findings
        report.errors = report.refused
        return report

    process_each.__doc__ = f"""Call `{verb.__name__}` for several datablocks.

        Returns
        -------
        Report
            The sum of all reports. Refusals are listed in `errors`.

        Raises
        ------
        TypeError, ValueError
            An argument has the wrong type or an invalid value. The error message names the argument. Nothing was
            changed.

        Examples
        --------
        >>> report = animation.{verb.__name__}_many({example})
        """
    return on_all(verb)(process_each)


def on_all(
    verb: Callable[Concatenate[_Datablock, _P], object],
) -> Callable[[Callable[..., _R]], Callable[Concatenate[Datablocks, _P], _R]]:
    """Decorate a function that processes several datablocks, and takes the other arguments of the verb.

    The function receives a mapping from each datablock to its prefixes, and all other arguments with their defaults.
    Its docstring gets a section on the parameters after the first paragraph.
    """
    signature = inspect.signature(verb)
    _, *others = signature.parameters.values()
    takes_prefixes = "prefixes" in signature.parameters

    def decorate(function: Callable[..., _R]) -> Any:
        def call(datablocks: Datablocks, *args: Any, **kwargs: Any) -> _R:
            bound = signature.bind(None, *args, **kwargs)
            bound.apply_defaults()
            _, *values = bound.args
            prefixes = values.pop(0) if takes_prefixes else None
            return function(by_datablock(datablocks, prefixes), *values, **bound.kwargs)

        many: Any = wraps(verb)(call)
        many.__name__ = many.__qualname__ = f"{verb.__name__}_many"
        datablocks_type = Datablocks if takes_prefixes else Iterable[bpy.types.ID]
        returned = function.__annotations__["return"]
        many.__annotations__ = {**verb.__annotations__, "datablocks": datablocks_type, "return": returned}
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        datablocks = inspect.Parameter("datablocks", kind, annotation=datablocks_type)
        many.__signature__ = signature.replace(parameters=[datablocks, *others], return_annotation=returned)
        summary, sections = str(inspect.getdoc(function)).split("\n\n", 1)
        many.__doc__ = f"""{summary}

Parameters
----------
datablocks : iterable of bpy.types.ID
    The datablocks{", or a mapping from each datablock to its prefixes" if takes_prefixes else ""}.
{", ".join(str(parameter.replace(annotation=_EMPTY, default=_EMPTY)) for parameter in others)}
    See `{verb.__name__}`.

{sections}"""
        return checked(many)

    return decorate
