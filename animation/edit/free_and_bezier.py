# SPDX-License-Identifier: GPL-3.0-or-later
"""Make handles Free, and keys Bezier, so that TCB plays them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..fcurves.frames import SAME_FRAME, is_among, union
from ..fcurves.keyframes import HANDLE
from ..fcurves.write_keys import write
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT
from .change_own_curves import bake_again, own_points
from .find_track import find_track, writable
from .set_parameters import set_parameters
from .track_keys import TrackKeys

_SIDES = (("handle_left_type", CHOSEN_LEFT), ("handle_right_type", CHOSEN_RIGHT))


def free_handles(keys: TrackKeys) -> None:
    """If the animator has chosen the type of a handle, set the type to *Free*, so that TCB places the handle.

    A track that is not played by handles is unchanged. Raises AnimationError if the track can't be changed.
    """
    channels, track = writable(keys.datablock, keys.track)
    if not track.is_played_by_handles:
        return
    # Otherwise, a handle whose type is not recorded as chosen would seem to have been dragged.
    bake_again(channels, [track])
    track = find_track(keys.datablock, track.path)
    for index, (own, points) in own_points(track).items():
        is_wanted = is_among(own.keys.frames, keys.frames)
        types_by_side = {}
        for name, flag in _SIDES:
            types_by_side[name] = getattr(points, name).copy()
            types_by_side[name][own.rows[is_wanted & ((own.chosen & flag) != 0)]] = HANDLE["FREE"]
        write(track.channels[index], points.with_(**types_by_side))
    bake_again(channels, [find_track(keys.datablock, track.path)])


def make_bezier(keys: TrackKeys) -> None:
    """Set keys, and the keys before them, to Bezier, so that TCB plays the segments on both sides.

    Raises AnimationError if the track can't be changed.
    """
    frames = [keys.frames]
    for own in keys.own.values():
        previous_rows = np.searchsorted(own.keys.frames, keys.frames - np.float32(SAME_FRAME)) - 1
        frames.append(own.keys.frames[previous_rows[previous_rows >= 0]])
    set_parameters(replace(keys, frames=union(frames)), {}, interpolation="BEZIER")
