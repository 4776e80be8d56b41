# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve tridiagonal systems of numbers or 3 x 3 matrices for many tracks at once, including loops.

Elimination from key to key would take one Python step per key. In parallel cyclic reduction, every row eliminates its
neighbors in each step, which doubles the distance to the remaining neighbors. The rows of cubic splines are diagonally
dominant, so the off-diagonal blocks are squared in each step. A few steps suffice for any number of keys, and loops
need no special treatment. A result does not depend on which tracks are solved together. Source: docs/formulas,
"Tridiagonal systems".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .key_batch import BoolArray, KeyBatch
from .keys import Float64Array, KeysError
from .messages import Text
from .rotations.exponential import cross

# The off-diagonal part of a row is at most 1/2 after the first step, and each step squares it: 2^-64 after seven.
_STEPS = 7


def factorized(
    tracks: KeyBatch, before: Float64Array, diagonal: Float64Array, after: Float64Array
) -> Callable[[Float64Array], Float64Array]:
    """Return a function that solves ``before x[previous] + diagonal x + after x[following] = right_side`` for x.

    `before`, `diagonal` and `after` have the shape (b, b, K): a number (b = 1) or a 3 x 3 matrix for each key. The
    norms of `before` and `after` must add up to at most half the norm of `diagonal` in every row, unless one of them is
    0. `before` is 0 at a key without a previous key, and `after` is 0 at a key without a next key. The right side and x
    have the shape (b, ..., K).
    """
    previous, following = tracks.previous, tracks.following
    steps = []
    for _ in range(_STEPS):
        inverse = _inverse(diagonal)
        factor_before = times(before, inverse.take(previous, axis=-1))
        factor_after = times(after, inverse.take(following, axis=-1))
        steps.append((factor_before, previous, factor_after, following))
        diagonal = diagonal - times(factor_before, after.take(previous, axis=-1))
        diagonal -= times(factor_after, before.take(following, axis=-1))
        before = -times(factor_before, before.take(previous, axis=-1))
        after = -times(factor_after, after.take(following, axis=-1))
        previous, following = previous[previous], following[following]
    last_inverse = _inverse(diagonal)

    def solve(right_side: Float64Array) -> Float64Array:
        for factor_before, previous, factor_after, following in steps:
            from_before = times(factor_before, right_side.take(previous, axis=-1))
            right_side = right_side - from_before - times(factor_after, right_side.take(following, axis=-1))
        return times(last_inverse, right_side)

    return solve


def times(a: Float64Array, b: Float64Array) -> Float64Array:
    """Return products of (i, j, K) and (j, ..., K). The order of summation does not depend on K."""
    product: Float64Array = np.einsum("ijk,j...k->i...k", a, b)
    return product


def matrices(linear: Callable[[Float64Array, Float64Array], Float64Array], turn: Float64Array) -> Float64Array:
    """Return the matrices (3, 3, K) of a function that is linear in its second argument."""
    return linear(turn[:, np.newaxis], np.eye(3)[:, :, np.newaxis])


def largest_in_tracks(vectors: Float64Array, tracks: KeyBatch) -> Float64Array:
    """Return the largest magnitude of a component (c, K) in each track."""
    largest: Float64Array = np.maximum.reduceat(np.abs(vectors).max(axis=0), tracks.first)
    return largest


def unsolved_error(fault: Text, tracks: KeyBatch, is_unsolved: BoolArray, step: Float64Array) -> KeysError:
    """Return the error for the key of the first unsolved track with the largest last step (c, K)."""
    track = int(np.argmax(is_unsolved))
    keys = slice(tracks.first[track], tracks.last[track] + 1)
    key = int(np.argmax(np.abs(step[:, keys]).max(axis=0)))
    return KeysError(fault, key, float(tracks.frames[keys][key]))


def _inverse(a: Float64Array) -> Float64Array:
    """Return the inverses of numbers or 3 x 3 matrices, shape (b, b, K)."""
    if len(a) == 1:
        return 1.0 / a
    rows = a.swapaxes(0, 1)
    adjugate = cross(rows[:, [1, 2, 0]], rows[:, [2, 0, 1]])
    inverse: Float64Array = adjugate / np.einsum("jk,jk->k", a[0], adjugate[:, 0])
    return inverse
