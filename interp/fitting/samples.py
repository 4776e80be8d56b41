# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit a few Bezier keys to a motion known only at samples, such as a motion played by a frame function.

Source: docs/formulas, "Fitting samples".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..batch import BoolArray, IndexArray
from ..hermite_basis import hermite_weights
from ..keys import Float64Array

Size = Callable[[Float64Array], Float64Array]
"""Function from differences, shape (m, channels), to their sizes, shape (m,)."""

_FOR_SLOPE = 4
"""Number of samples of a piece from which the derivative at its end is computed, to third order."""
_AROUND = 2
"""Number of samples on both sides of the end for the derivative of a piece that has fewer samples."""
_SLACK = 8
"""The search for a longer piece stops at a gain of less than an eighth."""


@dataclass(frozen=True)
class SampledFit:
    """Hold the keys that play the samples.

    Attributes
    ----------
    rows : ndarray of int, shape (k,)
        Indices of the samples that are keys, in ascending order.
    incoming, outgoing : ndarray, shape (k, channels)
        Derivatives per frame on both sides of the keys, which are 0 before the first key and after the last key. Bezier
        handles at thirds of each segment play these cubics.
    error : float
        The largest deviation from a sample.
    """

    rows: IndexArray
    incoming: Float64Array
    outgoing: Float64Array
    error: float


class _Piece(NamedTuple):
    """A cubic between two keys."""

    leaving: Float64Array
    """Derivatives at the start, shape (channels,)."""
    arriving: Float64Array
    """Derivatives at the end, shape (channels,)."""
    error: float
    """The largest difference from a sample within the piece."""


def fit_samples(
    frames: npt.ArrayLike,
    values: npt.ArrayLike,
    breaks: IndexArray,
    size: Size,
    tolerance: float,
    avoided: BoolArray | None = None,
) -> SampledFit:
    """Return keys among the samples whose cubics are within the tolerance of all samples.

    Parameters
    ----------
    frames : array_like, shape (n,)
        At least two strictly increasing frames.
    values : array_like, shape (n, channels)
        Values of the channels at these frames.
    breaks : ndarray of int
        Ascending rows that are always keys, because the motion may have corners there. They include the first and last
        row.
    size : callable
        A function that returns the size of channel differences.
    tolerance : float
        The largest size allowed at a sample. The motion between neighboring samples is unknown.
    avoided : ndarray of bool, shape (n,), or None
        Rows that become keys only if they are `breaks` or no other row reaches the tolerance, such as rows close to
        existing keys.

    Notes
    -----
    Each piece is as long as possible, found by bisection, so keys are few, but not always the fewest. Derivatives are
    from cubics through the four samples inside the piece closest to each end.
    """
    samples = _Samples(np.asarray(frames, dtype=np.float64), np.asarray(values, dtype=np.float64), size)
    rows = [0]
    pieces: list[_Piece] = []
    length = 0
    while rows[-1] < len(samples.frames) - 1:
        start = rows[-1]
        next_break = int(np.searchsorted(breaks, start, side="right"))
        run = slice(int(breaks[next_break - 1]), int(breaks[next_break]) + 1)
        end, piece = _longest_piece(samples, start, run, length, tolerance)
        if avoided is not None and avoided[end] and end < run.stop - 1 and not avoided[start + 1 : end].all():
            # Prefer the last row in the piece that is not avoided.
            earlier = start + 1 + int(np.flatnonzero(~avoided[start + 1 : end])[-1])
            shorter = samples.piece(start, earlier, run)
            if shorter.error <= tolerance:
                end, piece = earlier, shorter
        length = end - start
        rows.append(end)
        pieces.append(piece)
    outside = np.zeros(samples.values.shape[1])
    incoming = np.array([outside, *(piece.arriving for piece in pieces)])
    outgoing = np.array([*(piece.leaving for piece in pieces), outside])
    return SampledFit(np.array(rows), incoming, outgoing, max(piece.error for piece in pieces))


