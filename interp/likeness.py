# SPDX-License-Identifier: GPL-3.0-or-later
"""The parameters with which keys play most like a motion that is there: least squares over samples of it.

A key's five parameters shape the segments beside it and no others. So the Jacobian is known from few evaluations, in
which the parameters of every other key are moved at once, whatever the spline; and the normal equations are block
tridiagonal. Levenberg and Marquardt's damping is each track's own. The descent goes from the simplest explanation to
the fullest, and takes the next one only where it pays. With all five parameters the bounds hold many poor minima:
there it first keeps inside them (Coleman and Li 1996, "An interior trust region approach for nonlinear minimization
subject to bounds", SIAM J. Optim. 6), and goes onto them only at last.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from . import tcb
from .keys import HIGHEST, LOWEST, FloatArray
from .segments import BoolArray, Curve, IndexArray, Timing, Tracks, end_to_end

Spline = tcb.VectorSpline | tcb.RotationSpline

SAMPLES = 7
"""Samples a segment: two parameters more than one number's curve between two keys can tell."""

_NOISE = 1e-6
"""Of a track's range. Float32 curves say no more; parameters that change less than this stay 0."""
_FLOAT32 = 2.0**-22
"""Of a track's largest number: what rounding to float32 makes of the samples, and of the handles before them."""
_STEP = 1e-6
"""Of the difference quotients: as far from rounding (1e-16 / 1e-6) as from curvature."""
_PAYS = 0.99
"""A fuller explanation is taken where its error is below this part of the simpler one's."""
_ROUNDED = 0.02
"""Of a track's error: parameters are rounded to few digits if that changes the motion by less."""
_INSIDE = 0.05
"""Where the descent inside the bounds begins, and how near a bound it must have come to be put on it: 2/5 of that."""
_REACH = 8
"""Keys, counted over all channels, across which a segment's two keys are solved for as coupled."""
_KEYS_AT_A_TIME = 1500
"""Few enough for the processor's cache, many enough to make the calls of NumPy cheap."""


_ONE_SIDED = {3: 1, 4: 0}
"""Ease to shapes the segment that its key ends, ease from the one that it begins."""


class _Stage(NamedTuple):
    columns: tuple[int, ...]
    """The parameters that are fitted."""
    inside: bool
    steps: int
    least_gain: float
    """Of a track's error: a step that gains less is its last. Where the parameters explain all, each gains most."""


_STAGES = (
    _Stage((0, 2), False, 6, 0.75),
    _Stage((0, 1, 2), False, 6, 0.5),
    _Stage((0, 1, 2, 3, 4), True, 5, 0.01),
    _Stage((0, 1, 2, 3, 4), False, 12, 0.005),
)


@dataclass(frozen=True, eq=False)
class Part:
    """A spline, and the motion that it should come near.

    Attributes
    ----------
    spline : VectorSpline or RotationSpline
        Of which the parameters are not looked at.
    rows : ndarray of int, shape (n,)
        Which of the track's keys the spline's are: components keyed at different frames are parts of one track, and
        have the parameters of a key in common.
    played : ndarray, shape (n - 1, SAMPLES, d)
        The motion at `sample_frames`, finite; unit quaternions of either sign for rotations.
    seen : ndarray of bool, shape (n - 1, d)
        What counts: no parameters come near a segment that jumps. All components of a rotation are alike.
    """

    spline: Spline
    rows: IndexArray
    played: FloatArray
    seen: BoolArray


def sample_frames(frames: FloatArray) -> FloatArray:
    """Return the frames (n - 1, SAMPLES) in the segments between keys at `frames` (n,) where motions are compared."""
    at = (np.arange(SAMPLES) + 0.5) / SAMPLES
    return frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * at


