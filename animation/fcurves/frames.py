# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of key frames. Frames that differ only by rounding count as equal."""

from __future__ import annotations

import numpy as np

from ..memoize import memoized
from .keyframes import BoolArray, Float32Array, IndexArray

SAME_FRAME = 1e-3
"""Keys closer together than this, in frames, are at the same frame. The errors from moving a key in float32 are far
smaller, and Blender merges keys at ten times this distance."""
ONE_KEY = 0.0101
"""Minimum distance between keys, in frames. Blender replaces a key within 0.01 frames of a pasted or moved key."""
LAST_FRAME = 1_048_574
"""Blender's last frame."""


@memoized
def are_apart(frames: Float32Array) -> bool:
    """Return whether frames are finite, ascending and distinct."""
    return bool(np.isfinite(frames).all() and (np.diff(frames) > SAME_FRAME).all())


def union(arrays: list[Float32Array]) -> Float32Array:
    """Return the distinct frames of all arrays in ascending order."""
    # All channels usually have keys at the same frames.
    if arrays and len({frames.tobytes() for frames in arrays}) == 1 and are_apart(arrays[0]):
        return arrays[0].copy()
    frames = np.unique(np.concatenate(arrays)) if arrays else np.empty(0, dtype=np.float32)
    return frames[np.concatenate(([True], np.diff(frames) > SAME_FRAME))] if len(frames) else frames


def is_among(frames: Float32Array, among: Float32Array, within: float = SAME_FRAME) -> BoolArray:
    """Return a mask of the frames that are at most `within` frames away from a frame in the ascending array `among`."""
    if not len(among):
        return np.zeros(len(frames), dtype=np.bool_)
    row = np.clip(np.searchsorted(among, frames - np.float32(within)), 0, len(among) - 1)
    mask: BoolArray = np.abs(among[row] - frames) <= within
    return mask


def rows_of(frames: Float32Array, among: Float32Array) -> IndexArray:
    """Return the row of each frame in the ascending array `among`, which contains all of the frames."""
    return np.searchsorted(among, frames - np.float32(SAME_FRAME))


def matching_rows(frames: Float32Array, among: Float32Array) -> tuple[IndexArray, IndexArray]:
    """Return the rows of the frames that are in the ascending array `among`, and the matching rows of `among`."""
    rows = np.flatnonzero(is_among(frames, among))
    return rows, rows_of(frames[rows], among)
