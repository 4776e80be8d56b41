# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments of TCB splines and the motions that they should play: residuals, and their derivatives.

Residuals are the differences between the motions and the splines. Their derivatives are difference quotients of the
Hermite curve with the same tangents, which for a rotation uses the rotation vectors from key to key. These quotients
are accurate for rotation about one axis, and otherwise accurate enough for the descent. Arrays of segments have d
components first and the N segments last. Source: docs/formulas, "Fitting parameters to a motion".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import cast

import numpy as np

from .. import ease
from ..base_spline import end_to_end
from ..cubics import HermiteWeights, hermite_weights
from ..keys import HIGHEST, BoolArray, Float64Array, IndexArray, KeyBatch
from ..rotations import sphere
from ..rotations.sphere import cross
from ..splines import tcb
from ..tcb_tangents import Ends, tangents

Spline = tcb.VectorSpline | tcb.RotationSpline

SAMPLES = 7
"""Samples per segment, two more than the parameters that the curve of one component determines."""
SHARES = (np.arange(SAMPLES) + 0.5) / SAMPLES
"""The local parameters at which a segment is sampled."""
_STEP = 1e-6
"""The step of difference quotients, which balances rounding (1e-16 / 1e-6) and curvature."""
_EASE_TO, _EASE_FROM = 3, 4
"""`ease_to` of a key shapes the segment that ends there, and `ease_from` the segment that begins there."""


@dataclass(frozen=True, eq=False)
class SplineToFit:
    """A spline, and the motion that it should reproduce.

    Attributes
    ----------
    spline : VectorSpline or RotationSpline
        The spline, whose own parameters are ignored.
    rows : ndarray of int, shape (n,)
        The indices of the spline's keys among the track's keys. Components keyed at different frames are parts of one
        track, and share the parameters of a key.
    samples : ndarray, shape (n - 1, SAMPLES, d)
        The motion at `sample_frames`: finite values, or unit quaternions of either sign.
    angles : ndarray, shape (n - 1, SAMPLES, d), or None
        The angles at the samples for a rotation with full turns. They are fitted as values, because orientations do not
        count turns.
    """

    spline: Spline
    rows: IndexArray
    samples: Float64Array
    angles: Float64Array | None = None

    def with_parameters(self, parameters: Float64Array) -> Spline:
        """Return the spline with parameters (5, keys) of the track's keys, which must be within their ranges."""
        return self.spline.with_keys(self.spline.keys.with_parameters(parameters[:, self.rows]))

    @property
    def is_on_sphere(self) -> bool:
        """Return whether orientations are compared, instead of values or angles."""
        return isinstance(self.spline, tcb.RotationSpline) and self.angles is None

    @property
    def compared_keys(self) -> Float64Array:
        """Return the values, angles or quaternions of the keys, shape (n, components)."""
        if isinstance(self.spline, tcb.RotationSpline) and self.spline.full_turns is not None:
            return self.spline.full_turns.channels
        return self.spline.keys.values

    @property
    def compared_samples(self) -> Float64Array:
        """Return the values, angles or quaternions of the motion, shape (n - 1, SAMPLES, components)."""
        return self.samples if self.angles is None else self.angles

    @property
    def weights(self) -> Float64Array:
        """Return weights (n - 1, d) for which the squares in a segment of mean length add up to their mean."""
        lengths = np.diff(self.spline.keys.frames)
        weights = np.sqrt(lengths / lengths.mean() / SAMPLES)
        return np.repeat(weights[:, np.newaxis], 3 if self.is_on_sphere else self.compared_samples.shape[2], axis=1)


