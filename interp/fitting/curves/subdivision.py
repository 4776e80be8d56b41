# SPDX-License-Identifier: GPL-3.0-or-later
"""Where to divide a span of a curve, so that cubic pieces with exact ends follow it: many spans at once.

A span is given by a cubic with the values and derivatives at its ends, and by five samples between. The rest, the curve
less the cubic, has double zeros at both ends: it is t² (1-t)² g(t), and the samples give g to the fourth degree. That
polynomial, of the eighth degree in all, replaces the curve while pieces are tried: the curve itself is evaluated only
at the knots that are chosen, and once more to measure the errors. Source: docs/formulas, "Fitting curves".

Arrays have the samples or coefficients first, then the components, then the spans.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...batch import BoolArray, IndexArray
from ...hermite_basis import bernstein_weights, hermite_weights
from ...keys import Float64Array

Measure = Callable[[IndexArray, Float64Array, Float64Array], Float64Array]
"""(span, values (c, n), their errors (c, n)) -> the size of the errors, where 1 is the largest allowed."""

# Chebyshev's extrema of the eighth degree, without the ends and those next to them: dense toward the ends, as g needs.
NODES = 0.5 - 0.5 * np.cos(np.arange(2, 7) * np.pi / 8.0)
# The middles between them, and between them and the ends.
_BETWEEN = np.convolve(np.concatenate(([0.0], NODES, [1.0])), [0.5, 0.5], mode="valid")
# Where t² (1-t)² is largest, and where it is if g is odd about the middle.
_PROBES = (0.5 - np.sqrt(0.05), 0.5, 0.5 + np.sqrt(0.05))


def _double_zeros(t: Float64Array) -> Float64Array:
    """Return t² (1-t)²."""
    return t * t * (1.0 - t) * (1.0 - t)


def _chebyshev(t: Float64Array) -> Float64Array:
    """Return the matrix from g's Chebyshev coefficients to its values at t, shape (m, nodes)."""
    matrix: Float64Array = np.polynomial.chebyshev.chebvander(2.0 * t - 1.0, len(NODES) - 1).astype(np.float64)
    return matrix


def _powers_of_rest() -> Float64Array:
    """Return the matrix from the rest at the nodes to its coefficients by powers of 2t-1, shape (9, nodes)."""
    weight = np.polynomial.polynomial.polyfromroots([-1.0, -1.0, 1.0, 1.0]) / 16.0
    rows = [np.polynomial.polynomial.polymul(weight, np.polynomial.chebyshev.cheb2poly(row)) for row in np.eye(5)]
    padded = np.array([np.pad(row, (0, 9 - len(row))) for row in rows])
    return padded.T @ TO_CHEBYSHEV


def _powers_of_cubic() -> Float64Array:
    """Return the matrix from four Bezier points to the coefficients by powers of 2t-1, shape (9, 4)."""
    rows = np.zeros((9, 4))
    near, far = np.array([0.5, -0.5]), np.array([0.5, 0.5])
    for point, count in enumerate((1, 3, 3, 1)):
        polynomial = np.array([float(count)])
        for factor in [near] * (3 - point) + [far] * point:
            polynomial = np.convolve(polynomial, factor)
        rows[:4, point] = polynomial
    return rows


BERNSTEIN = bernstein_weights(NODES).T
"""The matrix from four Bezier points to the values at the nodes, shape (nodes, 4)."""
DENSE = bernstein_weights(np.arange(1, 64) / 64.0).T
"""The same for parameters so dense that the largest error is among them."""
TO_CHEBYSHEV = np.linalg.inv(_chebyshev(NODES)) / _double_zeros(NODES)
"""The matrix from the rest at the nodes to g's Chebyshev coefficients, shape (nodes, nodes)."""
PARAMETERS = np.sort(np.concatenate(([0.0, 1.0], NODES, _BETWEEN)))
"""The nodes, the middles between them, and the ends."""
TO_BETWEEN = _double_zeros(_BETWEEN)[:, np.newaxis] * (_chebyshev(_BETWEEN) @ TO_CHEBYSHEV)
"""The matrix from the rest at the nodes to the rest between them, shape (6, nodes)."""
_REST, _CUBIC = _powers_of_rest(), _powers_of_cubic()

# A search aims at this part of the allowed error: measured on the curve itself, some errors are a little larger.
_AIM = 0.97
_MOST_TRIALS = 9
# The mass of a span, in whole units.
_UNITS = 2.0**40
# Pieces at most from one span: five samples resolve no more.
_MOST_PIECES = 24


def apply(matrix: Float64Array, samples: Float64Array) -> Float64Array:
    """Return a matrix times samples (m, …), over the first axis.

    It is summed sample by sample, so that the result of one span does not depend, in the last bit, on how many others
    there are.
    """
    columns = matrix.T.reshape(*matrix.T.shape, *[1] * (samples.ndim - 1))
    result: Float64Array = columns[0] * samples[0]
    for column, sample in zip(columns[1:], samples[1:], strict=True):
        result += column * sample
    return result


