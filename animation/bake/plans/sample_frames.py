# SPDX-License-Identifier: GPL-3.0-or-later
"""At which frames a track is sampled."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...fcurves.memoize import remembered

Frames = npt.NDArray[np.float32]

GUARD = 1 / 32
"""Frames. How close to a key a held sample stands where a channel has to jump: within it, motion blur sees the jump."""
PICKED = 0.5
"""Frames. Keys nearer than this can't be picked apart in the Dope Sheet."""
APART = 0.0125
"""Frames. Blender takes keys nearer than 0.01 frame as one, and may keep the sample of the two."""


@dataclass(frozen=True)
class Sampling:
    """Samples every `step` frames, counted from `origin`; over `start` to `end`, or over each track's keys."""

    step: float
    origin: float
    start: float | None = None
    end: float | None = None

    @remembered
    def count(self, keys: Frames, cycle: str) -> float:
        """About how many samples a channel with these keys would get; 0 where they make no track."""
        if not np.isfinite(keys).all():
            return 0.0
        first, last = float(keys[0]), float(keys[-1])
        frames = float(np.diff(keys)[self.segments(keys)[:-1]].sum(dtype=np.float64))
        seams = 0.0
        if cycle != "SINGLE" and last > first:
            low, high = self.bounds(first, last)
            outside = max(0.0, first - low) + max(0.0, high - last)
            frames += outside
            seams = 2 * outside / (last - first)
        return frames / self.step + seams

    @remembered
    def cycled(self, keys: Frames, cycle: str) -> float:
        """About how many Bezier keys the cycles outside a channel's keys would come to."""
        first, last = float(keys[0]), float(keys[-1])
        if not np.isfinite(keys).all() or cycle == "SINGLE" or last <= first:
            return 0.0
        low, high = self.bounds(first, last)
        return len(keys) * (max(0.0, first - low) + max(0.0, high - last)) / (last - first)

    def bounds(self, first: float, last: float) -> tuple[float, float]:
        """The range, or where there is none that of the keys."""
        return (first if self.start is None else self.start), (last if self.end is None else self.end)

    @remembered
    def segments(self, keys: Frames) -> npt.NDArray[np.bool_]:
        """Of the segments that start at each key (the last key has none: False) those that the range touches.

        Whole segments are baked: half a segment would bend the other half.
        """
        low, high = self.bounds(float(keys[0]), float(keys[-1]))
        touched = np.zeros(len(keys), dtype=np.bool_)
        touched[:-1] = (keys[1:] > low) & (keys[:-1] < high)
        return touched

    def touches(self, keys: Frames, cycle: str) -> bool:
        """Whether there is anything to bake: a segment, or cycles beyond the keys."""
        return bool(self.segments(keys).any()) or cycle != "SINGLE"

    @remembered
    def samples(self, keys: Frames, baked: npt.NDArray[np.bool_], cycle: str) -> Frames:
        """The frames to sample where the segments after the keys `baked` are to be: never at a key.

        Unless the cycle is SINGLE, it goes on beyond the keys.
        """
        inside = np.empty(0, dtype=np.float32)
        if baked.any():
            inside = self._grid(float(keys[0]), float(keys[-1]))
            if not baked[:-1].all():
                inside = inside[baked[np.clip(np.searchsorted(keys, inside, side="right") - 1, 0, None)]]
        if cycle != "SINGLE" and len(keys) > 1:
            inside = np.unique(np.concatenate((inside, self._beyond(keys, cycle))))
        return away_from(inside, keys)

    def _beyond(self, keys: Frames, cycle: str) -> Frames:
        """Samples of the cycles outside the keys, those where a new cycle starts among them."""
        first, last = float(keys[0]), float(keys[-1])
        low, high = self.bounds(first, last)
        period = last - first
        turns = np.arange(math.floor((low - first) / period), math.ceil((high - first) / period) + 1)
        wraps = first + turns * period
        if cycle == "REPEAT":
            wraps = np.concatenate((wraps, wraps + GUARD))
        every = np.unique(np.asarray(wraps, dtype=np.float32))
        # What lies too near to where a cycle starts, or a range ends, is left out.
        for more in (np.array([low, high], dtype=np.float32), self._grid(low, high)):
            every = np.unique(np.concatenate((every, away_from(more, every))))
        outside = ((every < first) | (every > last)) & (every >= low) & (every <= high)
        return every[outside]

    def _grid(self, low: float, high: float) -> Frames:
        steps = np.arange(math.ceil((low - self.origin) / self.step), math.floor((high - self.origin) / self.step) + 1)
        return np.asarray(self.origin + steps * self.step, dtype=np.float32)


def away_from(frames: Frames, keys: Frames) -> Frames:
    """Those of the frames near which no key stands; both ascend."""
    apart: Frames = frames[_gap(frames, keys) > APART]
    return apart


def is_near(frames: Frames, keys: Frames) -> npt.NDArray[np.bool_]:
    """Which of the frames are so near to a key that nobody could pick the two apart."""
    near: npt.NDArray[np.bool_] = _gap(frames, keys) < PICKED
    return near


@remembered
def hosts(frames: Frames, held: npt.NDArray[np.bool_], own: Frames) -> npt.NDArray[np.intp] | None:
    """The keys that take the place of those to be generated at `frames` where these would stand too near to them.

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
            host[last], last = len(own) + row, row
        else:
            host[row] = len(own) + last
    if near.any():
        host[near] = np.abs(frames[near, np.newaxis] - own).argmin(axis=1)
    return host


def _gap(frames: Frames, keys: Frames) -> Frames:
    """How far the nearest key is from each frame."""
    at = np.clip(np.searchsorted(keys, frames), 1, len(keys) - 1) if len(keys) > 1 else np.zeros(len(frames), np.intp)
    gap: Frames = np.minimum(np.abs(frames - keys[at]), np.abs(frames - keys[at - 1]))
    return gap
