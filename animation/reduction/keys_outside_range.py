# SPDX-License-Identifier: GPL-3.0-or-later
"""Join new keys with the existing keys before and after the reduced frames.

The existing keys do not change. Blender plays the segments between these keys with their original handles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import bpy
import numpy as np

from ...interp.rotations import normalise
from ..bake.plans.own_motion import is_keyed_whole
from ..bake.plans.rotations import quaternions_of
from ..fcurves.keyframes import (
    HANDLE,
    INTERPOLATION,
    SAME_FRAME,
    BoolArray,
    EnumArray,
    Float32Array,
    Float64Array,
    Keyframes,
    merged,
)
from ..fcurves.read_and_write import read, read_coordinates
from ..fcurves.segments import evaluate
from ..report import Finding
from ..store.own_keys import OwnKeys
from ..store.read_own_keys import read_own_keys
from ..store.table.rows import CHOSEN_INTERPOLATION, CHOSEN_LEFT, CHOSEN_RIGHT
from ..store.tracks import Track

_FREE = np.uint8(HANDLE["FREE"])
_AUTOMATIC = [HANDLE["AUTO"], HANDLE["AUTO_CLAMPED"]]
_STEP = 1e-3
"""Step of the finite differences for quaternions, in frames."""


def sides(frames: Float32Array, range_: Float64Array) -> tuple[BoolArray, BoolArray]:
    """Return a mask of the frames before the range, and a mask of the frames after it."""
    return frames < range_[0] - SAME_FRAME, frames > range_[-1] + SAME_FRAME


def has_beside(tracks: Iterable[Track], frames: Float64Array) -> tuple[bool, bool]:
    """Return whether any track has keys before the first frame, and whether any has keys after the last frame."""
    masks = [sides(read_coordinates(fcurve)[::2], frames) for track in tracks for fcurve in track.channels.values()]
    return any(before.any() for before, _ in masks), any(after.any() for _, after in masks)


def reason_apart(track: Track, frames: Float64Array, raw: Float64Array) -> Finding | None:
    """Return the reason why new keys at these frames can't join the track's existing keys, or None if they can.

    `raw` contains the channel values at the frames, shape (frames, components).
    """
    if not any(has_beside([track], frames)):
        return None
    for fcurve in track.channels.values():
        key_frames = read_coordinates(fcurve)[::2]
        for end, is_beyond in zip(frames[[0, -1]].tolist(), sides(key_frames, frames), strict=True):
            if is_beyond.any() and not (np.abs(key_frames - end) <= SAME_FRAME).any():
                return track.finding("REDUCE_RANGE_END", end)
    return _reason_rotation_is_apart(track, raw) if track.is_rotation else None


def _reason_rotation_is_apart(track: Track, raw: Float64Array) -> Finding | None:
    """Return the reason why new keys of a rotation can't join its existing keys, or None if they can."""
    own_keys = read_own_keys(track)
    if len(own_keys) < raw.shape[1] or not is_keyed_whole(track, own_keys):
        return track.finding("KEYED_APART")
    if track.kind == "QUATERNION":
        is_jump = (raw[1:] * raw[:-1]).sum(axis=1) < 0.0
    else:
        is_jump = np.abs(np.diff(raw, axis=0)).max(axis=1) > np.pi
    return track.finding("REDUCE_TURNS") if is_jump.any() else None


def velocities_beside(
    track: Track, frames: Float64Array, raw: Float64Array, values: Float64Array, joins: Sequence[bool]
) -> Float64Array:
    """Return the slopes per frame of values or quaternions at both ends, shape (2, d).

    Ends that are not in `joins` are NaN. The slope is taken from the Bezier segment outside the range. Linear tracks
    have a corner at every key, so the mean of the slopes before and after the key is used. If nothing moves outside the
    range, the slope to the next frame is used.
    """
    velocities = np.full((2, values.shape[1]), np.nan)
    for side, row in ((0, 0), (1, -1)):
        if not joins[side]:
            continue
        slopes = np.zeros(raw.shape[1])
        for index, fcurve in track.channels.items():
            slopes[index] = _slope_beside(fcurve, frames, raw[:, index], side)
        if not track.is_rotation:
            velocities[side] = slopes
            continue
        step = _STEP * slopes
        before, after = normalise(quaternions_of(track, np.stack([raw[row] - step, raw[row] + step])))
        velocities[side] = (after - before) / (2.0 * _STEP) * np.sign(after @ values[row])
    return velocities


