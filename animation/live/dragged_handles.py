# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles dragged on a track played by handles, and the slopes that they define.

These conditions distinguish a drag from Blender's own changes to handles:

- The channel contains exactly the keys that were written.
- The key has not moved, but a handle placed by the bake has a different slope.
- The handle is selected without its key, or no key of the track has moved.

A handle with the same slope but a different length does not change any parameter, because the length also changes when
a neighboring key is inserted in Blender and then deleted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..bake.plans.protocol import OwnChannels
from ..fcurves.frames import SAME_FRAME
from ..fcurves.joined import Joined
from ..fcurves.keyframes import SIDES, BoolArray, Float32Array, Keyframes, both
from ..fcurves.read_keys import read, read_joined
from ..store.own_keys import OwnKeys
from ..store.restored_keys import LEFT_PLACED, PUSHED, RIGHT_PLACED
from ..store.table import rows as rows_
from ..store.tracks import Track
from .mirrored_keys import written_keys

_SHORTEST = 1e-3
"""Length in frames. Handles that are shorter in time, such as vertical handles, are treated as if they had this
length."""
_ROUNDED = 1e-6
"""Rounding error of handles in frame and value, relative to the key's frame or value, or to 1 if that is larger."""


def may_be_dragged(own: OwnKeys, joined: Joined, written: rows_.Fields) -> BoolArray:
    """Return a mask of the keys whose handles may have been dragged.

    `own` and `joined` contain the same keys of several channels, and `written` their records.
    """
    unmoved = _are_unmoved(joined.keys, written)
    left, right = _sides_that_may_be_dragged(joined.keys, unmoved, joined.spread(joined.sums(~unmoved) == 0))
    result: BoolArray = left | right
    if np.count_nonzero(result):
        result &= _have_other_handles(own, written)
    return result


def find_dragged(
    track: Track, own: OwnChannels, every: OwnChannels
) -> Iterator[tuple[int, str, dict[int, float], dict[int, float]]]:
    """Yield the rows of keys and sides with a dragged handle, with the values and slopes of the channels.

    `own` contains channels with a common spline, and `every` all channels of the track. Values are at the key. Slopes
    are the derivatives per frame that the handles define.
    """
    unmoved = {index: _unmoved_keys(track, index, keys) for index, keys in every.items()}
    all_unmoved = all(mask.all() for mask in unmoved.values())
    masks = [_sides_dragged(track, index, keys, unmoved[index], all_unmoved) for index, keys in own.items()]
    # A handle counts as dragged if it was dragged in any of the channels.
    rows_by_side = [np.flatnonzero(np.any(masks_of_side, axis=0)) for masks_of_side in zip(*masks, strict=True)]
    if not any(map(len, rows_by_side)):
        return
    keys_now = {index: read(track.channels[index]) for index in own}
    for side, rows in zip(SIDES, rows_by_side, strict=True):
        for row in rows.tolist():
            values = {index: float(keys.values[row]) for index, keys in keys_now.items()}
            slopes = {index: _slope(keys, row, side) for index, keys in keys_now.items()}
            yield row, side, values, slopes


def _unmoved_keys(track: Track, index: int, own: OwnKeys) -> BoolArray:
    """Return a mask of a channel's keys that have not moved since they were written.

    If keys were added or removed, all elements are false.
    """
    written = written_keys(track, index)
    if written is None or own.identities.tobytes() != written["identity"].tobytes():
        return np.zeros(own.count, dtype=np.bool_)
    return _are_unmoved(own.keys, written)


