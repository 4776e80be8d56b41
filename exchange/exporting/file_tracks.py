# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert keys to tracks of a file, also where Blender plays some segments with another interpolation.

A file has one spline through all keys. Keys are added in constant and eased segments, and the splines next to them end
in corners. With continuity -1, the tangent on each side follows its own chord, and tension and bias determine its
length. Splines with other end tangents are sampled. The result is exact at whole frames of the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...animation.arguments import LARGEST
from ...animation.bake.plans.track_splines import TrackSpline
from ...animation.fcurves.keyframes import Float64Array
from ...formats.three_ds import Track
from ...formats.three_ds.tracks import LAST_FRAME
from ...interp import Keys as SplineKeys
from ...interp import evaluate_many, rotations
from ...interp.base_spline import Spline, end_to_end
from ...interp.fitting.curves import ROTATION_TOLERANCE, VALUE_TOLERANCE
from ...interp.keys import PARAMETERS
from ...interp.piecewise import EASE_FROM, EASE_TO, PiecewiseSpline
from ...interp.splines import tcb
from ..conversion import Conversion
from ..keys import APART, Keys
from ..report import AddNote
from ..rotation_modes import spline_of

# Tracks of a file


NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])
"""The quaternion of a node without rotation."""
_CYCLES = {"SINGLE": 0, "REPEAT": 2, "LOOP": 3}
"""Flags of tracks."""
_WHOLE = 1e-3
"""Frames. A key within this distance of a whole frame differs from it only by float32 rounding."""


def numbers_track(kind: str, keys: Keys, conversion: Conversion, add_note: AddNote) -> Track:
    """Return the track for keys with values in file units."""
    frames = _file_frames(keys.frames, conversion, add_note)
    values = np.clip(np.nan_to_num(keys.values), -LARGEST, LARGEST)
    is_changed = (values != keys.values).any(axis=1)
    if is_changed.any():
        add_note("VALUE_NOT_IN_FILE", int(is_changed.sum()))
    return _track(kind, frames, values.astype(np.float32), keys)


def turns_track(keys: Keys, conversion: Conversion, add_note: AddNote) -> Track:
    """Return the rotation track for keys that are turns from the previous key, in Blender's convention."""
    frames = _file_frames(keys.frames, conversion, add_note)
    return _track("ROTATION", frames, _file_turns(keys.values), keys)


def _track(kind: str, frames: npt.NDArray[np.int32], values: npt.NDArray[np.float32], keys: Keys) -> Track:
    parameters = keys.parameters.astype(np.float32)
    key_flags = ((parameters != 0.0) << np.arange(5)[:, np.newaxis]).sum(axis=0).astype(np.uint16)
    return Track(kind, frames, values, key_flags, parameters, _CYCLES[keys.cycle])


def _file_frames(frames: Float64Array, conversion: Conversion, add_note: AddNote) -> npt.NDArray[np.int32]:
    """Round frames to whole file frames, and note keys that were between them."""
    exact = conversion.frames_in_file(frames)
    whole = np.clip(np.rint(exact), -LAST_FRAME, LAST_FRAME)
    # An import separates keys of the same frame by this distance.
    is_separated = np.append(np.abs(np.diff(frames) - APART) < _WHOLE, False)
    is_moved = (np.abs(exact - whole) > _WHOLE) & ~is_separated
    if is_moved.any():
        add_note("FRAME_NOT_WHOLE", int(is_moved.sum()), float(frames[np.argmax(is_moved)]))
    shares_frame = np.diff(whole) == 0
    if (shares_frame & ~is_separated[:-1]).any():
        add_note("KEYS_SHARE_FILE_FRAME")
    return whole.astype(np.int32)


