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

from .key_batch import IndexArray
from .keys import Float64Array
from .rotations.exponential import cross

# The off-diagonal part of a row is at most 1/2 after the first step, and each step squares it: 2^-64 after seven.
_STEPS = 7


def solve(
    before: Float64Array,
    diagonal: Float64Array,
    after: Float64Array,
    right_side: Float64Array,
    previous: IndexArray,
    following: IndexArray,
) -> Float64Array:
    """Return x, shape (b, c, K), with ``before x[previous] + diagonal x + after x[following] = right_side``.

    `before`, `diagonal` and `after` have the shape (b, b, K): a number (b = 1) or a 3 x 3 matrix for each key. The
    norms of `before` and `after` must add up to at most half the norm of `diagonal` in every row, unless one of them is
    0. `before` is 0 at a key without a previous key, and `after` is 0 at a key without a next key. `right_side` has the
    shape (b, c, K).
    """
    for _ in range(_STEPS):
        inverse = _inverse(diagonal)
        factor_before = times(before, inverse[:, :, previous])
        factor_after = times(after, inverse[:, :, following])
        right_side = (
            right_side
            - times(factor_before, right_side[:, :, previous])
            - times(factor_after, right_side[:, :, following])
        )
        diagonal = diagonal - times(factor_before, after[:, :, previous]) - times(factor_after, before[:, :, following])
        before = -times(factor_before, before[:, :, previous])
        after = -times(factor_after, after[:, :, following])
        previous, following = previous[previous], following[following]
    return times(_inverse(diagonal), right_side)


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
    adjugate = np.stack([cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1])], axis=1)
    determinant = a[0, 0] * adjugate[0, 0] + a[0, 1] * adjugate[1, 0] + a[0, 2] * adjugate[2, 0]
    inverse: Float64Array = adjugate / determinant
    return inverse