def fit_parameters(tracks: Sequence[Sequence[Part]]) -> list[FloatArray]:
    """Return for each track the parameters that play most like the motion: (5, keys), in the order of `PARAMETERS`, up
    to the last key that a part has.

    The error is the mean square over frames and components, of rotations the chord (4 sin(angle / 4)), and no larger
    than that of parameters 0. Where several parameters say the same, those that do without ease, without continuity,
    near 0 and with few digits are preferred.
    """
    results = [np.zeros((5, 0)) for _ in tracks]
    order = sorted((number for number, track in enumerate(tracks) if track), key=lambda number: _reach(tracks[number]))
    for _, alike in groupby(order, key=lambda number: _reach(tracks[number])):
        chunk: list[int] = []
        numbers = list(alike)
        size = 0
        for number in numbers:
            chunk.append(number)
            size += sum(len(part.rows) for part in tracks[number])
            if size >= _KEYS_AT_A_TIME or number == numbers[-1]:
                for each, parameters in zip(chunk, _fit([tracks[i] for i in chunk]), strict=True):
                    results[each] = parameters
                chunk, size = [], 0
    return results


def _reach(track: Sequence[Part]) -> int:
    """How far apart in the track's keys those of one segment stand, up to what is solved for as coupled."""
    return min(max(int(np.diff(part.rows).max(initial=1)) for part in track), _REACH)


def _fit(tracks: list[Sequence[Part]]) -> list[FloatArray]:
    """Fit tracks of one reach: the stages, each for those tracks that are not yet explained."""
    problem = _Problem(tracks)
    best = problem.split(np.zeros((5, problem.size)))
    errors = problem.errors(problem.residuals(problem.joined(best)))
    pending = np.flatnonzero(errors > problem.goals)
    current = list(best)
    for stage in _STAGES:
        if not len(pending):
            break
        part = _Problem([tracks[number] for number in pending])
        found, cost = _descend(part, part.joined([current[number] for number in pending]), stage)
        for number, parameters, error in zip(pending.tolist(), part.split(found), cost.tolist(), strict=True):
            current[number] = parameters
            if error < errors[number] * _PAYS**2:
                best[number], errors[number] = parameters, error
        pending = pending[errors[pending] > problem.goals[pending]]
    return problem.split(_with_few_digits(problem, problem.joined(best)))


class _Batch:
    """The splines of one kind, evaluated together, and their residuals' weights."""

    def __init__(self, parts: Sequence[Part], starts: Sequence[int], scales: Sequence[float]) -> None:
        self._class = type(parts[0].spline)
        self._splines = [part.spline for part in parts]
        self._tracks = end_to_end(self._splines)
        self._rows = np.concatenate([part.rows + start for part, start in zip(parts, starts, strict=True)])
        inner = np.ones(len(self._rows), dtype=np.bool_)
        inner[self._tracks.last] = False
        begin = np.flatnonzero(inner)
        self.left, self.right = self._rows[begin], self._rows[begin + 1]
        self._segment = np.repeat(begin, SAMPLES)
        self._frames = np.concatenate([sample_frames(part.spline.keys.frames).ravel() for part in parts])
        self._is_rotation = self._class is tcb.RotationSpline
        played = np.concatenate([part.played.reshape(-1, part.played.shape[2]) for part in parts])
        self._played = np.ascontiguousarray(played.T)
        weights = [_weights(part) / scale for part, scale in zip(parts, scales, strict=True)]
        self._weights = np.repeat(np.concatenate(weights), SAMPLES, axis=0).T
        self._curve: tuple[FloatArray, Curve] | None = None

    def residuals(self, parameters: FloatArray) -> FloatArray:
        """Return what is to become small, shape (segments, components * SAMPLES)."""
        tracks = replace(self._tracks, parameters=parameters[:, self._rows])
        values = self._curve_of(tracks).evaluate(self._segment, Timing(tracks).at(self._frames, self._segment, 0)[0], 0)
        played = self._played
        if self._is_rotation:
            played = np.where((values * played).sum(axis=0) < 0.0, -played, played)
        differences = (values - played) * self._weights
        rows: FloatArray = differences.reshape(len(values), -1, SAMPLES).transpose(1, 0, 2)
        return rows.reshape(len(self.left), -1)

    def _curve_of(self, tracks: Tracks) -> Curve:
        """Return the curve; the same as before where only the eases, which it does not see, are others."""
        shape = tracks.parameters[:3]
        if self._curve is None or not np.array_equal(self._curve[0], shape):
            self._curve = shape, self._class.curve(self._splines, tracks)  # type: ignore[arg-type]
        return self._curve[1]