def sample_frames(frames: Float64Array) -> Float64Array:
    """Return the frames at which `fit_parameters` compares the splines with the motion.

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


@dataclass(frozen=True, eq=False)
class SplineSegments:
    """N segments of splines of one kind, with d components. The components of rotations are rotation vectors."""

    splines: list[Spline]
    tracks: KeyBatch
    problem_keys: IndexArray
    """The indices of the splines' keys among the problem's keys."""
    begin: IndexArray
    """The indices of the splines' keys that begin the segments."""
    chords_before: Float64Array
    chords_after: Float64Array
    """Chords to and from the splines' keys, shape (d, keys)."""
    weights: Float64Array
    """Weights of residuals, shape (d, N)."""
    samples: Float64Array
    """The motion, shape (components, SAMPLES, N). Values are weighted and relative to the first key."""
    is_on_sphere: bool
    """True if the samples are quaternions."""

    @classmethod
    def of(cls, parts: Sequence[SplineToFit], starts: Sequence[int], scales: Sequence[float]) -> SplineSegments:
        """Return the segments of all parts. The keys of each track start at `starts` among the problem's keys."""
        splines = [part.spline for part in parts]
        tracks = end_to_end(splines)
        inner = np.ones(len(tracks.frames), dtype=np.bool_)
        inner[tracks.last] = False
        begin = np.flatnonzero(inner)
        weights = np.concatenate([part.weights / scale for part, scale in zip(parts, scales, strict=True)]).T
        samples = np.concatenate([part.compared_samples for part in parts]).transpose(2, 1, 0)
        is_on_sphere = parts[0].is_on_sphere
        if is_on_sphere:
            chords_before, chords_after = tcb.RotationSpline.chords(cast(list[tcb.RotationSpline], splines), tracks)
        else:
            tracks = replace(tracks, values=np.concatenate([part.compared_keys for part in parts]))
            has_full_turns = parts[0].angles is not None
            chords_of = tracks.segment_chords if has_full_turns else tracks.chords
            chords_before, chords_after = chords_of(tracks.columns)
            samples = (samples - tracks.values[begin].T[:, np.newaxis]) * weights[:, np.newaxis]
        return cls(
            splines,
            tracks,
            problem_keys=np.concatenate([part.rows + start for part, start in zip(parts, starts, strict=True)]),
            begin=begin,
            chords_before=chords_before,
            chords_after=chords_after,
            weights=np.ascontiguousarray(weights),
            samples=np.ascontiguousarray(samples),
            is_on_sphere=is_on_sphere,
        )

    def take(self, keys: BoolArray) -> SplineSegments | None:
        """Return the segments of the splines whose keys are all among the given keys of the problem."""
        is_taken = keys[self.problem_keys]
        splines, tracks = self.splines, self.tracks
        if not is_taken.all():
            splines = list(compress(self.splines, is_taken[self.tracks.first].tolist()))
            if not splines:
                return None
            tracks = self.tracks.take(is_taken)
        segments = is_taken[self.begin]
        new_index, new_row = np.cumsum(is_taken) - 1, np.cumsum(keys) - 1
        return SplineSegments(
            splines,
            tracks,
            problem_keys=new_row[self.problem_keys[is_taken]],
            begin=new_index[self.begin[segments]],
            chords_before=self.chords_before.compress(is_taken, axis=1),
            chords_after=self.chords_after.compress(is_taken, axis=1),
            weights=self.weights.compress(segments, axis=1),
            samples=self.samples.compress(segments, axis=2),
            is_on_sphere=self.is_on_sphere,
        )

    @property
    def begin_keys(self) -> IndexArray:
        """Return the problem's keys that begin the segments."""
        return self.problem_keys[self.begin]

    @property
    def end_keys(self) -> IndexArray:
        """Return the problem's keys that end the segments."""
        return self.problem_keys[self.begin + 1]

    @property
    def _ends(self) -> Ends:
        """Return the rule for the tangents at the ends of the tracks."""
        spline = self.splines[0]
        return spline.ends if isinstance(spline, tcb.RotationSpline) else "TANGENT"

    def residuals(self, parameters: Float64Array) -> Float64Array:
        """Return the residuals (d, SAMPLES, N) for parameters (5, keys) of the problem's keys."""
        spline_parameters = parameters.take(self.problem_keys, axis=1)
        u = self._eased(spline_parameters)
        if self.is_on_sphere:
            return self._residuals_of_rotations(spline_parameters, u) * self.weights[:, np.newaxis]
        chords, (leaving, arriving) = self._chords, self._tangents(spline_parameters)
        weighted = (vectors * self.weights for vectors in (chords, leaving, arriving))
        residuals = _curve(hermite_weights(u), *weighted)
        residuals -= self.samples
        return residuals

    def _residuals_of_rotations(self, spline_parameters: Float64Array, u: Float64Array) -> Float64Array:
        """Return the rotation vectors (3, SAMPLES, N) from the motion to the splines at eased local parameters."""
        tracks = replace(self.tracks, parameters=spline_parameters)
        curve = tcb.RotationSpline.curve(cast(list[tcb.RotationSpline], self.splines), tracks)
        segment = np.tile(self.begin, SAMPLES)
        values = curve.evaluate(segment, u.ravel(), 0)
        return _chord_vectors(sphere.product(values.reshape(self.samples.shape), sphere.conjugate(self.samples)))

    def _eased(self, spline_parameters: Float64Array) -> Float64Array:
        """Return the eased local parameter at the samples, shape (SAMPLES, N)."""
        u = np.repeat(SHARES[:, np.newaxis], len(self.begin), axis=1)
        ease_from = spline_parameters[_EASE_FROM, self.begin]
        ease_to = spline_parameters[_EASE_TO, self.begin + 1]
        return ease.ease(u, *ease.without_overlap(ease_from, ease_to)) if ease_from.any() or ease_to.any() else u

    @property
    def _chords(self) -> Float64Array:
        """Return the chords of the segments, shape (d, N)."""
        return self.chords_after.take(self.begin, axis=1)

    def _tangents(self, spline_parameters: Float64Array) -> Float64Array:
        """Return the tangents at the start and end of the segments, shape (2, d, N)."""
        tracks = replace(self.tracks, parameters=spline_parameters)
        incoming, outgoing = tangents(tracks, self.chords_before, self.chords_after, self._ends)
        return np.stack([outgoing.take(self.begin, axis=1), incoming.take(self.begin + 1, axis=1)])

    def jacobian(self, parameters: Float64Array, columns: Sequence[int]) -> Float64Array:
        """Return the derivatives of the residuals, shape (2, columns, d, SAMPLES, N), by difference quotients.

        The derivatives are with respect to some rows of `parameters` (5, keys), first for the key before each segment,
        then for the key after it.
        """
        spline_parameters = parameters.take(self.problem_keys, axis=1)
        steps = np.where(spline_parameters + _STEP > HIGHEST, -_STEP, _STEP)
        u, tangents = self._eased(spline_parameters), self._tangents(spline_parameters)
        speed, halves = self._speed_and_transport(u, tangents)
        weights = hermite_weights(u)
        jacobian = np.zeros((2, len(columns), *speed.shape))
        for row, column in enumerate(columns):
            if column >= _EASE_TO:
                side = int(column == _EASE_TO)
                moved = spline_parameters.copy()
                moved[column] += steps[column]
                key_steps = steps[column].take(self.begin + side)
                jacobian[side, row] = speed * ((self._eased(moved) - u) / key_steps)
                continue
            for side, (leaving, arriving) in enumerate(
                self._tangent_derivatives(spline_parameters, column, steps[column], tangents)
            ):
                if halves is not None:
                    leaving, arriving = _transported(leaving, halves[0]), _transported(arriving, halves[1])
                np.multiply(leaving[:, np.newaxis], weights.leaving, out=jacobian[side, row])
                jacobian[side, row] += arriving[:, np.newaxis] * weights.arriving
        jacobian *= self.weights[:, np.newaxis]
        return jacobian

    def _speed_and_transport(self, u: Float64Array, tangents: Float64Array) -> tuple[Float64Array, Float64Array | None]:
        """Return the derivatives (d, SAMPLES, N) of the curves with respect to u, and half vectors (2, 3, N) or None.

        For rotations, the half vectors transport changes in the two tangents to the samples that they affect most.
        """
        chords, weights, rate_weights = self._chords, hermite_weights(u), hermite_weights(u, 1)
        if not self.is_on_sphere:
            return _curve(rate_weights, chords, *tangents), None
        shape = chords, tangents[0], _transported(tangents[1], _half_vector(-chords))
        thirds = _curve(hermite_weights(np.array([[1 / 3], [2 / 3]])), *shape)
        halves = np.stack([_half_vector(thirds[:, 0]), _half_vector(thirds[:, 1] - chords)])
        return _transported(_curve(rate_weights, *shape), _half_vector(_curve(weights, *shape))), halves

    def _tangent_derivatives(
        self, spline_parameters: Float64Array, column: int, steps: Float64Array, tangents: Float64Array
    ) -> list[Float64Array]:
        """Return the derivatives (2, d, N) of both tangents, first for the key before each segment, then after it."""
        # One of the two keys of each segment has an odd index, so every second key can be changed at once.
        is_odd = np.arange(spline_parameters.shape[1]) % 2 == 1
        changes = []
        for is_moved in (is_odd, ~is_odd):
            moved = spline_parameters.copy()
            moved[column, is_moved] += steps[is_moved]
            changes.append(self._tangents(moved) - tangents)
        return [np.where(is_odd[keys], *changes) / steps[keys] for keys in (self.begin, self.begin + 1)]


