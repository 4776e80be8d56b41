# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames at which a track is sampled."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...fcurves.keyframes import Float32Array
from ...memoize import memoized
from ...records import record

GUARD = 1 / 32
"""Frames between a CONSTANT sample and the key after it, where a channel must jump: motion blur shows the jump in
between."""
PICKED = 0.5
"""Frames. Keys closer than this can't be selected separately in the Dope Sheet."""
APART = 0.0125
"""Frames. Blender merges keys closer than 0.01 frame, and may keep the sample of the two."""


@record()
class Sampling:
    """Samples every `step` frames, counted from `origin`; from `start` to `end`, or over each track's keys."""

    step: float
    origin: float
    start: float | None = None
    end: float | None = None

    def bounds(self, first: float, last: float) -> tuple[float, float]:
        """Return the range, or by default that of the keys."""
        return (first if self.start is None else self.start), (last if self.end is None else self.end)

    def segments(self, keys: Float32Array) -> npt.NDArray[np.bool_]:
        """Return which segments, after each key (False for the last key), the range touches.

        Whole segments are baked: to bake half of one would change the other half.
        """
        if self._is_whole:
            every = np.ones(len(keys), dtype=np.bool_)
            every[-1:] = False
            return every
        return self._segments_in_range(keys)

    @property
    def _is_whole(self) -> bool:
        """Return whether all keys are in the range."""
        return self.start is None and self.end is None

    @memoized
    def _segments_in_range(self, keys: Float32Array) -> npt.NDArray[np.bool_]:
        low, high = self.bounds(float(keys[0]), float(keys[-1]))
        touched = np.zeros(len(keys), dtype=np.bool_)
        touched[:-1] = (keys[1:] > low) & (keys[:-1] < high)
        return touched

    def touches(self, keys: Float32Array, cycle: str) -> bool:
        """Return whether there is anything to bake: a segment, or cycles outside the keys."""
        return cycle != "SINGLE" or (len(keys) > 1 if self._is_whole else bool(self.segments(keys).any()))

    @memoized
    def samples(self, keys: Float32Array, baked: npt.NDArray[np.bool_], cycle: str) -> Float32Array:
        """Return the frames of samples in the segments that are `baked`; there is none at a key.

        Unless the cycle is SINGLE, samples continue outside the keys.
        """
        inside = np.empty(0, dtype=np.float32)
        if baked.any():
            inside = self._grid(float(keys[0]), float(keys[-1]))
            if not baked[:-1].all():
                inside = inside[baked[np.clip(np.searchsorted(keys, inside, side="right") - 1, 0, None)]]
        if cycle != "SINGLE" and len(keys) > 1:
            inside = np.unique(np.concatenate((inside, self._beyond(keys, cycle))))
        return away_from(inside, keys)

    def _beyond(self, keys: Float32Array, cycle: str) -> Float32Array:
        """Return the samples of the cycles outside the keys, with the frames at which cycles start."""
        first, last = float(keys[0]), float(keys[-1])
        low, high = self.bounds(first, last)
        period = last - first
        turns = np.arange(math.floor((low - first) / period), math.ceil((high - first) / period) + 1)
        wraps = first + turns * period
        if cycle == "REPEAT":
            wraps = np.concatenate((wraps, wraps + GUARD))
        every = np.unique(np.asarray(wraps[(wraps >= low) & (wraps <= high)], dtype=np.float32))
        # What lies too near to where a cycle starts, or a range ends, is left out.
        for more in (np.array([low, high], dtype=np.float32), self._grid(low, high)):
            every = np.unique(np.concatenate((every, away_from(more, every))))
        outside = ((every < first) | (every > last)) & (every >= low) & (every <= high)
        return every[outside]

    def _grid(self, low: float, high: float) -> Float32Array:
        steps = np.arange(math.ceil((low - self.origin) / self.step), math.floor((high - self.origin) / self.step) + 1)
        return np.asarray(self.origin + steps * self.step, dtype=np.float32)


def away_from(frames: Float32Array, keys: Float32Array) -> Float32Array:
    """Return those of the frames that are not close to a key; both ascend."""
    apart: Float32Array = frames[_gap(frames, keys) > APART]
    return apart


def is_near(frames: Float32Array, keys: Float32Array) -> npt.NDArray[np.bool_]:
    """Return which of the frames are so close to a key that the two can't be selected separately."""
    near: npt.NDArray[np.bool_] = _gap(frames, keys) < PICKED
    return near


@memoized
def hosts(frames: Float32Array, held: npt.NDArray[np.bool_], own: Float32Array) -> npt.NDArray[np.intp] | None:
    """Return the keys that replace generated ones at `frames`, where these would be too close to them.

    Returns
    -------
    For each frame -1 where it stays; or the number of the animator's key, which stand at the frames `own`, or, counted
    on from these, of the other frame. Of two frames a `held` one stays. None: all stay.
    """
    alone = bool((np.diff(frames) > APART).all())
    near = _gap(frames, own) <= APART if len(own) else np.zeros(len(frames), dtype=np.bool_)
    if alone and not near.any():
        return None
    host = np.full(len(frames), -1, dtype=np.intp)
    last = -1
    for row in np.flatnonzero(~near).tolist():
        if last < 0 or frames[row] - frames[last] > APART:
            last = row
        elif held[row] and not held[last]:
            host[host == len(own) + last] = len(own) + row
            host[last], last = len(own) + row, row
        else:
            host[row] = len(own) + last
    if near.any():
        host[near] = np.abs(frames[near, np.newaxis] - own).argmin(axis=1)
    return host


def _gap(frames: Float32Array, keys: Float32Array) -> Float32Array:
    """Return the distance of the nearest key from each frame; infinite where there is no key."""
    if not len(keys):
        return np.full(len(frames), np.inf, dtype=np.float32)
    at = np.clip(np.searchsorted(keys, frames), 1, len(keys) - 1) if len(keys) > 1 else np.zeros(len(frames), np.intp)
    gap: Float32Array = np.minimum(np.abs(frames - keys[at]), np.abs(frames - keys[at - 1]))
    return gap
