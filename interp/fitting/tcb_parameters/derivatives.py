# SPDX-License-Identifier: GPL-3.0-or-later
"""The derivatives of residuals by the parameters of the keys beside each segment, as products for normal equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...keys import HIGHEST, Float64Array
from .hermite import half_vector, hermite, hermite_derivative, transported
from .segments import Segments

_STEP = 1e-6
"""Of the difference quotients: as far from rounding (1e-16 / 1e-6) as from curvature."""
_EASE_TO, _EASE_FROM = 3, 4
_EASES = (_EASE_TO, _EASE_FROM)
"""Ease to shapes the segment that its key ends, ease from the one that it begins."""


class Products(NamedTuple):
    """Products of derivatives by the parameters of the key before each segment, and of the key after it."""

    squares: Float64Array
    """With themselves, shape (2, columns, columns, N)."""
    across: Float64Array
    """Of the one with the other, shape (columns, columns, N)."""
    slopes: Float64Array
    """Of both with the residuals, shape (2, columns, N)."""

    @classmethod
    def empty(cls, columns: int, segments: int) -> Products:
        """Return products that are 0."""
        return cls(
            *(np.zeros((*shape, segments)) for shape in ((2, columns, columns), (columns, columns), (2, columns)))
        )


class _Linearisation:
    """Hermite's curve through the tangents of given parameters, in place of the splines."""

    def __init__(self, segments: Segments, own: Float64Array, steps: Float64Array) -> None:
        self.segments, self.own, self.steps = segments, own, steps
        self.incoming, self.outgoing = segments.tangents(own)
        self.chord, self.leaving, self.arriving = segments.shape(self.incoming, self.outgoing)
        if segments.is_rotation:
            self.arriving = transported(self.arriving, half_vector(-self.chord))
        self.u = segments.local(own)

    def by_tangents(self, columns: Sequence[int]) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
        """Return the derivatives by the parameters that shape tangents, as products of two factors each.

        Returns
        -------
        left, right : ndarray, shape (columns, d, N)
            The weighted derivatives of the tangents by the parameters of the key before, and of the key after.
        by_left, by_right : ndarray, shape (SAMPLES, N)
            The derivatives of the samples by those tangents.
        """
        segments, u = self.segments, self.u
        rest = 1.0 - u
        leave, arrive = u * rest * rest, -u * u * rest
        of_end, of_start = segments.end_shares(self.own)
        by_left, by_right = leave - of_end * arrive, arrive - of_start * leave
        from_left = from_right = None
        if segments.is_rotation:
            # A tangent changes the curve most at a third of the segment.
            third, other = (
                hermite(np.array([place]), self.chord, self.leaving, self.arriving)[:, 0] for place in (1 / 3, 2 / 3)
            )
            from_left, from_right = half_vector(third), half_vector(other - self.chord)
        left, right = np.empty((2, len(columns), *self.chord.shape))
        for slot, column in enumerate(columns):
            into, out = segments.tangents(_with_step(self.own, self.steps, column))
            into = ((into - self.incoming) / self.steps[column]).take(segments.begin + 1, axis=1)
            out = ((out - self.outgoing) / self.steps[column]).take(segments.begin, axis=1)
            # Where an end's tangent is made of its neighbour's, that part is the neighbour's.
            left[slot] = transported((out + of_start * into) * segments.weights, from_left)
            right[slot] = transported((into + of_end * out) * segments.weights, from_right)
        return left, right, by_left, by_right

    def by_eases(self) -> tuple[Float64Array, Float64Array]:
        """Return the derivatives (d, SAMPLES, N) by ease from of the key before, and by ease to of the key after."""
        segments, u = self.segments, self.u
        speed = hermite_derivative(u, self.chord, self.leaving, self.arriving)
        half = half_vector(hermite(u, self.chord, self.leaving, self.arriving)) if segments.is_rotation else None
        speed = transported(speed, half) * segments.weights[:, np.newaxis]
        starting, ending = (
            speed * ((segments.local(_with_step(self.own, self.steps, column)) - u) / self.steps[column].take(keys))
            for column, keys in ((_EASE_FROM, segments.begin), (_EASE_TO, segments.begin + 1))
        )
        return starting, ending