def _file_turns(turns: Float64Array) -> npt.NDArray[np.float32]:
    """Convert turns to the file's convention: in the opposite direction, without reverse turns, and in float32.

    Each turn corrects the rounding of previous turns, so errors do not accumulate. Blocks of turns are rounded in
    parallel, as if the start of each block were exact. Then the first turn of each block corrects the end of the
    previous block.
    """
    goals = rotations.turns_to_rotations(turns[:, 0], turns[:, 1:])
    file_turns = np.empty((len(turns), 4), dtype=np.float32)
    block_length = math.isqrt(len(turns)) + 1
    block_starts = np.arange(0, len(turns), block_length)
    block_ends = np.concatenate((NO_TURN[np.newaxis], goals[block_starts[1:] - 1]))
    after_first_turns = block_ends
    for step in range(block_length):
        rows = block_starts[block_starts + step < len(turns)] + step
        file_turns[rows], block_ends[: len(rows)] = _rounded(turns[rows], goals[rows], block_ends[: len(rows)])
        if step == 0:
            after_first_turns = block_ends.copy()
    rotation = block_ends[:1]
    for block, start in enumerate(block_starts[1:].tolist(), start=1):
        first = slice(start, start + 1)
        file_turns[first], after_first_turn = _rounded(turns[first], goals[first], rotation)
        remaining_turn = rotations.multiply(block_ends[block], rotations.conjugate(after_first_turns[block]))
        rotation = rotations.multiply(remaining_turn, after_first_turn)
    return file_turns


def _rounded(
    turns: Float64Array, goals: Float64Array, starts: Float64Array
) -> tuple[npt.NDArray[np.float32], Float64Array]:
    """Return the file's turns from start to goal rotations for n tracks, (n, 4), and the resulting rotations."""
    exact = rotations.multiply(goals, rotations.conjugate(starts))
    axes, angles = rotations.to_axis_angle(exact, turns[:, 1:])
    angles, axes = rotations.nearest_turns(angles, axes, turns[:, :1] * turns[:, 1:])
    directions = np.where(angles >= 0.0, -1.0, 1.0)[:, np.newaxis]
    file_turns = np.column_stack((np.abs(angles), directions * axes)).astype(np.float32)
    rounded = file_turns.astype(np.float64)
    return file_turns, rotations.multiply(rotations.from_axis_angle(rounded[:, 1:], -rounded[:, 0]), starts)


# Segments that Blender plays with another interpolation than the spline


TENSION, CONTINUITY, BIAS = (PARAMETERS.index(name) for name in ("tension", "continuity", "bias"))
_ROUNDING = 1e-6
"""Float32 tolerance, relative to the size of values, or in radians."""
_STEEPEST = 2.0
"""1 minus the smallest tension, and 1 plus the largest bias."""


