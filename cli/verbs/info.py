# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verb `info`, which lists the animated datablocks and tracks of the open file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np

from ... import animation
from ...animation import Finding
from ...animation.checks.track_state import STATES, state
from ...animation.datablocks import name_of
from ...animation.fcurves.channels import Channels
from ...animation.fcurves.keyframes import Float32Array, union
from ...animation.store.editable import blocking_reasons, editable_sets
from ...animation.store.find_tracks import find_tracks
from ...animation.store.frame_functions import function_of
from ...animation.store.own_keys import OwnKeys
from ...animation.store.parameters import component_parameters, read_velocities
from ...animation.store.read_own_keys import read_own_keys
from ...animation.store.tracks import Track
from ..arguments import Job
from ..blend_files import missing_libraries
from ..choosing import datablocks_of_objects, reasons_without_channels, sets_of
from ..dry_run import generated_keys
from ..outcome import Outcome

_SETTINGS = ("method", "cycle", "ends", "construction", "path", "angles")
"""The settings of a track that its row contains."""


def list_tracks(job: Job, outcome: Outcome) -> None:
    """Add a row to the outcome for each animated datablock of the requested objects or of the file."""
    report = outcome.report
    # For this verb a missing library is part of the result.
    report.notes += report.errors
    report.errors = []
    rows: list[dict[str, Any]] = []
    patterns = job.given.objects
    for datablock in datablocks_of_objects(patterns, outcome) if patterns else animation.of_file():
        data: Any = datablock.animation_data  # type: ignore[attr-defined]
        if data.action is None and not any(track.strips for track in data.nla_tracks):
            continue  # it has drivers or once had an action
        sets = sets_of(datablock)
        if sets:
            report.datablocks += 1
            report.objects += isinstance(datablock, bpy.types.Object)
            rows += [_datablock_row(datablock, channels, report) for channels in sets]
        else:
            report.notes += reasons_without_channels(datablock)
    outcome.results = {"missing_libraries": missing_libraries(), "animated": rows}
    if not rows and not report.errors and not outcome.nothing_to_do:
        report.notes.append(Finding("NOT_ANIMATED"))


def _datablock_row(datablock: bpy.types.ID, channels: Channels, report: animation.Report) -> dict[str, Any]:
    """Return the row of a datablock. Count its tracks in the report, and add errors for tracks that can't be read."""
    uneditable = _why_not_editable(datablock)
    tracks = []
    for track in find_tracks(datablock, channels):
        try:
            row = _track_row(track, uneditable)
        except animation.AnimationError as refusal:
            report.errors += refusal.findings
            continue
        tracks.append(row)
        report.tracks += 1
        report.keys += row["keys"]
        report.samples += row["samples"]
        report.curve_keys += row["curve_keys"]
    return {
        "name": name_of(datablock),
        "type": datablock.id_type,
        "action": channels.action.name,
        "linked": datablock.library is not None,
        "tracks": tracks,
    }


def _why_not_editable(datablock: bpy.types.ID) -> Finding | None:
    """Return why no track of the datablock can be changed, or None if some can."""
    try:
        editable_sets(datablock)
    except animation.AnimationError as refusal:
        return refusal.findings[0]
    return None


def _track_row(track: Track, uneditable: Finding | None) -> dict[str, Any]:
    """Return the row of a track. Raises AnimationError if the track's saved settings cannot be read."""
    own_keys = read_own_keys(track)
    frames = union([own.keys.frames for own in own_keys.values()])
    reason = blocking_reasons([track])[0] or uneditable
    return {
        "track": track.path,
        "kind": track.kind,
        "in_use": track.in_use,
        "state": STATES[state(track)],
        "blocked": None if reason is None else reason.to_dict(),
        **_error_of(track),
        "retimed": function_of(track) is not None,
        "keys": len(frames),
        "first": _finite(frames[0]) if len(frames) else None,
        "last": _finite(frames[-1]) if len(frames) else None,
        **generated_keys(track, own_keys),
        "parameters": _parameter_counts(track, own_keys, frames),
        **{name: getattr(track.settings, name) for name in _SETTINGS},
    }


def _parameter_counts(track: Track, own_keys: Mapping[int, OwnKeys], frames: Float32Array) -> dict[str, int]:
    """Return the number of keys at which each parameter is not 0, without parameters that are 0 at all keys."""
    key_rows, parameters = component_parameters(track, own_keys, frames, {})
    counts = {name: len(np.unique(key_rows[numbers != 0.0])) for name, numbers in parameters.items()}
    counts["velocity"] = int(read_velocities(track, own_keys, frames).any(axis=1).sum())
    return {name: count for name, count in counts.items() if count}


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
