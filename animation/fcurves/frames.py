# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of key frames; frames that differ only by rounding are the same."""

from __future__ import annotations

import numpy as np

from ..memoize import memoized
from .keyframes import BoolArray, Float32Array, IndexArray

SAME_FRAME = 1e-3
"""Frames. Keys nearer than this are at one frame: far above the float32 error of moving a key, and a tenth of the
distance below which Blender takes two keys as one."""
ONE_KEY = 0.0101
"""Frames. Blender replaces a key with one that is pasted or moved within 0.01 of it."""
LAST_FRAME = 1_048_574
"""Blender's last frame."""


@memoized
def are_apart(frames: Float32Array) -> bool:
    """Return whether frames ascend, are finite, and no two of them are the same."""
    return bool(np.isfinite(frames).all() and (np.diff(frames) > SAME_FRAME).all())


def union(arrays: list[Float32Array]) -> Float32Array:
    """Return the frames of all arrays, each once, ascending."""
    # Mostly all channels are keyed together.
    if arrays and len({frames.tobytes() for frames in arrays}) == 1 and are_apart(arrays[0]):
        return arrays[0].copy()
    frames = np.unique(np.concatenate(arrays)) if arrays else np.empty(0, dtype=np.float32)
    return frames[np.concatenate(([True], np.diff(frames) > SAME_FRAME))] if len(frames) else frames


def is_among(frames: Float32Array, own: Float32Array, within: float = SAME_FRAME) -> BoolArray:
    """Return which of the frames are among `own`, which ascend; as near as `within`, in frames."""
    if not len(own):
        return np.zeros(len(frames), dtype=np.bool_)
    row = np.clip(np.searchsorted(own, frames - np.float32(within)), 0, len(own) - 1)
    among: BoolArray = np.abs(own[row] - frames) <= within
    return among


def rows_at(own: Float32Array, frames: Float32Array) -> tuple[IndexArray, IndexArray]:
    """Return the rows of the frames that are among `own`, which ascend, and the rows of these in `own`."""
    at = np.flatnonzero(is_among(frames, own))
    return at, np.searchsorted(own, frames[at] - np.float32(SAME_FRAME))


def rows_of(own: Float32Array, frames: Float32Array) -> IndexArray:
    """Return the rows of the `own` frames in `frames`, which ascend and have all of `own` among them."""
    return np.searchsorted(frames, own - np.float32(SAME_FRAME))