class RunsAndGaps:
    """The runs of a piecewise spline, and the gaps between them, in which Blender plays other interpolations.

    `turns` returns the turns of a run, and is None for values.
    """

    def __init__(
        self, track_spline: TrackSpline, conversion: Conversion, turns: Callable[[TrackSpline], Float64Array] | None
    ) -> None:
        assert isinstance(track_spline.spline, PiecewiseSpline)
        self.spline = track_spline.spline
        self.runs = track_spline.runs
        self.conversion = conversion
        self.is_rotation = turns is not None
        self.turns = [None if turns is None else turns(run) for run in self.runs]
        spread, size = np.ptp(self.spline.keys.values, axis=0).max(), np.abs(self.spline.keys.values).max()
        self.rounding = _ROUNDING * (1.0 if self.is_rotation else float(size))
        self.tolerance = ROTATION_TOLERANCE if self.is_rotation else max(VALUE_TOLERANCE * float(spread), self.rounding)
        ends = [(run.frames[0], run.frames[-1]) for run in self.runs]
        self.gap_frames = [self._whole_frames(end, start)[1:-1] for (_, end), (start, _) in pairwise(ends)]
        """The whole frames between runs."""
        self.gap_values = _split(self.spline(np.concatenate(self.gap_frames)), self.gap_frames)
        self.gap_is_straight = [self._is_straight(gap) for gap in range(len(self.gap_frames))]
        self.outer_speeds = [None, *(1.0 if is_straight else None for is_straight in self.gap_is_straight), None]
        """Required speeds before and after each run, in multiples of the adjacent chords. If None, any speed is
        allowed."""

    def joined_keys(self) -> tuple[Keys, list[int], list[int]]:
        """Return keys for all runs and gaps, and the numbers of keys in each filled gap and in each sampled run.

        Values of the keys are components of the spline, or turns from the previous key.
        """
        run_pieces = [self._run_piece(run) for run in range(len(self.runs))]
        gap_pieces = [self._gap_piece(gap) for gap in range(len(self.gap_frames))]
        sampled_runs = self._inaccurate_runs(self._file_keys(run_pieces, gap_pieces))
        for run in sampled_runs:
            run_pieces[run] = self._sampled_piece(run)
        added_keys = [len(piece) for piece in gap_pieces if len(piece)]
        samples = [len(run_pieces[run]) for run in sampled_runs]
        return self._file_keys(run_pieces, gap_pieces), added_keys, samples

    def _whole_frames(self, start: float, end: float) -> Float64Array:
        """Return the scene frames that are whole file frames, between two scene frames."""
        first, last = np.rint(self.conversion.frames_in_file([start, end]))
        return self.conversion.frames(np.arange(first, last + 1.0))

    def _distances(self, values: Float64Array, others: Float64Array) -> Float64Array:
        """Return the distances between two arrays of values, shape (n,). Angles between rotations are in radians."""
        if self.is_rotation:
            return rotations.angle_between(values, others)
        return np.asarray(np.abs(values - others).max(axis=1))

    def _is_straight(self, gap: int) -> bool:
        """Return whether the motion between two runs needs no additional keys."""
        before, after = self.runs[gap], self.runs[gap + 1]
        start, end = before.spline.keys.values[-1], after.spline.keys.values[0]
        first_frame = float(before.frames[-1])
        fraction = (self.gap_frames[gap] - first_frame) / (float(after.frames[0]) - first_frame)
        if self.is_rotation:
            turn = rotations.shorter(rotations.multiply(end, rotations.conjugate(start)))
            line = rotations.slerp(start, rotations.multiply(turn, start), fraction)
        else:
            line = start + fraction[:, np.newaxis] * (end - start)
        return bool((self._distances(self.gap_values[gap], line) <= self.rounding).all())

    def _run_piece(self, number: int) -> _Piece:
        """Return the keys of a run, with corners at its ends."""
        run = self.runs[number]
        keys, parameters = run.spline.keys, run.spline.keys.parameters.copy()
        before, after = self.outer_speeds[number : number + 2]
        # Next to a straight gap, the speed is constant. A single key has gaps on both sides.
        leaving, arriving = (after, before) if len(keys) == 1 else self._end_speeds(number)
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
        return _Piece(keys.frames, keys.values, parameters, turns=self.turns[number])

    def _end_speeds(self, number: int) -> tuple[float | None, float | None]:
        """Return the end speeds of a run of several keys, in multiples of the end chords, or None for a zero chord."""
        run = self.runs[number].spline
        curve = type(run).curve([run], end_to_end([run]))
        turns = self.turns[number]
        chords = np.diff(run.keys.values, axis=0) if turns is None else turns[1:, :1] * turns[1:, 1:]
        speeds: list[float | None] = []
        for segment, u in ((0, 0.0), (len(chords) - 1, 1.0)):
            tangent, chord = curve.evaluate(np.array([segment]), np.array([u]), 1)[:, 0], chords[segment]
            squared_length = float(chord @ chord)
            if squared_length:
                speeds.append(float(np.clip(tangent @ chord / squared_length, 0.0, _STEEPEST**2)))
            else:
                speeds.append(None)
        return speeds[0], speeds[1]

    def _gap_piece(self, gap: int) -> _Piece:
        """Return the keys between two runs: none if straight, the last frame if constant, or one sample per frame."""
        frames, values = self.gap_frames[gap], self.gap_values[gap]
        start = np.broadcast_to(self.runs[gap].spline.keys.values[-1], values.shape)
        is_constant = bool((self._distances(values, start) <= self.rounding).all())
        if self.gap_is_straight[gap]:
            frames, values = frames[:0], values[:0]
        elif is_constant:
            frames, values = frames[-1:], values[-1:]
        parameters = np.zeros((5, len(frames)))
        parameters[CONTINUITY] = -1.0 if is_constant else 0.0
        return _Piece(frames, values, parameters)

    def _run_frames(self, number: int) -> Float64Array:
        """Return the whole file frames of a run, as scene frames within its ends."""
        first, last = self.runs[number].spline.keys.frames[[0, -1]]
        return np.clip(self._whole_frames(first, last), first, last)

    def _inaccurate_runs(self, keys: Keys) -> list[int]:
        """Return the runs whose keys deviate by more than the tolerances of a bake."""
        frames = [self._run_frames(run) for run in range(len(self.runs))]
        (file_values,) = evaluate_many([self._file_spline(keys)], np.concatenate(frames))
        run_values = np.concatenate(evaluate_many([run.spline for run in self.runs], frames))
        errors_of_runs = _split(self._distances(file_values, run_values), frames)
        return [number for number, errors in enumerate(errors_of_runs) if (errors > self.tolerance).any()]

    def _file_spline(self, keys: Keys) -> Spline:
        if not self.is_rotation:
            return tcb.VectorSpline(SplineKeys(keys.frames, keys.values, *keys.parameters))
        run = self.runs[0].spline
        assert isinstance(run, tcb.RotationSpline)
        return spline_of(keys, run.construction)

    def _sampled_piece(self, number: int) -> _Piece:
        """Return a run as samples at whole frames, smooth except for corners at its ends."""
        frames = self._run_frames(number)
        parameters = np.zeros((5, len(frames)))
        parameters[CONTINUITY, [0, -1]] = -1.0
        return _Piece(frames, evaluate_many([self.runs[number].spline], frames)[0], parameters)

    def _file_keys(self, run_pieces: Sequence[_Piece], gap_pieces: Sequence[_Piece]) -> Keys:
        """Return the keys of the runs and gaps in order."""
        pairs = zip(gap_pieces, run_pieces[1:], strict=True)
        pieces = [run_pieces[0], *(piece for pair in pairs for piece in pair)]
        frames = np.concatenate([piece.frames for piece in pieces])
        values = np.concatenate([piece.values for piece in pieces])
        parameters = np.concatenate([piece.parameters for piece in pieces], axis=1)
        if not self.is_rotation:
            return Keys(frames, values, parameters)
        turns = np.column_stack(rotations.rotations_to_turns(values))
        end = 0
        for piece in pieces:
            start, end = end, end + len(piece)
            if piece.turns is not None:
                # The first key of a run turns from the previous key. The first key of the track turns from no rotation.
                first = 1 if start else 0
                turns[start + first : end] = piece.turns[first:]
        return Keys(frames, turns, parameters)


