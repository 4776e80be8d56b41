# SPDX-License-Identifier: GPL-3.0-or-later
"""The exact motion of the segments whose handles are fitted, and the points at which it is sampled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from .. import ease
from ..keys import BoolArray, Float64Array, IndexArray
from ..prepared import BLOCK
from ..rotations import sphere
from ..rotations.representations import JUMP
from .requests import Batch

_CHANNELS_TOGETHER = 3000
"""The number of segment channels fitted together, small enough for the cache.

With a power of two, the rows of arrays would compete for the same parts of the cache.
"""
_RIGID = 1e3
"""Weight of derivative errors at keys of values, relative to the root of the sum of squared residuals."""
_SOFT = 0.07
"""Weight of derivative errors next to an ease and in rotations.

Next to an ease, the spline is at rest at the key, and a handle without height has no direction. Some speed is therefore
allowed there, with a weight that decreases with the square root of the ease. With exact derivatives, the errors of
angle channels would be three times as large, because these channels curve strongly, and errors of
quaternions 1.2 to 1.8 times.
"""


class SamplePoints(NamedTuple):
    """Local parameters at which errors are measured, including the nodes at which handles are fitted.

    Least squares at Chebyshev nodes almost minimize the maximum error.
    """

    at: Float64Array
    """The local parameters, in ascending order."""
    node_rows: slice = slice(1, None, 3)
    is_cubic: bool = False
    """True for cubics in time, which handles at thirds play exactly."""
    finer: FinerPoints | None = None
    """Points for segments with large errors."""

    @property
    def nodes(self) -> Float64Array:
        """Return the local parameters at which handles are fitted."""
        return self.at[self.node_rows]


class FinerPoints(NamedTuple):
    """More points, and the matrix that interpolates small errors there, from the errors at the nodes."""

    points: SamplePoints
    interpolation: Float64Array


def chebyshev(count: int) -> Float64Array:
    """Return the Chebyshev nodes between 0 and 1.

    Every third node, from the second on, is also a node for a third of the count.
    """
    return (1.0 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2.0


def _smooth(count: int) -> SamplePoints:
    """Return nodes between which polynomials that are 0 at both keys interpolate the errors."""
    finer = SamplePoints(chebyshev(3 * count))
    to_finer, to_nodes = (
        chebvander(2.0 * at - 1.0, count - 1) * (at * (1.0 - at))[:, np.newaxis] for at in (finer.at, finer.nodes)
    )
    return SamplePoints(finer.nodes, slice(None), finer=FinerPoints(finer, to_finer @ np.linalg.inv(to_nodes)))


EASED = SamplePoints(chebyshev(60))
"""Points in segments with eases. With fewer than twenty fitted nodes, channels could move and return between them."""
PLAIN = _smooth(12)
"""Points in segments without ease."""
SMOOTH = _smooth(9)
"""Points for quaternions without ease, for which nine nodes are as accurate as twelve. Angle channels need `PLAIN`."""
CUBIC = SamplePoints(chebyshev(8), is_cubic=True)
"""Points for values without ease, whose error is only rounding: a polynomial of degree five."""


class Segments(NamedTuple):
    """The N segments that are fitted together."""

    begin: IndexArray
    """The keys at which the segments begin, shape (N,)."""
    frames: Float64Array
    """The frames at which the segments begin and end, shape (2, N)."""
    eases: Float64Array
    """`ease_from` of the start and `ease_to` of the end, shape (2, N)."""

    def take(self, columns: IndexArray) -> Segments:
        """Return a subset of the segments."""
        return Segments(self.begin[columns], self.frames[:, columns], self.eases[:, columns])


class SampledSegments(NamedTuple):
    """N segments with the spline's values at points, and its derivatives at both ends."""

    segments: Segments
    points: SamplePoints
    exact: Float64Array
    """The spline's values at the start, at m points, and at the end, shape (a, m + 2, N)."""
    derivatives: Float64Array
    """Derivatives at the start and end, without ease, shape (2, a, N)."""


