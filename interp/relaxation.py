# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxation: find the smallest change to numbers that eliminates the errors they cause.

Every round linearizes the errors and solves for the smallest change that reduces all errors together.
Source: docs/formulas, "Relaxation", which lists the differences from the published technique.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .key_batch import BoolArray
from .keys import Float64Array

Excess = Callable[[Float64Array], Float64Array]

ROUNDS = 40
"""The maximum number of rounds. Each round costs one evaluation of the errors per number, and a few more."""
_AIM = 0.5
"""The fraction of the tolerance that a round aims for. The rest is reserved for rounding and errors between samples."""
_ALLOWED_GROWTH = 0.75
"""The fraction of the tolerance up to which errors may grow in a round if all are below the aim."""
_SETTLED = 1e-2
"""Once the tolerance is reached, a round that adds less than this fraction to the total change is the last."""
_NO_PROGRESS = 1e-7
"""Before the tolerance is reached, a round that adds less than this fraction is the last, because progress has
stopped."""
_HALVINGS = 12
"""The number of halvings of a step that does not reduce the errors, after which the search ends."""
_MAX_ACTIVE_SETS = 12
"""The number of times that the set of errors to reduce may change within one downhill step."""
_DIFFERENCE = 1e-6
"""The step of numeric derivatives, for numbers close to 1. It uses half of float64's digits."""
_DAMPING = 1e-9
"""The damping relative to the largest squared derivative, against changes that do not affect the errors."""
_SMALLEST_RESIDUAL = 1e-10
"""The largest squared residual that counts as 0. At this residual, the shortest z would be 1e5 times the farthest
limit."""
_LIMIT_ROUNDING = 1e-6
"""The rounding error allowed in a result, relative to the limits."""


@dataclass(frozen=True)
class Relaxed:
    """The result of a relaxation."""

    numbers: Float64Array
    """The changed numbers, shape (n,)."""
    excess: float
    """The largest remaining error, negative if all conditions hold with a margin."""
    reached: bool
    """True if the largest error is within the tolerance."""


def relax(
    excess: Excess,
    start: npt.ArrayLike,
    tolerance: float,
    weights: npt.ArrayLike = 1.0,
    longest: npt.ArrayLike = np.inf,
    progress: Callable[[int, int], None] | None = None,
) -> Relaxed:
    """Change numbers as little as possible until no error exceeds the tolerance.

    Parameters
    ----------
    excess : callable
        A function that returns errors, shape (m,), for numbers, shape (n,). An error is the amount by which a condition
        is violated, or negative if it holds. The function must be differentiable almost everywhere.
    start : array_like, shape (n,)
        The current numbers.
    tolerance : float
        The tolerance, above 0, in the unit of the errors.
    weights : float or array_like, shape (n,)
        The cost of changing each number. The sum of ``(weight change)**2`` is minimized.
    longest : float or array_like, shape (n,)
        The largest change in each number per round. Within this change, the errors should be nearly linear.
    progress : callable, optional
        A function that is called with the number of finished rounds and the maximum number of rounds.

    Returns
    -------
    Relaxed
        If the tolerance was reached, the change is a local minimum. Otherwise, the sum of squared errors is the
        smallest found.

    Raises
    ------
    ValueError
        If the tolerance is not positive and finite, there are no numbers, or the errors at the start are not finite.
    """
    initial_numbers = np.asarray(start, dtype=np.float64)
    scale = 1.0 / np.broadcast_to(np.asarray(weights, dtype=np.float64), initial_numbers.shape)
    if not 0.0 < tolerance < np.inf:
        raise ValueError(f"tolerance {tolerance:g} is not positive and finite")
    if not initial_numbers.size:
        raise ValueError("there are no numbers to change")
    errors = excess(initial_numbers)
    if not np.isfinite(errors).all():
        raise ValueError("the errors are not finite")
    if errors.max() <= tolerance:
        return Relaxed(initial_numbers.copy(), float(errors.max()), True)
    aim = _AIM * tolerance
    # Numbers divided by `scale` all have the same cost, so the shortest `change` in this unit is the cheapest.
    change = np.zeros_like(initial_numbers)
    for finished_rounds in range(1, ROUNDS + 1):
        numbers = initial_numbers + scale * change
        step = _aimed_change(_slopes(excess, numbers, errors) * scale, errors, change, aim) - change
        step /= max(1.0, float((np.abs(scale * step) / np.asarray(longest)).max()))
        fraction, new_errors = _line_search(excess, numbers, scale * step, errors, tolerance)
        if fraction == 0.0:
            break
        change, errors = change + fraction * step, new_errors
        if progress is not None:
            progress(finished_rounds, ROUNDS)
        smallest_gain = _SETTLED if float(errors.max()) <= tolerance else _NO_PROGRESS
        if fraction * float(np.linalg.norm(step)) <= smallest_gain * float(np.linalg.norm(change)):
            break
    largest_error = float(errors.max())
    return Relaxed(initial_numbers + scale * change, largest_error, largest_error <= tolerance)


def _aimed_change(slopes: Float64Array, errors: Float64Array, change: Float64Array, aim: float) -> Float64Array:
    """Return the smallest total change for which all linearized errors reach the aim, or else a downhill change."""
    smallest_change = least_change(slopes, aim - errors + slopes @ change)
    return change + _downhill(slopes, errors - aim) if smallest_change is None else smallest_change


