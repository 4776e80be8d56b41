# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples and keys of several tracks that are reduced together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array

Method = Literal["HERMITE", "TCB"]
"""Keys with velocities, or with tension, continuity and bias."""
Measure = Callable[[IndexArray, IndexArray, Float64Array], Float64Array]
"""A function that returns the errors (n,) of values (n, d) at rows (n,) of tracks (n,), relative to the limit."""

_HOLD = 4
"""The minimum number of frames with equal samples for a hold."""
_ROUNDING = 2.0**-19
"""The rounding of samples in a hold, relative to the largest sample. Files round angles to four decimals of a degree.

With less, the rounding in a motionless track would split it into many holds.
"""


@dataclass(frozen=True)
class Samples:
    """The samples of several tracks, one per frame.

    Attributes
    ----------
    values : ndarray, shape (tracks, frames, d)
    measure : Measure
        The function that measures the errors of values.
    parts : list of (slice, bool)
        The columns of each property, and whether the property is a rotation.
    ends : ndarray, shape (tracks, 2, d), or None
        The velocities of the first and last keys, which then have the values of the samples. NaN marks an end that is
        free in all tracks.
    method : "HERMITE" or "TCB"
        The type of the keys.
    """

    values: Float64Array
    measure: Measure
    parts: list[tuple[slice, bool]]
    ends: Float64Array | None = None
    method: Method = "HERMITE"

    @property
    def count(self) -> int:
        """Return the number of frames."""
        return int(self.values.shape[1])

    @cached_property
    def held(self) -> BoolArray:
        """Return a mask (tracks, frames) of keys that keep their value and velocity, at holds and at given ends."""
        is_held = self.holds.copy()
        for row, velocities in self.given_ends:
            is_held[:, row] |= ~np.isnan(velocities).any(axis=1)
        return is_held

    @property
    def given_ends(self) -> list[tuple[int, Float64Array]]:
        """Return the rows of both ends, with the velocities (tracks, d) there. Keys with tension have none."""
        if self.ends is None or self.method == "TCB":
            return []
        return [(0, self.ends[:, 0]), (self.count - 1, self.ends[:, 1])]

    @cached_property
    def holds(self) -> BoolArray:
        """Return a mask (tracks, frames) of the starts and ends of holds, where keys have zero velocity."""
        is_edge = np.zeros(self.values.shape[:2], dtype=np.bool_)
        size = np.abs(self.values).max(axis=(1, 2), initial=0.0)
        is_flat = (np.abs(np.diff(self.values, axis=1)) <= _ROUNDING * size[:, np.newaxis, np.newaxis]).all(axis=2)
        # 1 at the start of each run of flat frames, and -1 at its end.
        changes = np.diff(np.pad(is_flat, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        tracks, first = np.nonzero(changes == 1)
        last = np.nonzero(changes == -1)[1]
        is_hold = last - first >= _HOLD
        is_edge[tracks[is_hold], first[is_hold]] = is_edge[tracks[is_hold], last[is_hold]] = True
        return is_edge


@dataclass
class KeySet:
    """Keys of several tracks in order of track and row, or windows of m consecutive keys.

    Keys beyond the end of a track repeat its last row and have no effect.
    """

    track: IndexArray
    """The track of each key or window, shape (n,)."""
    rows: IndexArray
    """Rows of the samples, shape (n,) or (n, m)."""
    values: Float64Array
    """The values of keys, shape (n, d) or (n, m, d)."""
    velocities: Float64Array
    """Velocities in units per frame, with the shape of `values`."""

    def take(self, chosen: BoolArray | IndexArray | tuple[IndexArray, ...]) -> KeySet:
        """Return a subset of the keys or windows."""
        return KeySet(self.track[chosen], self.rows[chosen], self.values[chosen], self.velocities[chosen])

    def bounds(self) -> tuple[IndexArray, IndexArray]:
        """Return the indices of the first and last keys of each key's track."""
        first = np.searchsorted(self.track, self.track, side="left")
        last = np.searchsorted(self.track, self.track, side="right") - 1
        return first, last

    def windows(self, indices: IndexArray) -> KeySet:
        """Return the windows that consist of the keys at some indices (n, m)."""
        return KeySet(self.track[indices[:, 0]], self.rows[indices], self.values[indices], self.velocities[indices])

    def put(self, indices: IndexArray, fitted: KeySet, free: BoolArray) -> None:
        """Replace the keys at some indices (n, m) with the keys of fitted windows, where the mask `free` is true."""
        replaced = indices[free]
        self.rows[replaced] = fitted.rows[free]
        self.values[replaced] = fitted.values[free]
        self.velocities[replaced] = fitted.velocities[free]
