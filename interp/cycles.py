# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of a motion that repeats outside its keys. Source: docs/formulas, "Cycles"."""

from __future__ import annotations

import numpy as np

from .keys import Float64Array


def wrapped_frames(frames: Float64Array, first: float, last: float) -> Float64Array:
    """Return frames wrapped into [first, last].

    Frames that are a whole number of periods away from the last key map to the last key.
    """
    is_outside = (frames < first) | (frames > last)
    if last == first or not is_outside.any():
        return frames
    period = last - first
    offsets = np.mod(frames - first, period)
    offsets[offsets == 0.0] = period
    # A rounded offset may lead past the last key.
    return np.where(is_outside, np.minimum(first + offsets, last), frames)


def wrapped_frame(frame: float, first: float, last: float) -> float:
    """Return `wrapped_frames` for one frame."""
    if last == first or first <= frame <= last:
        return frame
    return min(first + ((frame - first) % (last - first) or last - first), last)
