# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verb `info`, which lists the animated datablocks and tracks of the open file."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np

from ... import animation
from ...animation import Finding
from ...animation.checks.track_state import STATES, state
from ...animation.datablocks import name_of
from ...animation.fcurves.frames import union
from ...animation.store.action_and_strips import editable_sets
from ...animation.store.find_tracks import find_tracks
from ...animation.store.frame_functions import function_of
from ...animation.store.own_keys import read_own_keys
from ...animation.store.parameters import read_parameters, read_velocities
from ...animation.store.track_refusals import blocking_reasons
from ...animation.store.tracks import Track
from ..choosing import datablocks_of_objects
from ..job import Job
from ..opening import missing_libraries
from ..outcome import Outcome
from ..tracks import generated_keys, reasons_without_channels, sets_of


def list_tracks(job: Job, outcome: Outcome) -> None:
    """Add a row to the outcome for each animated datablock of the requested objects or of the file."""
    report = outcome.report
    # For this verb a missing library is part of the result.
    report.errors.clear()
    report.notes += [Finding("LIBRARY_MISSING", arguments=(path,)) for path in missing_libraries()]
    animated = []
    patterns = job.given.objects
    for datablock in datablocks_of_objects(patterns, outcome) if patterns else animation.of_file():
        data: Any = datablock.animation_data  # type: ignore[attr-defined]
        if data.action is None and not any(track.strips for track in data.nla_tracks):
            continue  # it has drivers or once had an action
        sets = sets_of(datablock)
        if not sets:
            report.notes += reasons_without_channels(datablock)
            continue
        uneditable = _why_not_editable(datablock)
        report.datablocks += 1
        report.objects += isinstance(datablock, bpy.types.Object)
        for channels in sets:
            rows = [_row(track, uneditable, outcome) for track in find_tracks(datablock, channels)]
            animated.append(
                {
                    "name": name_of(datablock),
                    "type": datablock.id_type,
                    "action": channels.action.name,
                    "linked": datablock.library is not None,
                    "tracks": [row for row in rows if row is not None],
                }
            )
    outcome.results = {"missing_libraries": missing_libraries(), "animated": animated}
    if not animated and not report.errors and not outcome.nothing_to_do:
        report.notes.append(Finding("NOT_ANIMATED"))


def _why_not_editable(datablock: bpy.types.ID) -> Finding | None:
    """Return why no track of the datablock can be changed, or None if some can."""
    try:
        editable_sets(datablock)
    except animation.AnimationError as refusal:
        return refusal.findings[0]
    return None


def _row(track: Track, uneditable: Finding | None, outcome: Outcome) -> dict[str, Any] | None:
    """Return the row of a track. If the track's saved settings cannot be read, add an error and return None."""
    try:
        own_keys = read_own_keys(track)
        frames = union([own.keys.frames for own in own_keys.values()])
        parameters = read_parameters(track, own_keys, frames, {})
        velocities = read_velocities(track, own_keys, frames)
        settings = track.settings
        state_text = STATES[state(track)]
    except animation.AnimationError as refusal:
        outcome.report.errors += refusal.findings
        return None
    generated = generated_keys(track, own_keys)
    counts_set = {name: int(np.count_nonzero(numbers)) for name, numbers in parameters.items()}
    counts_set["velocity"] = int(velocities.any(axis=1).sum())
    outcome.report.tracks += 1
    outcome.report.keys += len(frames)
    outcome.report.samples += generated["samples"]
    outcome.report.curve_keys += generated["curve_keys"]
    return {
        "track": track.path,
        "kind": track.kind,
        "in_use": track.in_use,
        "state": state_text,
        "blocked": reason.to_dict() if (reason := blocking_reasons([track])[0] or uneditable) else None,
        **_error_of(track),
        "retimed": function_of(track) is not None,
        "keys": len(frames),
        "first": _finite(frames[0]) if len(frames) else None,
        "last": _finite(frames[-1]) if len(frames) else None,
        **generated,
        "parameters": {name: count for name, count in counts_set.items() if count},
        "method": settings.method,
        "cycle": settings.cycle,
        "ends": settings.ends,
        "construction": settings.construction,
        "path": settings.path,
        "angles": settings.angles,
    }


def _error_of(track: Track) -> dict[str, Any]:
    """Return the maximum error of handles, in units or degrees, or None if handles do not play the track."""
    error = track.state.error if track.state is not None else None
    if error is None:
        return {"error": None, "error_frame": None, "approximate": False}
    size = math.degrees(error.size) if track.is_rotation else error.size
    return {"error": _finite(size), "error_frame": _finite(error.frame), "approximate": error.is_approximate}


def _finite(number: float) -> float | None:
    """Return the number, or None for NaN, which JSON does not support."""
    return float(number) if math.isfinite(number) else None