def _weights(part: Part) -> FloatArray:
    """Return weights (n - 1, d) by which the squares in a segment of mean length add up to their mean."""
    lengths = np.diff(part.spline.keys.frames)
    weights: FloatArray = part.seen * np.sqrt(lengths / lengths.mean() / SAMPLES)[:, np.newaxis]
    return weights


def _scale(track: Sequence[Part]) -> tuple[float, float]:
    """Return the range of a track's motion, and the part of it below which nothing is seen."""
    spread = largest = 0.0
    for part in track:
        # A quaternion's chord is half the rotation's.
        size = 2.0 if isinstance(part.spline, tcb.RotationSpline) else 1.0
        played = part.played.reshape(-1, part.played.shape[2])
        values = np.concatenate([played, part.spline.keys.values]) if size == 1.0 else played
        spread = max(spread, size * float(np.ptp(values, axis=0).max()))
        largest = max(largest, size * float(np.abs(values).max()))
    noise = max(_NOISE * spread, _FLOAT32 * largest)
    return (spread, noise / spread) if spread > noise else (1.0, max(1.0, largest))


class _Problem:
    """Several tracks: their keys end to end, the segments of all their parts, and what depends on them alone."""

    def __init__(self, tracks: Sequence[Sequence[Part]]) -> None:
        counts = [1 + max(int(part.rows[-1]) for part in track) for track in tracks]
        starts = np.cumsum([0, *counts])
        self.size = int(starts[-1])
        self.bounds = starts
        self.track = np.repeat(np.arange(len(tracks)), counts)
        self._place = np.arange(self.size) - starts[self.track]
        self._reach = max(_reach(track) for track in tracks)
        self._blocks = 1 + int(self._place.max()) // self._reach
        scales = [_scale(track) for track in tracks]
        # A rotation's residual is twice the quaternions' difference: near enough the angle.
        batches: dict[Hashable, list[tuple[Part, int, float]]] = {}
        for track, start, (scale, _) in zip(tracks, starts.tolist(), scales, strict=False):
            for part in track:
                twice = 2.0 if isinstance(part.spline, tcb.RotationSpline) else 1.0
                batches.setdefault(part.spline.batch, []).append((part, start, scale / twice))
        self._batches = [_Batch(*zip(*batch, strict=True)) for batch in batches.values()]
        self.left = np.concatenate([batch.left for batch in self._batches])
        self.right = np.concatenate([batch.right for batch in self._batches])
        self.of_segment = self.track[self.left]
        self.segments = np.maximum(np.bincount(self.of_segment, minlength=len(tracks)), 1)
        self.noise = np.array([noise for _, noise in scales])
        self.goals = self.segments * self.noise**2

    def split(self, parameters: FloatArray) -> list[FloatArray]:
        return np.split(parameters, self.bounds[1:-1], axis=1)

    def joined(self, parameters: Sequence[FloatArray]) -> FloatArray:
        return np.concatenate(parameters, axis=1)

    def residuals(self, parameters: FloatArray) -> list[FloatArray]:
        return [batch.residuals(parameters) for batch in self._batches]

    def errors(self, residuals: Sequence[FloatArray]) -> FloatArray:
        """Return each track's sum of squares."""
        squares = np.concatenate([(rows * rows).sum(axis=1) for rows in residuals])
        sums: FloatArray = np.bincount(self.of_segment, squares, len(self.noise)).astype(np.float64)
        return sums

    @cached_property
    def _colours(self) -> IndexArray:
        """One a key: keys of one colour share no segment, so that all of them can be tried at once."""
        if self._reach == 1:
            return np.asarray(self._place % 2)
        before: list[list[int]] = [[] for _ in range(self.size)]
        for left, right in zip(self.left.tolist(), self.right.tolist(), strict=True):
            before[right].append(left)
        colours = [0] * self.size
        for key, neighbours in enumerate(before):
            taken = {colours[neighbour] for neighbour in neighbours}
            colours[key] = next(colour for colour in range(len(taken) + 1) if colour not in taken)
        return np.array(colours, dtype=np.intp)

    def jacobian(
        self, parameters: FloatArray, residuals: Sequence[FloatArray], columns: Sequence[int]
    ) -> list[FloatArray]:
        """Return the derivatives of residuals by the parameters of the key before a segment, then of the key after it:
        shape (segments, 2 columns, residuals) for each batch."""
        steps = np.where(parameters + _STEP > HIGHEST, -_STEP, _STEP)
        count = len(columns)
        result = [np.zeros((len(rows), 2 * count, rows.shape[1])) for rows in residuals]
        colours = [self._colours == colour for colour in range(int(self._colours.max(initial=0)) + 1)]
        for slot, column in enumerate(columns):
            # Of its two keys' eases a segment has one each.
            for keys in [np.ones(self.size, dtype=np.bool_)] if column in _ONE_SIDED else colours:
                tried = parameters.copy()
                tried[column, keys] += steps[column, keys]
                moved = self.residuals(tried)
                for batch, before, after, jacobian in zip(self._batches, residuals, moved, result, strict=True):
                    for side, ends in enumerate((batch.left, batch.right)):
                        if _ONE_SIDED.get(column, side) == side:
                            own = np.flatnonzero(keys[ends])
                            change = (after[own] - before[own]) / steps[column, ends[own], np.newaxis]
                            jacobian[own, side * count + slot] = change
        return result

    def normal_equations(
        self, residuals: Sequence[FloatArray], jacobians: Sequence[FloatArray]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the matrix, as blocks on and above the diagonal, and the gradient.

        Of shapes (tracks, blocks, w, w), (tracks, blocks - 1, w, w) and (tracks, blocks, w). A block has as many keys
        as the tracks' reach, so that a segment couples no more than neighbouring blocks.
        """
        squares = np.concatenate([jacobian @ jacobian.transpose(0, 2, 1) for jacobian in jacobians])
        slopes = np.concatenate(
            [(jacobian @ rows[..., np.newaxis])[..., 0] for jacobian, rows in zip(jacobians, residuals, strict=True)]
        )
        columns = squares.shape[1] // 2
        far = self.right - self.left > self._reach
        # For matrices with squares, twice the diagonal bounds the whole: a step that forgets the rest is short enough.
        squares[far] *= 2.0
        before, across, after = (
            squares[:, :columns, :columns],
            squares[:, :columns, columns:],
            squares[:, columns:, columns:],
        )
        shape = (len(self.noise), self._blocks, self._reach)
        diagonal = np.zeros((*shape, self._reach, columns, columns))
        above = np.zeros((shape[0], shape[1] - 1, self._reach, self._reach, columns, columns))
        gradient = np.zeros((*shape, columns))
        left, right = self._at(self.left), self._at(self.right)
        np.add.at(diagonal, (*left, left[2]), before)
        np.add.at(diagonal, (*right, right[2]), after)
        np.add.at(gradient, left, slopes[:, :columns])
        np.add.at(gradient, right, slopes[:, columns:])
        same = left[1] == right[1]
        track, block, row, column = (each[same & ~far] for each in (*left, right[2]))
        np.add.at(diagonal, (track, block, row, column), across[same & ~far])
        np.add.at(diagonal, (track, block, column, row), across[same & ~far].transpose(0, 2, 1))
        track, block, row, column = (each[~same & ~far] for each in (*left, right[2]))
        np.add.at(above, (track, block, row, column), across[~same & ~far])
        return _wide(diagonal), _wide(above), gradient.reshape(*shape[:2], -1)

    def _at(self, keys: IndexArray) -> tuple[IndexArray, IndexArray, IndexArray]:
        """Where keys stand in the normal equations: track, block, and place in the block."""
        return self.track[keys], self._place[keys] // self._reach, self._place[keys] % self._reach

    def blocks(self, parameters: FloatArray) -> FloatArray:
        """Return parameters (columns, keys) in the layout of the gradient."""
        columns = len(parameters)
        result = np.zeros((len(self.noise), self._blocks, self._reach, columns))
        result[self._at(np.arange(self.size))] = parameters.T
        return result.reshape(*result.shape[:2], -1)

    def unblocked(self, blocks: FloatArray, columns: int) -> FloatArray:
        """Return what is laid out like the gradient as (columns, keys)."""
        wide = blocks.reshape(*blocks.shape[:2], self._reach, columns)
        return wide[self._at(np.arange(self.size))].T


def _wide(blocks: FloatArray) -> FloatArray:
    """Return blocks of blocks (…, reach, reach, columns, columns) as matrices."""
    reach, _, columns, _ = blocks.shape[2:]
    wide: FloatArray = blocks.swapaxes(3, 4)
    return wide.reshape(*blocks.shape[:2], reach * columns, reach * columns)


def _descend(problem: _Problem, start: FloatArray, stage: _Stage) -> tuple[FloatArray, FloatArray]:
    """Return better parameters, and each track's error with them."""
    columns = list(stage.columns)
    lowest = np.tile(LOWEST[columns, 0], problem.blocks(start[columns]).shape[2] // len(columns))
    parameters = start
    if stage.inside:
        parameters = np.clip(start, LOWEST + _INSIDE, HIGHEST - _INSIDE)
    elif 3 in columns:
        near = 0.4 * _INSIDE
        parameters = np.where(start < LOWEST + near, LOWEST, np.where(start > HIGHEST - near, HIGHEST, start))
    # What the motion doesn't tell is drawn to 0.
    pull = problem.noise**2

    def cost_of(rows: Sequence[FloatArray], tried: FloatArray) -> FloatArray:
        size = np.bincount(problem.track, (tried * tried).sum(axis=0), len(problem.noise))
        return problem.errors(rows) + pull * size

    residuals = problem.residuals(parameters)
    cost = cost_of(residuals, parameters)
    damping = np.full(len(cost), 1e-2)
    done = problem.errors(residuals) <= problem.goals
    equations = None
    for _ in range(stage.steps):
        if done.all():
            break
        here = problem.blocks(parameters[columns])
        if equations is None:
            diagonal, above, slope = problem.normal_equations(
                residuals, problem.jacobian(parameters, residuals, columns)
            )
            equations = diagonal, above, slope + pull[:, np.newaxis, np.newaxis] * here
        damped = np.einsum("tnii->tni", equations[0]) * damping[:, np.newaxis, np.newaxis]
        damped += pull[:, np.newaxis, np.newaxis]
        step = _step_inside if stage.inside else _step_onto_bounds
        tried = parameters.copy()
        tried[columns] = problem.unblocked(step(equations, damped, here, lowest), len(columns))
        there = problem.residuals(tried)
        new_cost = cost_of(there, tried)
        better = (new_cost < cost) & ~done
        done |= better & (cost - new_cost <= stage.least_gain * cost)
        parameters = np.where(better[problem.track], tried, parameters)
        residuals = _chosen(problem, better, there, residuals)
        cost = np.where(better, new_cost, cost)
        damping = np.where(better, 0.2 * damping, 5.0 * damping)
        done |= problem.errors(residuals) <= problem.goals
        if better.any():
            equations = None
    return parameters, problem.errors(residuals)


def _chosen(
    problem: _Problem, better: BoolArray, new: Sequence[FloatArray], old: Sequence[FloatArray]
) -> list[FloatArray]:
    """Return the new residuals of the tracks that became better, the old ones of the others."""
    result, start = [], 0
    for one, other in zip(new, old, strict=True):
        own = better[problem.of_segment[start : start + len(one)], np.newaxis]
        result.append(np.where(own, one, other))
        start += len(one)
    return result


_Equations = tuple[FloatArray, FloatArray, FloatArray]


def _step_inside(equations: _Equations, damped: FloatArray, here: FloatArray, lowest: FloatArray) -> FloatArray:
    """Return a step that goes at most nine tenths of the way to a bound."""
    diagonal, above, slope = equations
    room = np.maximum(np.where(slope > 0.0, here - lowest, HIGHEST - here), 1e-12)
    matrix = diagonal + np.eye(here.shape[2]) * (np.abs(slope) / room + damped)[..., np.newaxis]
    there = here + _solved(matrix, above, -slope)
    return np.clip(there, here - 0.9 * (here - lowest), here + 0.9 * (HIGHEST - here))


def _step_onto_bounds(equations: _Equations, damped: FloatArray, here: FloatArray, lowest: FloatArray) -> FloatArray:
    """Return a step in which what reaches a bound stays there, and the rest is solved for again, twice at most."""
    diagonal, above, slope = equations
    there = here
    held = ((here <= lowest) & (slope > 0.0)) | ((here >= HIGHEST) & (slope < 0.0))
    for _ in range(3):
        free = ~held
        matrix = diagonal * (free[..., :, np.newaxis] & free[..., np.newaxis, :])
        matrix += np.eye(here.shape[2]) * np.where(free, damped, 1.0)[..., np.newaxis]
        coupled = above * (free[:, :-1, :, np.newaxis] & free[:, 1:, np.newaxis, :])
        moved = np.where(held, there - here, 0.0)
        right = -slope - (diagonal @ moved[..., np.newaxis])[..., 0]
        right[:, :-1] -= (above @ moved[:, 1:, :, np.newaxis])[..., 0]
        right[:, 1:] -= (above.transpose(0, 1, 3, 2) @ moved[:, :-1, :, np.newaxis])[..., 0]
        wanted = np.where(free, here + _solved(matrix, coupled, np.where(free, right, 0.0)), there)
        there = np.clip(wanted, lowest, HIGHEST)
        if (there == wanted).all():
            break
        held = held | (there != wanted)
    return there


def _solved(diagonal: FloatArray, above: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solutions (tracks, blocks, w) of symmetric block tridiagonal systems, by elimination."""
    width = right.shape[2]
    solution = right.copy()
    pivot = diagonal[:, 0]
    eliminated = []
    for block in range(diagonal.shape[1] - 1):
        both = np.linalg.solve(pivot, np.concatenate([above[:, block], solution[:, block, :, np.newaxis]], axis=2))
        below = above[:, block].transpose(0, 2, 1)
        pivot = diagonal[:, block + 1] - below @ both[..., :width]
        solution[:, block + 1] -= (below @ both[..., width:])[..., 0]
        solution[:, block] = both[..., width]
        eliminated.append(both[..., :width])
    solution[:, -1] = np.linalg.solve(pivot, solution[:, -1, :, np.newaxis])[..., 0]
    for block in range(len(eliminated) - 1, -1, -1):
        solution[:, block] -= (eliminated[block] @ solution[:, block + 1, :, np.newaxis])[..., 0]
    return solution


def _with_few_digits(problem: _Problem, parameters: FloatArray) -> FloatArray:
    """Return the parameters with as few digits as change the motion by less than rounding, or a part of its error."""
    residuals = problem.residuals(parameters)
    errors = problem.errors(residuals)
    share = np.maximum(3.0 * problem.noise, _ROUNDED * np.sqrt(errors / problem.segments))
    jacobians = problem.jacobian(parameters, residuals, range(5))
    effect = np.sqrt(np.concatenate([(jacobian * jacobian).sum(axis=2) for jacobian in jacobians]))
    largest = np.zeros((problem.size, 5))
    np.maximum.at(largest, problem.left, effect[:, :5])
    np.maximum.at(largest, problem.right, effect[:, 5:])
    rounded = parameters.copy()
    for digits in (3, 2, 1, 0):
        short = np.round(parameters, digits)
        few = np.abs(short - parameters) * largest.T <= share[problem.track]
        rounded = np.where(few, short, rounded)
    rounded = np.where(np.abs(parameters) * largest.T <= share[problem.track], 0.0, rounded)
    good = problem.errors(problem.residuals(rounded)) <= np.maximum(errors / _PAYS**2, 20.0 * problem.goals)
    return np.where(good[problem.track], rounded, parameters)
