# SPDX-License-Identifier: GPL-3.0-or-later
"""Strands (the segments to fit in a batch of requests), and the spans and pieces into which they are divided.

A strand is one segment of one channel, or one segment of all channels of a rotation, which share their knots. A span is
a part of a strand, and a piece is a span with a cubic. The last axis of each array runs over the spans or pieces, in
order of strand and frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from ...arguments import checked_number
from ...ease import LocalParameter
from ...keys import BoolArray, Float64Array, IndexArray
from ...prepared import BLOCK
from ...rotations.representations import RotationRepresentation
from ..requests import Batch, Request

if TYPE_CHECKING:
    from typing import Self

_ROUNDING = 4.0 * 2.0**-24
"""The relative rounding error. It covers several float32 roundings: in keys, in handles and in Blender's playback."""
LEAST_GOAL = 2.0
"""The smallest error for which a piece is divided, in units of this rounding error."""


class Strands:
    """The strands of requests with the same channel representation.

    Attributes
    ----------
    requests : sequence of Request
        The requests.
    representation : RotationRepresentation or None
        The representation of rotations, or None for values.
    tracks : KeyBatch
        The keys of all requests.
    numbers : ndarray, shape (keys, channels)
        The channel values at all keys.
    segment, end : ndarray of int, shape (strands,)
        The keys at which each strand begins and ends.
    component : ndarray of int, shape (strands,)
        The channel of each strand, or 0 for rotations.
    request : ndarray of int, shape (strands,)
        The request of each strand.
    tolerance : ndarray, shape (requests,)
        The requested tolerances.
    rounding : ndarray, shape (strands,)
        The rounding error of float32.
    goal : ndarray, shape (strands,)
        The largest error that a piece may have before rounding.
    ease_ends : ndarray, shape (2, strands)
        The frames at which an ease ends or begins, where the acceleration jumps. NaN without ease.
    """

    def __init__(self, batch: Batch) -> None:
        self.requests, self.representation = batch.requests, batch.representation
        self.tracks, self.numbers = batch.tracks, batch.numbers
        self._curve, self._local_parameter = batch.curve, LocalParameter(batch.tracks)
        strands_per_segment = 1 if self.representation is not None else self.channels
        self.segment = np.repeat(batch.segments, strands_per_segment)
        self.end = self.tracks.segment_end[self.segment]
        self.component = np.tile(np.arange(strands_per_segment), len(batch.segments))
        key_counts = self.tracks.last - self.tracks.first + 1
        self.request = np.repeat(np.arange(len(self.requests)), key_counts)[self.segment]
        self.tolerance = np.array([_checked_tolerance(request) for request in self.requests])
        self.rounding: Float64Array = _ROUNDING * self._largest_numbers()
        self.goal: Float64Array = np.maximum(self.tolerance[self.request] - self.rounding, LEAST_GOAL * self.rounding)
        self.ease_ends = self._ease_ends()
        self._start_length, self._length_change = self._lengths()

    def __len__(self) -> int:
        return len(self.segment)

    @property
    def channels(self) -> int:
        """Return the number of channels of each request."""
        return int(self.numbers.shape[1])

    def whole_segments(self) -> Spans:
        """Return each strand as one span."""
        strand = np.arange(len(self))
        frames = np.stack([self.tracks.frames[self.segment], self.tracks.frames[self.end]])
        exact, rates = (
            np.stack(np.split(self.evaluate(np.tile(strand, 2), frames.ravel(), nu), 2, axis=1)) for nu in range(2)
        )
        if self.representation is None:
            return Spans(strand, frames, exact, rates, exact[0])
        unit = self.unit_numbers(self.segment, self.representation.local(exact[0], rates[0]))
        return Spans(strand, frames, exact, rates, unit)

    def divided(self, spans: Spans, span: IndexArray, frames: Float64Array) -> Spans:
        """Return the parts into which knots divide spans.

        `span` and `frames` contain the span and the frame of each knot, in order of span and frame.
        """
        if not len(span):
            return spans
        strand = spans.strand[span]
        exact, rates = self.evaluate(strand, frames, 0), self.evaluate(strand, frames, 1)
        count = np.bincount(span, minlength=len(spans.strand)) + 1
        owner, last = np.repeat(np.arange(len(count)), count), np.cumsum(count) - 1
        starts_at_knot, ends_at_knot = np.ones((2, len(owner)), dtype=np.bool_)
        starts_at_knot[last - count + 1] = ends_at_knot[last] = False

        def at_ends_of_parts(at_ends: Float64Array, at_knots: Float64Array) -> Float64Array:
            result = at_ends[..., owner]
            result[0][..., starts_at_knot] = at_knots
            result[1][..., ends_at_knot] = at_knots
            return result

        numbers = spans.numbers[:, owner]
        numbers[:, starts_at_knot] = exact if self.representation is None else self.representation.local(exact, rates)
        return Spans(
            spans.strand[owner],
            at_ends_of_parts(spans.frames, frames),
            at_ends_of_parts(spans.exact, exact),
            at_ends_of_parts(spans.rates, rates),
            numbers,
        )

    def evaluate(self, strand: IndexArray, frames: Float64Array, nu: int) -> Float64Array:
        """Return the spline's values or derivatives (a, n).

        For values, only the strand's component is returned.
        """
        segment = self.segment[strand]
        results = []
        for start in range(0, max(len(frames), 1), BLOCK):
            block = slice(start, start + BLOCK)
            block_segment = segment[block]
            u, *speed = self._local_parameter.at(frames[block], block_segment, nu)
            values = self._curve.evaluate(block_segment, u, nu)
            if self.representation is None:
                values = values[self.component[strand[block]], np.arange(len(block_segment))][np.newaxis]
            results.append(values * speed[0] if nu else values)
        return np.concatenate(results, axis=1)

    def lengths(self, strand: IndexArray, frames: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the lengths of quaternions and axes at frames (…, n), and their change per frame (n,).

        The lengths vary linearly from key to key.
        """
        change = self._length_change[strand]
        since = frames - self.tracks.frames[self.segment[strand]]
        return self._start_length[strand] + change * since, change

    def unit_numbers(self, keys: IndexArray, local: Float64Array) -> Float64Array:
        """Return the channel values (c, n) of rotations at keys, with unit quaternions and axes.

        An axis of length 0 has no direction, so the direction of the motion's `local` values is used.
        """
        assert self.representation is not None
        numbers = self.numbers[keys].T
        unit = _unit(self.representation, numbers)
        unit[1:] = np.where(self.representation.lengths(numbers) > 0.0, unit[1:], local[1:])
        return unit

    def _largest_numbers(self) -> Float64Array:
        """Return the largest magnitude of each strand's values at its ends, at least 1 for rotations."""
        size = np.abs(self.numbers)
        if self.representation is not None:
            unit = np.abs(_unit(self.representation, self.numbers.T))
            size = unit.max(axis=0, initial=1.0)[:, np.newaxis]
        return np.maximum(size[self.segment, self.component], size[self.end, self.component])

    def _ease_ends(self) -> Float64Array:
        parameter = self._local_parameter
        eases = np.stack([parameter.ease_from[self.segment], parameter.ease_to[self.segment]])
        start, end = self.tracks.frames[self.segment], self.tracks.frames[self.end]
        frames = np.stack([start + eases[0] * (end - start), end - eases[1] * (end - start)])
        return np.where(eases > 0.0, frames, np.nan)

    def _lengths(self) -> tuple[Float64Array, Float64Array]:
        """Return the lengths of quaternions and axes at the starts of strands, and their change per frame."""
        if self.representation is None:
            return np.ones(len(self)), np.zeros(len(self))
        lengths = self.representation.lengths(self.numbers.T)
        start = lengths[self.segment]
        change = lengths[self.end] - start
        return start, change / (self.tracks.frames[self.end] - self.tracks.frames[self.segment])


def _checked_tolerance(request: Request) -> float:
    """Return the tolerance, or raise TypeError or ValueError."""
    if request.tolerance is None:
        raise TypeError("tolerance must be a number when curves are fitted, not None")
    tolerance = checked_number("tolerance", request.tolerance)
    if not tolerance > 0.0:
        raise ValueError(f"tolerance must be above 0, not {tolerance:g}")
    return tolerance


def _unit(representation: RotationRepresentation, numbers: Float64Array) -> Float64Array:
    """Return channel values (c, n) with quaternions and axes scaled to length 1."""
    size = representation.lengths(numbers)
    inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    unit, _ = representation.scaled(numbers, numbers, inverse, np.zeros_like(size))
    return unit


@dataclass(frozen=True)
class _Columns:
    """Arrays whose last axis runs over spans or pieces."""

    def take(self, rows: IndexArray | BoolArray) -> Self:
        """Return a subset of the columns."""
        return type(self)(**{field.name: getattr(self, field.name)[..., rows] for field in fields(self)})


@dataclass(frozen=True)
class Spans(_Columns):
    """Parts of segments, with the spline's values at both ends."""

    strand: IndexArray
    """The strand of each span, shape (n,)."""
    frames: Float64Array
    """The frames of the start and end, shape (2, n)."""
    exact: Float64Array
    """The spline's values at the start and end, shape (2, a, n)."""
    rates: Float64Array
    """The spline's derivatives at the start and end, shape (2, b, n)."""
    numbers: Float64Array
    """Channel values at the start, in any equivalent representation, shape (c, n)."""


@dataclass(frozen=True)
class Pieces(_Columns):
    """Spans with the cubics that the channels play."""

    strand: IndexArray
    """The strand of each piece, shape (n,)."""
    frames: Float64Array
    """The frames of the start and end, shape (2, n)."""
    values: Float64Array
    """The channels' values at the start and end, shape (2, c, n)."""
    rates: Float64Array
    """The derivatives of the channels per frame, shape (2, c, n)."""
    error: Float64Array
    """The largest difference from the spline, shape (n,)."""


def concatenate(parts: Sequence[Pieces]) -> Pieces:
    """Return the pieces of all parts, in order of strand and frame."""
    joined = Pieces(
        *(np.concatenate([getattr(part, field.name) for part in parts], axis=-1) for field in fields(Pieces))
    )
    return joined.take(np.lexsort((joined.frames[0], joined.strand)))