def _slope_beside(fcurve: bpy.types.FCurve, frames: Float64Array, raw: Float64Array, side: int) -> float:
    """Return a channel's slope just before the first frame (`side` 0) or just after the last frame (`side` 1)."""
    inner_slope = float(raw[1] - raw[0] if side == 0 else raw[-1] - raw[-2])
    keys, end = read(fcurve), float(frames[-side])
    rows_beside = np.flatnonzero(sides(keys.frames, frames)[side])
    if not len(rows_beside):
        return inner_slope
    begin = int(rows_beside[-1] if side == 0 else rows_beside[0] - 1)
    interpolation = keys.interpolation[begin]
    if interpolation == INTERPOLATION["CONSTANT"]:
        return inner_slope
    if interpolation == INTERPOLATION["LINEAR"]:
        rise = keys.values[begin + 1].astype(np.float64) - keys.values[begin]
        return 0.5 * (inner_slope + float(rise / (keys.frames[begin + 1] - keys.frames[begin])))
    slope = float(evaluate(keys, np.array([begin]), np.array([end]), 1)[0])
    return slope if np.isfinite(slope) else inner_slope


def join_keys(fcurve: bpy.types.FCurve, new: Keyframes, before: Keyframes, frames: Float64Array) -> Keyframes:
    """Join a curve's new keys with the existing keys outside the frames, which play exactly as before.

    Automatic handles that Blender would recompute become free handles.
    """
    is_earlier, is_later = sides(before.frames, frames)
    beside = before.take(is_earlier | is_later)
    if fcurve.auto_smoothing != "NONE":
        handle_types = {
            name: np.where(np.isin(getattr(beside, name), _AUTOMATIC), _FREE, getattr(beside, name))
            for name in ("handle_left_type", "handle_right_type")
        }
        beside = beside.with_(**handle_types)
    new = new.copy()
    # The end keys keep the existing value and everything that shapes the segment outside.
    for end, is_beyond, attributes in (
        (0, is_earlier, ("handle_left",)),
        (-1, is_later, ("handle_right", "interpolation", "easing", "back", "amplitude", "period")),
    ):
        if not is_beyond.any():
            continue
        existing = int(np.argmin(np.abs(before.frames - frames[end])))
        for name in ("co", "type", *attributes):
            getattr(new, name)[end] = getattr(before, name)[existing]
        getattr(new, f"{attributes[0]}_type")[end] = _FREE
    return merged(beside, new)


def are_freed(track: Track, range_: Float64Array) -> bool:
    """Return whether `join_keys` would turn automatic handles of the track into free handles."""
    for fcurve in track.channels.values():
        keys = read(fcurve)
        is_beside = np.logical_or(*sides(keys.frames, range_))
        handle_types = np.stack([keys.handle_left_type, keys.handle_right_type])[:, is_beside]
        if fcurve.auto_smoothing != "NONE" and np.isin(handle_types, _AUTOMATIC).any():
            return True
    return False


def chosen_beside(own_keys: OwnKeys, frames: Float64Array) -> EnumArray:
    """Return the `rows.CHOSEN_…` flags of the animator's keys with which Blender plays segments outside the frames."""
    is_earlier, is_later = sides(own_keys.frames, frames)
    flags = np.zeros(len(own_keys.identities), dtype=np.uint8)
    flags[is_earlier | is_later] = CHOSEN_INTERPOLATION | CHOSEN_LEFT | CHOSEN_RIGHT
    if is_earlier.any():
        flags[np.count_nonzero(is_earlier)] |= CHOSEN_LEFT
    if is_later.any():
        flags[np.argmax(is_later) - 1] |= CHOSEN_INTERPOLATION | CHOSEN_RIGHT
    return flags
