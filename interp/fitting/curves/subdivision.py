# SPDX-License-Identifier: GPL-3.0-or-later
"""Divide spans of curves, many at once, so that cubic pieces with exact ends follow the curves.

A span is given by a cubic with the values and derivatives at its ends, and by five samples between them. The remainder,
the curve minus the cubic, has double zeros at both ends. It has the form t² (1-t)² g(t), and the samples determine g to
the fourth degree. The resulting polynomial of degree eight replaces the curve while pieces are tried. The curve itself
is evaluated only at the chosen knots, and once more to measure the errors. Source: docs/formulas, "Fitting curves".

The axes of arrays are the samples or coefficients, the components and the spans.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...cubics import bernstein_weights, hermite_weights
from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array

Measure = Callable[[IndexArray, Float64Array, Float64Array], Float64Array]
"""Function from spans (n,), values (c, n) and their errors (c, n) to sizes (n,), relative to the allowed error."""

NODES = 0.5 - 0.5 * np.cos(np.arange(2, 7) * np.pi / 8.0)
"""Chebyshev extrema of degree eight, without the ends and their neighbors. g requires dense nodes near the ends."""
_BETWEEN = np.convolve(np.concatenate(([0.0], NODES, [1.0])), [0.5, 0.5], mode="valid")
"""The midpoints between the nodes, and between the nodes and the ends."""
_PROBES = (0.5 - np.sqrt(0.05), 0.5, 0.5 + np.sqrt(0.05))
"""Parameters at which the remainder is largest for a constant g, and for a g that is linear about the middle."""
_POWERS = 9
"""Number of coefficients of a polynomial of degree eight."""


def _double_zeros(t: Float64Array) -> Float64Array:
    """Return t² (1-t)²."""
    return t * t * (1.0 - t) * (1.0 - t)


def _chebyshev(t: Float64Array) -> Float64Array:
    """Return the matrix from g's Chebyshev coefficients to its values at t, shape (m, nodes)."""
    matrix: Float64Array = np.polynomial.chebyshev.chebvander(2.0 * t - 1.0, len(NODES) - 1).astype(np.float64)
    return matrix


def _powers_of_rest() -> Float64Array:
    """Return the matrix from the remainder at the nodes to its coefficients in powers of 2t-1, shape (9, nodes)."""
    double_zeros = np.polynomial.polynomial.polyfromroots([-1.0, -1.0, 1.0, 1.0]) / 16.0
    rows = [
        np.polynomial.polynomial.polymul(double_zeros, np.polynomial.chebyshev.cheb2poly(row))
        for row in np.eye(len(NODES))
    ]
    padded = np.array([np.pad(row, (0, _POWERS - len(row))) for row in rows])
    return padded.T @ TO_CHEBYSHEV


def _powers_of_cubic() -> Float64Array:
    """Return the matrix from four Bezier points to the coefficients in powers of 2t-1, shape (9, 4)."""
    rows = np.zeros((_POWERS, 4))
    # 1 - t and t as polynomials in 2t-1.
    to_start, to_end = np.array([0.5, -0.5]), np.array([0.5, 0.5])
    for point, binomial in enumerate((1, 3, 3, 1)):
        polynomial = np.array([float(binomial)])
        for factor in [to_start] * (3 - point) + [to_end] * point:
            polynomial = np.convolve(polynomial, factor)
        rows[:4, point] = polynomial
    return rows


BERNSTEIN = bernstein_weights(NODES).T
"""Matrix from four Bezier points to the values at the nodes, shape (nodes, 4)."""
DENSE = bernstein_weights(np.arange(1, 64) / 64.0).T
"""Matrix from four Bezier points to values at parameters dense enough for the largest error, shape (63, 4)."""
TO_CHEBYSHEV = np.linalg.inv(_chebyshev(NODES)) / _double_zeros(NODES)
"""Matrix from the remainder at the nodes to the Chebyshev coefficients of g, shape (nodes, nodes)."""
PARAMETERS = np.sort(np.concatenate(([0.0, 1.0], NODES, _BETWEEN)))
"""The nodes, the midpoints between them, and the ends."""
TO_BETWEEN = _double_zeros(_BETWEEN)[:, np.newaxis] * (_chebyshev(_BETWEEN) @ TO_CHEBYSHEV)
"""Matrix from the remainder at the nodes to the remainder between them, shape (6, nodes)."""
_REST, _CUBIC = _powers_of_rest(), _powers_of_cubic()

_AIM = 0.97
"""The fraction of the allowed error that a search aims for. Some errors measured on the curve are slightly larger."""
_MAX_TRIALS = 9
"""The maximum number of trials per span."""
_MAX_REBALANCED = 3
"""The maximum number of successive trials with the same number of pieces."""
_MAX_PIECES = 24
"""The maximum number of pieces of a span. Five samples cannot resolve more pieces."""
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


def polynomials(points: Float64Array, rest: Float64Array) -> Float64Array:
    """Return the coefficients (9, c, n) in powers of 2t-1 from Bezier points (4, c, n) and remainders (nodes, c, n)."""
    return apply(_CUBIC, points) + apply(_REST, rest)


