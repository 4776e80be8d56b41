# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert orientations to continuous channel values that match the keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....interp import rotations
from ....interp.rotations.representations import JUMP
from ...errors import Finding
from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray
from ...records import record
from ...store.tracks import Track
from .splines import TrackSpline

FOLLOWED = np.pi / 3
"""Largest rotation between samples, in radians, for unwrapping Euler angles. The limit is half a turn for rotation
about a single axis, and lower for rotation about several axes."""
_FEWEST_PARTS, _MOST_PARTS = 16, 1024
"""Minimum and maximum number of parts into which a segment is divided to unwrap its angles."""


def as_shown(track: Track, spline: TrackSpline) -> TrackSpline:
    """Return the spline with the channel values at the keys.

    If the motion passes through the keys, the channel values are the values of the keys.
    """
    if spline.spline.interpolating:
        return spline
    if not track.is_rotation:
        return replace(spline, values=spline.spline(spline.frames))
    quaternions, rows = densely_sampled(spline)
    numbers = followed(track, quaternions, spline.values[:1], rows[:1]).numbers
    return replace(spline, values=numbers[rows])


def densely_sampled(spline: TrackSpline) -> tuple[Float64Array, IndexArray]:
    """Sample a spline densely enough to unwrap its angles. Return the orientations and the rows of the keys."""
    parts = _FEWEST_PARTS
    quaternions, rows = _in_parts(spline, parts)
    while parts < _MOST_PARTS and rotations.angle_between(quaternions[1:], quaternions[:-1]).max(initial=0) > FOLLOWED:
        parts *= 2
        quaternions, rows = _in_parts(spline, parts)
    return quaternions, rows


def _in_parts(spline: TrackSpline, parts: int) -> tuple[Float64Array, IndexArray]:
    """Return the orientations at the keys and at points between them, and the rows of the keys."""
    keys = spline.frames.astype(np.float64)
    way = np.arange(parts) / parts
    frames = np.append(keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * way, keys[-1])
    return spline.spline(frames), np.arange(len(keys)) * parts


@record()
class Followed:
    """Samples of a rotation as channel values, continuous from each key to the next."""

    numbers: Float64Array
    """Channel values of the samples, shape (m, components)."""
    arriving: Float64Array
    """Channel values with which the samples arrive at each key, shape (keys, components)."""
    jumps: BoolArray
    """Mask of the keys at which the samples arrive with equivalent values that differ from the key's."""


def followed(track: Track, quaternions: Float64Array, raw: Float64Array, key_rows: IndexArray) -> Followed:
    """Convert samples to channel values without jumps between keys.

    `raw` contains the keys' channel values, and `key_rows` their rows among the samples.
    """
    convert = _signed if track.kind == "QUATERNION" else _unwrapped
    return convert(track, quaternions, raw, key_rows)


def _signed(_track: Track, quaternions: Float64Array, raw: Float64Array, key_rows: IndexArray) -> Followed:
    """Return the quaternions with signs that match the keys."""
    jumps, arriving = np.zeros(len(raw), dtype=np.bool_), raw.copy()
    chain = rotations.unroll_signs(quaternions)
    signs = np.where(np.einsum("ij,ij->i", chain[key_rows], raw) < 0, -1.0, 1.0)
    jumps[1:] = signs[1:] != signs[:-1]
    if not jumps.any():
        return Followed(chain * signs[0], arriving, jumps)
    arriving[jumps] *= -1.0
    segment = np.clip(np.searchsorted(key_rows, np.arange(len(chain)), side="right") - 1, 0, None)
    return Followed(chain * signs[segment, np.newaxis], arriving, jumps)


def _unwrapped(track: Track, quaternions: Float64Array, raw: Float64Array, key_rows: IndexArray) -> Followed:
    """Unwrap the angles after each key, starting from the key's values."""
    jumps, arriving = np.zeros(len(raw), dtype=np.bool_), raw.copy()
    first = int(key_rows[0])
    chain = _follow(track, quaternions[first:], raw[0])
    if first:
        before = _follow(track, quaternions[first::-1], raw[0])[::-1]
        chain = np.concatenate((before[:-1], chain))
    last_jump, end = 0, len(raw)
    for key in range(1, len(raw)):
        if key == end:
            end = 2 * end - last_jump
            _follow_keys(track, quaternions, raw, key_rows, chain, last_jump, end)
        row = int(key_rows[key])
        jumps[key] = np.abs(chain[row] - _own_numbers(track, raw[key])).max() > JUMP
        if jumps[key]:
            arriving[key] = chain[row]
            # Following to the end of the track from each jump would be quadratic work.
            last_jump, end = key, key + 2
            _follow_keys(track, quaternions, raw, key_rows, chain, last_jump, end)
    return Followed(chain, arriving, jumps)


def _follow_keys(
    track: Track,
    quaternions: Float64Array,
    raw: Float64Array,
    key_rows: IndexArray,
    chain: Float64Array,
    start: int,
    end: int,
) -> None:
    """Fill `chain` with the samples from the key `start` to the last key before `end`, or to the end of the track."""
    rows = slice(int(key_rows[start]), int(key_rows[end - 1]) + 1 if end < len(raw) else None)
    chain[rows] = _follow(track, quaternions[rows], raw[start])


def _follow(track: Track, quaternions: Float64Array, start: Float64Array) -> Float64Array:
    if track.kind == "EULER":
        return rotations.follow_euler(quaternions, track.order, start)
    axes, angles = rotations.follow_axis_angle(quaternions, start[..., 1:], start[..., 0])
    return np.concatenate((angles[..., np.newaxis], axes), axis=-1)


def _own_numbers(track: Track, raw: Float64Array) -> Float64Array:
    """Return the values of a key, with a unit axis as in the samples."""
    if track.kind != "AXIS_ANGLE":
        return raw
    length = float(np.linalg.norm(raw[1:]))
    return np.concatenate((raw[:1], raw[1:] / length)) if length else raw


def other_turns(track: Track, frames: Float32Array) -> list[Finding]:
    """Return a note on keys where Euler angles jump. Jumps in signs and axes are not reported."""
    if track.kind != "EULER" or not len(frames):
        return []
    return [track.finding("EULER_OTHER_WAY", tuple(frames.tolist()))]
