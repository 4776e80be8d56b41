# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit a few Bezier keys to a motion known only at samples, such as a motion played by a frame function.

Source: docs/formulas, "Fitting samples".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..cubics import hermite_weights
from ..key_batch import BoolArray, IndexArray
from ..keys import Float64Array

Size = Callable[[Float64Array], Float64Array]
"""A function that returns the sizes, shape (m,), of differences, shape (m, channels)."""

_SLOPE_SAMPLES = 4
"""Number of samples of a piece from which the derivative at its end is computed, to third order."""
_NEIGHBORS = 2
"""Number of samples on both sides of the end for the derivative of a piece that has fewer samples."""
_GAIN_DIVISOR = 8
"""The search for a longer piece stops if the piece can become longer by at most this fraction (1 / 8)."""


@dataclass(frozen=True)
class SampledFit:
    """The keys that play the samples.

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


def fit_samples(
    frames: npt.ArrayLike,
    values: npt.ArrayLike,
    breaks: IndexArray,
    size: Size,
    tolerance: float,
    avoided: BoolArray | None = None,
) -> SampledFit:
    """Choose keys from the samples, with cubics between the keys that are within the tolerance of all samples.

    Parameters
    ----------
    frames : array_like, shape (n,)
        At least two strictly increasing frames.
    values : array_like, shape (n, channels)
        Values of the channels at these frames.
    breaks : ndarray of int
        Ascending rows that are always keys, because the motion may have corners there. The first and last rows are
        included.
    size : callable
        A function that returns the size of channel differences.
    tolerance : float
        The largest difference allowed at a sample. The motion between neighboring samples is unknown.
    avoided : ndarray of bool, shape (n,), or None
        Rows that become keys only if they are `breaks` or no other row stays within the tolerance, such as rows close
        to existing keys.

    Notes
    -----
    Bisection makes each piece as long as possible, so there are few keys, but not always the fewest. Derivatives are
    computed from the cubics through the four samples of a piece that are closest to each end.
    """
    samples = _Samples(np.asarray(frames, dtype=np.float64), np.asarray(values, dtype=np.float64), breaks, size)
    rows = [0]
    pieces: list[_Piece] = []
    length = 0
    while rows[-1] < len(samples.frames) - 1:
        start = rows[-1]
        last = int(breaks[np.searchsorted(breaks, start, side="right")])
        end, piece = _longest_piece(samples, start, last, length, tolerance)
        if avoided is not None and avoided[end] and end < last and not avoided[start + 1 : end].all():
            last_preferred = start + 1 + int(np.flatnonzero(~avoided[start + 1 : end])[-1])
            shorter_piece = samples.piece(start, last_preferred)
            if shorter_piece.error <= tolerance:
                end, piece = last_preferred, shorter_piece
        length = end - start
        rows.append(end)
        pieces.append(piece)
    no_slope = np.zeros(samples.values.shape[1])
    incoming = np.array([no_slope, *(piece.arriving for piece in pieces)])
    outgoing = np.array([*(piece.leaving for piece in pieces), no_slope])
    return SampledFit(np.array(rows), incoming, outgoing, max(piece.error for piece in pieces))


def _longest_piece(
    samples: _Samples, start: int, last: int, previous_length: int, tolerance: float
) -> tuple[int, _Piece]:
    """Return the end of approximately the longest piece from `start` within the tolerance, and the piece.

    `last` is the next break. The search begins with the length of the previous piece.
    """
    end, longest, too_far = start, None, last + 1
    tried = min(start + max(previous_length, _SLOPE_SAMPLES), last)
    while longest is None or too_far - end > 1 + (end - start) // _GAIN_DIVISOR:
        piece = samples.piece(start, tried)
        if piece.error <= tolerance or tried == start + 1:
            end, longest = tried, piece
        else:
            too_far = tried
        # No end has failed yet: double the length. Otherwise bisect.
        doubled, halfway = min(start + 2 * (end - start), last), (end + too_far) // 2
        tried = doubled if too_far > last else halfway
    return end, longest


class _Piece(NamedTuple):
    """A cubic between two keys."""

    leaving: Float64Array
    """Derivatives at the start, shape (channels,)."""
    arriving: Float64Array
    """Derivatives at the end, shape (channels,)."""
    error: float
    """The largest difference from a sample within the piece."""


class _Samples:
    """The samples, with the derivatives of the cubics that begin and end at each sample."""

    def __init__(self, frames: Float64Array, values: Float64Array, breaks: IndexArray, size: Size) -> None:
        self.frames, self.values, self._size = frames, values, size
        self._leaving, self._arriving, self._short_leaving, self._short_arriving = np.zeros((4, *values.shape))
        for first, last in pairwise(breaks.tolist()):
            run, starts, ends = slice(first, last + 1), slice(first, last), slice(first + 1, last + 1)
            self._leaving[starts] = _slopes(frames[run], values[run], 0, _SLOPE_SAMPLES)[:-1]
            self._arriving[ends] = _slopes(frames[run], values[run], _SLOPE_SAMPLES - 1, _SLOPE_SAMPLES)[1:]
            around = _slopes(frames[run], values[run], _NEIGHBORS, 2 * _NEIGHBORS + 1)
            self._short_leaving[starts], self._short_arriving[ends] = around[:-1], around[1:]

    def piece(self, start: int, end: int) -> _Piece:
        """Return the cubic from one sample to another in a run."""
        frames, values = self.frames, self.values
        if end - start + 1 < _SLOPE_SAMPLES:
            leaving, arriving = self._short_leaving[start], self._short_arriving[end]
        else:
            leaving, arriving = self._leaving[start], self._arriving[end]
        if end == start + 1:
            return _Piece(leaving, arriving, 0.0)
        length = frames[end] - frames[start]
        u = ((frames[start + 1 : end] - frames[start]) / length)[:, np.newaxis]
        weights = hermite_weights(u)
        chord = weights.chord * (values[end] - values[start])
        cubic = values[start] + chord + length * (weights.leaving * leaving + weights.arriving * arriving)
        return _Piece(leaving, arriving, float(self._size(cubic - values[start + 1 : end]).max()))


def _slopes(frames: Float64Array, values: Float64Array, before: int, count: int) -> Float64Array:
    """Return each row's derivative, from the polynomial through `count` rows that start up to `before` rows earlier."""
    rows = np.arange(len(frames))
    count = min(count, len(frames))
    windows = np.clip(rows - before, 0, len(frames) - count)[:, np.newaxis] + np.arange(count)
    is_other = windows != rows[:, np.newaxis]
    distances = np.where(is_other, frames[windows] - frames[:, np.newaxis], 1.0)
    # The Lagrange weight of each chord is the product of all other distances, each divided by its difference from the
    # chord's.
    differences = distances[:, np.newaxis] - distances[..., np.newaxis]
    is_factor = is_other[:, np.newaxis] & is_other[..., np.newaxis] & ~np.eye(count, dtype=np.bool_)
    factors = np.divide(distances[:, np.newaxis], differences, out=np.ones_like(differences), where=is_factor)
    weights = np.where(is_other, factors.prod(axis=2) / distances, 0.0)
    slopes: Float64Array = np.einsum("rw,rwc->rc", weights, values[windows] - values[:, np.newaxis])
    return slopes