def _longest_piece(
    samples: _Samples, start: int, run: slice, previous_length: int, tolerance: float
) -> tuple[int, _Piece]:
    """Return the end of approximately the longest piece from `start` within the tolerance, and the piece.

    `run` contains the rows from break to break. The search begins with the length of the previous piece.
    """
    end, longest, too_far = start, None, run.stop
    tried = min(start + max(previous_length, _FOR_SLOPE), run.stop - 1)
    while longest is None or too_far - end > 1 + (end - start) // _SLACK:
        piece = samples.piece(start, tried, run)
        if piece.error <= tolerance or tried == start + 1:
            end, longest = tried, piece
        else:
            too_far = tried
        # No end has failed yet: double the length. Otherwise bisect.
        doubled, halfway = min(start + 2 * (end - start), run.stop - 1), (end + too_far) // 2
        tried = doubled if too_far == run.stop else halfway
    return end, longest


class _Samples:
    """The samples, with the derivatives of the cubics that begin and end at each sample."""

    def __init__(self, frames: Float64Array, values: Float64Array, size: Size) -> None:
        self.frames, self.values, self._size = frames, values, size
        self._leaving = _slopes(frames, values)
        """Row i belongs to sample i."""
        self._arriving = _slopes(frames[::-1], values[::-1])[::-1]
        """Row i belongs to sample i + _FOR_SLOPE - 1."""

    def piece(self, start: int, end: int, run: slice) -> _Piece:
        """Return the cubic from one sample to another in a run."""
        frames, values = self.frames, self.values
        count = end - start + 1
        if count >= _FOR_SLOPE:
            leaving, arriving = self._leaving[start], self._arriving[end - _FOR_SLOPE + 1]
        else:
            leaving, arriving = (_slope(frames, values, _around(row, run)) for row in (start, end))
        if count == 2:
            return _Piece(leaving, arriving, 0.0)
        length = frames[end] - frames[start]
        u = ((frames[start + 1 : end] - frames[start]) / length)[:, np.newaxis]
        weights = hermite_weights(u)
        chord = weights.chord * (values[end] - values[start])
        cubic = values[start] + chord + length * (weights.leaving * leaving + weights.arriving * arriving)
        return _Piece(leaving, arriving, float(self._size(cubic - values[start + 1 : end]).max()))


def _slopes(frames: Float64Array, values: Float64Array) -> Float64Array:
    """Return the derivative at each row, except the last three, of the cubic through it and the next three rows."""
    count = len(frames) - _FOR_SLOPE + 1
    if count < 1:
        return np.empty((0, values.shape[1]))
    distances = [frames[step : step + count] - frames[:count] for step in range(1, _FOR_SLOPE)]
    slopes = np.zeros((count, values.shape[1]))
    # The same weights as in `_slope`, for all rows at once.
    for step, distance in enumerate(distances, start=1):
        weight = 1.0 / distance
        for other in distances[: step - 1] + distances[step:]:
            weight *= other / (other - distance)
        slopes += weight[:, np.newaxis] * (values[step : step + count] - values[:count])
    return slopes


def _around(row: int, run: slice) -> list[int]:
    """Return the row, followed by the rows around it in its run."""
    first = max(run.start, min(row - _AROUND, run.stop - 2 * _AROUND - 1))
    window = range(first, min(run.stop, first + 2 * _AROUND + 1))
    return [row, *(neighbor for neighbor in window if neighbor != row)]


def _slope(frames: Float64Array, values: Float64Array, rows: Sequence[int]) -> Float64Array:
    """Return the derivative at the first row of the polynomial through all rows."""
    first, others = rows[0], list(rows[1:])
    distances = frames[others] - frames[first]
    # The Lagrange weight of each chord is the product of the other distances over their differences from its distance.
    weights = []
    for place, distance in enumerate(distances):
        rest = np.delete(distances, place)
        weights.append(np.prod(rest / (rest - distance)))
    slope: Float64Array = (weights / distances) @ (values[others] - values[first])
    return slope
