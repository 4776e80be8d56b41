# SPDX-License-Identifier: GPL-3.0-or-later
"""The parameters with which keys play most like a motion that is there: least squares over samples of it.

A key's five parameters shape the segments beside it and no others. So all tracks are one sparse problem, whose normal
equations are of a key and of neighbouring keys; conjugate gradients solve them, each track for itself. Residuals are
those of the splines. Their derivatives are those of Hermite's curve through the same tangents, of a rotation in the
rotation vectors from key to key: exact about one axis, and else near enough to lead down; with whole turns they are
difference quotients. Levenberg and Marquardt's damping is each track's own. The descent goes from the simplest
explanation to the fullest, and takes the next one only where it pays. With all five parameters the bounds hold many
poor minima: there it first keeps inside them (Coleman and Li), and goes onto them only at last. Source:
docs/formulas.md, "Fitting parameters to a motion".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import NamedTuple, cast

import numpy as np

from .. import ease
from ..batch import BoolArray, IndexArray, Tracks, end_to_end
from ..keys import HIGHEST, LOWEST, FloatArray
from ..rotations import sphere
from ..rotations.exponential import cross
from ..splines import tcb

Spline = tcb.VectorSpline | tcb.RotationSpline

SAMPLES = 7
"""Samples a segment: two parameters more than one number's curve between two keys can tell."""
_PLACES = (np.arange(SAMPLES) + 0.5) / SAMPLES

_NOISE = 1e-6
"""Of a track's range. Float32 curves say no more; parameters that change less than this stay 0."""
FLOAT32 = 2.0**-22
"""Of a track's largest number: what rounding to float32 makes of the samples, and of the handles before them."""
_STEP = 1e-6
"""Of the difference quotients: as far from rounding (1e-16 / 1e-6) as from curvature."""
_PAYS = 0.99
"""A fuller explanation is taken where its error is below this part of the simpler one's."""
_ROUNDED = 0.02
"""Of a track's error: parameters are rounded to few digits if that changes the motion by less."""
_INSIDE = 0.05
"""Where the descent inside the bounds begins, and how near a bound it must have come to be put on it: 2/5 of that."""
_KEYS_AT_A_TIME = 5000
"""Few enough for the processor's cache, many enough to make the calls of NumPy cheap."""

_FINISHED = 0.2
"""Part of the tracks: where as many need no more steps, the others go on without them."""
_SOLVED = 0.05
"""Of a step: how near it is solved for, and nearer where the steps before led far down (Eisenstat and Walker)."""
_CONJUGATE_STEPS = 30
"""Neighbouring keys are coupled loosely: most steps need 6."""
_EASE_TO, _EASE_FROM = 3, 4
_EASES = (_EASE_TO, _EASE_FROM)
"""Ease to shapes the segment that its key ends, ease from the one that it begins."""


class _Stage(NamedTuple):
    columns: tuple[int, ...]
    """The parameters that are fitted."""
    inside: bool
    steps: int
    least_gain: float
    """Of a track's error: a step that gains less is its last. Where the parameters explain all, each gains most."""


