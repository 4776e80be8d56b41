# SPDX-License-Identifier: GPL-3.0-or-later
"""Interpolations and handle types that the animator chose after the keys became TCB.

Blender plays segments with a chosen interpolation, and places handles with a chosen type.
"""

from __future__ import annotations

import numpy as np

from ..fcurves.keyframes import HANDLE, INTERPOLATION, BoolArray, EnumArray, IndexArray, Joined, Keyframes
from .table.rows import CHOSEN_INTERPOLATION, CHOSEN_LEFT, CHOSEN_RIGHT, Rows
from .table.session import session
from .table.track_records import Written


def chosen_by_animator(now: Keyframes, keys: Keyframes, at: IndexArray, written: Written | None) -> EnumArray:
    """Return flags `rows.CHOSEN_…` of the keys, or 0 for keys without rows.

    The changes are found by comparing the keys with their rows, both as they are on the curve (`now`) and without TCB
    (`keys`). `at` contains the indices of the session rows, or -1. `written` contains the keys as returned by
    `written_of`, or is None if no handles were placed.
    """
    chosen = np.zeros(len(keys), dtype=np.uint8)
    has_row = at >= 0
    if not has_row.any():
        return chosen
    now, keys, rows = now.take(has_row), keys.take(has_row), session.rows[at[has_row]]
    records = written[has_row] if written is not None else None
    flags = _chosen_interpolation(now, keys, rows, records)
    flags |= _chosen_handle(now, "handle_left_type", CHOSEN_LEFT, rows, records)
    flags |= _chosen_handle(now, "handle_right_type", CHOSEN_RIGHT, rows, records)
    chosen[has_row] = flags
    return chosen


def _chosen_interpolation(now: Keyframes, keys: Keyframes, rows: Rows, written: Written | None) -> EnumArray:
    """Return CHOSEN_INTERPOLATION for keys whose segments Blender plays because of the animator's choice, or else 0."""
    is_changed = keys.interpolation != rows["interpolation"]
    if written is not None:
        is_changed |= _has_record(written) & (now.interpolation != written["interpolation"])
    was_chosen = (rows["chosen"] & CHOSEN_INTERPOLATION) != 0
    is_bezier = keys.interpolation == INTERPOLATION["BEZIER"]
    # A Bezier segment that is recorded as played by Blender remains so until it gets another interpolation.
    stays_bezier = was_chosen & ~is_changed & (rows["interpolation"] == INTERPOLATION["BEZIER"])
    is_chosen = ~is_bezier & (is_changed | was_chosen) | stays_bezier
    return np.where(is_chosen, np.uint8(CHOSEN_INTERPOLATION), np.uint8(0))


def _chosen_handle(now: Keyframes, kind: str, flag: int, rows: Rows, written: Written | None) -> EnumArray:
    """Return the flag for keys whose handle type the animator chose, or else 0. FREE handles are not chosen."""
    chosen: EnumArray = rows["chosen"] & np.uint8(flag)
    if written is None:
        return chosen
    types = getattr(now, kind)
    is_retyped = _has_record(written) & (types != written[kind])
    return np.where(is_retyped, np.where(types != HANDLE["FREE"], np.uint8(flag), np.uint8(0)), chosen)


def _has_record(written: Written) -> BoolArray:
    """Return a mask of the keys that were written into this channel."""
    has_record: BoolArray = np.isfinite(written["co"][:, 0])
    return has_record


def mark_new_interpolations(own: Joined, interpolation: EnumArray, chosen: EnumArray, is_new: BoolArray) -> None:
    """Mark in `chosen` the new keys with an interpolation other than Bezier that was set by the animator.

    A new key in Blender inherits the interpolation of the previous key, or of the next key if the new key is the first.
    If the other key is marked, the new key is marked too. A channel's only key is not marked if it is linear, because
    the preferences can make new keys linear.
    """
    rows = np.flatnonzero(is_new & (interpolation != INTERPOLATION["BEZIER"]))
    if not len(rows):
        return
    end_of_channel = own.spread(own.starts + own.counts)
    old_keys_before = np.concatenate(([0], np.cumsum(~is_new)))
    is_leading = old_keys_before[1:] == own.spread(old_keys_before[own.starts])
    # Leading keys inherit from the next key, so they are processed from last to first.
    for row in [*rows[is_leading[rows]][::-1].tolist(), *rows[~is_leading[rows]].tolist()]:
        source = row + 1 if is_leading[row] else row - 1
        if source == end_of_channel[row]:
            is_chosen = interpolation[row] != INTERPOLATION["LINEAR"]
        elif own.keys.interpolation[source] == interpolation[row]:
            is_chosen = bool(chosen[source] & CHOSEN_INTERPOLATION)
        else:
            is_chosen = True
        chosen[row] |= CHOSEN_INTERPOLATION * is_chosen
