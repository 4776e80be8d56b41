# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a rotation's channels: orientations converted to them without jumps, and their values at keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ....interp import rotations
from ....interp.rotations.representations import JUMP
from ...fcurves.keyframes import Float32Array, Float64Array
from ...store.tracks import Track
from ...translation import rpt_
from .protocol import Scope
from .splines import TrackSpline

FOLLOWED = np.pi / 3
"""Radians. Euler angles are followed safely over rotations of half a turn about one axis, of less about several."""
_FEWEST_PARTS, _MOST_PARTS = 16, 1024
"""Limits of the number of parts into which a segment is divided to follow its angles."""


def as_shown(track: Track, spline: TrackSpline) -> TrackSpline:
    """Return the spline with the values that the channels must have at the keys: those of the motion there.

    They are the keys' own where the motion passes through the keys.
    """
    if spline.spline.interpolating:
        return spline
    if not track.is_rotation:
        return replace(spline, values=spline.spline(spline.frames))
    parts = _FEWEST_PARTS
    quaternions, rows = _in_parts(spline, parts)
    while parts < _MOST_PARTS and rotations.angle_between(quaternions[1:], quaternions[:-1]).max(initial=0) > FOLLOWED:
        parts *= 2
        quaternions, rows = _in_parts(spline, parts)
    numbers, _ = followed(track, quaternions, spline.values[:1], rows[:1])
    return replace(spline, values=numbers[rows])


def _in_parts(spline: TrackSpline, parts: int) -> tuple[Float64Array, npt.NDArray[np.intp]]:
    """Return the orientations at the keys and between them, and the rows of the keys among these."""
    keys = spline.frames.astype(np.float64)
    way = np.arange(parts) / parts
    frames = np.append(keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * way, keys[-1])
    return spline.spline(frames), np.arange(len(keys)) * parts


def followed(
    track: Track, quaternions: Float64Array, raw: Float64Array, key_rows: npt.NDArray[np.intp]
) -> tuple[Float64Array, npt.NDArray[np.bool_]]:
    """Return the samples in the track's components, without jumps from key to key, and the keys with jumps.

    From each key the samples continue from its own values. A key has a jump where the samples arrive with other values.
    """
    jumps = np.zeros(len(raw), dtype=np.bool_)
    if track.kind == "QUATERNION":
        chain = rotations.unroll_signs(quaternions)
        signs = np.where(np.einsum("ij,ij->i", chain[key_rows], raw) < 0, -1.0, 1.0)
        jumps[1:] = signs[1:] != signs[:-1]
        if not jumps.any():
            return chain * signs[0], jumps
        segment = np.clip(np.searchsorted(key_rows, np.arange(len(chain)), side="right") - 1, 0, None)
        return chain * signs[segment, np.newaxis], jumps
    chain = np.empty((len(quaternions), raw.shape[1]))
    start = 0
    if key_rows[0]:
        chain[key_rows[0] :: -1] = _follow(track, quaternions[key_rows[0] :: -1], raw[0])
        start = int(key_rows[0])
    chain[start:] = _follow(track, quaternions[start:], raw[0])
    for key in range(1, len(raw)):
        row = int(key_rows[key])
        jumps[key] = np.abs(chain[row] - _own_numbers(track, raw[key])).max() > JUMP
        if jumps[key]:
            chain[row:] = _follow(track, quaternions[row:], raw[key])
    return chain, jumps


def _follow(track: Track, quaternions: Float64Array, start: Float64Array) -> Float64Array:
    if track.kind == "EULER":
        return rotations.follow_euler(quaternions, track.order, start)
    axes, angles = rotations.follow_axis_angle(quaternions, start[1:], start[0])
    return np.concatenate((angles[:, np.newaxis], axes), axis=1)


def _own_numbers(track: Track, raw: Float64Array) -> Float64Array:
    """Return a key's values with a unit axis, as samples have."""
    if track.kind != "AXIS_ANGLE":
        return raw
    length = float(np.linalg.norm(raw[1:]))
    return np.concatenate((raw[:1], raw[1:] / length)) if length else raw


def signs_through(jumps: npt.NDArray[np.bool_], baked: npt.NDArray[np.bool_], scope: Scope) -> Float64Array | None:
    """Return signs with which a quaternion's keys continue without jumps in a new action; None where not needed.

    Also None where not all segments are `baked`. `jumps`: the keys at which the motion arrives with the negated values.
    In a bake in place the animator's keys keep their signs: their values must be those that he set.
    """
    if scope.options.target != "NEW_ACTION" or scope.track.kind != "QUATERNION":
        return None
    if not jumps.any() or not baked[:-1].all():
        return None
    signs: Float64Array = np.multiply.accumulate(np.where(jumps, -1.0, 1.0))
    return signs


def other_turns(track: Track, frames: Float32Array) -> list[str]:
    """Return the note on keys at which Euler angles jump; jumps of signs and axes need none."""
    if track.kind != "EULER" or not len(frames):
        return []
    first = ", ".join(f"{frame:g}" for frame in frames[:3])
    return [rpt_("its Euler angles name another way round than the rotation takes to frame {:s}", first)]
