# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames at which a track is sampled, and the distances that frames need so that Blender does not merge keys."""

from __future__ import annotations

import math

import numpy as np

from ...fcurves.keyframes import ONE_KEY, Float32Array, IndexArray
from ...memoize import memoized
from ...records import record

GUARD = 1 / 32
"""Number of frames in which a channel returns to its start value at the end of a repeated cycle."""
APART = 0.0125
"""Minimum distance in frames. Blender merges keys closer than 0.01 frames, and may keep the sample instead of the
key."""


@record()
class Sampling:
    """Samples every `step` frames, counted from `origin`, in a range from `low` to `high` that includes the keys."""

    step: float
    origin: float
    low: float
    high: float

    def samples(self, keys: Float32Array, cycle: str, extrapolates: bool) -> Float32Array:
        """Return the frames of samples between and outside the keys, except frames close to a key.

        Outside the keys, samples cover the repeated cycles. If the cycle is SINGLE and a component `extrapolates`
        linearly, only one sample is added at each end of the range.
        """
        if len(keys) < 2:
            return keys[:0]
        first, last = float(keys[0]), float(keys[-1])
        frames = self._grid(first, last)
        if cycle != "SINGLE":
            frames = np.unique(np.concatenate((frames, self._outside(keys, cycle))))
        elif extrapolates:
            ends = np.array([self.low, self.high], dtype=np.float32)
            frames = np.unique(np.concatenate((frames, ends[(ends < first) | (ends > last)])))
        return away_from(frames, keys)

    @memoized
    def with_keys(self, keys: Float32Array, cycle: str, extrapolates: bool) -> Float32Array:
        """Return the frames of the keys and of the samples."""
        return np.sort(np.concatenate((thinned(keys, ONE_KEY), self.samples(keys, cycle, extrapolates))))

    def _outside(self, keys: Float32Array, cycle: str) -> Float32Array:
        """Return the sample frames of the cycles outside the keys, including the frames where cycles start."""
        first, last = float(keys[0]), float(keys[-1])
        low, high = self.low, self.high
        period = last - first
        turns = np.arange(math.floor((low - first) / period), math.ceil((high - first) / period) + 1)
        wraps = first + turns * period
        if cycle == "REPEAT":
            wraps = np.concatenate((wraps, wraps + GUARD))
        frames = np.unique(np.asarray(wraps[(wraps >= low) & (wraps <= high)], dtype=np.float32))
        # Omit frames that are too close to the start of a cycle or to an end of the range.
        for more in (np.array([low, high], dtype=np.float32), self._grid(low, high)):
            frames = np.unique(np.concatenate((frames, away_from(more, frames))))
        is_outside = ((frames < first) | (frames > last)) & (frames >= low) & (frames <= high)
        return frames[is_outside]

    def _grid(self, low: float, high: float) -> Float32Array:
        """Return the frames from `low` to `high`, both inclusive, that are a whole number of steps from the origin."""
        steps = np.arange(math.ceil((low - self.origin) / self.step), math.floor((high - self.origin) / self.step) + 1)
        return np.asarray(self.origin + steps * self.step, dtype=np.float32)


@memoized
def sampling_of(frames: Float32Array, step: float, extend: tuple[float, float] | None = None) -> Sampling:
    """Return the sampling of a track with keys at the frames. `extend` is the range to sample outside the keys.

    Samples are counted from the first key's frame, rounded down.
    """
    if not len(frames) or not np.isfinite(frames[[0, -1]]).all():
        return Sampling(step, origin=0.0, low=0.0, high=0.0)
    first, last = float(frames[0]), float(frames[-1])
    low, high = extend or (first, last)
    return Sampling(step, origin=math.floor(first), low=min(first, low), high=max(last, high))


def away_from(frames: Float32Array, keys: Float32Array) -> Float32Array:
    """Return the frames that are not close to a key. Both arrays are ascending."""
    away: Float32Array = frames[_distances(frames, keys) > APART]
    return away


def united(keys: list[Float32Array], others: list[Float32Array]) -> Float32Array:
    """Return the ascending union of all frames, except frames that Blender would merge with the previous frame.

    Frames in `others` that are too close to each other or to one of `keys` are omitted.
    """
    own = thinned(np.unique(np.concatenate(keys)), ONE_KEY)
    more = away_from(np.unique(np.concatenate(others)), own) if others else own[:0]
    return np.sort(np.concatenate((own, thinned(more, APART))))


def has_merged(frames: Float32Array) -> bool:
    """Return whether Blender would merge keys at these ascending frames."""
    return bool((np.diff(frames) <= ONE_KEY).any())


def thinned(frames: Float32Array, apart: float) -> Float32Array:
    """Return the ascending frames, except frames within `apart` of the previous remaining frame."""
    if (np.diff(frames) > apart).all():
        return frames
    remaining: list[float] = []
    for frame in frames.tolist():
        if not remaining or frame - remaining[-1] > apart:
            remaining.append(frame)
    return np.array(remaining, dtype=np.float32)


@memoized
def nearest_rows(frames: Float32Array, among: Float32Array) -> IndexArray:
    """Return, for each of the `frames`, the row of the closest frame in `among`, which is ascending."""
    if len(among) < 2:
        return np.zeros(len(frames), dtype=np.intp)
    after = np.clip(np.searchsorted(among, frames), 1, len(among) - 1)
    rows: IndexArray = after - (frames - among[after - 1] <= among[after] - frames)
    return rows


def _distances(frames: Float32Array, keys: Float32Array) -> Float32Array:
    """Return the distance from each frame to the nearest key, or infinity if there are no keys."""
    if not len(keys):
        return np.full(len(frames), np.inf, dtype=np.float32)
    at = np.clip(np.searchsorted(keys, frames), 1, len(keys) - 1) if len(keys) > 1 else np.zeros(len(frames), np.intp)
    distances: Float32Array = np.minimum(np.abs(frames - keys[at]), np.abs(frames - keys[at - 1]))
    return distances
