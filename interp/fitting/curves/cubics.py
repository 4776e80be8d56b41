# SPDX-License-Identifier: GPL-3.0-or-later
"""Cubics that channels play in spans, with the spline's values and derivatives at both ends, and the cubics' errors.

The difference between the spline and a cubic has double zeros at both ends. It has the form t² (1-t)² g(t), and five
samples determine g to the fourth degree. Source: docs/formulas, "Fitting curves".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...cubics import bernstein_weights
from ...keys import BoolArray, Float64Array, IndexArray
from ...rotations import sphere
from ...rotations.representations import RotationRepresentation
from ..requests import angles_apart, maxima
from .strands import Pieces, Spans, Strands

_LARGEST_FOLLOWED = 1.0
"""The largest change in a rotation's channel values within a span, in radians, that nearest values can follow."""
_MARGIN = 1.01
"""The largest error exceeds the largest sampled or interpolated error by at most this factor."""
_JUMP_MARGIN = 1.08
"""A further factor if the acceleration jumps within a piece, which no polynomial through the samples reproduces."""
_AT_END = 1e-3
"""A jump in the acceleration that is closer to an end than this fraction of a piece counts as a jump at the end."""
_NODES = 0.5 - 0.5 * np.cos(np.arange(2, 7) * np.pi / 8.0)
"""Chebyshev extrema of degree eight, without the ends and their neighbors. g requires dense nodes near the ends."""


def _double_zeros(t: Float64Array) -> Float64Array:
    """Return t² (1-t)²."""
    return t * t * (1.0 - t) * (1.0 - t)


def _chebyshev(t: Float64Array) -> Float64Array:
    """Return the matrix from g's Chebyshev coefficients to its values at t, shape (m, nodes)."""
    matrix: Float64Array = np.polynomial.chebyshev.chebvander(2.0 * t - 1.0, len(_NODES) - 1).astype(np.float64)
    return matrix


_AT_NODES = bernstein_weights(_NODES).T
"""Matrix from four Bezier points to the values at the nodes, shape (nodes, 4)."""
_DENSE = bernstein_weights(np.arange(1, 64) / 64.0).T
"""Matrix from four Bezier points to values at parameters dense enough for the largest error, shape (63, 4)."""
_TO_CHEBYSHEV = np.linalg.inv(_chebyshev(_NODES)) / _double_zeros(_NODES)
"""Matrix from the differences at the nodes to the Chebyshev coefficients of g, shape (nodes, nodes)."""
_BETWEEN = np.convolve(np.concatenate(([0.0], _NODES, [1.0])), [0.5, 0.5], mode="valid")
"""The midpoints between the nodes, and between the nodes and the ends."""
_TO_BETWEEN = _double_zeros(_BETWEEN)[:, np.newaxis] * (_chebyshev(_BETWEEN) @ _TO_CHEBYSHEV)
"""Matrix from the differences at the nodes to the differences between them, shape (6, nodes)."""
_PARAMETERS = np.sort(np.concatenate(([0.0, 1.0], _NODES, _BETWEEN)))
"""The nodes, the midpoints between them, and the ends."""


