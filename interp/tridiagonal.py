# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve block tridiagonal systems with one row per key, for all tracks at once.

Elimination from key to key would take one Python step per key. In parallel cyclic reduction, every row eliminates its
neighbors in each step, which doubles the distance to the remaining neighbors. The rows of cubic splines are diagonally
dominant, so the off-diagonal blocks are squared in each step. A few steps suffice for any number of keys, and loops
need no special treatment. A result does not depend on which tracks are solved together. Source: docs/formulas,
"Tridiagonal systems".
"""

from __future__ import annotations

import numpy as np

from .batch import BoolArray, IndexArray
from .keys import Float64Array
from .rotations.exponential import cross

# The off-diagonal part of a row is at most 1/2 after the first step, and each step squares it: 2^-64 after seven.
_STEPS = 7


def solve(
    before: Float64Array,
    own: Float64Array,
    after: Float64Array,
    right: Float64Array,
    previous: IndexArray,
    following: IndexArray,
) -> Float64Array:
    """Return x, shape (b, c, K), with ``before x[previous] + own x + after x[following] = right``.

    The first three have the shape (b, b, K): a number (b = 1) or a 3 x 3 matrix for each key. The norms of `before` and
    `after` must add up to at most half the norm of `own` in every row, unless one of them is 0. `before` is 0 at a key
    without a previous key, and `after` is 0 at a key without a next key. `right` has the shape (b, c, K).
    """
    for _ in range(_STEPS):
        inverse = _inverse(own)
        left = times(before, inverse[:, :, previous])
        far = times(after, inverse[:, :, following])
        right = right - times(left, right[:, :, previous]) - times(far, right[:, :, following])
        own = own - times(left, after[:, :, previous]) - times(far, before[:, :, following])
        before, after = -times(left, before[:, :, previous]), -times(far, after[:, :, following])
        previous, following = previous[previous], following[following]
    return times(_inverse(own), right)


def solve_symmetric(own: Float64Array, across: Float64Array, right: Float64Array, is_first: BoolArray) -> Float64Array:
    """Return the solution (b, c, K) of symmetric positive definite block tridiagonal systems, by cyclic reduction.

    Every second key of each track is eliminated until one is left. The number of steps grows with the logarithm of the
    length of the longest track. A result does not depend on which tracks are solved together. `own` (b, b, K) contains
    the diagonal blocks, and `across` (b, b, K) the blocks from each key's rows to the columns of the following key. At
    the last key of a track, `across` is ignored.
    """
    count = own.shape[2]
    starts = np.flatnonzero(is_first)
    place = np.arange(count) - np.repeat(starts, np.diff(starts, append=count))
    is_last = np.append(is_first[1:], True)
    return _reduced(own, np.where(is_last, 0.0, across), right, place)


def _reduced(own: Float64Array, across: Float64Array, right: Float64Array, place: IndexArray) -> Float64Array:
    """Return the solution of `solve_symmetric` for keys with these places in their tracks."""
    odd = np.flatnonzero(place & 1)
    if not len(odd):
        return solve_definite(own, right)
    b = len(own)
    even = np.flatnonzero(~place & 1)
    # Every odd key has a previous key. After the last key of a track there is no key, and `across` is 0.
    behind = np.minimum(odd + 1, len(place) - 1)
    to_odd, from_odd = across[:, :, odd - 1], across[:, :, odd]
    columns = [to_odd.transpose(1, 0, 2), from_odd, right[:, :, odd]]
    eliminated = solve_definite(own[:, :, odd], np.concatenate(columns, axis=1))
    by_before, by_behind, constant = np.split(eliminated, [b, 2 * b], axis=1)
    own, right, across = own.copy(), right.copy(), across.copy()
    own[:, :, odd - 1] -= times(to_odd, by_before)
    right[:, :, odd - 1] -= times(to_odd, constant)
    own[:, :, behind] -= times(from_odd.transpose(1, 0, 2), by_behind)
    right[:, :, behind] -= times(from_odd.transpose(1, 0, 2), constant)
    across[:, :, odd - 1] = -times(to_odd, by_behind)
    result = np.zeros_like(right)
    result[:, :, even] = _reduced(own[:, :, even], across[:, :, even], right[:, :, even], place[even] >> 1)
    known = times(by_before, result[:, :, odd - 1]) + times(by_behind, result[:, :, behind])
    result[:, :, odd] = constant - known
    return result


def solve_definite(own: Float64Array, right: Float64Array) -> Float64Array:
    """Return the solutions (b, c, K) of symmetric positive definite systems (b, b, K): L D L' without pivoting."""
    factors, solution = own.copy(), right.copy()
    b = len(own)
    for column in range(b):
        row = factors[column, column + 1 :].copy()
        factors[column + 1 :, column] /= factors[column, column]
        for other in range(column + 1, b):
            factors[other, column + 1 :] -= factors[other, column] * row
            solution[other] -= factors[other, column] * solution[column]
    for column in range(b - 1, -1, -1):
        solution[column] /= factors[column, column]
        for other in range(column + 1, b):
            solution[column] -= factors[other, column] * solution[other]
    return solution


def times(a: Float64Array, b: Float64Array) -> Float64Array:
    """Return matrix products of (i, j, K) and (j, k, K). The order of summation does not depend on K."""
    total: Float64Array = a[:, 0, np.newaxis] * b[0]
    for index in range(1, len(b)):
        total += a[:, index, np.newaxis] * b[index]
    return total


def _inverse(a: Float64Array) -> Float64Array:
    """Return the inverses of numbers or 3 x 3 matrices."""
    if len(a) == 1:
        return 1.0 / a
    rows = np.stack([cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1])], axis=1)
    determinant = a[0, 0] * rows[0, 0] + a[0, 1] * rows[1, 0] + a[0, 2] * rows[2, 0]
    inverse: Float64Array = rows / determinant
    return inverse
