# SPDX-License-Identifier: GPL-3.0-or-later
"""Strands: the segments to fit, of all requests of one batch, each with its tolerance and its spline.

A strand is one segment of one channel, or one segment of all channels of a rotation, which share their knots.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import ease
from ...batch import BLOCK, IndexArray, Timing
from ...keys import Float64Array
from ...rotations.representations import RotationRepresentation
from ..channel_splines import batch
from .requests import Request
from .spans import Spans

# Relative: the float32 rounding of a number, a few times over: in keys and handles, and while Blender plays them.
_ROUNDING = 4.0 * 2.0**-24
# In units of that rounding: the smallest error that a piece is divided for.
LEAST_GOAL = 2.0


class Strands:
    """The strands of requests whose channels have the same representation.

    Attributes
    ----------
    requests : sequence of Request
        The requests.
    representation : RotationRepresentation or None
        The representation of rotations; None for tracks of numbers.
    tracks : KeyBatch
        The keys of all requests.
    numbers : ndarray, shape (keys, channels)
        The channels' numbers at all keys.
    tolerance : ndarray, shape (requests, channels)
        The tolerances that were requested.
    segment, end : ndarray of int, shape (strands,)
        The keys at which each strand begins and ends.
    component : ndarray of int, shape (strands,)
        The channel of each strand; 0 for rotations.
    request : ndarray of int, shape (strands,)
        The request of each strand.
    free_lengths : ndarray of bool, shape (strands,)
        Whether its quaternions may have any length.
    rounding : ndarray, shape (strands,)
        The error that float32 adds.
    goal : ndarray, shape (strands,)
        The largest error that a piece may have before that is added.
    ease_ends : ndarray, shape (2, strands)
        The frames at which an ease ends or begins, where the acceleration jumps; NaN without ease.
    """

    def __init__(self, requests: Sequence[Request]) -> None:
        self.requests = requests
        self.representation, self.tracks, self._curve, self.numbers, segment = batch(requests)
        self._timing = Timing(self.tracks)
        counts = self.tracks.last - self.tracks.first + 1
        self.tolerance = np.array([request.tolerance_of_channels(self.channels) for request in requests])
        shared = 1 if self.representation is not None else self.channels
        self.component = np.tile(np.arange(shared), len(segment))
        self.segment = np.repeat(segment, shared)
        self.end = self.tracks.segment_end[self.segment]
        self.request = np.repeat(np.arange(len(requests)), counts)[self.segment]
        self.free_lengths = np.array([request.free_lengths for request in requests])[self.request]
        self.rounding = self._rounding()
        tolerance = self.tolerance[self.request, self.component]
        self.goal: Float64Array = np.maximum(tolerance - self.rounding, LEAST_GOAL * self.rounding)
        self._start_length, self._length_change = self._lengths()
        self.ease_ends = self._ease_ends()

    def __len__(self) -> int:
        """Return the number of strands."""
        return len(self.segment)

    @property
    def channels(self) -> int:
        """Return the number of channels of each request."""
        return int(self.numbers.shape[1])

    def _rounding(self) -> Float64Array:
        """Return the error that float32 adds to the values of each strand."""
        size = np.abs(self.numbers)
        if self.representation is not None:
            unit = np.abs(_unit(self.representation, self.numbers.T))
            size = unit.max(axis=0, initial=1.0)[:, np.newaxis]
        largest = np.maximum(size[self.segment, self.component], size[self.end, self.component])
        rounding: Float64Array = _ROUNDING * largest
        return rounding

    def _lengths(self) -> tuple[Float64Array, Float64Array]:
        """Return the lengths of quaternions and axes at the starts of strands, and their changes a frame."""
        if self.representation is None:
            return np.ones(len(self)), np.zeros(len(self))
        lengths = self.representation.lengths(self.numbers.T)
        start = lengths[self.segment]
        change = lengths[self.end] - start
        return start, change / (self.tracks.frames[self.end] - self.tracks.frames[self.segment])

    def _ease_ends(self) -> Float64Array:
        """Return the frames at which an ease ends or begins."""
        eases = ease.normalised(self.tracks.parameters[4, self.segment], self.tracks.parameters[3, self.end])
        start, end = self.tracks.frames[self.segment], self.tracks.frames[self.end]
        frames = np.stack([start + eases[0] * (end - start), end - eases[1] * (end - start)])
        return np.where(np.stack(eases) > 0.0, frames, np.nan)

    def evaluate(self, strand: IndexArray, frames: Float64Array, nu: int) -> Float64Array:
        """Return the spline's values or derivatives, shape (a, n), those of a strand's own component for numbers."""
        segment = self.segment[strand]
        parts = []
        for start in range(0, max(len(frames), 1), BLOCK):
            block = slice(start, start + BLOCK)
            own = segment[block]
            u, *rates = self._timing.at(frames[block], own, nu)
            values = self._curve.evaluate(own, u, nu)
            if self.representation is None:
                values = values[self.component[strand[block]], np.arange(len(own))][np.newaxis]
            parts.append(values * rates[0] if nu else values)
        return np.concatenate(parts, axis=1)

    def lengths(self, strand: IndexArray, frames: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the lengths of quaternions and axes at frames (…, n), and their change a frame (n,).

        They run from key to key in a line.
        """
        change = self._length_change[strand]
        since = frames - self.tracks.frames[self.segment[strand]]
        return self._start_length[strand] + change * since, change

    def unit_numbers(self, keys: IndexArray, local: Float64Array) -> Float64Array:
        """Return the numbers (c, n) of rotations at keys, with unit quaternions and axes.

        An axis of length 0 has no direction: that of the `local` numbers of the motion is taken there.
        """
        assert self.representation is not None
        numbers = self.numbers[keys].T
        unit = _unit(self.representation, numbers)
        unit[1:] = np.where(self.representation.lengths(numbers) > 0.0, unit[1:], local[1:])
        return unit

    def whole_segments(self) -> Spans:
        """Return each strand as one span."""
        strand = np.arange(len(self))
        frames = np.stack([self.tracks.frames[self.segment], self.tracks.frames[self.end]])
        exact, rates = (
            np.stack(np.split(self.evaluate(np.tile(strand, 2), frames.ravel(), nu), 2, axis=1)) for nu in range(2)
        )
        provisional = np.zeros(len(strand), dtype=np.bool_)
        if self.representation is None:
            return Spans(strand, frames, exact, rates, exact[0], provisional)
        unit = self.unit_numbers(self.segment, self.representation.local(exact[0], rates[0]))
        return Spans(strand, frames, exact, rates, unit, provisional)


def _unit(representation: RotationRepresentation, numbers: Float64Array) -> Float64Array:
    """Return numbers (c, n) with quaternions and axes scaled to length 1."""
    size = representation.lengths(numbers)
    inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    unit, _ = representation.scaled(numbers, numbers, inverse, np.zeros_like(size))
    return unit
