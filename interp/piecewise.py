# SPDX-License-Identifier: GPL-3.0-or-later
"""Piecewise splines: runs of keys with one spline each, and other curves between the runs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from .arguments import checked_choice
from .base_spline import BaseSpline, Curve, Spline, checked_splines, end_to_end
from .key_batch import BoolArray, IndexArray, KeyBatch
from .keys import PARAMETERS, Float64Array, Keys
from .rotations import sphere
from .rotations.representations import RotationRepresentation, angular_motion, rotation_representation

if TYPE_CHECKING:
    from typing import Self

EASE_TO, EASE_FROM = PARAMETERS.index("ease_to"), PARAMETERS.index("ease_from")
_NO_LENGTH = np.array([[0.0], [1.0], [0.0], [0.0]])
"""The rotation that Blender plays for a quaternion of length 0."""


class PiecewiseSpline(BaseSpline):
    """A sequence of splines, connected by other curves or held values.

    Each run is an independent spline whose last key is the end of a track. Ease has an effect only within runs.
    Extrapolation continues the first and last runs. A run of a single key is held.

    Parameters
    ----------
    runs : sequence of splines
        At least one spline, in order of frame. All runs have the same `batch` and the cycle SINGLE.
    between : Curve, or None
        The curve after each run except the last, with one segment per run and derivatives up to the second. If None,
        the values are held.
    representation : str, or None
        The representation of rotations in the channels that `between` evaluates. See `rotation_representation`.
    cycle : "SINGLE" or "REPEAT"
        The motion outside the keys. LOOP is not available, because the first and last keys are ends of runs.
    gaps : array_like of int, or None
        The keys, counted through all runs, after which `between` plays. Keys within runs are allowed, so consecutive
        segments of `between` do not need runs of one key. If None, these are the last keys of all runs except the last
        run.

    Raises
    ------
    ValueError
        If the splines cannot follow each other, or the cycle is neither SINGLE nor REPEAT.

    >>> from tcb_splines import Keys, tcb
    >>> runs = [tcb.VectorSpline(Keys([0, 10], [0, 1])), tcb.VectorSpline(Keys([20, 30], [5, 6]))]
    >>> PiecewiseSpline(runs)([5, 10, 15, 20]).ravel()
    array([0.5, 1. , 1. , 5. ])
    """

    loop_gap = 0.0
    runs: tuple[Spline, ...]
    ends: IndexArray
    """The last key of each run."""
    gaps: IndexArray
    """The keys after which no run plays, except the last key."""
    _curve: Curve | None
    _representation: RotationRepresentation | None

    def __init__(
        self,
        runs: Sequence[Spline],
        between: Curve | None = None,
        representation: str | None = None,
        cycle: Literal["SINGLE", "REPEAT"] = "SINGLE",
        gaps: npt.ArrayLike | None = None,
    ) -> None:
        checked_choice("cycle", cycle, ("SINGLE", "REPEAT"))
        self._set(cycle=cycle, runs=tuple(checked_splines("runs", runs)))
        if not self.runs:
            raise ValueError("a piecewise spline needs at least one run of keys")
        if len({run.batch for run in self.runs}) > 1 or any(run.cycle != "SINGLE" for run in self.runs):
            raise ValueError("all runs of a piecewise spline must have the same method and must not cycle")
        self._set(_curve=between)
        self._set(_representation=None if representation is None else rotation_representation(representation))
        keys = [run.keys for run in self.runs]
        self._set(ends=np.cumsum([len(each) for each in keys]) - 1)
        within = np.empty(0, dtype=np.intp) if gaps is None else np.asarray(gaps, dtype=np.intp)
        self._set(gaps=np.union1d(self.ends[:-1], within))
        parameters = np.concatenate([each.parameters for each in keys], axis=1)
        parameters[EASE_FROM, self.gaps] = parameters[EASE_TO, self.gaps + 1] = 0.0
        frames, values = (
            np.concatenate(arrays) for arrays in ([each.frames for each in keys], [each.values for each in keys])
        )
        self._set(keys=Keys(frames, values, *parameters))

    @property
    def between(self) -> BoolArray:
        """Return a mask (n,) of keys after which no run plays."""
        between = np.zeros(len(self.keys), dtype=np.bool_)
        between[self.gaps] = between[-1] = True
        return between

    @property
    def batch(self) -> Hashable:
        """Return the identifier of the batch, which is the identifier of the runs."""
        return type(self), self.runs[0].batch

    @property
    def derivatives(self) -> int:  # type: ignore[override]
        """Return the highest derivative of the runs."""
        return self.runs[0].derivatives

    @property
    def interpolating(self) -> bool:  # type: ignore[override]
        """Return whether the runs pass through their keys."""
        return self.runs[0].interpolating

    @property
    def continues(self) -> bool:  # type: ignore[override]
        """Return whether the last run has a segment to continue. A run of one key is held."""
        return len(self.runs[-1].keys.frames) > 1

    @property
    def is_cubic(self) -> bool:  # type: ignore[override]
        """Return whether the runs' segments without ease are cubics in the frame."""
        return self.runs[0].is_cubic

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return the runs' notes, without duplicates."""
        return tuple(dict.fromkeys(note for run in self.runs for note in run.notes))

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Curve:
        """Return the segments of all splines, including the segments between runs."""
        runs = [run for spline in splines for run in spline.runs]
        is_between = np.zeros(len(tracks.frames), dtype=np.bool_)
        gaps: list[_Gaps] = []
        owner = np.full(len(tracks.frames), -1)
        number = np.zeros(len(tracks.frames), dtype=np.intp)
        for spline, first in zip(splines, tracks.first.tolist(), strict=True):
            at = first + spline.gaps
            is_between[at] = is_between[first + spline.ends[-1]] = True
            if spline._curve is not None:
                owner[at], number[at] = len(gaps), np.arange(len(at))
                gaps.append(_Gaps(spline._curve, spline._representation))
        return _PiecewiseCurve(type(runs[0]).curve(runs, end_to_end(runs)), is_between, gaps, owner, number)


@dataclass(frozen=True)
class _Gaps:
    """The curves between the runs of one spline."""

    curve: Curve
    representation: RotationRepresentation | None

    def evaluate(self, gap: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        if self.representation is None:
            return self.curve.evaluate(gap, u, nu)
        numbers = self.curve.evaluate(gap, u, 0)
        if nu:
            return angular_motion(
                self.representation, numbers, *(self.curve.evaluate(gap, u, order) for order in (1, 2))
            )[nu - 1]
        q = self.representation.orientation(numbers)
        size = sphere.length(q)
        unit: Float64Array = np.divide(q, size, out=np.broadcast_to(_NO_LENGTH, q.shape).copy(), where=size > 0.0)
        return unit


@dataclass(frozen=True)
class _PiecewiseCurve:
    """Segments of runs, and segments between runs."""

    runs: Curve
    is_between: BoolArray
    gaps: Sequence[_Gaps]
    owner: IndexArray
    """The gap of each segment, or -1 for segments of runs."""
    number: IndexArray
    """The index of the segment within its gap."""

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        between, owner = self.is_between[segment], self.owner[segment]
        values = self.runs.evaluate(segment, np.where(between, 0.0, u), nu)
        if nu:
            values = np.where(between, 0.0, values)
        for index in np.unique(owner[owner >= 0]).tolist():
            own = owner == index
            values[:, own] = self.gaps[index].evaluate(self.number[segment[own]], np.maximum(u[own], 0.0), nu)
        # The value is also held before a first run of one key.
        if nu:
            values[:, between & (u < 0.0)] = 0.0
        return values