class CubicFits:
    """The fit of one cubic to each span, and the measurement of its error."""

    def __init__(self, strands: Strands) -> None:
        self._strands = strands

    def fit(self, spans: Spans) -> Pieces:
        """Return the cubic of each span, and its error from five samples."""
        frames = _applied(_AT_NODES, _point_frames(spans.frames))
        exact = self._exact(spans.strand, frames)
        values, rates = self._channel_values(spans, frames, exact)
        played = _applied(_AT_NODES, _bezier_points(spans.frames, values, rates))
        error = _largest(self._differences(spans, values[0], played, exact))
        error[self.has_jump(spans)] *= _JUMP_MARGIN
        return Pieces(spans.strand, spans.frames, values, rates, error)

    def has_jump(self, spans: Spans | Pieces) -> BoolArray:
        """Return a mask of spans that contain the start or end of an ease, where the acceleration jumps."""
        first, last = spans.frames
        jumps = self._strands.ease_ends[:, spans.strand]
        edge = _AT_END * (last - first)
        is_within: BoolArray = ((jumps > first + edge) & (jumps < last - edge)).any(axis=0)
        return is_within

    def measured(self, pieces: Pieces, mask: BoolArray | bool = True) -> Pieces:
        """Return the pieces, with errors above their goals measured at dense samples where the mask is true."""
        rows = np.flatnonzero(mask & (pieces.error > self._strands.goal[pieces.strand]))
        if not len(rows):
            return pieces
        inaccurate, representation = pieces.take(rows), self._strands.representation
        exact = self._exact(inaccurate.strand, _applied(_DENSE, _point_frames(inaccurate.frames)))
        points = _bezier_points(inaccurate.frames, inaccurate.values, inaccurate.rates)
        played = np.moveaxis(_applied(_DENSE, points), 1, 0)
        # Unlike `fit`, no polynomial needs vectors here. A missing turn has large angles between the ends of its span.
        errors = np.abs(played - exact)[0] if representation is None else angles_apart(representation, played, exact)
        error = pieces.error.copy()
        error[rows] = errors.max(axis=0) * _MARGIN
        return replace(pieces, error=error)

    def _exact(self, strand: IndexArray, frames: Float64Array) -> Float64Array:
        """Return the spline's values (a, m, n) at frames (m, n)."""
        exact = self._strands.evaluate(np.tile(strand, len(frames)), frames.ravel(), 0)
        return exact.reshape(len(exact), *frames.shape)

    def _channel_values(
        self, spans: Spans, frames: Float64Array, exact: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Return the values and rates (2, c, n) of the channels at the ends of spans.

        `exact` contains the spline's values at the `frames` of the samples.
        """
        representation = self._strands.representation
        if representation is None:
            return spans.exact, spans.rates
        numbers = np.stack([spans.numbers, self._arriving(representation, spans, frames, exact)])
        lengths, length_change = self._strands.lengths(spans.strand, spans.frames)
        values, rates = np.empty_like(numbers), np.empty_like(numbers)
        for side in range(2):
            unit_rates = representation.rates(numbers[side], spans.exact[side], spans.rates[side])
            values[side], rates[side] = representation.scaled(numbers[side], unit_rates, lengths[side], length_change)
        return values, rates

    def _arriving(
        self, representation: RotationRepresentation, spans: Spans, frames: Float64Array, exact: Float64Array
    ) -> Float64Array:
        """Return the unit channel values (c, n) at the ends of spans, equivalent to the key values at keys."""
        with_ends = np.concatenate([exact, spans.exact[1][:, np.newaxis]], axis=1)
        arriving = representation.following(spans.numbers, spans.exact[0], with_ends)[:, -1]
        if not representation.counts_turns:
            return arriving
        start_speed = np.abs(representation.rates(spans.numbers, spans.exact[0], spans.rates[0]))
        end_speed = np.abs(representation.rates(arriving, spans.exact[1], spans.rates[1]))
        speed = np.maximum(start_speed, end_speed).max(axis=0)
        fast = np.flatnonzero(speed * (spans.frames[1] - spans.frames[0]) > _LARGEST_FOLLOWED)
        if len(fast):
            arriving[:, fast] = self._integrated(
                representation, spans.take(fast), frames[:, fast], with_ends[..., fast]
            )
        return self._with_key_values(representation, spans, arriving)

    def _with_key_values(
        self, representation: RotationRepresentation, spans: Spans, arriving: Float64Array
    ) -> Float64Array:
        """Replace the values at keys by values that are equivalent to the key values, because a channel has only these.

        Without a turn and in gimbal lock, the key's value can differ from the value at which the motion arrives. Close
        to these cases, the difference is the square root of the orientation's rounding error.
        """
        keys = self._strands.end[spans.strand]
        ends = np.flatnonzero(spans.frames[1] == self._strands.tracks.frames[keys])
        key_numbers = self._strands.unit_numbers(keys[ends], arriving[:, ends])
        factors, terms = representation.map_to_nearest(key_numbers, arriving[:, ends])
        arriving[:, ends] = factors * key_numbers + terms
        return arriving

    def _integrated(
        self, representation: RotationRepresentation, spans: Spans, sampled_at: Float64Array, exact: Float64Array
    ) -> Float64Array:
        """Return the channel values (c, n) at the ends of spans whose sampled orientations are far apart.

        From one sample to the next, the trapezoidal rule predicts the values from their rates. The values closest to
        the prediction, among all values that represent the orientation, are used.
        """
        frames = np.concatenate([sampled_at, spans.frames[1:]])
        velocity = self._strands.evaluate(np.tile(spans.strand, len(sampled_at)), sampled_at.ravel(), 1)
        velocity = np.concatenate([velocity.reshape(3, *sampled_at.shape), spans.rates[1][:, np.newaxis]], axis=1)
        numbers, frame = spans.numbers, spans.frames[0]
        rates = representation.rates(numbers, spans.exact[0], spans.rates[0])
        for row in range(len(frames)):
            local = representation.local(exact[:, row], velocity[:, row])
            local_rates = representation.rates(local, exact[:, row], velocity[:, row])
            factors, _ = representation.map_to_nearest(local, numbers)
            predicted = numbers + 0.5 * (frames[row] - frame) * (rates + factors * local_rates)
            factors, terms = representation.map_to_nearest(local, predicted)
            numbers, rates, frame = factors * local + terms, factors * local_rates, frames[row]
        return numbers

    def _differences(
        self, spans: Spans, start: Float64Array, played: Float64Array, exact: Float64Array
    ) -> Float64Array:
        """Return the differences (m, k, n) from the played values (m, c, n) to the spline's values (a, m, n).

        For rotations, these are rotation vectors. They are not reduced to the shortest path, so that a missing turn
        counts as an error. `start` contains the channel values (c, n) at the starts of spans.
        """
        representation = self._strands.representation
        if representation is None:
            return np.moveaxis(exact, 1, 0) - played
        orientation = representation.orientation(np.moveaxis(played, 0, 1))
        sign = np.where(sphere.dot(representation.orientation(start), spans.exact[0]) < 0.0, -1.0, 1.0)
        turn = sphere.product(sphere.conjugate(orientation * sign), exact)
        sine = sphere.length(turn[1:])
        angle = 2.0 * np.arctan2(sine, turn[0])
        vectors: Float64Array = turn[1:] * np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 0.0)
        return np.moveaxis(vectors, 1, 0)


def _applied(matrix: Float64Array, samples: Float64Array) -> Float64Array:
    """Return a matrix times samples (m, …), over the first axis.

    The sum runs sample by sample. The last bit of a span's result then does not depend on the number of spans.
    """
    columns = matrix.T.reshape(*matrix.T.shape, *[1] * (samples.ndim - 1))
    result: Float64Array = columns[0] * samples[0]
    for column, sample in zip(columns[1:], samples[1:], strict=True):
        result += column * sample
    return result


def _point_frames(frames: Float64Array) -> Float64Array:
    """Return the frames of the Bezier points (4, n) of cubics from start to end frames (2, n)."""
    first, last = frames
    third = (last - first) / 3.0
    # Blender stores handles in float32.
    handles = (first + third).astype(np.float32), (last - third).astype(np.float32)
    return np.stack([first, *handles, last])


def _bezier_points(frames: Float64Array, values: Float64Array, rates: Float64Array) -> Float64Array:
    """Return the float32 Bezier points (4, c, n) of cubics with values and rates (2, c, n) at start and end frames."""
    first, after_first, before_last, last = _point_frames(frames)
    leaving, arriving = rates[0] * (after_first - first), rates[1] * (last - before_last)
    points = np.stack([values[0], values[0] + leaving, values[1] - arriving, values[1]])
    return points.astype(np.float32).astype(np.float64)


def _largest(differences: Float64Array) -> Float64Array:
    """Return the largest differences along whole spans (n,), from the differences at the nodes (nodes, k, n)."""
    size = np.zeros((len(_PARAMETERS), differences.shape[2]))
    size[1:-1:2] = _sizes(_applied(_TO_BETWEEN, differences))
    size[2:-1:2] = _sizes(differences)
    (largest,), _ = maxima(size[np.newaxis], _PARAMETERS)
    # The factor t² (1-t)² is at most 1/16. Degrees that five samples cannot resolve may be as large as the last term.
    twice_last_term = _sizes(_applied(_TO_CHEBYSHEV[-1:], differences) / 8.0)[0]
    error: Float64Array = (largest + twice_last_term) * _MARGIN
    return error


def _sizes(vectors: Float64Array) -> Float64Array:
    """Return the lengths (m, n) of vectors (m, k, n)."""
    return sphere.length(np.moveaxis(vectors, 1, 0))
