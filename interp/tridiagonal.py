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
    own: Float64Array,
    after: Float64Array,
    right: Float64Array,
    previous: IndexArray,
    following: IndexArray,
) -> Float64Array:
    """Return x, shape (b, c, K), with ``before x[previous] + own x + after x[following] = right``.

    `before`, `own` and `after` have the shape (b, b, K): a number (b = 1) or a 3 x 3 matrix for each key. The norms of
    `before` and `after` must add up to at most half the norm of `own` in every row, unless one of them is 0. `before`
    is 0 at a key without a previous key, and `after` is 0 at a key without a next key. `right` has the shape (b, c, K).
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
