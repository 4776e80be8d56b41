# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit few Bezier keys to a motion that is known only by samples, such as one that a frame function plays.

Source: docs/formulas, "Fitting samples".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..batch import BoolArray, IndexArray
from ..hermite_basis import hermite_weights
from ..keys import Float64Array

Size = Callable[[Float64Array], Float64Array]
"""From differences, shape (m, channels), to how large they are, shape (m,)."""

# Samples from which the derivative at the end of a piece is computed, to the third order; where a piece has fewer, so
# many on both sides of the end.
_FOR_SLOPE = 4
_AROUND = 2
# A piece is not made longer by less than an eighth of it.
_SLACK = 8


@dataclass(frozen=True)
class SampledFit:
    """The keys that play the samples.

    Attributes
    ----------
    rows : ndarray of int, shape (k,)
        The samples that are keys, ascending.
    incoming, outgoing : ndarray, shape (k, channels)
        Derivatives per frame on both sides of them. Handles are at thirds, see `fitting.curves.handles`.
    error : float
        The largest difference from a sample.
    """

    rows: IndexArray
    incoming: Float64Array
    outgoing: Float64Array
    error: float


def fit_samples(
    frames: npt.ArrayLike,
    values: npt.ArrayLike,
    breaks: IndexArray,
    size: Size,
    most: float,
    near: BoolArray | None = None,
) -> SampledFit:
    """Return keys among the samples whose cubics come to within `most` of all of them.

    Parameters
    ----------
    frames : array_like, shape (n,)
        Strictly ascending, two or more.
    values : array_like, shape (n, channels)
        The channels' values there.
    breaks : ndarray of int
        Rows that are keys in any case, ascending, the first and the last among them: the motion may have corners there.
    size : callable
        The size of differences of the channels.
    most : float
        The largest size allowed at a sample. Between neighboring samples nothing is known.
    near : ndarray of bool, shape (n,), or None
        Rows that are keys only where no others reach the tolerance, or where they are `breaks`: such as rows close to
        keys.

    Notes
    -----
    From each key on the piece is as long as it can be, found by bisection, so keys are few, but not always the fewest.
    Derivatives are from cubics through the four samples closest to the piece's ends, on its own side of them.
    """
    samples = _Samples(np.asarray(frames, dtype=np.float64), np.asarray(values, dtype=np.float64), size)
    still = np.zeros(samples.values.shape[1])
    rows, incoming, outgoing, errors = [0], [still], [], [0.0]
    length = 0
    while rows[-1] < len(samples.frames) - 1:
        start = rows[-1]
        at_break = int(np.searchsorted(breaks, start, side="right"))
        part = slice(int(breaks[at_break - 1]), int(breaks[at_break]) + 1)
        end, piece = _longest_piece(samples, start, part, length, most)
        if near is not None and near[end] and end < part.stop - 1 and not near[start + 1 : end].all():
            earlier = start + 1 + int(np.flatnonzero(~near[start + 1 : end])[-1])
            shorter = samples.piece(start, earlier, part)
            end, piece = (earlier, shorter) if shorter[2] <= most else (end, piece)
        length = end - start
        rows.append(end)
        outgoing.append(piece[0])
        incoming.append(piece[1])
        errors.append(piece[2])
    outgoing.append(still)
    return SampledFit(np.array(rows), np.array(incoming), np.array(outgoing), max(errors))


_Piece = tuple[Float64Array, Float64Array, float]
"""A piece: the derivatives at its start and its end, and its largest difference from the samples within."""


def _longest_piece(samples: _Samples, start: int, part: slice, length: int, most: float) -> tuple[int, _Piece]:
    """Return the end of about the longest good piece from `start`, and the piece.

    Parameters
    ----------
    samples : _Samples
        The samples.
    start : int
        The row at which it starts.
    part : slice
        The rows from break to break.
    length : int
        The length of the piece before, with which the search begins.
    most : float
        The largest difference allowed.
    """
    end, found, far = start, None, part.stop
    tried = min(start + max(length, _FOR_SLOPE), part.stop - 1)
    while found is None or far - end > 1 + (end - start) // _SLACK:
        piece = samples.piece(start, tried, part)
        if piece[2] <= most or tried == start + 1:
            end, found = tried, piece
        else:
            far = tried
        tried = min(start + 2 * (end - start), far - 1) if far == part.stop and end > start else (end + far) // 2
    return end, found


class _Samples:
    """The samples, with the derivatives of the cubics that begin and end at each."""

    def __init__(self, frames: Float64Array, values: Float64Array, size: Size) -> None:
        self.frames, self.values, self._size = frames, values, size
        self._leaving = _slopes(frames, values)
        self._arriving = _slopes(frames[::-1], values[::-1])[::-1]

    def piece(self, start: int, end: int, part: slice) -> _Piece:
        """Return the derivatives at both ends of a piece, and the largest difference of its cubic from the samples."""
        frames, values = self.frames, self.values
        count = end - start + 1
        if count >= _FOR_SLOPE:
            # Row i of `_arriving` belongs to sample i + _FOR_SLOPE - 1.
            leave, arrive = self._leaving[start], self._arriving[end - _FOR_SLOPE + 1]
        else:
            leave, arrive = (_slope(frames, values, _around(row, part)) for row in (start, end))
        if count == 2:
            return leave, arrive, 0.0
        length = frames[end] - frames[start]
        t = ((frames[start + 1 : end] - frames[start]) / length)[:, np.newaxis]
        chord, leaving, arriving = hermite_weights(t)
        cubic = values[start] + chord * (values[end] - values[start]) + length * (leaving * leave + arriving * arrive)
        return leave, arrive, float(self._size(cubic - values[start + 1 : end]).max())


def _slopes(frames: Float64Array, values: Float64Array) -> Float64Array:
    """Return for each row the derivative of the cubic through it and the three that follow, as far as there are any."""
    count = len(frames) - _FOR_SLOPE + 1
    if count < 1:
        return np.empty((0, values.shape[1]))
    away = [frames[row : row + count] - frames[:count] for row in range(1, _FOR_SLOPE)]
    slopes = np.zeros((count, values.shape[1]))
    for row, own in enumerate(away):
        weight = 1.0 / own
        for other in away[:row] + away[row + 1 :]:
            weight *= other / (other - own)
        slopes += weight[:, np.newaxis] * (values[row + 1 : row + 1 + count] - values[:count])
    return slopes


def _around(row: int, part: slice) -> list[int]:
    """Return the row, then the rows near it."""
    first = max(part.start, min(row - _AROUND, part.stop - 2 * _AROUND - 1))
    near = range(first, min(part.stop, first + 2 * _AROUND + 1))
    return [row, *(each for each in near if each != row)]


def _slope(frames: Float64Array, values: Float64Array, rows: Sequence[int]) -> Float64Array:
    """Return the derivative at the first of the rows of the polynomial through all of them."""
    away = frames[list(rows[1:])] - frames[rows[0]]
    # Lagrange's weights: for each chord the product of the others' distances over their distances from its end.
    weights = [np.prod(np.delete(away, row) / (np.delete(away, row) - away[row])) for row in range(len(away))]
    slope: Float64Array = (weights / away) @ (values[list(rows[1:])] - values[rows[0]])
    return slope