def _sides_dragged(
    track: Track, index: int, own: OwnKeys, unmoved: BoolArray, all_unmoved: bool
) -> tuple[BoolArray, BoolArray]:
    """Return masks of the channel's keys whose left and right handles were dragged."""
    written, fcurve = written_keys(track, index), track.channels[index]
    no_keys = np.zeros(own.count, dtype=np.bool_)
    if written is None or not unmoved.any():
        return no_keys, no_keys
    candidates = _sides_that_may_be_dragged(own.keys, unmoved, np.bool_(all_unmoved))
    if not any(mask.any() for mask in candidates) or len(fcurve.keyframe_points) != len(written):
        return no_keys, no_keys
    now = read_joined([fcurve], (*SIDES, *(f"{side}_type" for side in SIDES))).keys
    left, right = (
        may_be & _is_moved(now, written, name, placed)
        for name, may_be, placed in zip(SIDES, candidates, (LEFT_PLACED, RIGHT_PLACED), strict=True)
    )
    return left, right


def _are_unmoved(keys: Keyframes, written: rows_.Fields) -> BoolArray:
    """Return a mask of the keys that still have the frames and values that were written."""
    unmoved: BoolArray = (keys.frames == written["co"][:, 0]) & (keys.values == written["value"])
    return unmoved


def _sides_that_may_be_dragged(
    keys: Keyframes, unmoved: BoolArray, all_unmoved: BoolArray | np.bool_
) -> tuple[BoolArray, BoolArray]:
    """Return masks of the keys whose left and right handles may have been dragged, judging by the selection.

    `unmoved` is a mask of the keys that have not moved. `all_unmoved` is true if no key of the track has moved.
    """
    # Scaling values moves the handles of keys with value 0, but not the keys.
    may_be_dragged = unmoved & (all_unmoved | ~keys.select_control_point)
    return (
        may_be_dragged & (keys.select_left_handle | keys.select_control_point),
        may_be_dragged & (keys.select_right_handle | keys.select_control_point),
    )


def _have_other_handles(own: OwnKeys, written: rows_.Fields) -> BoolArray:
    """Return a mask of the keys whose handles may have been moved since they were placed.

    If the positions are unknown, all elements are true.
    """
    now = own.as_read
    if now is None:
        return np.ones(len(written), dtype=np.bool_)
    return _is_moved(now, written, SIDES[0], LEFT_PLACED) | _is_moved(now, written, SIDES[1], RIGHT_PLACED)


def _is_moved(keys: Keyframes, written: rows_.Fields, name: str, placed: int) -> BoolArray:
    was_placed = ((written["placed"] & placed) != 0) & (getattr(keys, f"{name}_type") == written[f"{name}_type"])
    now, before = getattr(keys, name), written[name]
    # Blender moves a handle off its key when aligning it, and rounds the frames of handles displayed in scene time.
    on_key = both(before == written["co"])
    frames, values = np.abs(now - before).T
    is_elsewhere = ((frames >= SAME_FRAME) | (values > 0.0)) & ~_have_same_slopes(now, before, written["co"])
    moved: BoolArray = np.where(on_key, frames > PUSHED, is_elsewhere)
    moved &= was_placed
    return moved


def _have_same_slopes(handles: Float32Array, others: Float32Array, keys: Float32Array) -> BoolArray:
    """Return a mask of the handles with the same direction as `others`, except for rounding. Handles: shape (n, 2)."""
    offset, other = (positions.astype(np.float64) - keys for positions in (handles, others))
    rounding = _ROUNDED * np.maximum(1.0, np.abs(keys.astype(np.float64)))
    cross = np.abs(offset[:, 0] * other[:, 1] - offset[:, 1] * other[:, 0])
    is_same: BoolArray = cross <= rounding[:, 0] * np.abs(other[:, 1]) + rounding[:, 1] * np.abs(other[:, 0])
    is_same &= (offset * other).sum(axis=1) > 0.0
    return is_same


def _slope(keys: Keyframes, key: int, side: str) -> float:
    """Return the derivative per frame that a handle defines."""
    frames, values = (getattr(keys, side)[key] - keys.co[key]).astype(np.float64)
    away = max(abs(frames), _SHORTEST)
    return float(values / (away if side == "handle_right" else -away))
