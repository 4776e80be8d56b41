# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve for the derivatives at keys that make a cubic spline C2, for values and rotations.

Source: docs/formulas, "C2 cubics" and "C2 rotations".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .arguments import checked_choice, checked_whole
from .key_batch import BoolArray, KeyBatch
from .keys import Float64Array, Keys, KeysError, numbers
from .messages import n_
from .rotations import sphere
from .rotations.exponential import acceleration_of_exp, rate_of_velocity, velocity_of_exp
from .rotations.rotation_vectors import Turns
from .tridiagonal import solve, times

# Newton's method doubles the number of correct digits in each step. Turns of 179 degrees about changing axes have taken
# up to 33 steps.
MOST_ITERATIONS = 50
# A step this small, relative to the largest velocity, is the last, because its error is far below rounding.
SETTLED = 1e-12

SlopeEnds = Literal["CLAMPED", "NATURAL"]


def equations(tracks: KeyBatch, ends: SlopeEnds) -> tuple[Float64Array, BoolArray]:
    """Return the weight of the segment before each key in the key's equation, and a mask of keys that have an equation.

    The weight of each side is the other side's share of the frames (docs/formulas, "C2 cubics").
    At an end with zero second derivative, the same equation puts all the weight on the only segment.
    """
    around = tracks.before + tracks.after
    share = np.divide(tracks.after, around, out=np.zeros_like(around), where=around > 0.0)
    has_one = (tracks.before > 0.0) & (tracks.after > 0.0)
    if ends == "NATURAL":
        first, last = tracks.open
        share[first], share[last] = 0.0, 1.0
        has_one[first] = has_one[last] = True
    return share, has_one


def c2_slopes(
    tracks: KeyBatch, values: Float64Array, ends: SlopeEnds, velocities: Float64Array | None = None
) -> Float64Array:
    """Return the slopes per frame that make cubic segments through the values C2. Values and slopes have shape (d, K).

    At the ends of tracks that are not loops, the slopes are `velocities` if given. Otherwise, the second derivatives
    are 0. In a loop, the first and last slopes are equal even if the values differ.
    """
    before_key, after_key = tracks.segments_beside
    length = tracks.lengths
    chords = values[:, tracks.segment_end] - values
    mean = np.divide(chords, length, out=np.zeros_like(values), where=length > 0.0)
    share, bound = equations(tracks, ends)
    before, after = np.where(bound, share, 0.0), np.where(bound, 1.0 - share, 0.0)
    own = np.where(bound, 2.0, 1.0)
    right = np.where(bound, 3.0 * (share * mean[:, before_key] + (1.0 - share) * mean[:, after_key]), 0.0)
    first, last = tracks.open
    if ends == "CLAMPED" and velocities is not None:
        right[:, first], right[:, last] = velocities[:, first], velocities[:, last]
    before, own, after = (each[np.newaxis, np.newaxis] for each in (before, own, after))
    slopes: Float64Array = solve(before, own, after, right[np.newaxis], tracks.previous, tracks.following)[0]
    return slopes


EndName = Literal["NOT_A_KNOT", "NATURAL", "CLAMPED"]
End = EndName | tuple[int, npt.ArrayLike]
"""The condition at an end, as in scipy's CubicSpline. A pair gives the order of a derivative, 1 or 2, and its value."""


def c2_slopes_with_ends(
    tracks: KeyBatch, values: Float64Array, ends: Sequence[tuple[Condition, Condition]]
) -> Float64Array:
    """Return the slopes of C2 cubics with any condition at the ends of each track, shape (d, K).

    The slopes are linear functions of the slopes at both ends, and so are the conditions, which gives two equations per
    track. The equations are derived from the solution for ends at rest and its sensitivity to each end slope
    (docs/formulas, "Ends of C2 cubics").
    """
    count, (first, last) = len(values), tracks.open
    given = np.zeros((count + 2, len(tracks.frames)))
    given[count, first] = given[count + 1, last] = 1.0
    points = np.concatenate([values, np.zeros((2, len(tracks.frames)))])
    found = c2_slopes(tracks, points, "CLAMPED", given)
    slopes = found[:count].copy()
    conditions = dict(zip(tracks.first.tolist(), ends, strict=True))
    for start, end in zip(first.tolist(), last.tolist(), strict=True):
        own = slice(start, end + 1)
        lengths, chords = np.diff(tracks.frames[own]), np.diff(values[:, own])
        left, right = conditions[start]
        if end - start == 2 and left.order == right.order == 3:
            # Both end conditions are the same, and the parabola through the keys satisfies it.
            right = Condition(3, np.zeros(count), parabola=True)
        sides = [
            condition.equation(lengths[::step], chords[:, ::step], found[:, own][:, ::step], float(step))
            for condition, step in ((left, 1), (right, -1))
        ]
        matrix, missing = np.array([each[0] for each in sides]), np.array([each[1] for each in sides])
        at_ends = np.linalg.solve(matrix, missing)
        slopes[:, own] += at_ends.T @ found[count:, own]
    return slopes


