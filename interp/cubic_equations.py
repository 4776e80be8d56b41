# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve for the slopes and the angular velocities at keys that make cubic splines C2.

The equations of all tracks, including loops, are solved together. Elimination from key to key would take one Python
step per key. In parallel cyclic reduction, every row eliminates its neighbors in each step, which doubles the distance
to the remaining neighbors. The rows of cubic splines are diagonally dominant, so the off-diagonal blocks are squared in
each step, and a few steps suffice for any number of keys. A result does not depend on which tracks are solved together.
Source: docs/formulas, "Tridiagonal systems", "C2 cubics" and "C2 rotations".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .keys import BoolArray, Float64Array, KeyBatch, KeysError
from .messages import Text, n_
from .rotations.curves import Turns
from .rotations.sphere import bend, cross, rate_of_velocity, velocity_of_exp

# The off-diagonal part of a row is at most 1/2 after the first step, and each step squares it: 2^-64 after seven.
_STEPS = 7
# Turns of 179 degrees about changing axes have taken up to 44 steps.
_MAX_ITERATIONS = 50
# The derivative is computed again after a step that is larger than this fraction of the previous step. With 0.1, some
# turns of more than 150 degrees have no solution.
_ENOUGH_PROGRESS = 0.01
# A step is the last if its square, relative to the previous step and the largest velocity, is this small. The next step
# would be smaller by the same factor, and therefore below rounding.
_SETTLED = 1e-16


def c2_slopes(tracks: KeyBatch, values: Float64Array, end_slopes: Float64Array | None = None) -> Float64Array:
    """Return the slopes per frame that make cubic segments through the values C2. Values and slopes have shape (d, K).

    At the ends of tracks that are not loops, the slopes are `end_slopes` (d, K) if given. Otherwise, the second
    derivatives are 0. In a loop, the first and last slopes are equal even if the values differ.
    """
    chords = values[:, tracks.segment_end] - values
    before, diagonal, after, right_side = _equations(tracks, chords, end_slopes)
    solve = factorized(tracks, *(coefficients[np.newaxis, np.newaxis] for coefficients in (before, diagonal, after)))
    slopes: Float64Array = solve(right_side[np.newaxis])[0]
    return slopes


def c2_velocities(tracks: KeyBatch, turns: Turns, end_velocities: Float64Array | None = None) -> Float64Array:
    """Return the angular velocities that make segments of cubic rotation vectors through the keys C2.

    The velocities have shape (3, K), in radians per frame in the parent frame. At the ends of tracks that are not
    loops, they are `end_velocities` (3, K) if given. Otherwise, the angular accelerations are 0. Raises KeysError if
    Newton's method finds no solution.

    The equations differ from the equations of `c2_slopes` in two terms. Velocities are converted to derivatives of the
    rotation vectors at the start and end of segments. A rotation vector that changes direction has an angular
    acceleration even at a constant rate. This term is quadratic, so Newton's method is used. While it converges
    quickly, the derivative of the term is kept, which saves most of the time.
    """
    share_before, diagonal, share_after, right_side = _equations(tracks, turns.onward, end_velocities)
    segment_before, segment_after = tracks.segments_beside
    shortest_turns = turns.onward - turns.full
    rates = matrices(rate_of_velocity, shortest_turns)
    before = share_before * matrices(velocity_of_exp, shortest_turns).take(segment_before, axis=-1)
    diagonal = diagonal * np.eye(3)[:, :, np.newaxis]
    after = share_after * rates.take(segment_after, axis=-1)
    form = _bend_form(shortest_turns.take(segment_before, axis=-1), rates.take(segment_before, axis=-1))
    form = 0.25 * share_before * tracks.lengths[segment_before] * form
    counts = tracks.last - tracks.first + 1
    solution, half_derivative = np.zeros_like(right_side), np.zeros_like(diagonal)
    is_unsolved = needs_derivative = np.ones(len(counts), dtype=np.bool_)
    previous_step = np.zeros(len(counts))
    for _ in range(_MAX_ITERATIONS):
        bent = np.einsum("ijlk,lk->ijk", form, solution)
        if needs_derivative.any():
            half_derivative = np.where(np.repeat(needs_derivative, counts), bent, half_derivative)
            solve = factorized(tracks, before, diagonal + 2.0 * half_derivative, after)
        step = solve(
            right_side
            - times(before, solution.take(tracks.previous, axis=-1))
            - times(diagonal + bent, solution)
            - times(after, solution.take(tracks.following, axis=-1))
        )
        # A solved track does not change while others continue, so its result does not depend on them.
        solution = np.where(np.repeat(is_unsolved, counts), solution + step, solution)
        largest_step, largest = largest_in_tracks(step, tracks), largest_in_tracks(solution, tracks)
        previous_step = np.where(needs_derivative, largest, previous_step)
        is_unsolved = is_unsolved & ~(largest_step**2 <= _SETTLED * previous_step * largest)
        if not is_unsolved.any():
            return solution
        needs_derivative = is_unsolved & ~(largest_step <= _ENOUGH_PROGRESS * previous_step)
        previous_step = largest_step
    fault = n_("differs too much from its neighbors for a continuous second derivative. Insert a key between them")
    raise unsolved_error(fault, tracks, is_unsolved, step)


def _equations(
    tracks: KeyBatch, chords: Float64Array, end_slopes: Float64Array | None
) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
    """Return the equations of the slopes v, ``before v[previous] + diagonal v + after v[following] = right_side``.

    The weights `before` and `after` of the segments beside a key are the other segment's share of the frames. At a
    natural end, the same equation puts all the weight on the only segment. At an end with a given slope, the slope is
    the right side. The chords of segments and the right side have shape (c, K), and the other results (K,).
    """
    lengths, share = tracks.lengths, 1.0 - tracks.share_before
    mean = np.divide(chords, lengths, out=np.zeros_like(chords), where=lengths > 0.0)
    has_equation = tracks.inner
    first, last = tracks.open_ends
    if end_slopes is None:
        share[first], share[last] = 0.0, 1.0
        has_equation[first] = has_equation[last] = True
    before, after = np.where(has_equation, share, 0.0), np.where(has_equation, 1.0 - share, 0.0)
    segment_before, segment_after = tracks.segments_beside
    right_side = 3.0 * (before * mean[:, segment_before] + after * mean[:, segment_after])
    if end_slopes is not None:
        right_side[:, first], right_side[:, last] = end_slopes[:, first], end_slopes[:, last]
    return before, np.where(has_equation, 2.0, 1.0), after, right_side


def _bend_form(turns: Float64Array, rates: Float64Array) -> Float64Array:
    """Return the term that is quadratic in a key's velocity, as a symmetric bilinear form (3, 3, 3, K).

    `turns` (3, K) end at the key, and `rates` (3, 3, K) convert the velocity to the derivative of the rotation vector.
    The two orders of the velocities are added up, so the form is twice the term.
    """
    form = bend(turns[:, np.newaxis, np.newaxis], rates[:, :, np.newaxis], rates[:, np.newaxis])
    return form + form.swapaxes(1, 2)


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
