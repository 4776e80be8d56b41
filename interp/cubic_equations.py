# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve for the slopes and the angular velocities at keys that make cubic splines C2.

Elimination from key to key would take one Python step per key. In parallel cyclic reduction, every row eliminates its
neighbors in each step, which doubles the distance to the remaining neighbors. The rows of cubic splines are diagonally
dominant, so the off-diagonal blocks are squared in each step. A few steps suffice for any number of keys, and loops
need no special treatment. A result does not depend on which tracks are solved together. Source: docs/formulas,
"Tridiagonal systems".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .key_batch import BoolArray, IndexArray, KeyBatch
from .keys import Float64Array, KeysError
from .messages import Text, n_
from .rotations import sphere
from .rotations.exponential import acceleration_of_exp, cross, rate_of_velocity, velocity_of_exp
from .rotations.rotation_vectors import Turns

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


SlopeEnds = Literal["CLAMPED", "NATURAL"]


def equation_weights(tracks: KeyBatch, ends: SlopeEnds) -> tuple[Float64Array, BoolArray]:
    """Return the weight of the segment before each key in the key's equation, and a mask of keys that have an equation.

    The weight of each side is the other side's share of the frames. At an end with zero second derivative, the same
    equation puts all the weight on the only segment.
    """
    both_lengths = tracks.before + tracks.after
    share = np.divide(tracks.after, both_lengths, out=np.zeros_like(both_lengths), where=both_lengths > 0.0)
    has_equation = (tracks.before > 0.0) & (tracks.after > 0.0)
    if ends == "NATURAL":
        first, last = tracks.open
        share[first], share[last] = 0.0, 1.0
        has_equation[first] = has_equation[last] = True
    return share, has_equation


def c2_slopes(
    tracks: KeyBatch, values: Float64Array, ends: SlopeEnds, velocities: Float64Array | None = None
) -> Float64Array:
    """Return the slopes per frame that make cubic segments through the values C2. Values and slopes have shape (d, K).

    At the ends of tracks that are not loops, the slopes are `velocities` if given. Otherwise, the second derivatives
    are 0. In a loop, the first and last slopes are equal even if the values differ.
    """
    segment_before, segment_after = tracks.segments_beside
    lengths = tracks.lengths
    chords = values[:, tracks.segment_end] - values
    mean = np.divide(chords, lengths, out=np.zeros_like(values), where=lengths > 0.0)
    share, has_equation = equation_weights(tracks, ends)
    before = np.where(has_equation, share, 0.0)
    diagonal = np.where(has_equation, 2.0, 1.0)
    after = np.where(has_equation, 1.0 - share, 0.0)
    weighted_means = share * mean[:, segment_before] + (1.0 - share) * mean[:, segment_after]
    right_side = np.where(has_equation, 3.0 * weighted_means, 0.0)
    first, last = tracks.open
    if ends == "CLAMPED" and velocities is not None:
        right_side[:, first], right_side[:, last] = velocities[:, first], velocities[:, last]
    before, diagonal, after = (numbers[np.newaxis, np.newaxis] for numbers in (before, diagonal, after))
    slopes: Float64Array = solve(before, diagonal, after, right_side[np.newaxis], tracks.previous, tracks.following)[0]
    return slopes


# Newton's method doubles the number of correct digits in each step. Turns of 179 degrees about changing axes have taken
# up to 33 steps.
_MAX_ITERATIONS = 50
SETTLED = 1e-12
"""A step this small, relative to the largest velocity, is the last, because its error is far below rounding."""


def c2_velocities(
    tracks: KeyBatch, turns: Turns, ends: SlopeEnds, velocities: Float64Array | None = None
) -> Float64Array:
    """Return the angular velocities that make segments of cubic rotation vectors through the keys C2.

    The velocities have shape (3, K), in radians per frame in the parent frame. At the ends of tracks that are not
    loops, the result is `velocities` if given. Otherwise, the angular accelerations are 0. Raises KeysError if Newton's
    method finds no solution, which happens for some tracks with natural ends and turns of nearly 180 degrees.

    The method is the same as in `c2_slopes`, with two differences. Velocities are converted to derivatives of the
    rotation vectors at the start and end of segments. A rotation vector that changes direction has an angular
    acceleration even at a constant rate. This term is quadratic, so Newton's method is used. scipy's RotationSpline
    lags one step behind in the same term. For turns of up to 180 degrees, this method is exact to rounding after about
    five steps.
    """
    equations = _RotationEquations.of(tracks, turns, ends, velocities)
    solution = np.zeros_like(turns.onward)
    is_unsolved = np.ones(len(tracks.first), dtype=np.bool_)
    counts = tracks.last - tracks.first + 1
    for _ in range(_MAX_ITERATIONS):
        step = equations.newton_step(solution)
        # A solved track does not change while others continue, so its result does not depend on them.
        solution = np.where(np.repeat(is_unsolved, counts), solution + step, solution)
        is_unsolved &= ~(largest_in_tracks(step, tracks) <= SETTLED * largest_in_tracks(solution, tracks))
        if not is_unsolved.any():
            return solution
    fault = n_("differs too much from its neighbors for a continuous second derivative. Insert a key between them")
    raise unsolved_error(fault, tracks, is_unsolved, step)


