# SPDX-License-Identifier: GPL-3.0-or-later
"""The interpolations of the segments before and after keys: the spline's, Blender's, or no segment."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import Float32Array
from ..store.own_arrays import OwnKeys
from ..store.tracks import Track

SPLINE, NOTHING = 254, 255
"""Interpolations of a segment of the spline and of a missing segment. Other segments have the numbers of Blender's
interpolations."""
Sides = tuple[int, int]
"""The interpolations before and after a key."""


def interpolations_beside(track: Track, own: Mapping[int, OwnKeys], frames: Float32Array) -> npt.NDArray[np.uint8]:
    """Return the interpolations before and after the keys at the frames, shape (n, 2).

    For values, the interpolation is taken from the first channel with a key at the frame. For rotations, it is taken
    from the first channel with a segment that Blender plays. Unless the track cycles, the result is NOTHING before the
    first key and after the last key of a rotation, or of all value channels that have a key at the frame.
    """
    sides = np.full((len(frames), 2), SPLINE, np.uint8)
    has_segment = np.full((len(frames), 2), track.settings.cycle != "SINGLE")
    if track.is_rotation:
        # The segments of a rotation join the keys of all channels, because a bake adds the keys that a channel lacks.
        first = min(channel.keys.frames[0] for channel in own.values())
        last = max(channel.keys.frames[-1] for channel in own.values())
        has_segment |= np.abs(frames[:, np.newaxis] - np.array([first, last])) > SAME_FRAME
    # Earlier channels overwrite later ones.
    for _, channel in sorted(own.items(), reverse=True):
        key_before = np.searchsorted(channel.keys.frames, frames - np.float32(SAME_FRAME)) - 1
        key_at_or_before = np.searchsorted(channel.keys.frames, frames + np.float32(SAME_FRAME), side="right") - 1
        has_key = key_before < key_at_or_before
        for side, begin in enumerate((key_before, key_at_or_before)):
            is_inside = (begin >= 0) & (begin < len(channel.keys) - 1)
            has_segment[:, side] |= is_inside
            plays_blender_segment = is_inside.copy()
            plays_blender_segment[is_inside] = channel.begins_segment[begin[is_inside]]
            if not track.is_rotation:
                # Ignore the keys of later channels.
                sides[has_key, side] = SPLINE
                plays_blender_segment &= has_key
            sides[plays_blender_segment, side] = channel.keys.interpolation[begin[plays_blender_segment]]
    sides[~has_segment] = NOTHING
    return sides


def interpolations_in_common(sides: npt.NDArray[np.uint8]) -> Sides | None:
    """Return the interpolations (n, 2) that all keys have in common, or None if they differ or there are no keys.

    Missing segments before the first key and after the last key match any segment.
    """
    if not len(sides):
        return None
    before, after = (np.unique(side[side != NOTHING]).tolist() or [NOTHING] for side in sides.T)
    return (before[0], after[0]) if len(before) == len(after) == 1 else None
