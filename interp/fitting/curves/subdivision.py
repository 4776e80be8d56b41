# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the remainders of cubics from a few samples, and the knots that divide spans into pieces of equal errors.

A span is given by a cubic with the values and derivatives at its ends, and by five samples between them. The remainder,
the curve minus the cubic, has double zeros at both ends. It is t² (1-t)² g(t), and the samples determine g to the
fourth degree. Source: docs/formulas, "Fitting curves".

The axes of arrays are the samples, the components and the spans.
"""

from __future__ import annotations

import numpy as np

from ...batch import BoolArray, IndexArray
from ...hermite_basis import bernstein_weights
from ...keys import Float64Array

NODES = 0.5 - 0.5 * np.cos(np.arange(2, 7) * np.pi / 8.0)
"""Chebyshev extrema of degree eight, without the ends and their neighbors. g requires dense nodes near the ends."""
_BETWEEN = np.convolve(np.concatenate(([0.0], NODES, [1.0])), [0.5, 0.5], mode="valid")
"""The midpoints between the nodes, and between the nodes and the ends."""


def _double_zeros(t: Float64Array) -> Float64Array:
    """Return t² (1-t)²."""
    return t * t * (1.0 - t) * (1.0 - t)


def _chebyshev(t: Float64Array) -> Float64Array:
    """Return the matrix from g's Chebyshev coefficients to its values at t, shape (m, nodes)."""
    matrix: Float64Array = np.polynomial.chebyshev.chebvander(2.0 * t - 1.0, len(NODES) - 1).astype(np.float64)
    return matrix


def _fourth_derivatives() -> Float64Array:
    double_zeros = np.polynomial.Polynomial.fromroots([0.0, 0.0, 1.0, 1.0])
    bases = [
        np.polynomial.Chebyshev(row, domain=[0.0, 1.0]).convert(kind=np.polynomial.Polynomial)
        for row in np.eye(len(NODES))
    ]
    columns = [(double_zeros * basis).deriv(4)(_MIDDLES) for basis in bases]
    derivatives: Float64Array = np.stack(columns, axis=1) @ TO_CHEBYSHEV
    return derivatives


BERNSTEIN = bernstein_weights(NODES).T
"""Matrix from four Bezier points to the values at the nodes, shape (nodes, 4)."""
DENSE = bernstein_weights(np.arange(1, 64) / 64.0).T
"""The same matrix for parameters dense enough to include the largest error, shape (63, 4)."""
TO_CHEBYSHEV = np.linalg.inv(_chebyshev(NODES)) / _double_zeros(NODES)
"""Matrix from the remainder at the nodes to the Chebyshev coefficients of g, shape (nodes, nodes)."""
PARAMETERS = np.sort(np.concatenate(([0.0, 1.0], NODES, _BETWEEN)))
"""The nodes, the midpoints between them, and the ends."""
TO_BETWEEN = _double_zeros(_BETWEEN)[:, np.newaxis] * (_chebyshev(_BETWEEN) @ TO_CHEBYSHEV)
"""Matrix from the remainder at the nodes to the remainder between them, shape (6, nodes)."""
PARTS = 16
"""The number of equal parts of a span in which its fourth derivative is evaluated."""
_MIDDLES = (np.arange(PARTS) + 0.5) / PARTS
AT_MIDDLES = bernstein_weights(_MIDDLES).T
"""Matrix from four Bezier points to the values in the middle of the parts, shape (PARTS, 4)."""
FOURTH = _fourth_derivatives()
"""Matrix from the remainder at the nodes to its fourth derivative in the middle of the parts, shape (PARTS, nodes)."""

_AIM = 0.97
"""The fraction of the allowed error that a search aims for. Some errors measured on the curve are slightly larger."""
_UNITS = 2.0**40
"""Mass of a span in integer units."""


def apply(matrix: Float64Array, samples: Float64Array) -> Float64Array:
    """Return a matrix times samples (m, …), over the first axis.

    The sum runs sample by sample. The last bit of a span's result then does not depend on the number of spans.
    """
    columns = matrix.T.reshape(*matrix.T.shape, *[1] * (samples.ndim - 1))
    result: Float64Array = columns[0] * samples[0]
    for column, sample in zip(columns[1:], samples[1:], strict=True):
        result += column * sample
    return result


def pieces_needed(share: Float64Array, starts: IndexArray) -> tuple[Float64Array, Float64Array]:
    """Return the mass of each piece, and the number of pieces that each span needs.

    Parameters
    ----------
    share : ndarray, shape (pieces,)
        The error of each piece relative to the allowed error.
    starts : ndarray, shape (spans,)
        The first piece of each span.

    Notes
    -----
    The mass is the fourth root of the share. A small constant is added for pieces that happen to have no error.
    """
    largest = np.maximum.reduceat(share, starts)
    sizes = np.diff(starts, append=len(share))
    mass = np.sqrt(np.sqrt(share + 1e-4 * np.repeat(largest, sizes) + 1e-30))
    return mass, np.add.reduceat(mass, starts) / _AIM**0.25


def equal_parts(
    count: IndexArray, ends: Float64Array, mass: Float64Array, wanted: IndexArray, chosen: BoolArray
) -> tuple[IndexArray, Float64Array]:
    """Return knots that divide the mass of the old pieces equally.

    Parameters
    ----------
    count : ndarray, shape (spans,)
        The old number of pieces of each span.
    ends, mass : ndarray, shape (pieces,)
        The end of each old piece, from 0 to 1 in its span, and the mass of the piece.
    wanted : ndarray, shape (spans,)
        The new number of pieces of each span.
    chosen : ndarray of bool, shape (spans,)
        The spans to divide.

    Returns
    -------
    number, parameter : ndarray, shape (knots,)
        The index of each knot's span among the chosen spans, in ascending order, and the knot's parameter.
    """
    first = np.cumsum(count) - count
    # Sums of integers are exact, so they do not depend on the previous spans.
    share = mass / np.repeat(np.add.reduceat(mass, first), count)
    units = np.rint(share * _UNITS).astype(np.int64)
    before = np.concatenate(([0], np.cumsum(units)))
    spans = np.flatnonzero(chosen)
    knots_per_span = wanted[spans] - 1
    number = np.repeat(np.arange(len(spans)), knots_per_span)
    # The knots of each span are numbered from 1.
    step = np.arange(len(number)) - np.repeat(np.cumsum(knots_per_span) - knots_per_span, knots_per_span) + 1
    span = spans[number]
    low, high = before[first[span]], before[first[span] + count[span]]
    target = low + (high - low) * step // wanted[span]
    piece = np.searchsorted(before, target, side="right") - 1
    starts = np.concatenate(([0.0], ends[:-1]))
    starts[first] = 0.0
    inside = (target - before[piece]) / units[piece]
    return number, starts[piece] + inside * (ends[piece] - starts[piece])