class _Knots(NamedTuple):
    """Edges or knots of spans, in ascending order in each span."""

    span: IndexArray
    parameter: Float64Array
    """The parameters, from 0 to 1 in the span."""


def subdivide(polynomial: Float64Array, measure: Measure) -> tuple[IndexArray, Float64Array]:
    """Find the fewest pieces for every span, at least two, and the knots that give them equal errors.

    Parameters
    ----------
    polynomial : ndarray, shape (9, c, n)
        The spans, as `polynomials` returns them.
    measure : callable
        A function that returns the size of errors.

    Returns
    -------
    span : ndarray, shape (m,)
        The span of each knot, in ascending order.
    parameter : ndarray, shape (m,)
        The parameters of the knots, from 0 to 1, in ascending order in each span.

    Notes
    -----
    The error of a piece grows with the fourth power of its length, so a piece with the error E should become E^(1/4)
    pieces. As a density, E^(1/4) predicts the number of pieces and their lengths. A few trials determine both.
    One fewer piece is tried if that may suffice.
    """
    n = polynomial.shape[2]
    if not n:
        return np.empty(0, dtype=np.intp), np.empty(0)
    count = np.full(n, 2)
    failed = np.ones(n, dtype=np.intp)
    rebalanced = np.zeros(n, dtype=np.intp)
    best = np.full(n, _MAX_PIECES + 1)
    knots = _Knots(np.empty(0, dtype=np.intp), np.empty(0))
    active = np.arange(n)
    edges = _Knots(np.repeat(active, 3), np.tile([0.0, 0.5, 1.0], n))
    for trial in range(_MAX_TRIALS):
        is_last = trial == _MAX_TRIALS - 1
        pieces = count[active]
        error = _errors(polynomial, measure, edges)
        starts = np.concatenate(([0], np.cumsum(pieces)[:-1]))
        mass, needs = pieces_needed(error, starts)
        is_good = np.maximum.reduceat(error, starts) <= _AIM
        # Keep the smallest number of pieces that met the goal, or the last number tried.
        keeps = (is_good & (pieces < best[active])) | (is_last & (best[active] > _MAX_PIECES))
        if keeps.any():
            knots = _with_inner(knots, edges, active[keeps])
            best[active[keeps]] = np.where(is_good[keeps], pieces[keeps], _MAX_PIECES)
        if is_last:
            break
        is_open = best[active] > _MAX_PIECES
        following = _next_trial(pieces, needs, is_good, failed[active], rebalanced[active], is_open)
        if following.is_hopeless.any():
            knots = _with_inner(knots, edges, active[following.is_hopeless])
        has_failed = ~is_good & ~following.rebalances
        failed[active] = np.where(has_failed, np.maximum(failed[active], pieces), failed[active])
        rebalanced[active] = np.where(following.rebalances, rebalanced[active] + 1, 0)
        if not following.goes_on.any():
            break
        ends = edges.parameter[1:][edges.span[1:] == edges.span[:-1]]
        number, parameter = equal_parts(pieces, ends, mass, following.pieces, following.goes_on)
        count[active] = following.pieces
        active = active[following.goes_on]
        edges = _with_ends(active, number, parameter)
    order = np.lexsort((knots.parameter, knots.span))
    return knots.span[order], knots.parameter[order]


class _Trial(NamedTuple):
    """The next trial of each active span."""

    pieces: IndexArray
    """Number of pieces to try."""
    goes_on: BoolArray
    rebalances: BoolArray
    """True if the same number of pieces is tried with other lengths."""
    is_hopeless: BoolArray
    """True if no number of pieces met the goal, and no more pieces are possible."""


def _next_trial(
    pieces: IndexArray,
    needs: Float64Array,
    is_good: BoolArray,
    failed: IndexArray,
    rebalanced: IndexArray,
    is_open: BoolArray,
) -> _Trial:
    """Return the next trial.

    `failed` is the largest number of pieces that proved too small, and `rebalanced` the number of successive trials
    with the same number of pieces. `is_open` is a mask of spans for which no number of pieces has met the goal.
    """
    fewer = is_good & (pieces - 1 > failed) & (needs <= pieces - 1 + 0.05)
    rebalances = ~is_good & (needs <= pieces + 0.02) & (rebalanced < _MAX_REBALANCED) & is_open
    more = ~is_good & ~rebalances & is_open & (pieces < _MAX_PIECES)
    count = np.where(fewer, pieces - 1, pieces)
    count = np.where(more, np.minimum(np.maximum(pieces + 1, np.ceil(needs - 0.02)), _MAX_PIECES), count)
    is_hopeless = ~is_good & ~rebalances & ~more & is_open
    return _Trial(count.astype(np.intp), fewer | rebalances | more, rebalances, is_hopeless)