def polynomials(points: Float64Array, rest: Float64Array) -> Float64Array:
    """Return the coefficients (9, c, n) by powers of 2t-1 from Bezier points (4, c, n) and the rest (nodes, c, n)."""
    return apply(_CUBIC, points) + apply(_REST, rest)


def unresolved(rest: Float64Array) -> BoolArray:
    """Return for which spans (n,) five samples do not resolve the rest: its last coefficients are not small."""
    size = np.abs(apply(TO_CHEBYSHEV, rest)).max(axis=1)
    found: BoolArray = size[3] + size[4] > 0.5 * (size[0] + size[1] + size[2])
    return found


def subdivide(polynomial: Float64Array, measure: Measure) -> tuple[IndexArray, Float64Array]:
    """Find the fewest pieces of every span, at least two, and knots that give all of them the same error.

    Parameters
    ----------
    polynomial : ndarray, shape (9, c, n)
        The spans, as `polynomials` gives them.
    measure : callable
        The size of a piece's errors.

    Returns
    -------
    span : ndarray, shape (m,)
        The span of each knot, ascending.
    parameter : ndarray, shape (m,)
        Where in it, 0 to 1, ascending in a span.

    Notes
    -----
    A piece's error grows with the fourth power of its length: a piece with the error E should be E^(1/4) pieces. As a
    density, that predicts how many pieces there have to be and where. A few rounds settle both; one piece fewer is
    tried where it could do.
    """
    n = polynomial.shape[2]
    if not n:
        return np.empty(0, dtype=np.intp), np.empty(0)
    count = np.full(n, 2)
    failed = np.ones(n, dtype=np.intp)
    balanced = np.zeros(n, dtype=np.intp)
    best = np.full(n, _MOST_PIECES + 1)
    knots: dict[int, tuple[IndexArray, Float64Array]] = {}
    active = np.arange(n)
    owner, edges = np.repeat(active, 3), np.tile([0.0, 0.5, 1.0], n)
    chosen_owner, chosen_parameter = [], []
    for trial in range(_MOST_TRIALS):
        error = _errors(polynomial, measure, owner, edges)
        starts = np.concatenate(([0], np.cumsum(count[active])[:-1]))
        largest = np.maximum.reduceat(error, starts)
        mass, needs = pieces_needed(error, starts)
        good = largest <= _AIM
        last = trial == _MOST_TRIALS - 1
        # The smallest number of pieces that was good is kept; without one, the last that was tried.
        keeps = (good & (count[active] < best[active])) | (last & (best[active] > _MOST_PIECES))
        if keeps.any():
            knots[trial] = _inner(owner, edges, active[keeps])
            best[active[keeps]] = np.where(good[keeps], count[active[keeps]], _MOST_PIECES)
            for earlier in range(trial):
                if earlier in knots:
                    kept = ~np.isin(knots[earlier][0], active[keeps])
                    knots[earlier] = knots[earlier][0][kept], knots[earlier][1][kept]
        if last:
            break
        now = count[active]
        following = _next_trial(now, needs, good, failed[active], balanced[active], best[active] > _MOST_PIECES)
        if following.hopeless.any():
            knots[-1 - trial] = _inner(owner, edges, active[following.hopeless])
        failed[active] = np.where(~good & ~following.again, np.maximum(failed[active], now), failed[active])
        balanced[active] = np.where(following.again, balanced[active] + 1, 0)
        if not following.goes_on.any():
            break
        ends = edges[1:][owner[1:] == owner[:-1]]
        number, parameter = equal_parts(now, ends, mass, following.pieces, following.goes_on)
        count[active] = following.pieces
        active = active[following.goes_on]
        owner, edges = _with_ends(active, number, parameter)
    for part_owner, part_parameter in knots.values():
        chosen_owner.append(part_owner)
        chosen_parameter.append(part_parameter)
    all_owner, all_parameter = np.concatenate(chosen_owner), np.concatenate(chosen_parameter)
    order = np.lexsort((all_parameter, all_owner))
    return all_owner[order], all_parameter[order]


class _Trial(NamedTuple):
    """Spans in the next trial, one row a span."""

    pieces: IndexArray
    """The pieces to be tried."""
    goes_on: BoolArray
    again: BoolArray
    """Which are tried with as many pieces, of other lengths."""
    hopeless: BoolArray
    """Which have found no number of pieces that is good, and can have no more."""


def _next_trial(
    now: IndexArray, needs: Float64Array, good: BoolArray, failed: IndexArray, balanced: IndexArray, is_open: BoolArray
) -> _Trial:
    """Return the pieces to be tried next.

    `failed` is the largest number of pieces that was too small, `balanced` how often other lengths were tried in turn,
    and `is_open` are the spans without a good number.
    """
    fewer = good & (now - 1 > failed) & (needs <= now - 1 + 0.05)
    again = ~good & (needs <= now + 0.02) & (balanced < 3) & is_open
    more = ~good & ~again & is_open & (now < _MOST_PIECES)
    count = np.where(fewer, now - 1, now)
    count = np.where(more, np.minimum(np.maximum(now + 1, np.ceil(needs - 0.02)), _MOST_PIECES), count)
    return _Trial(count.astype(np.intp), fewer | again | more, again, ~good & ~again & ~more & is_open)