def _curve(weights: HermiteWeights, chord: Float64Array, leaving: Float64Array, arriving: Float64Array) -> Float64Array:
    """Return curves (d, SAMPLES, N) that start at 0, with the given chords and tangents (d, N)."""
    result: Float64Array = chord[:, np.newaxis] * weights.chord
    result += leaving[:, np.newaxis] * weights.leaving
    result += arriving[:, np.newaxis] * weights.arriving
    return result


def _half_vector(vectors: Float64Array) -> Float64Array:
    """Return vectors in the direction of rotation vectors, with the sine of half the angle as their length.

    For small angles, this is half the rotation vector.
    """
    return vectors * (0.5 * np.sinc(sphere.length(vectors) / (2.0 * np.pi)))


def _transported(vectors: Float64Array, half: Float64Array) -> Float64Array:
    """Return tangent vectors (changes in a rotation) after a rotation with the half vector `half`.

    The result is correct to first order. On the sphere of quaternions, this is parallel transport.
    """
    return vectors + cross(half, vectors)


def _chord_vectors(turns: Float64Array) -> Float64Array:
    """Return the rotation vector of each turn (a quaternion of either sign), with the chord length 4 sin(angle / 4)."""
    vectors: Float64Array = turns[1:] * (np.copysign(2.0, turns[0]) / np.sqrt(0.5 + 0.5 * np.abs(turns[0])))
    return vectors
