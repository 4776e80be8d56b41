# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class for rotation tracks that solve equations. Without a solution, the constructor raises an error."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

from ..batch import Curve, Cycle, KeyBatch, end_to_end
from ..keys import Keys
from . import sphere
from .rotation_vectors import TurningSpline

if TYPE_CHECKING:
    from typing import Self


class SolvedSpline(TurningSpline):
    """A `TurningSpline` that solves equations.

    Attributes
    ----------
    certain_turn : float
        A solution exists if no turn from key to key is larger than this angle in radians.

    Raises
    ------
    KeysError
        If `TurningSpline` raises it, or no solution is found.
    """

    certain_turn: ClassVar[float]

    @classmethod
    def from_turns(cls, *turns: Any, **options: Any) -> Self:
        """Create the spline from keys given as turns. See `TurningSpline.from_turns`."""
        spline = super().from_turns(*turns, **options)
        spline.check()
        return spline

    @classmethod
    def from_walk(cls, keys: Keys, walk: npt.ArrayLike, cycle: Cycle = "SINGLE", **options: Any) -> Self:
        """Create the spline from orientations and the rotation between them. See `TurningSpline.from_walk`."""
        spline = super().from_walk(keys, walk, cycle, **options)
        spline.check()
        return spline

    def check(self) -> None:
        """Raise KeysError if there is no solution."""
        if sphere.length(self.turns([self], end_to_end([self])).onward).max() > self.certain_turn:
            _ = self.prepared

    @classmethod
    @abstractmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Curve:
        """Return the segments of all splines."""
