# SPDX-License-Identifier: GPL-3.0-or-later
"""Join new keys with the existing keys before and after the reduced frames.

The existing keys do not change. Blender plays the segments between these keys with their original handles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import bpy
import numpy as np

from ...interp.rotations import normalise
from ..bake.plans.handles import is_keyed_whole
from ..bake.plans.splines import quaternions_of
from ..errors import Finding
from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import (
    HANDLE,
    INTERPOLATION,
    BoolArray,
    EnumArray,
    Float32Array,
    Float64Array,
    Keyframes,
    merged,
    read,
    read_coordinates,
)
from ..fcurves.segments import evaluate
from ..store.own_keys import OwnKeys, read_own_keys
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
    found = [
        [bool(side.any()) for side in sides(read_coordinates(fcurve)[::2], frames)]
        for track in tracks
        for fcurve in track.channels.values()
    ]
    return any(before for before, _ in found), any(after for _, after in found)


def reason_apart(track: Track, frames: Float64Array, raw: Float64Array) -> Finding | None:
    """Return the reason why new keys at these frames can't join the track's existing keys, or None if they can.

    `raw` contains the channel values at the frames, shape (frames, components).
    """
    if not any(has_beside([track], frames)):
        return None
    for fcurve in track.channels.values():
        own = read_coordinates(fcurve)[::2]
        for end, side in zip(frames[[0, -1]].tolist(), sides(own, frames), strict=True):
            if side.any() and not (np.abs(own - end) <= SAME_FRAME).any():
                return track.finding("REDUCE_RANGE_END", end)
    if track.is_rotation:
        own_keys = read_own_keys(track)
        if len(own_keys) < raw.shape[1] or not is_keyed_whole(track, own_keys):
            return track.finding("KEYED_APART")
        if track.kind == "QUATERNION":
            jumps = (raw[1:] * raw[:-1]).sum(axis=1) < 0.0
        else:
            jumps = np.abs(np.diff(raw, axis=0)).max(axis=1) > np.pi
        if jumps.any():
            return track.finding("REDUCE_TURNS")
    return None


def velocities_beside(
    track: Track, frames: Float64Array, raw: Float64Array, values: Float64Array, joins: Sequence[bool]
) -> Float64Array:
    """Return the slopes per frame of values or quaternions at both ends, shape (2, d).

    Ends that are not in `joins` are NaN. The slope is taken from the Bezier segment outside the range. Linear tracks
    have a corner at every key, so the mean of the slopes before and after the key is used. If nothing moves outside the
    range, the slope to the next frame is used.
    """
    found = np.full((2, values.shape[1]), np.nan)
    for side, row in ((0, 0), (1, -1)):
        if not joins[side]:
            continue
        slopes = np.zeros(raw.shape[1])
        for index, fcurve in track.channels.items():
            slopes[index] = _slope_beside(fcurve, frames, raw[:, index], side)
        if not track.is_rotation:
            found[side] = slopes
            continue
        step = _STEP * slopes
        before, after = normalise(quaternions_of(track, np.stack([raw[row] - step, raw[row] + step])))
        found[side] = (after - before) / (2.0 * _STEP) * np.sign(after @ values[row])
    return found


def _slope_beside(fcurve: bpy.types.FCurve, frames: Float64Array, raw: Float64Array, side: int) -> float:
    """Return a channel's slope just before the first frame (`side` 0) or just after the last frame (`side` 1)."""
    inner = float(raw[1] - raw[0] if side == 0 else raw[-1] - raw[-2])
    keys, end = read(fcurve), float(frames[-side])
    beside = sides(keys.frames, frames)[side]
    if not beside.any():
        return inner
    begin = int(np.flatnonzero(beside)[-1] if side == 0 else np.flatnonzero(beside)[0] - 1)
    kind = keys.interpolation[begin]
    if kind == INTERPOLATION["CONSTANT"]:
        return inner
    if kind == INTERPOLATION["LINEAR"]:
        rise = keys.values[begin + 1].astype(np.float64) - keys.values[begin]
        return 0.5 * (inner + float(rise / (keys.frames[begin + 1] - keys.frames[begin])))
    slope = float(evaluate(keys, np.array([begin]), np.array([end]), 1)[0])
    return slope if np.isfinite(slope) else inner


def joined(fcurve: bpy.types.FCurve, new: Keyframes, before: Keyframes, frames: Float64Array) -> Keyframes:
    """Join a curve's new keys with the existing keys outside the frames, which play exactly as before.

    Automatic handles that Blender would recompute become free handles.
    """
    earlier, later = sides(before.frames, frames)
    beside = before.take(earlier | later)
    if fcurve.auto_smoothing != "NONE":
        kinds = {
            name: np.where(np.isin(getattr(beside, name), _AUTOMATIC), _FREE, getattr(beside, name))
            for name in ("handle_left_type", "handle_right_type")
        }
        beside = beside.with_(**kinds)
    new = new.copy()
    for row, side, names in (
        (0, earlier, ("handle_left",)),
        (-1, later, ("handle_right", "interpolation", "easing", "back", "amplitude", "period")),
    ):
        if not side.any():
            continue
        at = int(np.argmin(np.abs(before.frames - frames[row])))
        for name in ("co", "type", *names):
            getattr(new, name)[row] = getattr(before, name)[at]
        getattr(new, f"{names[0]}_type")[row] = _FREE
    return merged(beside, new)


def are_freed(track: Track, range_: Float64Array) -> bool:
    """Return whether `joined` would turn automatic handles of the track into free handles."""
    for fcurve in track.channels.values():
        keys = read(fcurve)
        beside = np.logical_or(*sides(keys.frames, range_))
        kinds = np.stack([keys.handle_left_type, keys.handle_right_type])[:, beside]
        if fcurve.auto_smoothing != "NONE" and np.isin(kinds, _AUTOMATIC).any():
            return True
    return False


def chosen_beside(own: OwnKeys, frames: Float64Array) -> EnumArray:
    """Return the `rows.CHOSEN_…` flags of the animator's keys with which Blender plays segments outside the frames."""
    earlier, later = sides(own.frames, frames)
    chosen = np.zeros(len(own.identities), dtype=np.uint8)
    chosen[earlier | later] = CHOSEN_INTERPOLATION | CHOSEN_LEFT | CHOSEN_RIGHT
    if earlier.any():
        chosen[np.count_nonzero(earlier)] |= CHOSEN_LEFT
    if later.any():
        chosen[np.argmax(later) - 1] |= CHOSEN_INTERPOLATION | CHOSEN_RIGHT
    return chosen
