# SPDX-License-Identifier: GPL-3.0-or-later
"""Splines in runs of keys, between which values are held or go straight."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from . import linear, tcb
from .keys import PARAMETERS, FloatArray, Keys
from .orientations import OrientationSpline
from .segments import (
    BoolArray,
    Continuity,
    Curve,
    Cycle,
    IndexArray,
    Spline,
    Tracks,
    called,
    checked_choice,
    end_to_end,
)

EASE_TO, EASE_FROM = PARAMETERS.index("ease_to"), PARAMETERS.index("ease_from")


class PiecewiseSpline:
    """Splines one after the other; from the last key of each the value is held up to the next one's first key, or goes
    there in a line, by rotations about one axis.

    Each is a spline of its own: it ends at its last key as at the end of a track, whatever comes after. Ease counts
    within runs only.

    Parameters
    ----------
    runs : sequence of splines
        At least one, of one `batch` and cycle SINGLE, in order of frame.
    lines : array_like of bool, shape (len(runs) - 1,), or None
        After which runs it goes straight. None: values are held after all.
    cycle : "SINGLE" or "REPEAT"
        Whether all of it is played again and again outside its keys. There is no LOOP, since its ends are those of
        runs.

    Raises
    ------
    ValueError
        For splines that can't follow each other, and another cycle.

    >>> from interp import Keys, tcb
    >>> runs = [tcb.VectorSpline(Keys([0, 10], [0, 1])), tcb.VectorSpline(Keys([20, 30], [5, 6]))]
    >>> PiecewiseSpline(runs)([5, 10, 15, 20]).ravel()
    array([0.5, 1. , 1. , 5. ])
    >>> PiecewiseSpline(runs, [True])([5, 10, 15, 20]).ravel()
    array([0.5, 1. , 3. , 5. ])
    """

    loop_gap = 0.0

    def __init__(
        self, runs: Sequence[Spline], lines: npt.ArrayLike | None = None, cycle: Literal["SINGLE", "REPEAT"] = "SINGLE"
    ) -> None:
        checked_choice("cycle", cycle, ("SINGLE", "REPEAT"))
        self.cycle: Cycle = cycle
        self.runs = tuple(runs)
        if not self.runs:
            raise ValueError("a piecewise spline needs at least one run of keys")
        if len({run.batch for run in self.runs}) > 1 or any(run.cycle != "SINGLE" for run in self.runs):
            raise ValueError("all runs of a piecewise spline must be of one method and not cycle")
        self.lines = np.zeros(len(self.runs) - 1, dtype=np.bool_) if lines is None else np.asarray(lines, np.bool_)
        if self.lines.shape != (len(self.runs) - 1,):
            raise ValueError(f"lines must be one for each of {len(self.runs) - 1} gaps, not {self.lines.shape}")
        keys = [run.keys for run in self.runs]
        self.ends = np.cumsum([len(each) for each in keys]) - 1
        """The last key of each run."""
        parameters = np.concatenate([each.parameters for each in keys], axis=1)
        parameters[EASE_FROM, self.ends[:-1]] = parameters[EASE_TO, self.ends[:-1] + 1] = 0.0
        frames, values = (
            np.concatenate(arrays) for arrays in ([each.frames for each in keys], [each.values for each in keys])
        )
        self.keys = Keys(frames, values, *parameters)

    def __call__(self, frames: npt.ArrayLike, nu: int = 0) -> FloatArray:
        """Return values, or derivatives a frame, as the runs' own calls give them; a held value has derivative 0."""
        return called(self, frames, nu)

    @property
    def between(self) -> BoolArray:
        """Which keys end a run, so that the segment after them is of no spline; shape (n,)."""
        between = np.zeros(len(self.keys), dtype=np.bool_)
        between[self.ends] = True
        return between

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
        is_rotation = isinstance(runs[0], (OrientationSpline, tcb.RotationSpline))
        straight: Any = linear.RotationSpline if is_rotation else linear.VectorSpline
        lines = [straight(spline.keys) for spline in splines]
        is_between, is_line = (np.zeros(len(tracks.frames), dtype=np.bool_) for _ in range(2))
        for spline, first in zip(splines, tracks.first.tolist(), strict=True):
            is_between[first + spline.ends] = True
            is_line[first + spline.ends[:-1][spline.lines]] = True
        return _PiecewiseCurve(
            type(runs[0]).curve(runs, end_to_end(runs)),
            straight.curve(lines, tracks) if is_line.any() else None,
            is_between,
            is_line,
        )


@dataclass(frozen=True)
class _PiecewiseCurve:
    """Segments of runs, and those between them."""

    runs: Curve
    lines: Curve | None
    is_between: BoolArray
    is_line: BoolArray

    def evaluate(self, segment: IndexArray, u: FloatArray, nu: int) -> FloatArray:
        between, line = self.is_between[segment], self.is_line[segment]
        values = self.runs.evaluate(segment, np.where(between, 0.0, u), nu)
        if nu:
            values = np.where(between, 0.0, values)
        if self.lines is not None and line.any():
            values[:, line] = self.lines.evaluate(segment[line], u[line], nu)
        return values
