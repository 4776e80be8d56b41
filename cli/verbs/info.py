# SPDX-License-Identifier: GPL-3.0-or-later
"""Implement the verb `info`, which lists the animated datablocks and tracks of the open file."""

from __future__ import annotations

import math
import zlib
from typing import Any

import bpy
import numpy as np

from ... import animation
from ...animation import Finding
from ...animation.checks.track_state import STATES, state
from ...animation.datablocks import name_of
from ...animation.fcurves.frames import union
from ...animation.fcurves.read_keys import read
from ...animation.store.action_and_strips import editable_sets
from ...animation.store.find_tracks import find_tracks
from ...animation.store.frame_functions import function_of
from ...animation.store.own_keys import read_own_keys
from ...animation.store.parameters import read_parameters, read_velocities
from ...animation.store.track_refusals import blocking_reasons
from ...animation.store.tracks import Track
from ..arguments import Job
from ..choosing import named, reasons_without_channels, sets_of, tracks_of
from ..file_outcome import Outcome
from ..open_and_save import missing_libraries


def list_tracks(job: Job, outcome: Outcome) -> None:
    """Add a row to the outcome for each animated datablock of the requested objects or of the file."""
    report = outcome.report
    # For this verb a missing library is part of the result.
    report.errors.clear()
    report.notes += [Finding("LIBRARY_MISSING", arguments=(path,)) for path in missing_libraries()]
    animated = []
    for datablock in _datablocks(job, outcome):
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
            found = find_tracks(datablock, channels)
            tracks = [row for track in found if (row := _row(track, uneditable, outcome)) is not None]
            animated.append(
                {
                    "name": name_of(datablock),
                    "type": datablock.id_type,
                    "action": channels.action.name,
                    "linked": datablock.library is not None,
                    "tracks": tracks,
                }
            )
    outcome.results = {"missing_libraries": missing_libraries(), "animated": animated}
    if not animated and not report.errors and not outcome.nothing_to_do:
        report.notes.append(Finding("NOT_ANIMATED"))


_Seen = dict[tuple[str, str], tuple[str, int, int, int]]
"""The state, keys, samples and key checksum of each track, by datablock name and path."""


def snapshot() -> _Seen:
    """Return the state of the open file's tracks, for comparison after processing."""
    seen: _Seen = {}
    for datablock in animation.of_file():
        for track in tracks_of(datablock):
            try:
                own = read_own_keys(track)
                kind = STATES[state(track)]
            except animation.AnimationError:
                continue
            keys = len(union([channel.keys.frames for channel in own.values()]))
            shown = [read(fcurve) for fcurve in track.channels.values()]
            samples = max(0, sum(map(len, shown)) - sum(len(channel.keys) for channel in own.values()))
            content = b"".join(places.tobytes() for each in shown for places in (each.co, each.handle_right))
            seen[track.name, track.path] = kind, keys, samples, zlib.crc32(content)
    return seen


def changes_since(before: _Seen) -> list[dict[str, Any]]:
    """Return the changed tracks, with their old and new states, keys and samples."""
    after, none = snapshot(), (None, None, None, None)
    return [
        {
            "object": place[0],
            "track": place[1],
            **{
                name: [before.get(place, none)[part], after.get(place, none)[part]]
                for part, name in enumerate(("state", "keys", "samples"))
            },
        }
        for place in dict.fromkeys((*before, *after))
        if before.get(place) != after.get(place)
    ]


def _datablocks(job: Job, outcome: Outcome) -> dict[bpy.types.ID, None]:
    if not job.given.objects:
        return dict.fromkeys(animation.of_file())
    return dict.fromkeys(part for obj in named(job.given.objects, outcome) for part in animation.of_object(obj))


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
        kept = read_own_keys(track)
        frames = union([channel.keys.frames for channel in kept.values()])
        parameters = read_parameters(track, kept, frames, {})
        velocities = read_velocities(track, kept, frames)
        settings = track.settings
        condition = STATES[state(track)]
    except animation.AnimationError as refusal:
        outcome.report.errors += refusal.findings
        return None
    own = sum(len(channel.keys) for channel in kept.values())
    generated = max(0, sum(len(fcurve.keyframe_points) for fcurve in track.channels.values()) - own)
    set_on = {name: int(np.count_nonzero(numbers)) for name, numbers in parameters.items()}
    set_on["velocity"] = int(velocities.any(axis=1).sum())
    outcome.report.tracks += 1
    outcome.report.keys += len(frames)
    outcome.report.samples += generated
    return {
        "track": track.path,
        "kind": track.kind,
        "in_use": track.in_use,
        "state": condition,
        "blocked": reason.to_dict() if (reason := blocking_reasons([track])[0] or uneditable) else None,
        **_error_of(track),
        "retimed": function_of(track) is not None,
        "keys": len(frames),
        "first": _finite(frames[0]) if len(frames) else None,
        "last": _finite(frames[-1]) if len(frames) else None,
        "samples": generated,
        "parameters": {name: n for name, n in set_on.items() if n},
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
