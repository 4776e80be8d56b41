# SPDX-License-Identifier: GPL-3.0-or-later
"""Create a file's keys for tracks in which Blender plays some segments with an interpolation other than the spline.

A file has one spline through all keys. Keys are added in constant and eased segments, and the splines next to them end
in corners. With continuity -1, the tangent on each side follows its own chord, and tension and bias determine its
length. Splines with other end tangents are sampled. The result is exact at whole frames of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...animation.bake.plans.splines import TrackSpline
from ...animation.fcurves.keyframes import Float64Array
from ...interp import Keys as SplineKeys
from ...interp import evaluate_many, rotations
from ...interp.base_spline import Spline, end_to_end
from ...interp.fitting.curves import ROTATION_TOLERANCE, VALUE_TOLERANCE
from ...interp.keys import PARAMETERS
from ...interp.piecewise import EASE_FROM, EASE_TO, PiecewiseSpline
from ...interp.splines import tcb
from ..clean_keys import Keys
from ..conversion import Conversion
from ..rotation_modes import spline_of

TENSION, CONTINUITY, BIAS = (PARAMETERS.index(name) for name in ("tension", "continuity", "bias"))
_SAME = 1e-6
"""Float32 tolerance, relative to the size of values, or in radians."""
_STEEPEST = 2.0
"""1 minus the smallest tension, and 1 plus the largest bias."""


@dataclass(frozen=True, eq=False)
class Joined:
    """Keys that play splines and the segments between them.

    Attributes
    ----------
    keys : Keys
        The keys, with the components of the spline or turns from the previous key.
    filled, added : int
        The number of segments between splines with added keys, and the number of these keys.
    sampled, samples : int
        The number of splines with ends that keys cannot represent, and the number of their samples.
    """

    keys: Keys
    filled: int
    added: int
    sampled: int
    samples: int


@dataclass(frozen=True, eq=False)
class _Piece:
    """Consecutive keys of a spline, or added keys after it."""

    frames: Float64Array
    values: Float64Array
    """Values or quaternions."""
    parameters: Float64Array
    turns: Float64Array | None = None
    """For the animator's keys of rotations, turns from the previous key, shape (n, 4)."""


def joined_keys(
    whole: TrackSpline, conversion: Conversion, turns: Callable[[TrackSpline], Float64Array] | None
) -> Joined:
    """Return keys for a spline of several runs. `turns` returns the turns of a run, and is None for values."""
    return _Joining(whole, conversion, turns).joined_keys()


