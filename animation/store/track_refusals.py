# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons why a track can't be baked or changed: locked, driven or muted channels, edits outside TCB, a damaged table.

For datablocks, see `fcurves/linked_data.py`, for actions `fcurves/action_refusals.py`, and for values that a method
can't play `bake/plans/unplayable_keys.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from ..errors import Finding
from .edited_outside import edited_outside
from .tracks import Track, looks_baked

_MUTE = attrgetter("mute")


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
    if any(map(_MUTE, track.curves_and_groups)):
        return track.finding("MUTED")
    for index, fcurve in track.channels.items():
        if len(fcurve.keyframe_points):
            continue
        if len(fcurve.sampled_points):
            return track.finding("SAMPLED_CURVE")
        if not without_keys:
            return track.finding("CHANNEL_WITHOUT_KEYS", index)
    return None
