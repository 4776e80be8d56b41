# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectorized evaluation of F-curve segments with any interpolation type, including derivatives.

Segments are evaluated in float64 from arrays of keys, without F-curves.
"""

from __future__ import annotations

import numpy as np

from ..records import record
from . import beziers, easing
from .keyframes import INTERPOLATION, Float32Array, Float64Array, IndexArray, Keyframes, end_to_end


@record(eq=False)
class ChannelSegments:
    """A track's segments played by Blender, which `interp.PiecewiseSpline` uses between its splines.

    Attributes
    ----------
    starts, lengths : arrays, shape (n,)
        Start frame, and duration in frames (greater than 0). A segment may be part of a segment between two of the
        channel's own keys.
    keys : Keyframes
        The two keys around each segment, 2 n rows per channel, one channel after another.
    """

    starts: Float64Array
    lengths: Float64Array
    keys: Keyframes

    @classmethod
    def between(cls, frames: Float32Array, rows: IndexArray, channels: list[Keyframes]) -> ChannelSegments:
        """Create the segments that begin at these rows of `frames`, from each channel's pairs of keys."""
        at = frames.astype(np.float64)
        return cls(at[rows], at[rows + 1] - at[rows], end_to_end(channels))

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return the channel values (nu = 0), or derivatives with respect to u, at u in [0, 1], shape (channels, m)."""
        count = len(self.starts)
        channels = len(self.keys) // (2 * count)
        frames = self.starts[segment] + u * self.lengths[segment]
        rows = segment + count * np.arange(channels)[:, np.newaxis]
        values = evaluate(self.keys, 2 * rows.ravel(), np.tile(frames, channels), nu)
        return values.reshape(channels, -1) * self.lengths[segment] ** nu


def evaluate(keys: Keyframes, begin: IndexArray, frames: Float64Array, nu: int = 0) -> Float64Array:
    """Return the values at the frames, or derivatives per frame (`nu` 1 or 2).

    `begin` contains the first key of each segment. The two keys of a segment must be at different frames.
    """
    kinds = keys.interpolation[begin]
    result = np.empty(len(frames))
    for kind in np.unique(kinds).tolist():
        is_kind = kinds == kind
        result[is_kind] = _of_kind(kind, keys, begin[is_kind], frames[is_kind], nu)
    return result


def _of_kind(kind: int, keys: Keyframes, begin: IndexArray, frames: Float64Array, nu: int) -> Float64Array:
    """Return values or derivatives of segments that all have the interpolation type `kind`."""
    if kind == INTERPOLATION["BEZIER"]:
        return beziers.evaluate(keys, begin, frames, nu)
    start = keys.co[begin].astype(np.float64)
    duration, change = (keys.co[begin + 1] - start).T
    numbers = (getattr(keys, name)[begin].astype(np.float64) for name in ("back", "amplitude", "period"))
    t = (frames - start[:, 0]) / duration
    progress = easing.progress(kind, keys.easing[begin], t, easing.Segments(change, duration, *numbers))
    result: Float64Array = start[:, 1] + progress[0] if nu == 0 else progress[nu] / duration**nu
    return result
