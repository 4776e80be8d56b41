# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class of tracks of numbers: every component is a spline by itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Self

import numpy.typing as npt

from .batch import Continuity, Curve, Cycle, KeyBatch, checked_cycle, checked_keys, evaluate_one
from .keys import Float64Array, Keys


class ComponentSpline(ABC):
    """A track of numbers.

    Parameters
    ----------
    keys : Keys
        Values of shape (n, d).
    cycle : "SINGLE", "REPEAT" or "LOOP"
        Outside the keys: hold the end values; repeat the motion; repeat it, smooth across the seam.
    """

    derivatives = 2
    interpolating = True
    is_cubic: bool
    continuity: Continuity
    support: int | None

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE") -> None:
        self.keys = checked_keys(keys)
        self.cycle = checked_cycle(cycle)

    def __call__(self, frames: npt.ArrayLike, nu: int = 0) -> Float64Array:
        """Evaluate, as `tcb.VectorSpline` does: values, or derivatives a frame with nu = 1 or 2."""
        return evaluate_one(self, frames, nu)

    @property
    def loop_gap(self) -> float:
        """Return the distance from the last key's value to the first's: 0 for a closed loop."""
        return math.hypot(*(self.keys.values[-1] - self.keys.values[0]).tolist())

    @property
    def batch(self) -> Hashable:
        """Return the identifier of the batch: tracks with the same number of components are computed together."""
        return type(self), self.keys.values.shape[1]

    @classmethod
    @abstractmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Curve:
        """Return the segments of all splines."""