@dataclass(frozen=True, eq=False)
class _Piece(Keys):
    """The keys of a run or of a gap. Values of rotations are quaternions."""

    turns: Float64Array | None = None
    """For the animator's keys of rotations, turns from the previous key, shape (n, 4)."""


def _split(values: Float64Array, frames: Sequence[Float64Array]) -> list[Float64Array]:
    """Split values by consecutive groups of frames."""
    return np.split(values, np.cumsum([len(group) for group in frames])[:-1])


def _corner(parameters: Float64Array, arriving: float | None, leaving: float | None) -> npt.NDArray[np.float64]:
    """Return the parameters of a corner key, whose motion arrives and leaves along the chords.

    `arriving` and `leaving` are speeds in multiples of the chords. If None, any speed is allowed. Source:
    docs/formulas, "Corners in 3D Studio files".
    """
    # With tension T and bias B the speeds are (1 - T)(1 + B) on arrival and (1 - T)(1 - B) on departure. Their mean,
    # 1 - T, is at most 2.
    most = _STEEPEST**2
    if arriving is None:
        arriving = 1.0 if leaving is None else min(leaving, most - leaving)
    if leaving is None:
        leaving = min(arriving, most - arriving)
    result = parameters.copy()
    result[TENSION] = 1.0 - min((arriving + leaving) / 2.0, _STEEPEST)
    result[CONTINUITY] = -1.0
    result[BIAS] = np.clip((arriving - leaving) / (arriving + leaving), -1.0, 1.0) if arriving + leaving else 0.0
    return result
