# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles that the animator dragged on tracks played by handles.

These conditions distinguish a drag from Blender's own changes to handles:

- The channel contains exactly the keys that were written.
- The key has not moved, but a handle placed by the bake has a different slope.
- The handle is selected without its key, or no key of the track has moved.

A handle with the same slope but a different length does not count as dragged, because the length also changes when a
neighboring key is inserted in Blender and then deleted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..bake.plans.own_motion import OwnChannels
from ..fcurves.frames import SAME_FRAME
from ..fcurves.joined_keys import Joined
from ..fcurves.keyframes import NO_KEYS, SIDES, BoolArray, Float32Array, Keyframes, both
from ..fcurves.read_keys import read
from ..store.own_arrays import OwnKeys
from ..store.restored_keys import PUSHED
from ..store.table.track_records import LEFT_PLACED, RIGHT_PLACED, Written
from ..store.tracks import Track
from .mirrored_keys import written_keys

_SHORTEST = 1e-3
"""Length in frames. Handles that are shorter in time, such as vertical handles, are treated as if they had this
length."""
_ROUNDED = 1e-6
"""Rounding error of handles in frame and value, relative to the key's frame or value, or to 1 if that is larger."""


class CurvePoint(NamedTuple):
    """A point on a curve."""

    value: float
    slope: float
    """The derivative per frame."""


def find_dragged(
    track: Track, own: OwnChannels, all_channels: OwnChannels
) -> Iterator[tuple[int, str, dict[int, CurvePoint]]]:
    """Yield the dragged handles of the channels in `own`, which have a common spline.

    For each key and side with a dragged handle in any of the channels, yield the row, the side and, by channel, the
    key's value and the derivative that the handle defines.
    """
    unmoved = {index: _unmoved_keys(track, index, keys) for index, keys in all_channels.items()}
    all_unmoved = all(mask.all() for mask in unmoved.values())
    keys_now = {index: _keys_now(track, index, keys) for index, keys in own.items()}
    masks = [
        _sides_dragged(keys, keys_now[index], written, unmoved[index], np.bool_(all_unmoved))
        for index, keys in own.items()
        if (written := written_keys(track, index)) is not None and unmoved[index].any()
    ]
    rows_by_side = [np.flatnonzero(np.any(masks_of_side, axis=0)) for masks_of_side in zip(*masks, strict=True)]
    if not any(map(len, rows_by_side)):
        return
    for side, rows in zip(SIDES, rows_by_side, strict=True):
        for row in rows.tolist():
            points = {
                index: CurvePoint(float(keys.values[row_now]), _slope(keys, row_now, side))
                for index, keys in keys_now.items()
                for row_now in np.flatnonzero(keys.frames == own[index].frames[row]).tolist()
            }
            # A channel without a key at this frame has no slope there.
            if len(points) == len(own):
                yield row, side, points


def are_dragged(own: OwnKeys, joined: Joined, written: Written) -> BoolArray:
    """Return a mask of the keys with a dragged handle, for the keys and records of several channels.

    In addition, the mask contains handles that Blender moved when another channel of the track was edited.
    """
    unmoved = _are_unmoved(own.keys, written)
    left, right = _sides_dragged(own, own.as_read, written, unmoved, joined.spread(joined.sums(~unmoved) == 0))
    return left | right


def _keys_now(track: Track, index: int, own: OwnKeys) -> Keyframes:
    """Return the keys on a channel's F-curve, which may be fewer than those in `own`, if missing keys were added."""
    if own.as_read is not None:
        return own.as_read
    return read(track.channels[index]) if index in track.channels else NO_KEYS


def _unmoved_keys(track: Track, index: int, own: OwnKeys) -> BoolArray:
    """Return a mask of a channel's unmoved keys. If keys were added or removed, all elements are false."""
    written = written_keys(track, index)
    if written is None or own.identities.tobytes() != written["identity"].tobytes():
        return np.zeros(own.count, dtype=np.bool_)
    return _are_unmoved(own.keys, written)


def _are_unmoved(keys: Keyframes, written: Written) -> BoolArray:
    """Return a mask of the keys that still have the frames and values that were written."""
    unmoved: BoolArray = (keys.frames == written["co"][:, 0]) & (keys.values == written["value"])
    return unmoved


def _sides_dragged(
    own: OwnKeys,
    keys_now: Keyframes | None,
    written: Written,
    unmoved: BoolArray,
    all_unmoved: BoolArray | np.bool_,
) -> tuple[BoolArray, BoolArray]:
    """Return masks of the keys whose left and right handles were dragged.

    `unmoved` is a mask of the keys that have not moved. `all_unmoved` is true if no key of the track has moved.
    """
    keys = own.keys
    # Scaling values moves the handles of keys with value 0, but not the keys.
    may_be_dragged = unmoved & (all_unmoved | ~keys.select_control_point)
    left = may_be_dragged & (keys.select_left_handle | keys.select_control_point)
    right = may_be_dragged & (keys.select_right_handle | keys.select_control_point)
    if keys_now is not None and (left.any() or right.any()):
        left &= _is_moved(keys_now, written, SIDES[0], LEFT_PLACED)
        right &= _is_moved(keys_now, written, SIDES[1], RIGHT_PLACED)
    return left, right


def _is_moved(keys: Keyframes, written: Written, side: str, placed: int) -> BoolArray:
    """Return a mask of the keys whose handle was `placed` (a flag) on this side, and now has another slope."""
    was_placed = ((written["placed"] & placed) != 0) & (getattr(keys, f"{side}_type") == written[f"{side}_type"])
    now, before = getattr(keys, side), written[side]
    # Blender moves a handle off its key when aligning it, and rounds the frames of handles displayed in scene time.
    was_on_key = both(before == written["co"])
    frames, values = np.abs(now - before).T
    is_elsewhere = ((frames >= SAME_FRAME) | (values > 0.0)) & ~_have_same_slopes(now, before, written["co"])
    moved: BoolArray = np.where(was_on_key, frames > PUSHED, is_elsewhere)
    moved &= was_placed
    return moved


def _have_same_slopes(handles: Float32Array, others: Float32Array, keys: Float32Array) -> BoolArray:
    """Return a mask of the handles, shape (n, 2), with the same direction as `others`, except for rounding."""
    offset, other = (positions.astype(np.float64) - keys for positions in (handles, others))
    rounding = _ROUNDED * np.maximum(1.0, np.abs(keys.astype(np.float64)))
    cross = np.abs(offset[:, 0] * other[:, 1] - offset[:, 1] * other[:, 0])
    is_same: BoolArray = cross <= rounding[:, 0] * np.abs(other[:, 1]) + rounding[:, 1] * np.abs(other[:, 0])
    is_same &= (offset * other).sum(axis=1) > 0.0
    return is_same


def _slope(keys: Keyframes, row: int, side: str) -> float:
    frames, value = (getattr(keys, side)[row] - keys.co[row]).astype(np.float64)
    length = max(abs(frames), _SHORTEST)
    return float(value / (length if side == "handle_right" else -length))