def products(segments: Segments, parameters: Float64Array, residuals: Float64Array, columns: Sequence[int]) -> Products:
    """Return the terms of segments in the normal equations for some columns of the parameters.

    Parameters
    ----------
    segments : Segments
        N segments.
    parameters : ndarray, shape (5, keys)
        The parameters of the problem's keys.
    residuals : ndarray, shape (d, SAMPLES, N)
        The residuals with them.
    columns : sequence of int
        The rows of `parameters` that are fitted: those of tangents first, then both eases or none.
    """
    own = parameters.take(segments.rows, axis=1)
    steps = np.where(own + _STEP > HIGHEST, -_STEP, _STEP)
    if segments.has_whole_turns:
        return _difference_quotients(segments, own, steps, residuals, columns)
    curves = _Linearisation(segments, own, steps)
    shaping = [column for column in columns if column not in _EASES]
    left, right, by_left, by_right = curves.by_tangents(shaping)
    result = Products.empty(len(columns), len(segments.begin))
    few = slice(len(shaping))
    result.squares[0, few, few] = np.einsum("idn,jdn->ijn", left * (by_left * by_left).sum(axis=0), left)
    result.squares[1, few, few] = np.einsum("idn,jdn->ijn", right * (by_right * by_right).sum(axis=0), right)
    result.across[few, few] = np.einsum("idn,jdn->ijn", left * (by_left * by_right).sum(axis=0), right)
    result.slopes[0, few], result.slopes[1, few] = _dots(left, by_left, residuals), _dots(right, by_right, residuals)
    if len(shaping) == len(columns):
        return result
    starting, ending = curves.by_eases()
    to, from_ = columns.index(_EASE_TO), columns.index(_EASE_FROM)
    result.squares[0, from_, from_] = np.einsum("dsn,dsn->n", starting, starting)
    result.squares[1, to, to] = np.einsum("dsn,dsn->n", ending, ending)
    result.squares[0, few, from_] = result.squares[0, from_, few] = _dots(left, by_left, starting)
    result.squares[1, few, to] = result.squares[1, to, few] = _dots(right, by_right, ending)
    result.across[few, to], result.across[from_, few] = _dots(left, by_left, ending), _dots(right, by_right, starting)
    result.across[from_, to] = np.einsum("dsn,dsn->n", starting, ending)
    result.slopes[0, from_] = np.einsum("dsn,dsn->n", starting, residuals)
    result.slopes[1, to] = np.einsum("dsn,dsn->n", ending, residuals)
    return result


def _difference_quotients(
    segments: Segments, own: Float64Array, steps: Float64Array, residuals: Float64Array, columns: Sequence[int]
) -> Products:
    """Return the same from difference quotients of the splines: no simpler curve is near whole turns."""
    base = segments.own_residuals(own)
    jacobian = np.zeros((2, len(columns), *base.shape))
    tracks = segments.tracks
    ordinal = np.arange(own.shape[1]) - np.repeat(tracks.first, tracks.last - tracks.first + 1)
    for parity in (0, 1):
        # Of a segment's two keys one is moved.
        keys = ordinal % 2 == parity
        for slot, column in enumerate(columns):
            change = segments.own_residuals(_with_step(own, steps * keys, column)) - base
            for side, ends in zip(jacobian, (segments.begin, segments.begin + 1), strict=True):
                side[slot] += change * (keys / steps[column]).take(ends)
    return Products(
        np.einsum("aidsn,ajdsn->aijn", jacobian, jacobian),
        np.einsum("idsn,jdsn->ijn", *jacobian),
        np.einsum("aidsn,dsn->ain", jacobian, residuals),
    )


def _with_step(parameters: Float64Array, steps: Float64Array, column: int) -> Float64Array:
    """Return parameters of which one, of all keys, is moved by its step."""
    moved = parameters.copy()
    moved[column] += steps[column]
    return moved


def _dots(changes: Float64Array, shares: Float64Array, samples: Float64Array) -> Float64Array:
    """Return the dot products of derivatives, `changes` (columns, d, N) times `shares` (SAMPLES, N), with samples.

    Of samples (d, SAMPLES, N) they have the shape (columns, N).
    """
    result: Float64Array = np.einsum("idn,dn->in", changes, np.einsum("sn,dsn->dn", shares, samples))
    return result
