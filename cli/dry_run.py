# SPDX-License-Identifier: GPL-3.0-or-later
"""The option `--dry-run`, which lists the tracks and written velocities that a verb changes."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import bpy

from .. import animation
from ..animation.checks.track_state import STATES, state
from ..animation.datablocks import name_of
from ..animation.fcurves.keyframes import union
from ..animation.fcurves.read_and_write import read
from ..animation.store.frame_functions import function_of
from ..animation.store.own_keys import OwnKeys
from ..animation.store.paths import is_velocity
from ..animation.store.read_own_keys import read_own_keys
from ..animation.store.tracks import Track
from .choosing import sets_of, tracks_of

_COLUMNS = ("state", "keys", "samples", "curve_keys")
_Rows = dict[tuple[str, str], dict[str, Any]]
"""The columns, and a checksum of the keys, by the name of the datablock and the path of the track or property."""


def snapshot() -> _Rows:
    """Return the tracks and velocities of the open file, for comparison after processing."""
    rows: _Rows = {}
    for datablock in animation.of_file():
        for track in tracks_of(datablock):
            try:
                own_keys = read_own_keys(track)
                rows[track.name, track.path] = {
                    "state": STATES[state(track)],
                    "keys": len(union([own.keys.frames for own in own_keys.values()])),
                    **generated_keys(track, own_keys),
                    "checksum": _checksum(track.channels.values()),
                }
            except animation.AnimationError:
                continue
        rows |= _velocities(datablock)
    return rows


def generated_keys(track: Track, own_keys: Mapping[int, OwnKeys]) -> dict[str, int]:
    """Return the numbers of generated keys in all channels of the track, which are either samples or keys of curves."""
    own_count = sum(len(own.keys) for own in own_keys.values())
    count = max(0, sum(len(fcurve.keyframe_points) for fcurve in track.channels.values()) - own_count)
    options = track.settings.options
    is_curves = options is not None and options.output == "CURVES" and function_of(track) is None
    return {"samples": 0 if is_curves else count, "curve_keys": count if is_curves else 0}


def _velocities(datablock: bpy.types.ID) -> _Rows:
    """Return the custom properties with velocities and accelerations of the datablock."""
    curves: dict[str, list[bpy.types.FCurve]] = {}
    for channels in sets_of(datablock):
        for fcurve in channels:
            if is_velocity(fcurve.data_path):
                curves.setdefault(fcurve.data_path, []).append(fcurve)
    return {
        (name_of(datablock), path): {
            "state": "velocities",
            "keys": 0,
            "samples": sum(len(fcurve.keyframe_points) for fcurve in fcurves),
            "curve_keys": 0,
            "checksum": _checksum(fcurves),
        }
        for path, fcurves in curves.items()
    }


def _checksum(fcurves: Iterable[bpy.types.FCurve]) -> int:
    played_keys = map(read, fcurves)
    return zlib.crc32(b"".join(array.tobytes() for keys in played_keys for array in (keys.co, keys.handle_right)))


def changes_since(before: _Rows) -> list[dict[str, Any]]:
    """Return the changed tracks and velocities, with pairs of old and new columns."""
    after = snapshot()
    missing = dict.fromkeys(_COLUMNS)
    changes = []
    for place in dict.fromkeys((*before, *after)):
        old, new = before.get(place, missing), after.get(place, missing)
        if old != new:
            pairs = {column: [old[column], new[column]] for column in _COLUMNS}
            changes.append({"object": place[0], "track": place[1], **pairs})
    return changes