@dataclass(frozen=True)
class _RotationEquations:
    """One vector equation per key, with the angular velocities of the key and its neighbors as unknowns.

    The equation is ``before v[previous] + diagonal v + after v[following] + acceleration(v) = right_side``.
    """

    tracks: KeyBatch
    before: Float64Array
    diagonal: Float64Array
    after: Float64Array
    """Matrices, shape (3, 3, K)."""
    right_side: Float64Array
    """Shape (3, K)."""
    turn_before: Float64Array
    length_before: Float64Array
    rate_before: Float64Array
    """The turns (3, K) and lengths (K,) of the segments before the keys, and the matrices (3, 3, K) from angular
    velocities to derivatives of their rotation vectors."""
    share_before: Float64Array
    """The weights of the segments before the keys, shape (K,)."""

    @classmethod
    def of(cls, tracks: KeyBatch, turns: Turns, ends: SlopeEnds, velocities: Float64Array | None) -> _RotationEquations:
        """Return the equations of all tracks."""
        lengths = tracks.lengths
        angles = sphere.length(turns.onward)
        full_turns = 2.0 * np.pi * np.rint(angles / (2.0 * np.pi))
        full_share = np.divide(full_turns, angles, out=np.zeros_like(angles), where=angles > 0.0)
        shortest_turns = turns.onward * (1.0 - full_share)
        mean = np.divide(turns.onward, lengths, out=np.zeros_like(shortest_turns), where=lengths > 0.0)
        segment_before, segment_after = tracks.segments_beside
        share, has_equation = equation_weights(tracks, ends)
        share_before = np.where(has_equation, share, 0.0)
        share_after = np.where(has_equation, 1.0 - share, 0.0)
        right_side = 3.0 * (share_before * mean[:, segment_before] + share_after * mean[:, segment_after])
        first, last = tracks.open
        if ends == "CLAMPED" and velocities is not None:
            right_side[:, first], right_side[:, last] = velocities[:, first], velocities[:, last]
        rates = matrices(rate_of_velocity, shortest_turns)
        return cls(
            tracks=tracks,
            before=share_before * matrices(velocity_of_exp, shortest_turns)[:, :, segment_before],
            diagonal=np.where(has_equation, 2.0, 1.0) * np.eye(3)[:, :, np.newaxis],
            after=share_after * rates[:, :, segment_after],
            right_side=right_side,
            turn_before=shortest_turns[:, segment_before],
            # The last key's segment has no length and no turn.
            length_before=np.where(lengths > 0.0, lengths, 1.0)[segment_before],
            rate_before=rates[:, :, segment_before],
            share_before=share_before,
        )

    def newton_step(self, velocities: Float64Array) -> Float64Array:
        """Return the changes in the velocities, shape (3, K), that solve the linearized equations."""
        tracks, columns = self.tracks, velocities[:, np.newaxis]
        rates = times(self.rate_before, columns)[:, 0] * self.length_before
        linear_part = (
            times(self.before, columns[:, :, tracks.previous])
            + times(self.diagonal, columns)
            + times(self.after, columns[:, :, tracks.following])
        )[:, 0]
        acceleration = self.share_before * _acceleration(self.turn_before, rates) / (2.0 * self.length_before)
        residual = self.right_side - acceleration - linear_part
        acceleration_slope = times(_acceleration_derivatives(self.turn_before, rates), self.rate_before)
        diagonal = self.diagonal + 0.5 * self.share_before * acceleration_slope
        return solve(self.before, diagonal, self.after, residual[:, np.newaxis], tracks.previous, tracks.following)[
            :, 0
        ]


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


def matrices(linear: Callable[[Float64Array, Float64Array], Float64Array], turn: Float64Array) -> Float64Array:
    """Return the matrices (3, 3, K) of a function that is linear in its second argument."""
    return np.stack([linear(turn, _axis(index, turn)) for index in range(3)], axis=1)


def _axis(index: int, like: Float64Array) -> Float64Array:
    """Return one of the coordinate axes, repeated for each key."""
    axis = np.zeros_like(like)
    axis[index] = 1.0
    return axis


def _acceleration(turn: Float64Array, rate: Float64Array) -> Float64Array:
    """Return the angular acceleration of a rotation vector with a constant rate."""
    return acceleration_of_exp(turn, rate, np.zeros_like(rate))


def _acceleration_derivatives(turn: Float64Array, rate: Float64Array) -> Float64Array:
    """Return the derivatives (3, 3, K) of `_acceleration`, a quadratic form, with respect to the rate."""
    acceleration = _acceleration(turn, rate)
    axes = [_axis(index, turn) for index in range(3)]
    return np.stack(
        [_acceleration(turn, rate + axis) - acceleration - _acceleration(turn, axis) for axis in axes], axis=1
    )
