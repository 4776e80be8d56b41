# SPDX-License-Identifier: GPL-3.0-or-later
"""Splines in runs of keys, between which values are held."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .keys import FloatArray, Keys
from .segments import BoolArray, Continuity, Curve, Cycle, IndexArray, Spline, Tracks, called, end_to_end


class SteppedSpline:
    """Splines one after the other; from the last key of each the value is held up to the next one's first key.

    Each is a spline of its own: it ends at its last key as at the end of a track, whatever comes after.

    Parameters
    ----------
    runs : sequence of splines
        At least one, of one `batch` and cycle SINGLE, in order of frame.

    Raises
    ------
    ValueError
        For splines that can't follow each other.

    >>> from interp import Keys, tcb
    >>> runs = [tcb.VectorSpline(Keys([0, 10], [0, 1])), tcb.VectorSpline(Keys([20, 30], [5, 6]))]
    >>> SteppedSpline(runs)([5, 10, 19.9, 20]).ravel()
    array([0.5, 1. , 1. , 5. ])
    """

    cycle: Cycle = "SINGLE"
    loop_gap = 0.0

    def __init__(self, runs: Sequence[Spline]) -> None:
        self.runs = tuple(runs)
        if not self.runs:
            raise ValueError("a stepped spline needs at least one run of keys")
        if len({run.batch for run in self.runs}) > 1 or any(run.cycle != "SINGLE" for run in self.runs):
            raise ValueError("all runs of a stepped spline must be of one method and not cycle")
        keys = [run.keys for run in self.runs]
        self.keys = Keys(
            np.concatenate([each.frames for each in keys]),
            np.concatenate([each.values for each in keys]),
            *np.concatenate([each.parameters for each in keys], axis=1),
        )

    def __call__(self, frames: npt.ArrayLike, nu: int = 0) -> FloatArray:
        """Return values, or derivatives a frame, as the runs' own calls give them; a held value has derivative 0."""
        return called(self, frames, nu)

    @cached_property
    def held(self) -> BoolArray:
        """Which keys end a run, so that their values are held, shape (n,)."""
        held = np.zeros(len(self.keys), dtype=np.bool_)
        held[np.cumsum([len(run.keys) for run in self.runs]) - 1] = True
        return held

    @property
    def batch(self) -> Hashable:
        return type(self), self.runs[0].batch

    @property
    def derivatives(self) -> int:
        return self.runs[0].derivatives

    @property
    def continuity(self) -> Continuity:
        """Within runs."""
        return self.runs[0].continuity

    @property
    def reach(self) -> int | None:
        return self.runs[0].reach

    @property
    def meets_keys(self) -> bool:
        return self.runs[0].meets_keys

    @property
    def is_cubic(self) -> bool:
        return self.runs[0].is_cubic

    @property
    def notes(self) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(note for run in self.runs for note in getattr(run, "notes", ())))

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: Tracks) -> Curve:
        """Return the segments of all splines, those between runs among them."""
        runs = [run for spline in splines for run in spline.runs]
        held = np.concatenate([spline.held for spline in splines])
        return _HeldCurve(type(runs[0]).curve(runs, end_to_end(runs)), held)


@dataclass(frozen=True)
class _HeldCurve:
    """Segments of runs, and those that begin at the last key of each and hold its value."""

    curve: Curve
    held: BoolArray

    def evaluate(self, segment: IndexArray, u: FloatArray, nu: int) -> FloatArray:
        holds = self.held[segment]
        values = self.curve.evaluate(segment, np.where(holds, 0.0, u), nu)
        return np.where(holds, 0.0, values) if nu else values
