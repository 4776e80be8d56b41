# SPDX-License-Identifier: GPL-3.0-or-later
"""Piecewise splines: runs of keys with one spline each, and other curves between the runs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from .arguments import checked_choice
from .base_spline import BaseSpline, Spline, checked_splines, end_to_end
from .keys import PARAMETERS, BoolArray, Float64Array, IndexArray, KeyBatch, Keys
from .prepared import Curve
from .rotations.representations import RotationCurve, rotation_representation

if TYPE_CHECKING:
    from typing import Self

EASE_TO, EASE_FROM = PARAMETERS.index("ease_to"), PARAMETERS.index("ease_from")
# Segments that a run plays, and segments between runs that hold the value.
_RUN, _HELD = -2, -1


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

    Examples
    --------
    >>> from tcb_splines import Keys, tcb
    >>> from tcb_splines.piecewise import PiecewiseSpline
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

    def __init__(
        self,
        runs: Sequence[Spline],
        between: Curve | None = None,
        representation: str | None = None,
        cycle: Literal["SINGLE", "REPEAT"] = "SINGLE",
        gaps: npt.ArrayLike | None = None,
    ) -> None:
        checked_choice("cycle", cycle, ("SINGLE", "REPEAT"))
        checked_runs = _checked_runs(runs)
        keys = [run.keys for run in checked_runs]
        ends = np.cumsum([len(run_keys) for run_keys in keys]) - 1
        given_gaps = np.empty(0, dtype=np.intp) if gaps is None else np.asarray(gaps, dtype=np.intp)
        all_gaps = np.union1d(ends[:-1], given_gaps)
        frames = np.concatenate([run_keys.frames for run_keys in keys])
        values = np.concatenate([run_keys.values for run_keys in keys])
        parameters = np.concatenate([run_keys.parameters for run_keys in keys], axis=1)
        parameters[EASE_FROM, all_gaps] = parameters[EASE_TO, all_gaps + 1] = 0.0
        if between is not None and representation is not None:
            between = RotationCurve(between, rotation_representation(representation))
        self._set(
            keys=Keys(frames, values, *parameters),
            cycle=cycle,
            runs=checked_runs,
            ends=ends,
            gaps=all_gaps,
            # A run of one key has no segment to continue, and is held.
            continues=len(keys[-1]) > 1,
            interpolating=checked_runs[0].interpolating,
            is_cubic=checked_runs[0].is_cubic,
            notes=tuple(dict.fromkeys(note for run in checked_runs for note in run.notes)),
            _curve=between,
        )

    @property
    def is_gap(self) -> BoolArray:
        """Return a mask (n,) of keys after which no run plays."""
        is_gap = np.zeros(len(self.keys), dtype=np.bool_)
        is_gap[self.gaps] = is_gap[-1] = True
        return is_gap

    @property
    def batch(self) -> Hashable:
        """Return the identifier of the batch, which is the identifier of the runs."""
        return type(self), self.runs[0].batch

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Curve:
        """Return the segments of all splines, including the segments between runs."""
        runs = [run for spline in splines for run in spline.runs]
        gap_curves: list[Curve] = []
        player = np.full(len(tracks.frames), _RUN)
        gap_segment = np.zeros(len(tracks.frames), dtype=np.intp)
        for spline, first, last in zip(splines, tracks.first.tolist(), tracks.last.tolist(), strict=True):
            gaps = first + spline.gaps
            player[gaps] = player[last] = _HELD
            if spline._curve is not None:
                player[gaps], gap_segment[gaps] = len(gap_curves), np.arange(len(gaps))
                gap_curves.append(spline._curve)
        run_curve = type(runs[0]).curve(runs, end_to_end(runs))
        return _PiecewiseCurve(run_curve, gap_curves, player, gap_segment)


def _checked_runs(runs: Sequence[Spline]) -> tuple[Spline, ...]:
    """Return the runs, or raise TypeError or ValueError if they cannot follow each other."""
    splines = tuple(checked_splines("runs", runs))
    if not splines:
        raise ValueError("a piecewise spline needs at least one run of keys")
    if len({run.batch for run in splines}) > 1 or any(run.cycle != "SINGLE" for run in splines):
        raise ValueError("all runs of a piecewise spline must have the same method and must not cycle")
    return splines


@dataclass(frozen=True)
class _PiecewiseCurve:
    """Segments of runs, and segments between runs."""

    run_curve: Curve
    gap_curves: Sequence[Curve]
    player: IndexArray
    """The index in `gap_curves` of the curve that plays each segment, or `_RUN` or `_HELD`."""
    gap_segment: IndexArray
    """The index of the segment within its gap curve."""

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        player = self.player[segment]
        is_run = player == _RUN
        # At u = 0, a segment between runs has the value of the last key of the run before.
        values = self.run_curve.evaluate(segment, np.where(is_run, u, 0.0), nu)
        if nu:
            values = np.where(is_run, values, 0.0)
        for index in np.unique(player[player >= 0]).tolist():
            samples = player == index
            gap_segment = self.gap_segment[segment[samples]]
            values[:, samples] = self.gap_curves[index].evaluate(gap_segment, np.maximum(u[samples], 0.0), nu)
        # The value is also held before a first run of one key.
        if nu:
            values[:, ~is_run & (u < 0.0)] = 0.0
        return values