_STAGES = (
    _Stage((0, 2), False, 6, 0.9),
    _Stage((0, 1, 2), False, 15, 0.1),
    _Stage((0, 1, 2, 3, 4), True, 3, 0.05),
    _Stage((0, 1, 2, 3, 4), False, 12, 0.02),
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
    """

    spline: Spline
    rows: IndexArray
    played: FloatArray

    def with_parameters(self, parameters: FloatArray) -> Spline:
        """Return the spline with parameters (5, keys) of the track's keys, which are in their ranges."""
        spline = copy(self.spline)
        spline.keys = spline.keys.with_parameters(parameters[:, self.rows])
        return spline


def sample_frames(frames: FloatArray) -> FloatArray:
    """Return the frames (n - 1, SAMPLES) in the segments between keys at `frames` (n,) where motions are compared."""
    return frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * _PLACES


def fit_parameters(tracks: Sequence[Sequence[Part]]) -> list[FloatArray]:
    """Return for each track the parameters that play most like the motion: (5, keys), in the order of `PARAMETERS`, up
    to the last key that a part has.

    The error is the mean square over frames and components, of rotations the chord (4 sin(angle / 4)), and no larger
    than that of parameters 0. Where several parameters say the same, those that do without ease, without continuity,
    near 0 and with few digits are preferred.
    """
    results = [np.zeros((5, 0)) for _ in tracks]
    chunk: list[int] = []
    size = 0
    for number, track in enumerate(tracks):
        if track:
            chunk.append(number)
            size += sum(len(part.rows) for part in track)
        if chunk and (size >= _KEYS_AT_A_TIME or number == len(tracks) - 1):
            for each, parameters in zip(chunk, _fit([tracks[i] for i in chunk]), strict=True):
                results[each] = parameters
            chunk, size = [], 0
    return results


def _fit(tracks: list[Sequence[Part]]) -> list[FloatArray]:
    """Fit tracks: the stages, each for those that are not yet explained."""
    problem = _Problem.of(tracks)
    best = np.zeros((5, len(problem.track)))
    current = best.copy()
    pending = np.ones(len(tracks), dtype=np.bool_)
    for stage in _STAGES:
        keys = pending[problem.track]
        current[:, keys], before, after = _descend(problem.take(pending), current.compress(keys, axis=1), stage)
        if stage is _STAGES[0]:
            # Of parameters 0.
            errors = before
        pays = np.zeros_like(pending)
        pays[pending] = after < errors[pending] * _PAYS**2
        errors[pays] = after[pays[pending]]
        best = np.where(pays[problem.track], current, best)
        pending = errors > problem.goals
        if not pending.any():
            break
    rounded = _with_few_digits(problem, best, errors)
    return np.split(rounded, np.flatnonzero(np.diff(problem.track)) + 1, axis=1)


class _Products(NamedTuple):
    """Products of derivatives by the parameters of the key before each segment, and of the key after it.

    With themselves (2, columns, columns, N), of the one with the other (columns, columns, N), and of both with the
    residuals (2, columns, N).
    """

    squares: FloatArray
    across: FloatArray
    slopes: FloatArray

    @classmethod
    def empty(cls, columns: int, segments: int) -> _Products:
        return cls(
            *(np.zeros((*shape, segments)) for shape in ((2, columns, columns), (columns, columns), (2, columns)))
        )


@dataclass(frozen=True, eq=False)
class _Batch:
    """The segments of splines of one kind, N in all, of d components, of rotations the three of rotation vectors."""

    splines: list[Spline]
    tracks: Tracks
    rows: IndexArray
    """Which of the problem's keys the splines' are."""
    begin: IndexArray
    """Which of the splines' keys begin the segments."""
    before: FloatArray
    """Chords to the splines' keys, shape (d, keys)."""
    after: FloatArray
    weights: FloatArray
    """Shape (d, N)."""
    played: FloatArray
    """The motion, shape (components, SAMPLES, N): of numbers from the segment's first key on, and weighted."""

    @classmethod
    def of(cls, parts: Sequence[Part], starts: Sequence[int], scales: Sequence[float]) -> _Batch:
        splines = [part.spline for part in parts]
        tracks = end_to_end(splines)
        inner = np.ones(len(tracks.frames), dtype=np.bool_)
        inner[tracks.last] = False
        weights = np.concatenate([_weights(part) / scale for part, scale in zip(parts, scales, strict=True)]).T
        played = np.concatenate([part.played for part in parts]).transpose(2, 1, 0)
        begin = np.flatnonzero(inner)
        if isinstance(splines[0], tcb.RotationSpline):
            weights = weights[:3]
        else:
            played = (played - tracks.values[begin].T[:, np.newaxis]) * weights[:, np.newaxis]
        before, after = type(splines[0]).chords(splines, tracks)  # type: ignore[arg-type]
        return cls(
            splines,
            tracks,
            rows=np.concatenate([part.rows + start for part, start in zip(parts, starts, strict=True)]),
            begin=begin,
            before=before,
            after=after,
            weights=np.ascontiguousarray(weights),
            played=np.ascontiguousarray(played),
        )

    def take(self, keys: BoolArray) -> _Batch | None:
        """Return the batch of those splines all of whose keys, in the problem, are among the given ones."""
        own = keys[self.rows]
        if own.all():
            chosen, tracks = self.splines, self.tracks
        else:
            chosen = list(compress(self.splines, own[self.tracks.first].tolist()))
            tracks = self.tracks.take(own) if chosen else self.tracks
        if not chosen:
            return None
        segments = own[self.begin]
        place, in_problem = np.cumsum(own) - 1, np.cumsum(keys) - 1
        return _Batch(
            chosen,
            tracks,
            rows=in_problem[self.rows[own]],
            begin=place[self.begin[segments]],
            before=self.before.compress(own, axis=1),
            after=self.after.compress(own, axis=1),
            weights=self.weights.compress(segments, axis=1),
            played=self.played.compress(segments, axis=2),
        )

    @property
    def left(self) -> IndexArray:
        return self.rows[self.begin]

    @property
    def right(self) -> IndexArray:
        return self.rows[self.begin + 1]

    def residuals(self, parameters: FloatArray) -> FloatArray:
        """Return what is to become small, shape (d, SAMPLES, N)."""
        return self._off(parameters.take(self.rows, axis=1))

    def _off(self, own: FloatArray) -> FloatArray:
        """Return the same from the parameters of the splines' keys."""
        u = self._local(own)
        if self.is_rotation:
            tracks = replace(self.tracks, parameters=own)
            curve = tcb.RotationSpline.curve(cast(list[tcb.RotationSpline], self.splines), tracks)
            values = curve.evaluate(np.tile(self.begin, SAMPLES), u.ravel(), 0).reshape(self.played.shape)
            return _turns_between(values, self.played) * self.weights[:, np.newaxis]
        motion = _moved(u, *(each * self.weights for each in self._shape(*self._tangents(own))))
        motion -= self.played
        return motion

    def _local(self, parameters: FloatArray) -> FloatArray:
        """Return the eased local parameter at the samples, shape (SAMPLES, N)."""
        u = np.repeat(_PLACES[:, np.newaxis], len(self.begin), axis=1)
        ease_from, ease_to = parameters[4, self.begin], parameters[3, self.begin + 1]
        return ease.ease(u, *ease.normalised(ease_from, ease_to)) if ease_from.any() or ease_to.any() else u

    def _shape(self, incoming: FloatArray, outgoing: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the chords of the segments and the tangents at their ends, each of shape (d, N)."""
        begin = self.begin
        return self.after.take(begin, axis=1), outgoing.take(begin, axis=1), incoming.take(begin + 1, axis=1)

    def normal_equations(self, parameters: FloatArray, residuals: FloatArray, columns: Sequence[int]) -> _Products:
        """Return what the segments have for the normal equations."""
        own = parameters.take(self.rows, axis=1)
        steps = np.where(own + _STEP > HIGHEST, -_STEP, _STEP)
        if self.has_whole_turns:
            return self._tried(own, steps, residuals, columns)
        incoming, outgoing = self._tangents(own)
        chord, leaving, arriving = self._shape(incoming, outgoing)
        u = self._local(own)
        rest = 1.0 - u
        leave, arrive = u * rest * rest, -u * u * rest
        of_end, of_start = self._ends(own)
        by_left, by_right = leave - of_end * arrive, arrive - of_start * leave
        from_left = from_right = on_the_way = None
        if self.is_rotation:
            arriving = arriving + cross(_half(-chord), arriving)
            # Tangents tell most at a third of the way.
            third, other = (_moved(np.array([place]), chord, leaving, arriving)[:, 0] for place in (1 / 3, 2 / 3))
            from_left, from_right = _half(third), _half(other - chord)
        shaping = [column for column in columns if column not in _EASES]
        left, right = np.empty((2, len(shaping), *chord.shape))
        for slot, column in enumerate(shaping):
            into, out = self._tangents(_with_step(own, steps, column))
            into = ((into - incoming) / steps[column]).take(self.begin + 1, axis=1)
            out = ((out - outgoing) / steps[column]).take(self.begin, axis=1)
            # Where an end's tangent takes from its neighbour's, that part is the neighbour's.
            left[slot] = _carried((out + of_start * into) * self.weights, from_left)
            right[slot] = _carried((into + of_end * out) * self.weights, from_right)
        result = _Products.empty(len(columns), len(self.begin))
        few = slice(len(shaping))
        result.squares[0, few, few] = np.einsum("idn,jdn->ijn", left * (by_left * by_left).sum(axis=0), left)
        result.squares[1, few, few] = np.einsum("idn,jdn->ijn", right * (by_right * by_right).sum(axis=0), right)
        result.across[few, few] = np.einsum("idn,jdn->ijn", left * (by_left * by_right).sum(axis=0), right)
        result.slopes[0, few], result.slopes[1, few] = (
            _dots(left, by_left, residuals),
            _dots(right, by_right, residuals),
        )
        if len(shaping) == len(columns):
            return result
        speed = _speed(u, chord, leaving, arriving)
        if self.is_rotation:
            on_the_way = _half(_moved(u, chord, leaving, arriving))
        speed = _carried(speed, on_the_way) * self.weights[:, np.newaxis]
        to, from_ = columns.index(_EASE_TO), columns.index(_EASE_FROM)
        starting, ending = (
            speed * ((self._local(_with_step(own, steps, column)) - u) / steps[column].take(keys))
            for column, keys in ((_EASE_FROM, self.begin), (_EASE_TO, self.begin + 1))
        )
        result.squares[0, from_, from_] = np.einsum("dsn,dsn->n", starting, starting)
        result.squares[1, to, to] = np.einsum("dsn,dsn->n", ending, ending)
        result.squares[0, few, from_] = result.squares[0, from_, few] = _dots(left, by_left, starting)
        result.squares[1, few, to] = result.squares[1, to, few] = _dots(right, by_right, ending)
        result.across[few, to], result.across[from_, few] = (
            _dots(left, by_left, ending),
            _dots(right, by_right, starting),
        )
        result.across[from_, to] = np.einsum("dsn,dsn->n", starting, ending)
        result.slopes[0, from_] = np.einsum("dsn,dsn->n", starting, residuals)
        result.slopes[1, to] = np.einsum("dsn,dsn->n", ending, residuals)
        return result

    def _tried(self, own: FloatArray, steps: FloatArray, residuals: FloatArray, columns: Sequence[int]) -> _Products:
        """Return the same of derivatives that are difference quotients: no simpler curve is near whole turns."""
        off = self._off(own)
        jacobian = np.zeros((2, len(columns), *off.shape))
        place = np.arange(own.shape[1]) - np.repeat(self.tracks.first, self.tracks.last - self.tracks.first + 1)
        for parity in (0, 1):
            # Of a segment's two keys one is moved.
            keys = place % 2 == parity
            for slot, column in enumerate(columns):
                change = self._off(_with_step(own, steps * keys, column)) - off
                for side, ends in zip(jacobian, (self.begin, self.begin + 1), strict=True):
                    side[slot] += change * (keys / steps[column]).take(ends)
        return _Products(
            np.einsum("aidsn,ajdsn->aijn", jacobian, jacobian),
            np.einsum("idsn,jdsn->ijn", *jacobian),
            np.einsum("aidsn,dsn->ain", jacobian, residuals),
        )

    @property
    def is_rotation(self) -> bool:
        return isinstance(self.splines[0], tcb.RotationSpline)

    @property
    def has_whole_turns(self) -> bool:
        """Those that have some are a batch of their own."""
        return _has_whole_turns(self.splines[0])

    def _tangents(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        tracks = replace(self.tracks, parameters=parameters)
        return tcb.tangents(tracks, self.before, self.after, self._rule)

    @property
    def _rule(self) -> tcb.Ends:
        spline = self.splines[0]
        return spline.ends if isinstance(spline, tcb.RotationSpline) else "TANGENT"

    def _ends(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return which part of its other tangent a segment's last tangent takes off, and its first: at the ends of
        tracks."""
        of_end, of_start = np.zeros((2, len(self.tracks.frames)))
        if self._rule == "TANGENT":
            first, last = self.tracks.open
            longer = last - first > 1
            first, last = first[longer], last[longer]
            of_start[first] = 0.5 * (1.0 - parameters[0, first])
            of_end[last] = 0.5 * (1.0 - parameters[0, last])
        return of_end[self.begin + 1], of_start[self.begin]


def _half(way: FloatArray) -> FloatArray:
    """Return rotation vectors of half the length, no longer than 1."""
    return way * (0.5 * np.sinc(sphere.length(way) / (2.0 * np.pi)))


def _carried(vectors: FloatArray, half: FloatArray | None) -> FloatArray:
    """Return what a change of a rotation, a vector, becomes on the way of which a half is given: on the sphere of
    quaternions it is carried straight on."""
    return vectors if half is None else vectors + cross(half, vectors)


def _has_whole_turns(spline: Spline) -> bool:
    return isinstance(spline, tcb.RotationSpline) and spline.has_whole_turns


def _with_step(parameters: FloatArray, steps: FloatArray, column: int) -> FloatArray:
    """Return parameters of which one, of all keys, is moved by its step."""
    moved = parameters.copy()
    moved[column] += steps[column]
    return moved


def _dots(changes: FloatArray, shares: FloatArray, samples: FloatArray) -> FloatArray:
    """Return the products with samples (d, SAMPLES, N) of changes (columns, d, N), of which each sample has a share."""
    products: FloatArray = np.einsum("idn,dn->in", changes, np.einsum("sn,dsn->dn", shares, samples))
    return products


def _moved(u: FloatArray, chord: FloatArray, leaving: FloatArray, arriving: FloatArray) -> FloatArray:
    """Return Hermite's curve from 0 with these chords and tangents (d, N), shape (d, SAMPLES, N)."""
    rest = 1.0 - u
    result: FloatArray = chord[:, np.newaxis] * (u * u * (3.0 - 2.0 * u))
    result += leaving[:, np.newaxis] * (u * rest * rest)
    result -= arriving[:, np.newaxis] * (u * u * rest)
    return result


def _speed(u: FloatArray, chord: FloatArray, leaving: FloatArray, arriving: FloatArray) -> FloatArray:
    """Return the derivative of the same by u."""
    rest = 1.0 - u
    result: FloatArray = chord[:, np.newaxis] * (6.0 * u * rest)
    result += leaving[:, np.newaxis] * (rest * (1.0 - 3.0 * u))
    result += arriving[:, np.newaxis] * (u * (3.0 * u - 2.0))
    return result


def _turns_between(values: FloatArray, others: FloatArray) -> FloatArray:
    """Return the rotation vectors from unit quaternions to others, as long as the chord, 4 sin(angle / 4)."""
    turn = sphere.product(values, sphere.conjugate(others))
    vectors: FloatArray = turn[1:] * (np.copysign(2.0, turn[0]) / np.sqrt(0.5 + 0.5 * np.abs(turn[0])))
    return vectors


def _weights(part: Part) -> FloatArray:
    """Return weights (n - 1, d) by which the squares in a segment of mean length add up to their mean."""
    lengths = np.diff(part.spline.keys.frames)
    weights = np.sqrt(lengths / lengths.mean() / SAMPLES)
    return np.repeat(weights[:, np.newaxis], part.played.shape[2], axis=1)


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
    noise = max(_NOISE * spread, FLOAT32 * largest)
    return (spread, noise / spread) if spread > noise else (1.0, max(1.0, largest))


class _Equations(NamedTuple):
    """Normal equations: a matrix for each key and for each segment, from its left key to its right, and the gradient.

    Of shapes (columns, columns, keys), (columns, columns, segments) and (columns, keys).
    """

    own: FloatArray
    across: FloatArray
    slope: FloatArray


@dataclass(frozen=True, eq=False)
class _Problem:
    """Several tracks: their keys end to end, and the segments of all their parts."""

    track: IndexArray
    """Of each key."""
    noise: FloatArray
    """Of each track."""
    batches: list[_Batch]

    @classmethod
    def of(cls, tracks: Sequence[Sequence[Part]]) -> _Problem:
        counts = [1 + max(int(part.rows[-1]) for part in track) for track in tracks]
        starts = np.cumsum([0, *counts])
        scales = [_scale(track) for track in tracks]
        batches: dict[Hashable, list[tuple[Part, int, float]]] = {}
        for track, start, (scale, _) in zip(tracks, starts.tolist(), scales, strict=False):
            for part in track:
                kind = part.spline.batch, _has_whole_turns(part.spline)
                batches.setdefault(kind, []).append((part, start, scale))
        return cls(
            np.repeat(np.arange(len(tracks)), counts),
            np.array([noise for _, noise in scales]),
            [_Batch.of(*zip(*batch, strict=True)) for batch in batches.values()],
        )

    def take(self, tracks: BoolArray) -> _Problem:
        """Return the problem of some of its tracks."""
        keys = tracks[self.track]
        batches = [taken for batch in self.batches if (taken := batch.take(keys)) is not None]
        return _Problem((np.cumsum(tracks) - 1)[self.track[keys]], self.noise[tracks], batches)

    @cached_property
    def left(self) -> IndexArray:
        """The keys that begin the segments."""
        return np.concatenate([batch.left for batch in self.batches])

    @cached_property
    def right(self) -> IndexArray:
        return np.concatenate([batch.right for batch in self.batches])

    @cached_property
    def segments(self) -> FloatArray:
        """How many each track has, but not 0."""
        return np.maximum(np.bincount(self.track[self.left], minlength=len(self.noise)), 1.0)

    @property
    def goals(self) -> FloatArray:
        """The errors below which nothing is seen."""
        return self.segments * self.noise**2

    def residuals(self, parameters: FloatArray) -> list[FloatArray]:
        return [batch.residuals(parameters) for batch in self.batches]

    def errors(self, residuals: Sequence[FloatArray]) -> FloatArray:
        """Return each track's sum of squares."""
        squares = np.concatenate([np.einsum("dsn,dsn->n", rows, rows) for rows in residuals])
        return _binned(self.track[self.left], squares, len(self.noise))

    def chosen(self, tracks: BoolArray, new: Sequence[FloatArray], old: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the new residuals of some tracks, the old ones of the others."""
        return [
            np.where(tracks[self.track[batch.left]], one, other)
            for batch, one, other in zip(self.batches, new, old, strict=True)
        ]

    def rows(self, residuals: Sequence[FloatArray], keys: BoolArray) -> list[FloatArray]:
        """Return the residuals of what `take` leaves."""
        rows = [each.compress(keys[batch.left], axis=2) for batch, each in zip(self.batches, residuals, strict=True)]
        return [each for each in rows if each.shape[-1]]

    def normal_equations(
        self, parameters: FloatArray, residuals: Sequence[FloatArray], columns: Sequence[int]
    ) -> _Equations:
        squares, across, slopes = zip(
            *(
                batch.normal_equations(parameters, rows, columns)
                for batch, rows in zip(self.batches, residuals, strict=True)
            ),
            strict=True,
        )
        return _Equations(
            self._summed(np.concatenate(squares, axis=-1)),
            np.concatenate(across, axis=-1),
            self._summed(np.concatenate(slopes, axis=-1)),
        )

    def _summed(self, sides: FloatArray) -> FloatArray:
        """Return the sums of what segments have for their left and right keys: (2, …, segments) to (…, keys)."""
        shape, count = sides.shape[1:-1], len(self.track)
        rows = math.prod(shape)
        if rows not in self._places:
            places = np.stack([self.left, self.right])[:, np.newaxis] + count * np.arange(rows)[:, np.newaxis]
            self._places[rows] = places.ravel()
        return _binned(self._places[rows], sides.ravel(), rows * count).reshape(*shape, count)

    @cached_property
    def _places(self) -> dict[int, IndexArray]:
        """For so many rows where the sums of segments go."""
        return {}

    def solved(
        self, equations: _Equations, damped: FloatArray, free: BoolArray, right: FloatArray, forcing: FloatArray
    ) -> FloatArray:
        """Return the solution of the damped equations, in what is free, up to that part of what each track is away from
        it: by conjugate gradients, led by the keys' own equations."""
        own = equations.own * (free[:, np.newaxis] & free)
        own[np.diag_indices(len(free))] += np.where(free, damped, 1.0)
        factors = _factors(own)
        solution = np.zeros_like(right)
        rest = np.where(free, right, 0.0)
        ahead = led = _divided(factors, rest)
        size = self._of_tracks(rest * led)
        enough = forcing**2 * size
        for _ in range(_CONJUGATE_STEPS):
            turned = self.times(own, equations.across, ahead) * free
            length = self._ratio(size, self._of_tracks(ahead * turned))
            solution += length * ahead
            rest = rest - length * turned
            led = _divided(factors, rest)
            before, size = size, self._of_tracks(rest * led)
            if (size <= enough).all():
                break
            ahead = led + self._ratio(size, before) * ahead
        return solution

    def times(self, own: FloatArray, across: FloatArray, parameters: FloatArray) -> FloatArray:
        """Return the product of the normal equations' matrix with parameters."""
        of_left = np.einsum("ijn,jn->in", across, parameters.take(self.right, axis=1))
        of_right = np.einsum("jin,jn->in", across, parameters.take(self.left, axis=1))
        product: FloatArray = np.einsum("ijn,jn->in", own, parameters) + self._summed(np.stack([of_left, of_right]))
        return product

    def _of_tracks(self, numbers: FloatArray) -> FloatArray:
        """Return sums over each track's keys."""
        return _binned(self.track, numbers.sum(axis=0), len(self.noise))

    def _ratio(self, dividend: FloatArray, divisor: FloatArray) -> FloatArray:
        """Return a ratio of each track's, 0 of nothing, for each key."""
        ratio = np.divide(dividend, divisor, out=np.zeros_like(dividend), where=divisor > 0.0)
        return ratio[self.track]


def _binned(places: IndexArray, numbers: FloatArray, count: int) -> FloatArray:
    """Return the sums of the numbers of each place."""
    sums: FloatArray = np.bincount(places, numbers, count).astype(np.float64, copy=False)
    return sums


def _factors(matrices: FloatArray) -> FloatArray:
    """Return the factors L and D of symmetric matrices L D L', shape (columns, columns, keys): L is below the diagonal,
    1 / D on it."""
    factors = matrices.copy()
    for column in range(len(factors)):
        factors[column, column] = 1.0 / factors[column, column]
        row = factors[column, column + 1 :].copy()
        factors[column + 1 :, column] *= factors[column, column]
        factors[column + 1 :, column + 1 :] -= factors[column + 1 :, column, np.newaxis] * row
    return factors


def _divided(factors: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solutions (columns, keys) of equations with these factors."""
    solution = right.copy()
    for column in range(len(right) - 1):
        solution[column + 1 :] -= factors[column + 1 :, column] * solution[column]
    solution *= np.einsum("iin->in", factors)
    for column in range(len(right) - 1, 0, -1):
        solution[:column] -= factors[column, :column] * solution[column]
    return solution


def _descend(problem: _Problem, start: FloatArray, stage: _Stage) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return better parameters, and each track's errors before and with them."""
    columns = list(stage.columns)
    lowest = LOWEST[columns]
    parameters = start
    if stage.inside:
        parameters = np.clip(start, LOWEST + _INSIDE, HIGHEST - _INSIDE)
    elif 3 in columns:
        near = 0.4 * _INSIDE
        parameters = np.where(start < LOWEST + near, LOWEST, np.where(start > HIGHEST - near, HIGHEST, start))

    def cost_of(rows: Sequence[FloatArray], tried: FloatArray) -> FloatArray:
        # What the motion doesn't tell is drawn to 0.
        size = _binned(problem.track, (tried * tried).sum(axis=0), len(problem.noise))
        return problem.errors(rows) + problem.noise**2 * size

    residuals = problem.residuals(parameters)
    cost = cost_of(residuals, parameters)
    damping, forcing = np.full(len(cost), 1e-2), np.full(len(cost), _SOLVED)
    errors = problem.errors(residuals)
    done = errors <= problem.goals
    equations = None
    before, found, after, which = errors, parameters.copy(), errors.copy(), np.arange(len(cost))
    keys_of = np.arange(len(problem.track))
    for _ in range(stage.steps):
        if done.mean() > _FINISHED:
            going = ~done
            keys = going[problem.track]
            residuals = problem.rows(residuals, keys)
            problem, which, keys_of = problem.take(going), which[going], keys_of[keys]
            parameters, cost, done = parameters.compress(keys, axis=1), cost[going], done[going]
            damping, forcing = damping[going], forcing[going]
            equations = None
        if not len(which):
            break
        here = parameters[columns]
        pull = (problem.noise**2)[problem.track]
        if equations is None:
            equations = problem.normal_equations(parameters, residuals, columns)
            equations = equations._replace(slope=equations.slope + pull * here)
        damped = np.einsum("iin->in", equations.own) * damping[problem.track] + pull
        step = _step_inside if stage.inside else _step_onto_bounds
        tried = parameters.copy()
        tried[columns] = step(problem, equations, damped, here, lowest, forcing)
        there = problem.residuals(tried)
        new_cost = cost_of(there, tried)
        better = (new_cost < cost) & ~done
        forcing = np.where(better, np.minimum(_SOLVED, _SOLVED * np.sqrt(new_cost / np.maximum(cost, 1e-300))), _SOLVED)
        done |= better & (cost - new_cost <= stage.least_gain * cost)
        parameters = np.where(better[problem.track], tried, parameters)
        residuals = problem.chosen(better, there, residuals)
        cost = np.where(better, new_cost, cost)
        damping = np.where(better, 0.2 * damping, 5.0 * damping)
        errors = problem.errors(residuals)
        done |= errors <= problem.goals
        found[:, keys_of], after[which] = parameters, errors
        if better.any():
            equations = None
    return found, before, after


def _step_inside(
    problem: _Problem,
    equations: _Equations,
    damped: FloatArray,
    here: FloatArray,
    lowest: FloatArray,
    forcing: FloatArray,
) -> FloatArray:
    """Return a step that goes at most nine tenths of the way to a bound."""
    slope = equations.slope
    room = np.maximum(np.where(slope > 0.0, here - lowest, HIGHEST - here), 1e-12)
    every = np.ones(here.shape, dtype=np.bool_)
    there = here + problem.solved(equations, damped + np.abs(slope) / room, every, -slope, forcing)
    return np.clip(there, here - 0.9 * (here - lowest), here + 0.9 * (HIGHEST - here))


def _step_onto_bounds(
    problem: _Problem,
    equations: _Equations,
    damped: FloatArray,
    here: FloatArray,
    lowest: FloatArray,
    forcing: FloatArray,
) -> FloatArray:
    """Return a step in which what reaches a bound stays there, and the rest is solved for again, twice at most."""
    own, across, slope = equations
    there = here
    held = ((here <= lowest) & (slope > 0.0)) | ((here >= HIGHEST) & (slope < 0.0))
    for _ in range(2):
        right = -slope - problem.times(own, across, np.where(held, there - here, 0.0))
        wanted = np.where(held, there, here + problem.solved(equations, damped, ~held, right, forcing))
        there = np.clip(wanted, lowest, HIGHEST)
        if (there == wanted).all():
            break
        held = held | (there != wanted)
    return there


def _with_few_digits(problem: _Problem, parameters: FloatArray, errors: FloatArray) -> FloatArray:
    """Return the parameters with as few digits as change the motion by less than rounding, or a part of its error."""
    share = np.maximum(3.0 * problem.noise, _ROUNDED * np.sqrt(errors / problem.segments))
    squares = [
        batch.normal_equations(parameters, np.zeros((len(batch.weights), SAMPLES, len(batch.begin))), range(5))[0]
        for batch in problem.batches
    ]
    effect = np.einsum("aiin->ain", np.concatenate(squares, axis=-1))
    largest = np.zeros((5, len(problem.track)))
    for keys, squares in zip((problem.left, problem.right), np.sqrt(effect), strict=True):
        for most, each in zip(largest, squares, strict=True):
            np.maximum.at(most, keys, each)
    rounded = parameters.copy()
    for digits in (3, 2, 1, 0):
        short = np.round(parameters, digits)
        few = np.abs(short - parameters) * largest <= share[problem.track]
        rounded = np.where(few, short, rounded)
    rounded = np.where(np.abs(parameters) * largest <= share[problem.track], 0.0, rounded)
    good = problem.errors(problem.residuals(rounded)) <= np.maximum(errors / _PAYS**2, 20.0 * problem.goals)
    return np.where(good[problem.track], rounded, parameters)