def _inner(owner: IndexArray, edges: Float64Array, spans: IndexArray) -> tuple[IndexArray, Float64Array]:
    """Return the owners and the parameters of the inner edges of some spans."""
    inner = np.zeros(len(owner), dtype=np.bool_)
    inner[1:-1] = (owner[1:-1] == owner[:-2]) & (owner[1:-1] == owner[2:])
    inner &= np.isin(owner, spans)
    return owner[inner], edges[inner]


def _errors(polynomial: Float64Array, measure: Measure, owner: IndexArray, edges: Float64Array) -> Float64Array:
    """Return the errors of the pieces between neighboring edges of a span, shape (pieces,)."""
    coefficients = polynomial.take(owner, axis=2)
    at = 2.0 * edges - 1.0
    value, rate = coefficients[-1].copy(), np.zeros_like(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        rate *= at
        rate += value
        value *= at
        value += coefficient
    left = np.flatnonzero(owner[1:] == owner[:-1])
    right = left + 1
    coefficients = coefficients.take(left, axis=2)
    length = at[right] - at[left]
    start, end = value.take(left, axis=1), value.take(right, axis=1)
    leaving, arriving = rate.take(left, axis=1) * length, rate.take(right, axis=1) * length
    span = owner[left]
    largest = np.zeros(len(left))
    for t, weights in zip(_PROBES, zip(*hermite_weights(np.array(_PROBES)), strict=True), strict=True):
        parameter = at[left] + t * length
        exact = coefficients[-1].copy()
        for coefficient in coefficients[-2::-1]:
            exact *= parameter
            exact += coefficient
        by_end, by_leaving, by_arriving = weights
        rest = exact - (1.0 - by_end) * start - by_end * end - by_leaving * leaving - by_arriving * arriving
        largest = np.maximum(largest, measure(span, exact, rest))
    return largest


def _with_ends(spans: IndexArray, number: IndexArray, parameter: Float64Array) -> tuple[IndexArray, Float64Array]:
    """Return the owners and parameters of knots with their spans' starts and ends."""
    every = np.concatenate((np.arange(len(spans)), number, np.arange(len(spans))))
    parameters = np.concatenate((np.zeros(len(spans)), parameter, np.ones(len(spans))))
    order = np.argsort(every, kind="stable")
    return spans[every[order]], parameters[order]


def pieces_needed(share: Float64Array, starts: IndexArray) -> tuple[Float64Array, Float64Array]:
    """Return the mass of pieces, and how many pieces each span needs.

    Parameters
    ----------
    share : ndarray, shape (pieces,)
        The error of each piece as a part of the allowed one.
    starts : ndarray, shape (spans,)
        The first piece of each span.

    Notes
    -----
    The mass is the fourth root of the share; a little is added to it, for pieces that happen to have no error.
    """
    largest = np.maximum.reduceat(share, starts)
    sizes = np.diff(starts, append=len(share))
    mass = np.sqrt(np.sqrt(share + 1e-4 * np.repeat(largest, sizes) + 1e-30))
    return mass, np.add.reduceat(mass, starts) / _AIM**0.25


def equal_parts(
    count: IndexArray, ends: Float64Array, mass: Float64Array, wanted: IndexArray, chosen: BoolArray
) -> tuple[IndexArray, Float64Array]:
    """Return knots between which the mass of the old pieces is the same.

    Parameters
    ----------
    count : ndarray, shape (spans,)
        The old pieces of each span.
    ends, mass : ndarray, shape (pieces,)
        Where each piece ends, 0 to 1 in its span, and its mass.
    wanted : ndarray, shape (spans,)
        The new pieces of each span.
    chosen : ndarray of bool, shape (spans,)
        The spans to divide.

    Returns
    -------
    number, parameter : ndarray, shape (knots,)
        Which of the chosen spans, ascending, and where in it.
    """
    first = np.cumsum(count) - count
    # Sums of whole numbers are exact, so that they do not depend on the spans before.
    share = mass / np.repeat(np.add.reduceat(mass, first), count)
    units = np.rint(share * _UNITS).astype(np.int64)
    axis = np.concatenate(([0], np.cumsum(units)))
    spans = np.flatnonzero(chosen)
    sizes = wanted[spans] - 1
    number = np.repeat(np.arange(len(spans)), sizes)
    step = np.arange(len(number)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    span = spans[number]
    begin = axis[first[span]]
    target = begin + (axis[first[span] + count[span]] - begin) * step // wanted[span]
    piece = np.searchsorted(axis, target, side="right") - 1
    starts = np.concatenate(([0.0], ends[:-1]))
    starts[first] = 0.0
    inside = (target - axis[piece]) / units[piece]
    return number, starts[piece] + inside * (ends[piece] - starts[piece])
