# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake imported keys, with samples where handles are inaccurate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import bpy
import numpy as np

from ...animation import Options, Report
from ...animation.bake.pipeline import bake_steps
from ...animation.datablocks import name_of
from ...animation.errors import Finding
from ...animation.fcurves.frames import LAST_FRAME
from ...animation.fcurves.keyframes import Float64Array
from ...animation.report import HandleError
from ...animation.steps import Steps
from ...animation.store.table.track_records import Output
from ..report import ExchangeReport

_MAX_HANDLE_ERROR = 1.0
"""Degrees. Handles with a larger error are replaced with samples."""
_DATABLOCKS_AT_ONCE = 200
"""Number of datablocks whose tracks are evaluated in one step."""
_Prefixes = Mapping[bpy.types.ID, Sequence[str]]
"""The beginnings of the paths of the tracks to bake, for each datablock."""


def bake_imported(report: ExchangeReport, ends: Float64Array, output: str, sample_limit: int) -> Steps[None]:
    """Bake the imported keys in steps, and add the results to the report.

    `ends` contains the first and last frames of each file, shape (n, 2). Cyclic tracks are baked to these frames.
    """
    if output == "HANDLES":
        bake = bake_steps(report.animated_datablocks, Options(output="HANDLES"), at_once=_DATABLOCKS_AT_ONCE)
        report.baked.add((yield from bake))
        yield from _replace_inaccurate_handles(report, ends, sample_limit)
    else:
        all_tracks = {datablock: [""] for datablock in report.animated_datablocks}
        report.baked.add((yield from _bake_to_ends(report, all_tracks, ends, output, sample_limit)))
    report.notes += [*report.baked.refused, *report.baked.notes]


def _replace_inaccurate_handles(report: ExchangeReport, ends: Float64Array, sample_limit: int) -> Steps[None]:
    """Bake rotations with visibly inaccurate handles as samples, for example turns of more than 180 degrees."""
    baked = report.baked
    inaccurate = [error for error in baked.handles if error["rotation"] and error["error"] > _MAX_HANDLE_ERROR]
    if not inaccurate:
        return
    prefixes: dict[bpy.types.ID, list[str]] = {}
    for datablock in report.animated_datablocks:
        paths = [error["track"] for error in inaccurate if error["datablock"] == name_of(datablock)]
        if paths:
            prefixes[datablock] = paths
    # The steps of this second bake are not added to the total.
    sampled = yield from _bake_to_ends(report, prefixes, ends, "SAMPLES", sample_limit)
    tracks = set(map(_track_of, inaccurate))
    baked.notes = [note for note in baked.notes if (note.object, note.track) not in tracks] + sampled.notes
    # Above the sample limit, handles play the tracks again.
    tracks -= set(map(_track_of, sampled.handles))
    replaced = [error for error in inaccurate if _track_of(error) in tracks]
    baked.handles = [error for error in baked.handles if error not in replaced]
    rotation_errors = [error["error"] for error in baked.handles if error["rotation"]]
    baked.rotation_error = math.radians(max(rotation_errors, default=0.0))
    baked.samples += sampled.samples
    baked.errors += sampled.errors
    baked.notes += [
        Finding("SAMPLES_FOR_HANDLES", error["datablock"], error["track"], arguments=((error["error"], "°"),))
        for error in replaced
    ]


def _track_of(error: HandleError) -> tuple[str, str]:
    """Return the names of the datablock and the track."""
    return error["datablock"], error["track"]


def _bake_to_ends(
    report: ExchangeReport, prefixes: _Prefixes, ends: Float64Array, output: str, sample_limit: int
) -> Steps[Report]:
    """Bake these tracks, and extend cyclic tracks to the playback range of the files."""
    ranges = np.array([*ends, *report.ends_of_cycles.values()]).clip(-LAST_FRAME, LAST_FRAME)
    playback_range = float(np.floor(ranges[:, 0].min())), float(np.ceil(ranges[:, 1].max()))
    baked = Report()
    for is_cyclic, extend in ((False, None), (True, playback_range)):
        selected = {
            datablock: paths
            for datablock, paths in prefixes.items()
            if (datablock in report.ends_of_cycles) == is_cyclic
        }
        if selected:
            options = Options(output=cast(Output, output), extend=extend, sample_limit=sample_limit)
            baked.add((yield from _bake_within_limit(selected, options)))
    return baked


def _bake_within_limit(prefixes: _Prefixes, options: Options) -> Steps[Report]:
    """Bake the tracks, and use handles if there would be more samples than the limit."""
    baked = yield from bake_steps(prefixes, options, prefixes, at_once=_DATABLOCKS_AT_ONCE)
    refusals = [error for error in baked.errors if error.code == "TOO_MANY_SAMPLES"]
    if not refusals:
        return baked
    by_handles = yield from bake_steps(prefixes, Options(output="HANDLES"), prefixes, at_once=_DATABLOCKS_AT_ONCE)
    by_handles.notes[:0] = [replace(error, code="HANDLES_FOR_SAMPLES") for error in refusals]
    return by_handles
