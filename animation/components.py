# SPDX-License-Identifier: GPL-3.0-or-later
"""A rotation's samples in the numbers that its channels hold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..interp import rotations
from .tracks import Track

Float64Array = npt.NDArray[np.float64]

_ARRIVES = 1e-3
"""Radians, or the same part of a unit quaternion. A channel that comes to a key farther off than this jumps there."""


def followed(
    track: Track, quaternions: Float64Array, raw: Float64Array, key_rows: npt.NDArray[np.intp]
) -> tuple[Float64Array, npt.NDArray[np.bool_]]:
    """The samples in the track's own components, going on from each key's own numbers without a jump; and for each
    key whether they arrive there with other numbers than the key's."""
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
        jumps[key] = np.abs(chain[row] - _own_numbers(track, raw[key])).max() > _ARRIVES
        if jumps[key]:
            chain[row:] = _follow(track, quaternions[row:], raw[key])
    return chain, jumps


def _follow(track: Track, quaternions: Float64Array, start: Float64Array) -> Float64Array:
    if track.kind == "EULER":
        return rotations.follow_euler(quaternions, track.order, start)
    axes, angles = rotations.follow_axis_angle(quaternions, start[1:], start[0])
    return np.concatenate((angles[:, np.newaxis], axes), axis=1)


def _own_numbers(track: Track, raw: Float64Array) -> Float64Array:
    """An axis may have any length; samples have unit axes."""
    if track.kind != "AXIS_ANGLE":
        return raw
    length = float(np.linalg.norm(raw[1:]))
    return np.concatenate((raw[:1], raw[1:] / length)) if length else raw
