# SPDX-License-Identifier: GPL-3.0-or-later
"""Cubics that channels play in spans, with the spline's values and derivatives at both ends, and the cubics' errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...key_batch import BoolArray
from ...keys import Float64Array
from ...rotations import sphere
from ...rotations.representations import RotationRepresentation
from ..requests import angles_apart, parabola
from . import subdivision
from .strands import Pieces, Samples, Spans, Strands

_FAST = 1.0
"""The largest change in a rotation's channel values within a span, in radians, that nearest values can follow."""
_MARGIN = 1.01
"""The largest error exceeds the peak of a parabola through the sampled errors by at most this factor."""
_JUMP_MARGIN = 1.08
"""The same factor if the acceleration jumps within a piece, which no polynomial through the samples reproduces."""
_AT_END = 1e-3
"""A jump in the acceleration that is closer to an end than this fraction of a piece counts as a jump at the end."""


class Cubics:
    """The fit of one cubic to each span, and the measurement of its error."""

    def __init__(self, strands: Strands) -> None:
        self._strands = strands
        self._representation = strands.representation

    def fit(self, spans: Spans) -> Pieces:
        """Return the cubic of each span, and its error."""
        samples = self._sample(spans, subdivision.BERNSTEIN)
        points, rest, differences = self._compare(samples, subdivision.BERNSTEIN)
        error = _largest(differences)
        error[self.has_jump(spans)] *= _JUMP_MARGIN
        return Pieces(spans.strand, spans.frames, samples.values, samples.rates, error, points, rest)

    def _sample(self, spans: Spans, basis: Float64Array) -> Samples:
        """Return exact values within spans, at the parameters for which `basis` maps Bezier points to values."""
        frames, points = _sample_frames(spans.frames, basis)
        exact = self._strands.evaluate(np.tile(spans.strand, len(frames)), frames.ravel(), 0)
        exact = exact.reshape(len(exact), *frames.shape)
        return Samples(spans, points, exact, *self._channel_values(spans, frames, exact))

    def has_jump(self, spans: Spans) -> BoolArray:
        """Return whether each span contains the start or end of an ease, where the acceleration jumps."""
        first, last = spans.frames
        jumps = self._strands.ease_ends[:, spans.strand]
        edge = _AT_END * (last - first)
        is_within: BoolArray = ((jumps > first + edge) & (jumps < last - edge)).any(axis=0)
        return is_within

    def with_dense_errors(self, pieces: Pieces) -> Pieces:
        """Return the pieces, with errors above their goals measured again at dense samples.

        Pieces with such errors are too short to divide, and five samples may not resolve them. Unlike the earlier
        errors, the new errors ignore a missing full turn, as the played motion does.
        """
        inaccurate = np.flatnonzero(pieces.error > self._strands.goal[pieces.strand])
        if not len(inaccurate):
            return pieces
        measured = pieces.take(inaccurate)
        frames, _ = _sample_frames(measured.frames, subdivision.DENSE)
        exact = self._strands.evaluate(np.tile(measured.strand, len(frames)), frames.ravel(), 0)
        exact = exact.reshape(-1, *frames.shape)
        played = np.moveaxis(subdivision.apply(subdivision.DENSE, measured.points), 1, 0)
        representation = self._representation
        errors = np.abs(played - exact)[0] if representation is None else angles_apart(representation, played, exact)
        error = pieces.error.copy()
        error[inaccurate] = errors.max(axis=0) * _MARGIN
        return replace(pieces, error=error)

    def dense_errors(self, spans: Spans) -> Float64Array:
        """Return the error of each span's cubic, from samples so dense that no interpolation is needed."""
        _, _, differences = self._compare(self._sample(spans, subdivision.DENSE), subdivision.DENSE)
        errors: Float64Array = np.sqrt(_squares(differences)).max(axis=0) * _MARGIN
        return errors

    def _compare(self, samples: Samples, basis: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the Bezier points of the cubics, the exact values minus the cubics, and the differences as errors.

        For rotations, the errors are rotation vectors. Otherwise, the errors are the differences themselves.
        """
        spans, point_frames, exact, values, rates, between = samples
        first, after_first, before_last, last = point_frames
        leaving, arriving = rates[0] * (after_first - first), rates[1] * (last - before_last)
        points = np.stack([values[0], values[0] + leaving, values[1] - arriving, values[1]])
        points = points.astype(np.float32).astype(np.float64)
        played = subdivision.apply(basis, points)
        rest = between - played
        differences = (
            rest
            if self._representation is None
            else _rotation_vectors(self._representation, spans, values[0], played, exact)
        )
        return points, rest, differences

    def _channel_values(
        self, spans: Spans, frames: Float64Array, exact: Float64Array
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the channels' values (2, c, n) and rates at the ends of spans, and values (m, c, n) in between."""
        representation = self._representation
        if representation is None:
            return spans.exact, spans.rates, np.moveaxis(exact, 1, 0)
        followed = self._follow(representation, spans, frames, exact)
        numbers = np.stack([spans.numbers, self._arriving(spans, followed[:, -1])])
        end_lengths, length_change = self._strands.lengths(spans.strand, spans.frames)
        values, rates = np.empty_like(numbers), np.empty_like(numbers)
        for side in range(2):
            unit_rates = representation.rates(numbers[side], spans.exact[side], spans.rates[side])
            values[side], rates[side] = representation.scaled(
                numbers[side], unit_rates, end_lengths[side], length_change
            )
        lengths, _ = self._strands.lengths(spans.strand, frames)
        between, _ = representation.scaled(followed[:, :-1], followed[:, :-1], lengths, np.zeros_like(lengths))
        return values, rates, np.moveaxis(between, 1, 0)

    def _follow(
        self, representation: RotationRepresentation, spans: Spans, frames: Float64Array, exact: Float64Array
    ) -> Float64Array:
        """Return the unit channel values (c, m + 1, n) that continue from the start, at the samples and the ends."""
        with_ends = np.concatenate([exact, spans.exact[1][:, np.newaxis]], axis=1)
        followed = representation.following(spans.numbers, spans.exact[0], with_ends)
        if not representation.counts_turns:
            return followed
        start_speed = np.abs(representation.rates(spans.numbers, spans.exact[0], spans.rates[0]))
        end_speed = np.abs(representation.rates(followed[:, -1], spans.exact[1], spans.rates[1]))
        speed = np.maximum(start_speed, end_speed).max(axis=0)
        fast = np.flatnonzero(speed * (spans.frames[1] - spans.frames[0]) > _FAST)
        if len(fast):
            followed[..., fast] = self._integrate(
                representation, spans.take(fast), frames[:, fast], with_ends[..., fast]
            )
        return followed

    def _arriving(self, spans: Spans, numbers: Float64Array) -> Float64Array:
        """Return the channel values (c, n) at the ends of spans, which at keys are equivalent to the key values.

        A channel has one value at a key. Without a turn and in gimbal lock, the key's value can differ from the value
        at which the motion arrives. Close to these cases, the difference is the square root of the orientation's
        rounding error.
        """
        keys = self._strands.end[spans.strand]
        ends = np.flatnonzero(spans.frames[1] == self._strands.tracks.frames[keys])
        representation = self._representation
        if representation is None or not representation.counts_turns or not len(ends):
            return numbers
        arriving = numbers[:, ends]
        key_numbers = self._strands.unit_numbers(keys[ends], arriving)
        factors, terms = representation.map_to_nearest(key_numbers, arriving)
        result = numbers.copy()
        result[:, ends] = factors * key_numbers + terms
        return result

    def _integrate(
        self, representation: RotationRepresentation, spans: Spans, sampled_at: Float64Array, exact: Float64Array
    ) -> Float64Array:
        """Return the channel values (c, m + 1, n) of orientations that are far apart.

        From one sample to the next, the trapezoidal rule predicts the values from their rates. The values closest to
        the prediction, among all values that represent the orientation, are used.
        """
        frames = np.concatenate([sampled_at, spans.frames[1:]])
        velocity = self._strands.evaluate(np.tile(spans.strand, len(sampled_at)), sampled_at.ravel(), 1)
        velocity = np.concatenate([velocity.reshape(3, *sampled_at.shape), spans.rates[1][:, np.newaxis]], axis=1)
        numbers, frame = spans.numbers, spans.frames[0]
        rates = representation.rates(numbers, spans.exact[0], spans.rates[0])
        result = np.empty((representation.components, *frames.shape))
        for row in range(len(frames)):
            local = representation.local(exact[:, row], velocity[:, row])
            local_rates = representation.rates(local, exact[:, row], velocity[:, row])
            factors, _ = representation.map_to_nearest(local, numbers)
            predicted = numbers + 0.5 * (frames[row] - frame) * (rates + factors * local_rates)
            factors, terms = representation.map_to_nearest(local, predicted)
            numbers, rates, frame = factors * local + terms, factors * local_rates, frames[row]
            result[:, row] = numbers
        return result


def _sample_frames(frames: Float64Array, basis: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the frames (m, n) of samples within spans, and the frames of the Bezier points (4, n).

    `basis` maps Bezier points to samples.
    """
    first, last = frames
    third = (last - first) / 3.0
    # Blender stores handles in float32.
    handles = (first + third).astype(np.float32), (last - third).astype(np.float32)
    points = np.stack([first, *handles, last])
    return subdivision.apply(basis, points), points


def _rotation_vectors(
    representation: RotationRepresentation, spans: Spans, start: Float64Array, played: Float64Array, exact: Float64Array
) -> Float64Array:
    """Return the rotation vectors (m, 3, n) from the played to the exact orientations.

    The difference is not reduced to the shortest path, so that a missing turn counts as an error.
    """
    orientation = representation.orientation(np.moveaxis(played, 0, 1))
    sign = np.where(sphere.dot(representation.orientation(start), spans.exact[0]) < 0.0, -1.0, 1.0)
    turn = sphere.product(sphere.conjugate(orientation * sign), exact)
    sine = sphere.length(turn[1:])
    angle = 2.0 * np.arctan2(sine, turn[0])
    vectors: Float64Array = turn[1:] * np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 0.0)
    return np.moveaxis(vectors, 1, 0)


def _largest(differences: Float64Array) -> Float64Array:
    """Return the largest differences along whole spans (n,), from the differences at the nodes (nodes, k, n)."""
    between = subdivision.apply(subdivision.TO_BETWEEN, differences)
    size = np.zeros((len(subdivision.PARAMETERS), differences.shape[2]))
    size[1:-1:2] = np.sqrt(_squares(between))
    size[2:-1:2] = np.sqrt(_squares(differences))
    row, column = np.argmax(size[1:-1], axis=0) + 1, np.arange(differences.shape[2])
    before, largest, after = size[row - 1, column], size[row, column], size[row + 1, column]
    slope, curvature = parabola(subdivision.PARAMETERS, row, before, largest, after)
    above = np.divide(slope * slope, 4.0 * curvature, out=np.zeros_like(curvature), where=curvature > 0.0)
    last = subdivision.apply(subdivision.TO_CHEBYSHEV[-1:], differences) / 8.0
    error: Float64Array = (largest + above + np.sqrt(_squares(last)[0])) * _MARGIN
    return error


def _squares(vectors: Float64Array) -> Float64Array:
    """Return the squared lengths (m, n) of vectors (m, k, n)."""
    components = np.moveaxis(vectors, 1, 0)
    squares: Float64Array = sphere.dot(components, components)
    return squares
