# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluate segments of F-curves with any interpolation type from arrays of keys, including derivatives."""

from __future__ import annotations

import numpy as np

from ..records import record
from .bezier_segments import evaluate_beziers
from .easing import EasedSegments, progress
from .joined_keys import end_to_end
from .keyframes import INTERPOLATION, Float32Array, Float64Array, IndexArray, Keyframes


def evaluate(keys: Keyframes, begin: IndexArray, frames: Float64Array, nu: int = 0) -> Float64Array:
    """Return the values at the frames, or derivatives per frame (`nu` 1 or 2).

    `begin` contains the first key of each segment. The two keys of a segment must be at different frames.
    """
    interpolation = keys.interpolation[begin]
    evaluated = np.empty(len(frames))
    for kind in np.unique(interpolation).tolist():
        is_kind = interpolation == kind
        evaluated[is_kind] = _evaluate_kind(kind, keys, begin[is_kind], frames[is_kind], nu)
    return evaluated


def _evaluate_kind(kind: int, keys: Keyframes, begin: IndexArray, frames: Float64Array, nu: int) -> Float64Array:
    """Return values or derivatives of segments that all have the interpolation type `kind`."""
    if kind == INTERPOLATION["BEZIER"]:
        return evaluate_beziers(keys, begin, frames, nu)
    start = keys.co[begin].astype(np.float64)
    duration, change = (keys.co[begin + 1] - start).T
    back, amplitude, period = (
        getattr(keys, name)[begin].astype(np.float64) for name in ("back", "amplitude", "period")
    )
    segments = EasedSegments(change, duration, back, amplitude, period)
    t = (frames - start[:, 0]) / duration
    derivatives = progress(kind, keys.easing[begin], t, segments)
    evaluated: Float64Array = start[:, 1] + derivatives[0] if nu == 0 else derivatives[nu] / duration**nu
    return evaluated


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
        starts, ends = frames[rows].astype(np.float64), frames[rows + 1].astype(np.float64)
        return cls(starts, ends - starts, end_to_end(channels))

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return the channel values (nu = 0), or derivatives with respect to u, at u in [0, 1], shape (channels, m)."""
        segment_count = len(self.starts)
        channel_count = len(self.keys) // (2 * segment_count)
        frames = self.starts[segment] + u * self.lengths[segment]
        rows = segment + segment_count * np.arange(channel_count)[:, np.newaxis]
        values = evaluate(self.keys, 2 * rows.ravel(), np.tile(frames, channel_count), nu)
        return values.reshape(channel_count, -1) * self.lengths[segment] ** nu
