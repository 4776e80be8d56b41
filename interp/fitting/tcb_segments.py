# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments of TCB splines and the motions that they should play: residuals, and their derivatives by parameter.

Residuals are differences from the splines. Their derivatives are from the Hermite curve with the same tangents, which
for a rotation uses the rotation vectors from key to key. They are exact for rotation about one axis, and otherwise
accurate enough for the descent. Arrays of segments have d components first and the N segments last. Source:
docs/formulas, "Fitting parameters to a motion".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple, cast

import numpy as np

from .. import ease
from ..batch import BoolArray, IndexArray, KeyBatch, end_to_end
from ..hermite_basis import HermiteWeights, hermite_weights
from ..keys import HIGHEST, Float64Array
from ..rotations import sphere
from ..rotations.exponential import cross
from ..splines import tcb
from .tcb_tangents import SHAPING, tangent_changes

Spline = tcb.VectorSpline | tcb.RotationSpline

SAMPLES = 7
"""Samples per segment, two more than the parameters that the curve of one number determines."""
SHARES = (np.arange(SAMPLES) + 0.5) / SAMPLES
"""The local parameters at which a segment is sampled."""
_STEP = 1e-6
"""The step of difference quotients with respect to ease, which balances rounding (1e-16 / 1e-6) and curvature."""
_EASE_TO, _EASE_FROM = 3, 4
"""Ease to shapes the segment that ends at its key, and ease from the segment that begins there."""


@dataclass(frozen=True, eq=False)
class SplineToFit:
    """A spline, and the motion that it should reproduce.

    Attributes
    ----------
    spline : VectorSpline or RotationSpline
        The spline. Its own parameters are ignored.
    rows : ndarray of int, shape (n,)
        The indices of the spline's keys among the track's keys. Components keyed at different frames are parts of one
        track, and share the parameters of a key.
    samples : ndarray, shape (n - 1, SAMPLES, d)
        The finite motion at `sample_frames`, for rotations unit quaternions of either sign.
    walk : ndarray, shape (n - 1, SAMPLES, 3), or None
        Rotation vectors from the previous key to the samples, including full turns. Only splines with long turns need
        them.
    """

    spline: Spline
    rows: IndexArray
    samples: Float64Array
    walk: Float64Array | None = None

    def with_parameters(self, parameters: Float64Array) -> Spline:
        """Return the spline with parameters (5, keys) of the track's keys, which must be within their ranges."""
        return self.spline.with_keys(self.spline.keys.with_parameters(parameters[:, self.rows]))

    @property
    def is_rotation(self) -> bool:
        """Return whether the spline is a rotation."""
        return isinstance(self.spline, tcb.RotationSpline)

    @property
    def counts_turns(self) -> bool:
        """Return whether the spline and the motion are rotations with known full turns."""
        return isinstance(self.spline, tcb.RotationSpline) and self.spline.has_long_turns and self.walk is not None

    @property
    def weights(self) -> Float64Array:
        """Return weights (n - 1, d) for which the squares in a segment of mean length add up to their mean."""
        lengths = np.diff(self.spline.keys.frames)
        weights = np.sqrt(lengths / lengths.mean() / SAMPLES)
        return np.repeat(weights[:, np.newaxis], 3 if self.is_rotation else self.samples.shape[2], axis=1)


def sample_frames(frames: Float64Array) -> Float64Array:
    """Return the frames at which `fit_parameters` compares motions.

    Parameters
    ----------
    frames : ndarray, shape (n,)
        The frames of the keys.

    Returns
    -------
    ndarray, shape (n - 1, SAMPLES)
        The frames inside each segment.

    Examples
    --------
    >>> tcb_parameters.sample_frames(np.array([0.0, 7.0, 14.0]))
    array([[ 0.5,  1.5,  2.5,  3.5,  4.5,  5.5,  6.5],
           [ 7.5,  8.5,  9.5, 10.5, 11.5, 12.5, 13.5]])
    """
    return frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * SHARES


class Products(NamedTuple):
    """Products of derivatives with respect to the parameters of the key before and the key after each segment."""

    squares: Float64Array
    """Products for the same key, shape (2, columns, columns, N)."""
    across: Float64Array
    """Products for the two different keys, shape (columns, columns, N)."""
    slopes: Float64Array
    """Products with the residuals, shape (2, columns, N)."""