def _with_inner(knots: _Knots, edges: _Knots, spans: IndexArray) -> _Knots:
    """Return knots, replacing the knots of some spans with the inner edges of these spans."""
    span = edges.span
    is_new = np.zeros(len(span), dtype=np.bool_)
    is_new[1:-1] = (span[1:-1] == span[:-2]) & (span[1:-1] == span[2:])
    is_new &= np.isin(span, spans)
    is_other = ~np.isin(knots.span, spans)
    parameter = np.concatenate((knots.parameter[is_other], edges.parameter[is_new]))
    return _Knots(np.concatenate((knots.span[is_other], span[is_new])), parameter)


def _errors(polynomial: Float64Array, measure: Measure, edges: _Knots) -> Float64Array:
    """Return the errors of the pieces between neighboring edges of a span, shape (pieces,)."""
    coefficients = polynomial.take(edges.span, axis=2)
    at = 2.0 * edges.parameter - 1.0
    # Horner's scheme for values and derivatives.
    value, rate = coefficients[-1].copy(), np.zeros_like(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        rate *= at
        rate += value
        value *= at
        value += coefficient
    left = np.flatnonzero(edges.span[1:] == edges.span[:-1])
    right = left + 1
    coefficients = coefficients.take(left, axis=2)
    length = at[right] - at[left]
    start, end = value.take(left, axis=1), value.take(right, axis=1)
    leaving, arriving = rate.take(left, axis=1) * length, rate.take(right, axis=1) * length
    span = edges.span[left]
    largest = np.zeros(len(left))
    for t, weights in zip(_PROBES, zip(*hermite_weights(np.array(_PROBES)), strict=True), strict=True):
        parameter = at[left] + t * length
        exact = coefficients[-1].copy()
        for coefficient in coefficients[-2::-1]:
            exact *= parameter
            exact += coefficient
        by_end, by_leaving, by_arriving = weights
        error = exact - (1.0 - by_end) * start - by_end * end - by_leaving * leaving - by_arriving * arriving
        largest = np.maximum(largest, measure(span, exact, error))
    return largest


def _with_ends(spans: IndexArray, number: IndexArray, parameter: Float64Array) -> _Knots:
    """Return the starts, knots and ends of spans. `number` is the index of each knot's span in `spans`."""
    all_spans = np.arange(len(spans))
    numbers = np.concatenate((all_spans, number, all_spans))
    parameters = np.concatenate((np.zeros(len(spans)), parameter, np.ones(len(spans))))
    order = np.argsort(numbers, kind="stable")
    return _Knots(spans[numbers[order]], parameters[order])


def pieces_needed(ratio: Float64Array, starts: IndexArray) -> tuple[Float64Array, Float64Array]:
    """Return the mass of each piece, and the number of pieces that each span needs.

    Parameters
    ----------
    ratio : ndarray, shape (pieces,)
        The error of each piece relative to the allowed error.
    starts : ndarray, shape (spans,)
        The first piece of each span.

    Notes
    -----
    The mass is the fourth root of `ratio`. A small constant is added for pieces that happen to have no error.
    """
    largest = np.maximum.reduceat(ratio, starts)
    sizes = np.diff(starts, append=len(ratio))
    mass = np.sqrt(np.sqrt(ratio + 1e-4 * np.repeat(largest, sizes) + 1e-30))
    return mass, np.add.reduceat(mass, starts) / _AIM**0.25


def equal_parts(
    count: IndexArray, ends: Float64Array, mass: Float64Array, new_count: IndexArray, is_divided: BoolArray
) -> tuple[IndexArray, Float64Array]:
    """Return knots that divide the mass of the old pieces equally.

    Parameters
    ----------
    count : ndarray, shape (spans,)
        The old number of pieces of each span.
    ends, mass : ndarray, shape (pieces,)
        The end of each old piece, from 0 to 1 in its span, and the mass of the piece.
    new_count : ndarray, shape (spans,)
        The new number of pieces of each span.
    is_divided : ndarray of bool, shape (spans,)
        The spans to divide.

    Returns
    -------
    number, parameter : ndarray, shape (knots,)
        The index of each knot's span among the divided spans, in ascending order, and the knot's parameter.
    """
    first = np.cumsum(count) - count
    # Sums of integers are exact, so they do not depend on the previous spans.
    fraction = mass / np.repeat(np.add.reduceat(mass, first), count)
    units = np.rint(fraction * _UNITS).astype(np.int64)
    before = np.concatenate(([0], np.cumsum(units)))
    spans = np.flatnonzero(is_divided)
    knots_per_span = new_count[spans] - 1
    number = np.repeat(np.arange(len(spans)), knots_per_span)
    # The knots of each span are numbered from 1.
    step = np.arange(len(number)) - np.repeat(np.cumsum(knots_per_span) - knots_per_span, knots_per_span) + 1
    span = spans[number]
    low, high = before[first[span]], before[first[span] + count[span]]
    target = low + (high - low) * step // new_count[span]
    piece = np.searchsorted(before, target, side="right") - 1
    starts = np.concatenate(([0.0], ends[:-1]))
    starts[first] = 0.0
    inside = (target - before[piece]) / units[piece]
    return number, starts[piece] + inside * (ends[piece] - starts[piece])