def _slopes(excess: Excess, numbers: Float64Array, errors: Float64Array) -> Float64Array:
    """Return the derivatives of the errors, shape (m, n)."""
    slopes = np.empty((len(errors), len(numbers)))
    for column in range(len(numbers)):
        difference = _DIFFERENCE * max(1.0, abs(numbers[column]))
        nearby_numbers = numbers.copy()
        nearby_numbers[column] += difference
        slopes[:, column] = (excess(nearby_numbers) - errors) / difference
    return slopes


def _downhill(slopes: Float64Array, distances: Float64Array) -> Float64Array:
    """Return the damped Gauss-Newton step for the distances (m,) that are above 0 before or after the step."""
    is_active = distances > 0.0
    damping = _DAMPING * max(float((slopes**2).sum(axis=0).max()), np.finfo(np.float64).tiny)
    step = np.zeros(slopes.shape[1])
    for _ in range(_MAX_ACTIVE_SETS):
        active_slopes = slopes[is_active]
        # If not all errors can vanish, this is the least-squares step.
        matrix = active_slopes.T @ active_slopes + damping * np.eye(slopes.shape[1])
        step = np.asarray(np.linalg.solve(matrix, -active_slopes.T @ distances[is_active]), dtype=np.float64)
        was_active = is_active
        is_active = was_active | (distances + slopes @ step > 0.0)
        if (is_active == was_active).all():
            break
    return step


def _line_search(
    excess: Excess, numbers: Float64Array, step: Float64Array, errors: Float64Array, tolerance: float
) -> tuple[float, Float64Array]:
    """Return the longest tried fraction of the step that is an improvement, or 0 if there is none, and its errors.

    Errors that are all below the aim may grow slightly in exchange for a smaller change.
    """
    aim, largest_allowed = _AIM * tolerance, _ALLOWED_GROWTH * tolerance
    sum_at_start = _sum_over_aim(errors, aim)
    for halving in range(_HALVINGS):
        fraction = 0.5**halving
        new_errors = excess(numbers + fraction * step)
        may_grow = sum_at_start == 0.0 and new_errors.max() <= largest_allowed
        is_better = _sum_over_aim(new_errors, aim) < sum_at_start or may_grow
        if np.isfinite(new_errors).all() and is_better:
            return fraction, new_errors
    return 0.0, errors


def _sum_over_aim(errors: Float64Array, aim: float) -> float:
    """Return the sum of squared errors above the aim."""
    distances = np.maximum(errors - aim, 0.0)
    return float(distances @ distances)


def least_change(slopes: npt.ArrayLike, room: npt.ArrayLike) -> Float64Array | None:
    """Return the shortest z with ``slopes @ z <= room``, shapes (m, n) and (m,), or None if there is none.

    z is computed from the residual of a nonnegative least-squares problem (Lawson and Hanson, 23.27, LDP).
    """
    rows, limits = -np.asarray(slopes, dtype=np.float64), -np.asarray(room, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1)
    is_zero = lengths <= np.finfo(np.float64).tiny
    if (limits[is_zero] > 0.0).any():
        return None
    rows, limits = rows[~is_zero] / lengths[~is_zero, np.newaxis], limits[~is_zero] / lengths[~is_zero]
    if not len(rows) or limits.max() <= 0.0:
        return np.zeros(rows.shape[1])
    # In units of the farthest limit, z has at least length 1, and the residual keeps all its digits.
    farthest = limits.max()
    matrix = np.vstack((rows.T, limits / farthest))
    unit = np.zeros(len(matrix))
    unit[-1] = 1.0
    residual = matrix @ non_negative_least_squares(matrix, unit) - unit
    if residual[-1] >= -_SMALLEST_RESIDUAL:
        return None
    z: Float64Array = -farthest * residual[:-1] / residual[-1]
    return z if (rows @ z >= limits - _LIMIT_ROUNDING * (farthest + np.abs(limits))).all() else None


def non_negative_least_squares(matrix: npt.ArrayLike, goal: npt.ArrayLike) -> Float64Array:
    """Return u >= 0 for which ``matrix @ u`` is closest to `goal`, shapes (m, n) and (m,).

    Columns are added one by one, steepest slope first, and removed if their coefficients would become negative (Lawson
    and Hanson, 23.10, NNLS).
    """
    a, b = np.asarray(matrix, dtype=np.float64), np.asarray(goal, dtype=np.float64)
    u = np.zeros(a.shape[1])
    is_used = np.zeros(a.shape[1], dtype=np.bool_)
    rounding = 10.0 * np.finfo(np.float64).eps * float(np.abs(a).max(initial=0.0)) * max(a.shape)
    for _ in range(3 * a.shape[1]):
        slope = a.T @ (b - a @ u)
        slope[is_used] = -np.inf
        steepest = int(np.argmax(slope))
        if slope[steepest] <= rounding:
            break
        is_used[steepest] = True
        u = _best_of_used(a, b, u, is_used, rounding)
    return u


def _best_of_used(
    a: Float64Array, b: Float64Array, u: Float64Array, is_used: BoolArray, rounding: float
) -> Float64Array:
    """Return the best u >= 0 with the used columns, removing columns whose coefficients reach 0 from the mask."""
    while is_used.any():
        trial = np.zeros(a.shape[1])
        trial[is_used] = np.linalg.lstsq(a[:, is_used], b, rcond=None)[0]
        is_negative = is_used & (trial <= 0.0)
        if not is_negative.any():
            return trial
        # The longest step toward the trial for which no number becomes negative.
        descents = np.maximum(u[is_negative] - trial[is_negative], np.finfo(np.float64).tiny)
        u = u + float((u[is_negative] / descents).min()) * (trial - u)
        is_used &= u > rounding
        u[~is_used] = 0.0
    return u