@dataclass(frozen=True)
class Condition:
    """A condition at an end: a derivative's value, or the third derivative's continuity at the next key (order 3)."""

    order: int
    value: Float64Array
    parabola: bool = False

    def equation(
        self, lengths: Float64Array, chords: Float64Array, found: Float64Array, sign: float
    ) -> tuple[Float64Array, Float64Array]:
        """Return the coefficients of the two end slopes, and the right-hand side for each component.

        `lengths`, `chords` and `found` run from the end inward. `found` contains the slopes of the components with ends
        at rest, then the slopes that result from a slope of 1 at each end. `sign` is -1 at the last key, where frames
        run backward.
        """
        slope, mean = found[:, :3], chords / lengths
        if self.order == 1:
            here, goal = slope[:, 0], self.value
        elif self.order == 2:
            here = sign * -(4.0 * slope[:, 0] + 2.0 * slope[:, 1]) / lengths[0]
            goal = self.value - sign * 6.0 * mean[:, 0] / lengths[0]
        elif self.parabola:
            here, goal = slope[:, 0] + slope[:, 1], 2.0 * mean[:, 0]
        else:
            # The third derivatives of both segments, divided by 6.
            near, far = 1.0 / lengths[0] ** 2, 1.0 / lengths[1] ** 2
            here = (slope[:, 0] + slope[:, 1]) * near - (slope[:, 1] + slope[:, 2]) * far
            goal = 2.0 * (mean[:, 0] * near - mean[:, 1] * far)
        return here[-2:], goal - here[:-2]


def checked_ends(ends: object, keys: Keys) -> tuple[Condition, Condition]:
    """Return the conditions at both ends, or raise a TypeError or ValueError that names the argument."""
    both = ends if isinstance(ends, tuple | list) and len(ends) == 2 else (ends, ends)
    if isinstance(ends, tuple | list) and len(ends) == 2 and not isinstance(ends[0], tuple | list | str):
        raise TypeError(f"ends must be one condition, or one condition per end, not {ends!r}")
    return _checked_end("ends[0]", both[0], keys), _checked_end("ends[1]", both[1], keys)


def _checked_end(name: str, end: object, keys: Keys) -> Condition:
    count = keys.values.shape[1]
    if isinstance(end, str):
        checked_choice(name, end, ("NOT_A_KNOT", "NATURAL", "CLAMPED"))
        if end == "NOT_A_KNOT" and len(keys) == 2:
            return Condition(1, (keys.values[1] - keys.values[0]) / (keys.frames[1] - keys.frames[0]))
        return Condition({"CLAMPED": 1, "NATURAL": 2, "NOT_A_KNOT": 3}[end], np.zeros(count))
    if not isinstance(end, tuple | list) or len(end) != 2:
        raise TypeError(f"{name} must be NOT_A_KNOT, NATURAL, CLAMPED, or an order and a derivative, not {end!r}")
    order = checked_whole(name, end[0])
    if order not in (1, 2):
        raise ValueError(f"{name} must specify the derivative of order 1 or 2, not {order}")
    value = numbers(name, end[1])
    if value.shape not in ((), (count,)) or not np.isfinite(value).all():
        raise ValueError(f"{name} must be a finite derivative for each of {count} components, not {end[1]!r}")
    return Condition(order, np.broadcast_to(value, (count,)).copy())


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
    length = tracks.lengths
    size = sphere.length(turns.onward)
    whole = 2.0 * np.pi * np.rint(size / (2.0 * np.pi))
    rest = turns.onward * (1.0 - np.divide(whole, size, out=np.zeros_like(size), where=size > 0.0))
    mean = np.divide(turns.onward, length, out=np.zeros_like(rest), where=length > 0.0)
    before_key, after_key = tracks.segments_beside
    share, bound = equations(tracks, ends)
    share_before, share_after = np.where(bound, share, 0.0), np.where(bound, 1.0 - share, 0.0)
    right = 3.0 * (share_before * mean[:, before_key] + share_after * mean[:, after_key])
    first, last = tracks.open
    if ends == "CLAMPED" and velocities is not None:
        right[:, first], right[:, last] = velocities[:, first], velocities[:, last]
    # The last key's segment has no length and no turn.
    arriving, arriving_length = rest[:, before_key], np.where(length > 0.0, length, 1.0)[before_key]
    rate = matrices(rate_of_velocity, rest)
    before, after = (
        share_before * matrices(velocity_of_exp, rest)[:, :, before_key],
        share_after * rate[:, :, after_key],
    )
    own, rate_before = np.where(bound, 2.0, 1.0) * np.eye(3)[:, :, np.newaxis], rate[:, :, before_key]

    found = np.zeros_like(rest)
    unsolved = np.ones(len(tracks.first), dtype=np.bool_)
    counts = tracks.last - tracks.first + 1
    for _ in range(MOST_ITERATIONS):
        turning = times(rate_before, found[:, np.newaxis])[:, 0] * arriving_length
        sides = (
            times(before, found[:, np.newaxis, tracks.previous])
            + times(own, found[:, np.newaxis])
            + times(after, found[:, np.newaxis, tracks.following])
        )[:, 0]
        acceleration = share_before * _acceleration(arriving, turning) / (2.0 * arriving_length)
        slope = own + 0.5 * share_before * times(_acceleration_derivatives(arriving, turning), rate_before)
        missing = (right - acceleration - sides)[:, np.newaxis]
        step = solve(before, slope, after, missing, tracks.previous, tracks.following)[:, 0]
        # A solved track does not change while others continue, so its result does not depend on them.
        found = np.where(np.repeat(unsolved, counts), found + step, found)
        largest = np.maximum.reduceat(np.abs(found).max(axis=0), tracks.first)
        moved = np.maximum.reduceat(np.abs(step).max(axis=0), tracks.first)
        unsolved &= ~(moved <= SETTLED * largest)
        if not unsolved.any():
            return found
    track = int(np.argmax(unsolved))
    own_keys = slice(tracks.first[track], tracks.last[track] + 1)
    key = int(np.argmax(np.abs(step[:, own_keys]).max(axis=0)))
    fault = n_("differs too much from its neighbors for a continuous second derivative. Insert a key between them")
    raise KeysError(fault, key, float(tracks.frames[own_keys][key]))


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
