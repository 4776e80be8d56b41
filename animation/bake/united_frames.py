# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys at the same frames in all channels of a vector, as other programs need them; the motion does not change.

glTF has one list of frames for a vector, and its exporter resamples one whose channels have keys at different frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..fcurves import beziers
from ..fcurves.frames import ONE_KEY
from ..fcurves.keyframes import HANDLE, INTERPOLATION, Float32Array, Keyframes, made_like, merged


def with_common_frames(channels: Mapping[int, Keyframes], goes_on: Mapping[int, bool]) -> Mapping[int, Keyframes]:
    """Add keys to all channels at the frames of all, on their curves.

    `goes_on`: whether a channel is extrapolated linearly outside its keys, or constant. The keys are returned unchanged
    where they are neither all linear nor all Bezier with FREE handles, or where keys would be so close that Blender
    merges them.
    """
    every = list(channels.values())
    if len({keys.frames.tobytes() for keys in every}) < 2 or not _can_be_cut(every):
        return channels
    frames = np.unique(np.concatenate([keys.frames for keys in every]))
    if (np.diff(frames) < ONE_KEY).any():
        return channels
    return {index: _with_keys_at(keys, frames, goes_on[index]) for index, keys in channels.items()}


def _can_be_cut(every: Sequence[Keyframes]) -> bool:
    """Return whether keys can be inserted on the curves without changing the motion."""
    interpolations = {kind for keys in every for kind in keys.interpolation.tolist()}
    if interpolations != {INTERPOLATION["BEZIER"]}:
        return interpolations == {INTERPOLATION["LINEAR"]}
    types = {kind for keys in every for kind in (*keys.handle_left_type.tolist(), *keys.handle_right_type.tolist())}
    return types == {HANDLE["FREE"]} and all(beziers.is_plain(keys)[:-1].all() for keys in every)


def _with_keys_at(keys: Keyframes, frames: Float32Array, goes_on: bool) -> Keyframes:
    """Insert the keys that are missing at the frames, which include all of the keys' own."""
    for row, frame in ((0, frames[0]), (-1, frames[-1])):
        if frame != keys.frames[row]:
            keys = _extended(keys, row, float(frame), goes_on)
    missing = frames[~np.isin(frames, keys.frames)]
    if keys.interpolation[0] != INTERPOLATION["LINEAR"]:
        return beziers.cut(keys, missing) if len(missing) else keys
    co = np.stack((missing, np.interp(missing, keys.frames, keys.values)), axis=1)
    return merged(keys, made_like(keys.take(np.zeros(len(co), dtype=np.intp)), co, co, co))


def _extended(keys: Keyframes, row: int, frame: float, goes_on: bool) -> Keyframes:
    """Return the keys and one more at a frame before the first or after the last, as Blender extrapolates."""
    side = "handle_left" if row == 0 else "handle_right"
    co, handle = keys.co[row].astype(np.float64), getattr(keys, side)[row].astype(np.float64)
    slope = (handle - co)[1] / (handle - co)[0] if goes_on and handle[0] != co[0] else 0.0
    way = np.array([1.0, slope]) * (frame - co[0])
    third = way / 3.0 if keys.interpolation[row] == INTERPOLATION["BEZIER"] else 0.0 * way
    inner = getattr(keys, side).copy()
    inner[row] = co + third
    beside = [[co + way + third], [co + way - third]]
    outer = made_like(keys.take(np.array([row])), [co + way], *(beside if row == 0 else beside[::-1]))
    return merged(keys.with_(**{side: inner}), outer)