class Course(NamedTuple):
    """Exact motion in N columns, which are segments of channels. The last axis of each array runs over the columns.

    The c channels of a quaternion share a column. Other channels have separate columns, and c is 1. Frames are given as
    local parameters u.
    """

    keys: Float64Array
    """Values at the start and end, shape (2, c, N)."""
    values: Float64Array
    """Values at m points, shape (c, m, N). Quaternions have length 1."""
    rates: Float64Array
    """Derivatives with respect to u at the start and end, shape (2, c, N)."""
    path: Float64Array
    """Derivatives at the start and end without ease, shape (2, c, N)."""
    eases: Float64Array
    """`ease_from` at the start and `ease_to` at the end, shape (2, N)."""
    stiffness: Float64Array
    """Weights of the squared errors in the derivatives at the start and end, shape (2, N)."""
    is_fitted: BoolArray
    """Mask of the columns to fit, shape (N,). The handles of other columns are at thirds, with the rates."""

    @property
    def is_quaternion(self) -> bool:
        """Return whether the columns are quaternions."""
        return len(self.values) > 1

    def take(self, columns: IndexArray) -> Course:
        """Return a subset of the columns."""
        # Indexing with brackets would change the memory order, which determines NumPy's order of summation and the last
        # digit.
        arrays: tuple[Any, ...] = self
        return Course(*(array.take(columns, axis=-1) for array in arrays))

    def apart(self) -> Course:
        """Return the course with separate columns for all channels, in the order of the channels."""
        keys, rates, path = (pair.reshape(2, 1, -1) for pair in (self.keys, self.rates, self.path))
        channels, points, _ = self.values.shape
        values = np.ascontiguousarray(self.values.swapaxes(0, 1)).reshape(1, points, -1)
        eases, stiffness = (np.tile(pair, channels) for pair in (self.eases, self.stiffness))
        return Course(keys, values, rates, path, eases, stiffness, np.tile(self.is_fitted, channels))