class _Joining:
    """Search for the keys of a track that consists of several runs."""

    def __init__(
        self, whole: TrackSpline, conversion: Conversion, turns: Callable[[TrackSpline], Float64Array] | None
    ) -> None:
        assert isinstance(whole.spline, PiecewiseSpline)
        self.spline = whole.spline
        self.runs = whole.runs
        self.conversion = conversion
        self.is_rotation = turns is not None
        self.turns = [None if turns is None else turns(run) for run in self.runs]
        spread, size = np.ptp(self.spline.keys.values, axis=0).max(), np.abs(self.spline.keys.values).max()
        self.same = _SAME * (1.0 if self.is_rotation else float(size))
        self.near = ROTATION_TOLERANCE if self.is_rotation else max(VALUE_TOLERANCE * float(spread), self.same)
        ends = [(run.frames[0], run.frames[-1]) for run in self.runs]
        self.inside = [self._whole_frames(end, start)[1:-1] for (_, end), (start, _) in pairwise(ends)]
        self.between = self._parts(self.spline(np.concatenate(self.inside)), self.inside)
        """Values at the frames `inside`, between runs."""
        self.straight = [self._is_straight(gap) for gap in range(len(self.inside))]
        self.speeds = [None, *(1.0 if straight else None for straight in self.straight), None]
        """Required speeds before and after each run, in multiples of the adjacent chords. If None, any speed is
        allowed."""

    def joined_keys(self) -> Joined:
        own = [self._own(run) for run in range(len(self.runs))]
        added = [self._added(gap) for gap in range(len(self.inside))]
        sampled = self._unlike(self._keys(own, added), own)
        for run in sampled:
            own[run] = self._sampled(run)
        return Joined(
            self._keys(own, added),
            sum(len(piece.frames) > 0 for piece in added),
            sum(len(piece.frames) for piece in added),
            len(sampled),
            sum(len(own[run].frames) for run in sampled),
        )

    def _whole_frames(self, start: float, end: float) -> Float64Array:
        """Return the scene frames that are whole file frames, between two scene frames."""
        first, last = np.rint(self.conversion.in_file([start, end]))
        return self.conversion.frames(np.arange(first, last + 1.0))

    def _apart(self, values: Float64Array, others: Float64Array) -> Float64Array:
        """Return the distances between two arrays of values, shape (n,)."""
        if self.is_rotation:
            return rotations.angle_between(values, others)
        apart: Float64Array = np.abs(values - others).max(axis=1)
        return apart

    def _is_straight(self, gap: int) -> bool:
        """Return whether the motion between two runs needs no additional keys."""
        before, after = self.runs[gap], self.runs[gap + 1]
        start, end = before.spline.keys.values[-1], after.spline.keys.values[0]
        share = (self.inside[gap] - before.frames[-1]) / (float(after.frames[0]) - float(before.frames[-1]))
        if self.is_rotation:
            turn = rotations.shorter(rotations.multiply(end, rotations.conjugate(start)))
            line = rotations.slerp(start, rotations.multiply(turn, start), share)
        else:
            line = start + share[:, np.newaxis] * (end - start)
        return bool((self._apart(self.between[gap], line) <= self.same).all())

    def _added(self, gap: int) -> _Piece:
        """Return the keys between two runs: none if straight, the last frame if constant, or one sample per frame."""
        frames, values = self.inside[gap], self.between[gap]
        start = np.broadcast_to(self.runs[gap].spline.keys.values[-1], values.shape)
        is_held = bool((self._apart(values, start) <= self.same).all())
        kept = slice(0) if self.straight[gap] else slice(-1, None) if is_held else slice(None)
        parameters = np.zeros((5, len(frames[kept])))
        parameters[CONTINUITY] = -1.0 if is_held else 0.0
        return _Piece(frames[kept], values[kept], parameters)

    def _own(self, number: int) -> _Piece:
        """Return the keys of a run, with corners at its ends."""
        run = self.runs[number]
        keys, parameters = run.spline.keys, run.spline.keys.parameters.copy()
        # A straight segment has constant speed. Next to other segments, any value is valid.
        before, after = self.speeds[number : number + 2]
        leaving, arriving = (after, before) if len(keys) == 1 else self._speeds(number)
        if number > 0:
            parameters[:, 0] = _corner(parameters[:, 0], before, leaving)
            parameters[EASE_TO, 0] = 0.0
        if number < len(self.runs) - 1:
            parameters[:, -1] = _corner(parameters[:, -1], arriving, after)
            parameters[EASE_FROM, -1] = 0.0
        if len(keys) == 2 and not self.is_rotation and leaving is not None and arriving is not None:
            # At the end of a track with more than two keys, the motion also depends on the segment's other tangent.
            if number == 0:
                parameters[TENSION, 0] = 1.0 - min(leaving / (1.5 - 0.5 * arriving), _STEEPEST)
            elif number == len(self.runs) - 1:
                parameters[TENSION, 1] = 1.0 - min(arriving / (1.5 - 0.5 * leaving), _STEEPEST)
        return _Piece(keys.frames, keys.values, parameters, self.turns[number])

    def _speeds(self, number: int) -> tuple[float | None, float | None]:
        """Return the end speeds of a run of several keys, in multiples of the end chords, or None for a zero chord."""
        run = self.runs[number].spline
        curve = type(run).curve([run], end_to_end([run]))
        turns = self.turns[number]
        chords = np.diff(run.keys.values, axis=0) if turns is None else turns[1:, :1] * turns[1:, 1:]
        speeds: list[float | None] = []
        for segment, u in ((0, 0.0), (len(chords) - 1, 1.0)):
            tangent, chord = curve.evaluate(np.array([segment]), np.array([u]), 1)[:, 0], chords[segment]
            square = float(chord @ chord)
            speeds.append(float(np.clip(tangent @ chord / square, 0.0, _STEEPEST**2)) if square else None)
        return speeds[0], speeds[1]

    def _sampled(self, number: int) -> _Piece:
        """Return a run as samples at whole frames, smooth except for corners at its ends."""
        run = self.runs[number]
        first, last = run.frames[[0, -1]].astype(np.float64)
        frames = np.clip(self._whole_frames(first, last), first, last)
        parameters = np.zeros((5, len(frames)))
        parameters[CONTINUITY, [0, -1]] = -1.0
        return _Piece(frames, evaluate_many([run.spline], frames)[0], parameters)

    def _unlike(self, keys: Keys, own: Sequence[_Piece]) -> list[int]:
        """Return the runs whose keys deviate by more than the tolerances of a bake."""
        frames = [
            np.clip(self._whole_frames(piece.frames[0], piece.frames[-1]), piece.frames[0], piece.frames[-1])
            for piece in own
        ]
        (written,) = evaluate_many([self._played(keys)], np.concatenate(frames))
        wanted = np.concatenate(evaluate_many([run.spline for run in self.runs], frames))
        apart = self._parts(self._apart(written, wanted), frames)
        return [number for number, each in enumerate(apart) if (each > self.near).any()]

    @staticmethod
    def _parts(values: Float64Array, frames: Sequence[Float64Array]) -> list[Float64Array]:
        """Split values by consecutive groups of frames."""
        return np.split(values, np.cumsum([len(each) for each in frames])[:-1])

    def _played(self, keys: Keys) -> Spline:
        """Return the spline of the file's keys."""
        if not self.is_rotation:
            return tcb.VectorSpline(SplineKeys(keys.frames, keys.values, *keys.parameters))
        run = self.runs[0].spline
        assert isinstance(run, tcb.RotationSpline)
        return spline_of(keys, run.construction)

    def _keys(self, own: Sequence[_Piece], added: Sequence[_Piece]) -> Keys:
        pieces = [own[0], *(piece for pair in zip(added, own[1:], strict=True) for piece in pair)]
        frames, values = (np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("frames", "values"))
        keys = Keys(frames, values, np.concatenate([piece.parameters for piece in pieces], axis=1))
        if not self.is_rotation:
            return keys
        turns = np.column_stack(rotations.rotations_to_turns(values))
        end = 0
        for piece in pieces:
            start, end = end, end + len(piece.frames)
            if piece.turns is not None:
                # The first key of a run turns from the previous key. The first key of the track turns from no rotation.
                kept = slice(1 if start else 0, None)
                turns[start:end][kept] = piece.turns[kept]
        return keys.with_values(turns)


def _corner(parameters: Float64Array, arriving: float | None, leaving: float | None) -> npt.NDArray[np.float64]:
    """Return the parameters of a corner key, whose motion arrives and leaves along the chords.

    `arriving` and `leaving` are speeds in multiples of the chords. If None, any speed is allowed. Source:
    docs/formulas, "Corners in 3D Studio files".
    """
    # With tension T and bias B the speeds are (1 - T)(1 + B) on arrival and (1 - T)(1 - B) on departure, and at most 2.
    most = _STEEPEST**2
    into = arriving if arriving is not None else 1.0 if leaving is None else min(leaving, most - leaving)
    away = leaving if leaving is not None else min(into, most - into)
    slack = min((into + away) / 2.0, _STEEPEST)
    result = parameters.copy()
    result[TENSION], result[CONTINUITY] = 1.0 - slack, -1.0
    result[BIAS] = np.clip((into - away) / (into + away), -1.0, 1.0) if into + away else 0.0
    return result
