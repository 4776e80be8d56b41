# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions for several datablocks.

These functions take the same arguments as the functions for one datablock. The report lists the datablocks that can't
be processed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ParamSpec

import bpy

from ..arguments import Datablocks, by_datablock, checked
from ..errors import AnimationError
from ..options import FIX_ROTATIONS, FREE
from ..report import Report
from .apply_and_remove import apply, remove
from .fix_rotations import Turns, fix_rotations
from .free_and_restore import free, restore
from .key_whole import key_whole
from .set_parameters import key_set
from .track_settings import choose

_P = ParamSpec("_P")


def _process_each(datablocks: dict[bpy.types.ID, list[str] | None], work: Callable[..., Report]) -> Report:
    """Call the function for each datablock with its prefixes, and add up the reports. List failures in `errors`.

    F-curves that several datablocks share are processed with the first of these datablocks. It is therefore not an
    error if nothing is left to do for the other datablocks.
    """
    report = Report()
    for datablock, prefixes in datablocks.items():
        try:
            report.add(work(datablock, prefixes))
        except AnimationError as refusal:
            report.errors += refusal.findings
    if report.tracks:
        report.errors = [error for error in report.errors if not error.has_nothing_to_do]
    return report


def _with_common_sections(function: Callable[_P, Report]) -> Callable[_P, Report]:
    """Insert the sections that all these functions have in common after the first paragraph of a docstring."""
    _, *parameters = map(str, inspect.signature(function).parameters.values())
    names = [re.split("[:=]", parameter)[0] for parameter in parameters]
    description = ", or a mapping from each datablock to its prefixes" if "prefixes" in names else " with the track"
    summary, rest = (inspect.getdoc(function) or "\n\n").split("\n\n", 1)
    function.__doc__ = f"""{summary}

Parameters
----------
datablocks : iterable of bpy.types.ID
    The datablocks{description}.
{", ".join(names)}
    See `{function.__name__.removesuffix("_many")}`.

Returns
-------
Report
    The sum of all reports. Refusals are listed in `errors`.

{rest}"""
    return function


@checked
@_with_common_sections
def fix_rotations_many(
    datablocks: Datablocks, prefixes: Iterable[str] | None = None, turns: Turns = FIX_ROTATIONS["turns"].default
) -> Report:
    """Fix the rotations of several datablocks or actions (see `fix_rotations`).

    Examples
    --------
    >>> animation.fix_rotations_many([ball, rig]).tracks
    0
    """
    return _process_each(by_datablock(datablocks, prefixes), partial(fix_rotations, turns=turns))


@checked
@_with_common_sections
def free_many(
    datablocks: Datablocks, prefixes: Iterable[str] | None = None, discard_edits: bool = FREE["discard_edits"].default
) -> Report:
    """Free the bakes of several datablocks (see `free`).

    Examples
    --------
    >>> report = animation.bake_many([ball, rig])
    >>> animation.free_many([ball, rig]).tracks
    3
    """
    return _process_each(by_datablock(datablocks, prefixes), partial(free, discard_edits=discard_edits))


@checked
@_with_common_sections
def restore_many(datablocks: Datablocks, prefixes: Iterable[str] | None = None) -> Report:
    """Restore the F-curves of several datablocks (see `restore`).

    Examples
    --------
    >>> report = animation.bake_many([ball, rig])
    >>> animation.restore_many([ball, rig]).tracks
    3
    """
    return _process_each(by_datablock(datablocks, prefixes), restore)


@checked
@_with_common_sections
def remove_many(datablocks: Datablocks, prefixes: Iterable[str] | None = None) -> Report:
    """Restore and remove the TCB tracks of several datablocks (see `remove`).

    Examples
    --------
    >>> report = animation.bake_many([ball, rig])
    >>> animation.remove_many([ball, rig]).tracks
    3
    """
    return _process_each(by_datablock(datablocks, prefixes), remove)


@checked
@_with_common_sections
def apply_many(datablocks: Datablocks, prefixes: Iterable[str] | None = None) -> Report:
    """Convert the F-curves of several datablocks to plain animation (see `apply`).

    Examples
    --------
    >>> report = animation.bake_many([ball, rig])
    >>> animation.apply_many([ball, rig]).tracks
    3
    """
    return _process_each(by_datablock(datablocks, prefixes), apply)


@checked
@_with_common_sections
def key_whole_many(datablocks: Datablocks, prefixes: Iterable[str] | None = None) -> Report:
    """Key all rotation channels of several datablocks (see `key_whole`).

    Examples
    --------
    >>> report = animation.enable_many([ball, rig])
    >>> animation.key_whole_many([ball, rig]).keys
    0
    """
    return _process_each(by_datablock(datablocks, prefixes), key_whole)


@checked
@_with_common_sections
def key_set_many(
    datablocks: Iterable[bpy.types.ID],
    track: str,
    frame: float,
    *,
    velocity: float | Sequence[float] | None = None,
    interpolation: str | None = None,
    **parameters: float,
) -> Report:
    """Set parameters of the key at `frame` on the same track on several datablocks (see `key_set`).

    Raises
    ------
    ValueError
        An interpolation or parameter does not exist, or a number is not finite. Nothing was changed.

    Examples
    --------
    >>> animation.key_set_many([ball], "location", 20, tension=1.0).tracks
    1
    """
    given: dict[str, Any] = {"velocity": velocity, "interpolation": interpolation, **parameters}

    def set_on(datablock: bpy.types.ID, _prefixes: object) -> Report:
        key_set(datablock, track, frame, **given)
        report = Report.on([datablock])
        report.tracks = 1
        return report

    return _process_each(dict.fromkeys(datablocks), set_on)


@checked
@_with_common_sections
def choose_many(datablocks: Iterable[bpy.types.ID], track: str, **choices: str) -> Report:
    """Change settings of the same track on several datablocks (see `choose`).

    Raises
    ------
    ValueError
        A setting or option does not exist.

    Examples
    --------
    >>> animation.choose_many([ball], "location", cycle="LOOP").tracks
    1
    """
    return _process_each(dict.fromkeys(datablocks), lambda datablock, _prefixes: choose(datablock, track, **choices))