class SegmentMotion:
    """The motion of the segments of a batch.

    Attributes
    ----------
    batch : Batch
    representation : RotationRepresentation or None
        The representation of rotations, or None for values.
    is_quaternion : bool
        True if the channels are quaternions, which are fitted together, because Blender normalizes them.
    plain : SamplePoints
        The points in segments without ease.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch, self.representation = batch, batch.representation
        self.is_quaternion = self.representation is not None and self.representation.homogeneous
        is_cubic = self.representation is None and batch.requests[0].spline.is_cubic
        self.plain = CUBIC if is_cubic else SMOOTH if self.is_quaternion else PLAIN

    def groups(self) -> Iterator[Segments]:
        """Yield the segments to fit, in groups with ease and groups without ease."""
        begin, frames, parameters = self.batch.segments, self.batch.tracks.frames, self.batch.tracks.parameters
        eases = np.stack(ease.without_overlap(parameters[4, begin], parameters[3, begin + 1]))
        segments = Segments(begin, np.stack([frames[begin], frames[begin + 1]]), eases)
        is_eased = eases.any(axis=0)
        count = max(1, _CHANNELS_TOGETHER // self.batch.channels)
        for rows in (np.flatnonzero(~is_eased), np.flatnonzero(is_eased)):
            for start in range(0, len(rows), count):
                yield segments.take(rows[start : start + count])

    def sampled(self, segments: Segments, points: SamplePoints) -> SampledSegments:
        """Return the segments with values at the points and derivatives at both ends."""
        with_ends = np.concatenate(([0.0], points.at, [1.0]))[:, np.newaxis]
        parameters = np.repeat(with_ends, len(segments.begin), axis=1)
        eased = np.flatnonzero(segments.eases.any(axis=0))
        if len(eased):
            ease_from, ease_to = np.repeat(segments.eases[:, np.newaxis, eased], len(parameters), axis=1)
            parameters[:, eased] = ease.ease(parameters[:, eased], ease_from, ease_to)
        derivatives = self._evaluated(segments, parameters[[0, -1]], 1).swapaxes(0, 1)
        return SampledSegments(segments, points, self._evaluated(segments, parameters, 0), derivatives)

    def _evaluated(self, segments: Segments, eased: Float64Array, nu: int) -> Float64Array:
        """Return the spline's values or derivatives (a, m, N) at eased local parameters (m, N)."""
        segment, u = np.tile(segments.begin, len(eased)), eased.ravel()
        blocks = [slice(start, start + BLOCK) for start in range(0, len(u), BLOCK)]
        values = [self.batch.curve.evaluate(segment[block], u[block], nu) for block in blocks]
        return np.concatenate(values, axis=1).reshape(-1, *eased.shape)

    def course(self, sampled: SampledSegments) -> tuple[Course, Float64Array, BoolArray]:
        """Return the channels' exact motion.

        Returns
        -------
        course : Course
        flips : ndarray, shape (N,)
            -1 where the end key must be negated, otherwise 1.
        jumps : ndarray of bool, shape (N,)
            True for segments that do not arrive at the values of their end key.
        """
        begin, eases = sampled.segments.begin, sampled.segments.eases
        keys = np.stack([self.batch.numbers[begin].T, self.batch.numbers[begin + 1].T])
        # An eased segment is at rest at the key. See docs/formulas, "Ease".
        speeds = np.where(eases > 0.0, 0.0, 2.0 / (2.0 - eases.sum(axis=0)))[:, np.newaxis]
        flips, jumps = np.ones(len(begin)), np.zeros(len(begin), dtype=np.bool_)
        if self.representation is None:
            path, is_fitted = sampled.derivatives, np.full(len(begin), not sampled.points.is_cubic)
            stiffness = _stiffness_of(eases, exact=True)
            course = Course(keys, sampled.exact[:, 1:-1], path * speeds, path, eases, stiffness, is_fitted)
            return course.apart(), flips, jumps
        course, arriving = self._rotation_course(sampled, keys, speeds)
        if self.representation.homogeneous:
            flips = np.where(sphere.dot(arriving, keys[1]) < 0.0, -1.0, 1.0)
            return course._replace(keys=np.stack([keys[0], keys[1] * flips])), flips, jumps
        jumps = (np.abs(arriving - keys[1]) > JUMP).any(axis=0)
        # No handles reach the values of the end key, so these segments are not fitted.
        return course._replace(is_fitted=~jumps).apart(), flips, jumps

    def _rotation_course(
        self, sampled: SampledSegments, keys: Float64Array, speeds: Float64Array
    ) -> tuple[Course, Float64Array]:
        """Return the motion of a rotation's channels, and the values (c, N) at which it arrives at the end keys.

        `speeds` are the derivatives (2, 1, N) of the eased local parameter at both ends.
        """
        segments, points, exact, derivatives = sampled
        representation = self.representation
        assert representation is not None
        lengths, zeros = np.stack([representation.lengths(numbers) for numbers in keys]), np.zeros(keys.shape[2])
        length_change = lengths[1] - lengths[0]
        # An axis of length 0 has no direction, so the axis of the motion is used there.
        has_direction = lengths[0] > 0.0
        unit, _ = representation.scaled(keys[0], keys[0], 1.0 / np.where(has_direction, lengths[0], 1.0), zeros)
        unit = np.where(has_direction, unit, representation.local(exact[:, 0], derivatives[0]))
        numbers = representation.following(unit, exact[:, 0], exact[:, 1:])
        values = numbers[:, :-1]
        if not representation.homogeneous:
            sample_lengths = lengths[0] + points.at[:, np.newaxis] * length_change
            values, _ = representation.scaled(values, values, sample_lengths, np.zeros_like(sample_lengths))
        rates, path = np.empty_like(keys), np.empty_like(keys)
        ends = (unit, exact[:, 0]), (numbers[:, -1], exact[:, -1])
        for side, (end_numbers, q) in enumerate(ends):
            natural = representation.rates(end_numbers, q, derivatives[side])
            arriving, path[side] = representation.scaled(end_numbers, natural, lengths[side], length_change)
            _, rates[side] = representation.scaled(end_numbers, natural * speeds[side], lengths[side], length_change)
        # `arriving` is from the last pass of the loop, which is for the end keys.
        stiffness = _stiffness_of(segments.eases, exact=False)
        is_fitted = np.ones(keys.shape[2], dtype=np.bool_)
        return Course(keys, values, rates, path, segments.eases, stiffness, is_fitted), arriving


def _stiffness_of(eases: Float64Array, exact: bool) -> Float64Array:
    """Return the weights of the squared errors in the derivatives at the start and end, shape (2, N).

    If `exact`, as for values, handles without ease must have the derivatives of the motion.
    """
    return np.where(eases > 0.0, _SOFT**2 * eases, (_RIGID if exact else _SOFT) ** 2)
