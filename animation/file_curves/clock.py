# SPDX-License-Identifier: GPL-3.0-or-later
"""The conversion of a file's times to frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...formats.curve import Curve
from ...formats.motion import NodeMotion, Track
from ...interp.keys import Float64Array

Evaluate = Callable[[Float64Array], Float64Array]
"""A function from frames (m,) to values (m, d) or quaternions (m, 4)."""
_WHOLE_FRAME = 1e-4
"""Distance in frames. Keys within this distance of a whole frame snap to the whole frame."""
_SAME_RATE = 1e-4
"""Relative difference from the scene's frame rate that is only rounding."""
_SAME_START = 2e-3
"""Tolerance, in frames, for a start at a whole frame."""


@dataclass(frozen=True)
class Clock:
    """The conversion of times to frames: `rate` frames per second, and the frame of second 0."""

    rate: float
    start: float

    @classmethod
    def find(cls, pairs: Sequence[tuple[NodeMotion, Float64Array]], scene_rate: float) -> Clock | None:
        """Return the conversion of the first and last times of motions to the first and last frames of F-curve keys.

        `pairs` contains motions with the frames of their keys. Return None if there are none.
        """
        spans = []
        for motion, frames in pairs:
            times = np.concatenate([track.times for track in motion.tracks.values()])
            spans.append((times.min(), times.max(), frames.min(), frames.max()))
        if not spans:
            return None
        begin, end, first, last = np.array(spans).T
        has_length = end > begin
        rates = (last - first)[has_length] / (end - begin)[has_length]
        rate = float(np.median(rates)) if has_length.any() else scene_rate
        if not rate > 0.0 or abs(rate / scene_rate - 1.0) < _SAME_RATE:
            rate = scene_rate
        start = float(np.median(first - rate * begin))
        whole = round(start)
        return cls(rate, float(whole) if abs(start - whole) < _SAME_START else start)

    def frames(self, times: Float64Array) -> Float64Array:
        """Return frames as Blender stores them, snapped to whole frames because files store times as float32."""
        frames = times * self.rate + self.start
        whole = np.round(frames)
        snapped = np.where(np.abs(frames - whole) < _WHOLE_FRAME, whole, frames)
        return np.asarray(snapped, np.float32).astype(np.float64)

    def evaluated(self, track: Track) -> Evaluate:
        """Return the track as a function of frames that is exact at keys."""
        keys = self.frames(track.times)

        def evaluate(frames: Float64Array) -> Float64Array:
            # Key frames are rounded. Using only the rate could delay a step slightly.
            return track.evaluate(np.interp(frames, keys, track.times))

        return evaluate

    def curve(self, curve: Curve) -> Curve:
        """Convert a curve over seconds to a curve over frames."""
        slopes = {name: getattr(curve, name) / self.rate for name in ("arriving", "leaving")}
        return replace(curve, times=self.frames(curve.times), **slopes)
