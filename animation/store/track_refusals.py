# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons why a track can't be baked or changed, such as locked, driven or muted channels, or a damaged table.

For datablocks and actions, see `fcurves/channels.py`, and for values that a method can't play
`bake/plans/refused_keys.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..fcurves.keyframes import NO_KEYS, PAIRS
from ..report import Finding
from .edited_outside import edited_outside
from .own_arrays import OwnKeys, own_end_to_end
from .tracks import Track, looks_baked


def blocking_reasons(tracks: Sequence[Track]) -> list[Finding | None]:
    """Return the reason why each track can't be changed or baked, or None.

    Edits outside TCB are checked first, because they may cause other problems, such as a channel without keys.
    """
    edited = edited_outside(tracks)
    return [
        track.finding("EDITED_OUTSIDE") if is_edited else blocking_reason(track)
        for track, is_edited in zip(tracks, edited, strict=True)
    ]


def blocking_reason(track: Track, *, without_keys: bool = False) -> Finding | None:
    """Return the reason why the track can't be baked, or None. `without_keys` allows F-curves without keys."""
    if track.table.error:
        return track.table.error.on(track.name, track.path)
    if not track.in_use:
        return track.finding("NOT_IN_USE")
    if track.locked:
        return track.finding("TABLE_LOST" if not track.enabled and looks_baked(track) else "LOCKED")
    if track.driven:
        return track.finding("DRIVEN")
    if any(fcurve.mute or (fcurve.group is not None and fcurve.group.mute) for fcurve in track.channels.values()):
        return track.finding("MUTED")
    for index, fcurve in track.channels.items():
        if len(fcurve.keyframe_points):
            continue
        if len(fcurve.sampled_points):
            return track.finding("SAMPLED_CURVE")
        if not without_keys:
            return track.finding("CHANNEL_WITHOUT_KEYS", index)
    return None


def has_keys(track: Track) -> bool:
    """Return whether any channel has keys or Blender's samples."""
    return any(len(fcurve.keyframe_points) or len(fcurve.sampled_points) for fcurve in track.channels.values())


def errors_of_numbers(tracks: Sequence[Track], own_of_tracks: Sequence[Mapping[int, OwnKeys]]) -> list[Finding | None]:
    """Return the result of `error_of_numbers` for each track. Finite numbers are checked together."""
    channels = [own for own_of_track in own_of_tracks for own in own_of_track.values()]
    keys = own_end_to_end(channels).keys if channels else NO_KEYS
    if all(np.isfinite(getattr(keys, name)).all() for name in PAIRS):
        return [None] * len(tracks)
    return list(map(error_of_numbers, tracks, own_of_tracks))


def error_of_numbers(track: Track, own_by_index: Mapping[int, OwnKeys]) -> Finding | None:
    """Return a finding on a frame, value or handle that is not finite, in this order, or None."""
    for own in own_by_index.values():
        keys = own.keys
        if not np.isfinite(keys.frames).all():
            return track.finding("FRAME_NOT_FINITE")
        for name in PAIRS:
            is_finite = np.isfinite(getattr(keys, name)).all(axis=1)
            if not is_finite.all():
                code = "VALUE_NOT_FINITE" if name == "co" else "HANDLE_NOT_FINITE"
                return track.finding(code, frame=float(keys.frames[np.argmin(is_finite)]))
    return None