@dataclass(frozen=True, eq=False)
class Segments:
    """N segments of splines of one kind, with d components. The components of rotations are rotation vectors."""

    splines: list[Spline]
    tracks: KeyBatch
    rows: IndexArray
    """The indices of the splines' keys among the problem's keys."""
    begin: IndexArray
    """The indices of the splines' keys that begin the segments."""
    before: Float64Array
    """Chords to the splines' keys, shape (d, keys)."""
    after: Float64Array
    """Chords from the splines' keys, shape (d, keys)."""
    weights: Float64Array
    """Weights of residuals, shape (d, N)."""
    samples: Float64Array
    """The motion, shape (components, SAMPLES, N). Numbers are weighted and relative to the first key of the segment."""
    walk: Float64Array | None
    """Rotation vectors since the first key of the segment, if full turns count, shape (3, SAMPLES, N)."""

    @classmethod
    def of(cls, parts: Sequence[SplineToFit], starts: Sequence[int], scales: Sequence[float]) -> Segments:
        """Return the segments of parts. The keys of each track start at `starts` among the problem's keys."""
        splines = [part.spline for part in parts]
        tracks = end_to_end(splines)
        inner = np.ones(len(tracks.frames), dtype=np.bool_)
        inner[tracks.last] = False
        begin = np.flatnonzero(inner)
        weights = np.concatenate([part.weights / scale for part, scale in zip(parts, scales, strict=True)]).T
        samples = np.concatenate([part.samples for part in parts]).transpose(2, 1, 0)
        if not parts[0].is_rotation:
            samples = (samples - tracks.values[begin].T[:, np.newaxis]) * weights[:, np.newaxis]
        before, after = type(splines[0]).chords(splines, tracks)  # type: ignore[arg-type]
        return cls(
            splines,
            tracks,
            rows=np.concatenate([part.rows + start for part, start in zip(parts, starts, strict=True)]),
            begin=begin,
            before=before,
            after=after,
            weights=np.ascontiguousarray(weights),
            samples=np.ascontiguousarray(samples),
            walk=_walk_of(parts) if parts[0].counts_turns else None,
        )

    def take(self, keys: BoolArray) -> Segments | None:
        """Return the segments of the splines all of whose keys are among the given keys of the problem."""
        own = keys[self.rows]
        if own.all():
            chosen, tracks = self.splines, self.tracks
        else:
            chosen = list(compress(self.splines, own[self.tracks.first].tolist()))
            tracks = self.tracks.take(own) if chosen else self.tracks
        if not chosen:
            return None
        segments = own[self.begin]
        index, in_problem = np.cumsum(own) - 1, np.cumsum(keys) - 1
        return Segments(
            chosen,
            tracks,
            rows=in_problem[self.rows[own]],
            begin=index[self.begin[segments]],
            before=self.before.compress(own, axis=1),
            after=self.after.compress(own, axis=1),
            weights=self.weights.compress(segments, axis=1),
            samples=self.samples.compress(segments, axis=2),
            walk=None if self.walk is None else self.walk.compress(segments, axis=2),
        )

    @property
    def left(self) -> IndexArray:
        """Return the problem's keys that begin the segments."""
        return self.rows[self.begin]

    @property
    def right(self) -> IndexArray:
        """Return the problem's keys that end the segments."""
        return self.rows[self.begin + 1]

    @property
    def is_rotation(self) -> bool:
        """Return whether the splines are rotations."""
        return isinstance(self.splines[0], tcb.RotationSpline)

    @property
    def _ends(self) -> tcb.Ends:
        """Return the rule for the tangents at the ends of tracks."""
        spline = self.splines[0]
        return spline.ends if isinstance(spline, tcb.RotationSpline) else "TANGENT"

    def residuals(self, parameters: Float64Array) -> Float64Array:
        """Return the residuals (d, SAMPLES, N) for parameters (5, keys) of the problem's keys."""
        return self._residuals(parameters.take(self.rows, axis=1))

    def _residuals(self, own: Float64Array) -> Float64Array:
        """Return the residuals for parameters of the splines' keys."""
        u = self._local(own)
        if self.is_rotation:
            tracks = replace(self.tracks, parameters=own)
            curve = tcb.RotationSpline.curve(cast(list[tcb.RotationSpline], self.splines), tracks)
            segment = np.tile(self.begin, SAMPLES)
            values = curve.evaluate(segment, u.ravel(), 0)
            turns = sphere.product(values.reshape(self.samples.shape), sphere.conjugate(self.samples))
            if self.walk is None or curve.long_turns is None:
                return _chord_vectors(turns) * self.weights[:, np.newaxis]
            since_key = curve.long_turns.turned_since_key(curve.since_start(values, segment), segment, u.ravel())
            further = since_key.T.reshape(self.walk.shape) - self.walk
            axis = curve.long_turns.axis[:, self.begin][:, np.newaxis]
            return _nearest_vectors(turns, further, axis) * self.weights[:, np.newaxis]
        motion = _curve(hermite_weights(u), *(each * self.weights for each in self._shape(*self._tangents(own))))
        motion -= self.samples
        return motion

    def _local(self, own: Float64Array) -> Float64Array:
        """Return the eased local parameter at the samples, shape (SAMPLES, N)."""
        u = np.repeat(SHARES[:, np.newaxis], len(self.begin), axis=1)
        ease_from, ease_to = own[_EASE_FROM, self.begin], own[_EASE_TO, self.begin + 1]
        return ease.ease(u, *ease.normalised(ease_from, ease_to)) if ease_from.any() or ease_to.any() else u

    def _tangents(self, own: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return incoming and outgoing tangents of the splines' keys, each of shape (d, keys)."""
        return tcb.tangents(replace(self.tracks, parameters=own), self.before, self.after, self._ends)

    def _shape(self, incoming: Float64Array, outgoing: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the chords of the segments and the tangents at their ends, each of shape (d, N)."""
        begin = self.begin
        return self.after.take(begin, axis=1), outgoing.take(begin, axis=1), incoming.take(begin + 1, axis=1)

    def products(self, parameters: Float64Array, residuals: Float64Array, columns: Sequence[int]) -> Products:
        """Return the terms of the segments in the normal equations for given parameters.

        Parameters
        ----------
        parameters : ndarray, shape (5, keys)
            The parameters of the problem's keys.
        residuals : ndarray, shape (d, SAMPLES, N)
            The residuals for these parameters.
        columns : sequence of int
            The rows of `parameters` that are fitted, first the rows that shape tangents, then both eases or neither.
        """
        own = parameters.take(self.rows, axis=1)
        shaping = [column for column in columns if column < SHAPING]
        count, few = len(columns), slice(len(shaping))
        squares, across, slopes = (
            np.zeros((*shape, len(self.begin))) for shape in ((2, count, count), (count, count), (2, count))
        )
        curve = _Linearization(self, own)
        left, right, by_left, by_right = curve.by_tangents(shaping)
        squares[0, few, few] = np.einsum("idn,jdn->ijn", left * (by_left * by_left).sum(axis=0), left)
        squares[1, few, few] = np.einsum("idn,jdn->ijn", right * (by_right * by_right).sum(axis=0), right)
        across[few, few] = np.einsum("idn,jdn->ijn", left * (by_left * by_right).sum(axis=0), right)
        slopes[0, few], slopes[1, few] = _dots(left, by_left, residuals), _dots(right, by_right, residuals)
        if count > len(shaping):
            starting, ending = curve.by_eases()
            to, from_ = columns.index(_EASE_TO), columns.index(_EASE_FROM)
            squares[0, from_, from_] = np.einsum("dsn,dsn->n", starting, starting)
            squares[1, to, to] = np.einsum("dsn,dsn->n", ending, ending)
            squares[0, few, from_] = squares[0, from_, few] = _dots(left, by_left, starting)
            squares[1, few, to] = squares[1, to, few] = _dots(right, by_right, ending)
            across[few, to], across[from_, few] = _dots(left, by_left, ending), _dots(right, by_right, starting)
            across[from_, to] = np.einsum("dsn,dsn->n", starting, ending)
            slopes[0, from_] = np.einsum("dsn,dsn->n", starting, residuals)
            slopes[1, to] = np.einsum("dsn,dsn->n", ending, residuals)
        return Products(squares, across, slopes)


class _Linearization:
    """The Hermite curve with the tangents that given parameters produce, in place of the splines."""

    def __init__(self, segments: Segments, own: Float64Array) -> None:
        self._segments, self._own = segments, own
        self._chord, self._leaving, self._arriving = segments._shape(*segments._tangents(own))
        if segments.is_rotation:
            self._arriving = _transported(self._arriving, _half_vector(-self._chord))
        self._u = segments._local(own)
        self._weights = hermite_weights(self._u)

    def by_tangents(self, columns: Sequence[int]) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
        """Return the derivatives with respect to the parameters that shape tangents, as products of two factors.

        Returns
        -------
        left, right : ndarray, shape (columns, d, N)
            The weighted derivatives of the tangents with respect to the parameters of the key before and the key after.
        by_left, by_right : ndarray, shape (SAMPLES, N)
            The derivatives of the samples with respect to these tangents.
        """
        segments = self._segments
        tracks = replace(segments.tracks, parameters=self._own)
        changes = tangent_changes(tracks, segments.before, segments.after, segments._ends)
        leave, arrive = self._weights.leaving, self._weights.arriving
        by_left = leave + changes.from_last[segments.begin + 1] * arrive
        by_right = arrive + changes.from_next[segments.begin] * leave
        left = changes.outgoing[columns].take(segments.begin, axis=2) * segments.weights
        right = changes.incoming[columns].take(segments.begin + 1, axis=2) * segments.weights
        if segments.is_rotation:
            # A tangent changes the curve most at a third of the segment.
            third, other = (
                _curve(hermite_weights(np.full((1, 1), place)), self._chord, self._leaving, self._arriving)[:, 0]
                for place in (1 / 3, 2 / 3)
            )
            left, right = (
                np.stack([_transported(each, _half_vector(turn)) for each in side]) if len(side) else side
                for side, turn in ((left, third), (right, other - self._chord))
            )
        return left, right, by_left, by_right

    def by_eases(self) -> tuple[Float64Array, Float64Array]:
        """Return the derivatives (d, SAMPLES, N) by ease from of the key before and ease to of the key after."""
        segments, u, steps = self._segments, self._u, _steps(self._own)
        shape = self._chord, self._leaving, self._arriving
        speed = _curve(hermite_weights(u, 1), *shape)
        if segments.is_rotation:
            speed = _transported(speed, _half_vector(_curve(self._weights, *shape)))
        speed *= segments.weights[:, np.newaxis]
        changes = []
        for column, keys in ((_EASE_FROM, segments.begin), (_EASE_TO, segments.begin + 1)):
            moved = self._own.copy()
            moved[column] += steps[column]
            changes.append(speed * ((segments._local(moved) - u) / steps[column].take(keys)))
        return changes[0], changes[1]


def _steps(parameters: Float64Array) -> Float64Array:
    """Return the steps of difference quotients, which stay below the upper bound."""
    return np.where(parameters + _STEP > HIGHEST, -_STEP, _STEP)


def _dots(changes: Float64Array, shares: Float64Array, samples: Float64Array) -> Float64Array:
    """Return the dot products (columns, N) of samples with `changes` (columns, d, N) times `shares`."""
    result: Float64Array = np.einsum("idn,dn->in", changes, np.einsum("sn,dsn->dn", shares, samples))
    return result


def _curve(weights: HermiteWeights, chord: Float64Array, leaving: Float64Array, arriving: Float64Array) -> Float64Array:
    """Return curves (d, SAMPLES, N) from 0 with these chords and tangents (d, N)."""
    result: Float64Array = chord[:, np.newaxis] * weights.chord
    result += leaving[:, np.newaxis] * weights.leaving
    result += arriving[:, np.newaxis] * weights.arriving
    return result


def _half_vector(vectors: Float64Array) -> Float64Array:
    """Return rotation vectors of half the length, clipped to length 1."""
    return vectors * (0.5 * np.sinc(sphere.length(vectors) / (2.0 * np.pi)))


def _transported(vectors: Float64Array, half: Float64Array) -> Float64Array:
    """Return tangent vectors (changes in a rotation) after a rotation with the half vector `half`.

    The result is correct to first order. On the sphere of quaternions it is parallel transport.
    """
    return vectors + cross(half, vectors)


def _walk_of(parts: Sequence[SplineToFit]) -> Float64Array:
    return np.ascontiguousarray(np.concatenate([cast(Float64Array, part.walk) for part in parts]).transpose(2, 1, 0))


def _chord_vectors(turns: Float64Array) -> Float64Array:
    """Return rotation vectors of turns (quaternions of either sign), with the chord length 4 sin(angle / 4)."""
    vectors: Float64Array = turns[1:] * (np.copysign(2.0, turns[0]) / np.sqrt(0.5 + 0.5 * np.abs(turns[0])))
    return vectors


def _nearest_vectors(turns: Float64Array, further: Float64Array, axis: Float64Array) -> Float64Array:
    """Return the rotation vectors of turns, with full turns added to make them closest to given vectors."""
    vectors = 2.0 * sphere.log(turns * np.copysign(1.0, turns[0]))
    whole = np.rint(sphere.dot(further - vectors, axis) / (2.0 * np.pi))
    result: Float64Array = vectors + axis * (2.0 * np.pi * whole)
    return result
