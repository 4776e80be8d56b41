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

from .keys import Float64Array

Excess = Callable[[Float64Array], Float64Array]

ROUNDS = 40
"""The maximum number of rounds. Each round costs one evaluation of the errors per number, and a few more."""
_AIM = 0.5
"""The fraction of the tolerance that a round aims for. The rest is reserved for rounding and errors between samples."""
_KEPT = 0.75
"""The fraction of the tolerance up to which errors may grow in a round if all are below the aim."""
_SETTLED = 1e-2
"""Once the tolerance is reached, a round that adds less than this fraction to the total change is the last."""
_STANDS_STILL = 1e-7
"""Before the tolerance is reached, a round that adds less than this fraction is the last, because progress has
stopped."""
_HALVINGS = 12
_DERIVATIVE = 1e-6
"""The step of numeric derivatives, for numbers close to 1. It uses half of float64's digits."""
_DAMPING = 1e-9
"""The damping relative to the largest squared derivative.

It prevents changes in directions that do not affect the errors.
"""


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
    begin = np.asarray(start, dtype=np.float64)
    scale = 1.0 / np.broadcast_to(np.asarray(weights, dtype=np.float64), begin.shape)
    if not 0.0 < tolerance < np.inf:
        raise ValueError(f"tolerance {tolerance:g} is not positive and finite")
    if not begin.size:
        raise ValueError("there are no numbers to change")
    errors = excess(begin)
    if not np.isfinite(errors).all():
        raise ValueError("the errors are not finite")
    aim = _AIM * tolerance
    # From here on, numbers are in units of their weights, and the length of `change` is minimized.
    change = np.zeros_like(begin)
    done = 0
    while done < ROUNDS:
        if done == 0 and errors.max() <= tolerance:
            break
        done += 1
        slopes = _slopes(excess, begin + scale * change, errors) * scale
        target = least_change(slopes, aim - errors + slopes @ change)
        if target is None:
            target = change + _downhill(slopes, errors - aim)
        towards = target - change
        towards /= max(1.0, float((np.abs(scale * towards) / np.asarray(longest)).max()))
        step, moved = _line_search(excess, begin + scale * change, scale * towards, errors, aim)
        if step == 0.0:
            break
        change, errors = change + step * towards, moved
        if progress is not None:
            progress(done, ROUNDS)
        settled = _SETTLED if float(errors.max()) <= tolerance else _STANDS_STILL
        if step * float(np.linalg.norm(towards)) <= settled * float(np.linalg.norm(change)):
            break
    largest = float(errors.max())
    return Relaxed(begin + scale * change, largest, largest <= tolerance)


def _slopes(excess: Excess, numbers: Float64Array, errors: Float64Array) -> Float64Array:
    """Return the derivatives of the errors, shape (m, n)."""
    slopes = np.empty((len(errors), len(numbers)))
    for column in range(len(numbers)):
        step = _DERIVATIVE * max(1.0, abs(numbers[column]))
        near = numbers.copy()
        near[column] += step
        slopes[:, column] = (excess(near) - errors) / step
    return slopes


def _line_search(
    excess: Excess, numbers: Float64Array, towards: Float64Array, errors: Float64Array, aim: float
) -> tuple[float, Float64Array]:
    """Return the longest tried fraction of the step that is an improvement, or 0 if there is none, and its errors.

    Errors that are all below the aim may grow slightly in exchange for a smaller change.
    """
    start, kept = _sum_over_aim(errors, aim), _KEPT * aim / _AIM
    for halving in range(_HALVINGS):
        part = 0.5**halving
        moved = excess(numbers + part * towards)
        is_better = _sum_over_aim(moved, aim) < start or (start == 0.0 and moved.max() <= kept)
        if np.isfinite(moved).all() and is_better:
            return part, moved
    return 0.0, errors


def _sum_over_aim(errors: Float64Array, aim: float) -> float:
    """Return the sum of squared errors above the aim."""
    over = np.maximum(errors - aim, 0.0)
    return float(over @ over)


def _downhill(slopes: Float64Array, over: Float64Array) -> Float64Array:
    """Return the damped Gauss-Newton step for the errors that are above 0 before or after the step."""
    bad = over > 0.0
    damping = _DAMPING * max(float((slopes**2).sum(axis=0).max()), np.finfo(np.float64).tiny)
    step = np.zeros(slopes.shape[1])
    for _ in range(_HALVINGS):
        part = slopes[bad]
        # If not all errors can vanish, this is the least-squares step.
        matrix = part.T @ part + damping * np.eye(slopes.shape[1])
        step = np.asarray(np.linalg.solve(matrix, -part.T @ over[bad]), dtype=np.float64)
        now = bad | (over + slopes @ step > 0.0)
        if (now == bad).all():
            break
        bad = now
    return step


def least_change(slopes: npt.ArrayLike, room: npt.ArrayLike) -> Float64Array | None:
    """Return the shortest z with ``slopes @ z <= room``, shapes (m, n) and (m,), or None if there is none.

    z is computed from the residual of a nonnegative least-squares problem (Lawson and Hanson, 23.27, LDP).
    """
    rows, limits = -np.asarray(slopes, dtype=np.float64), -np.asarray(room, dtype=np.float64)
    length = np.linalg.norm(rows, axis=1)
    flat = length <= np.finfo(np.float64).tiny
    if (limits[flat] > 0.0).any():
        return None
    rows, limits = rows[~flat] / length[~flat, np.newaxis], limits[~flat] / length[~flat]
    if not len(rows) or limits.max() <= 0.0:
        return np.zeros(rows.shape[1])
    # In units of the farthest limit, z has at least length 1, and the residual keeps all its digits.
    size = limits.max()
    matrix = np.vstack((rows.T, limits / size))
    wanted = np.zeros(len(matrix))
    wanted[-1] = 1.0
    residual = matrix @ non_negative_least_squares(matrix, wanted) - wanted
    if residual[-1] >= -_SHORT:
        return None
    change: Float64Array = -size * residual[:-1] / residual[-1]
    return change if (rows @ change >= limits - _MISSED * (size + np.abs(limits))).all() else None


_SHORT = 1e-10
"""The largest squared residual that counts as 0. At this residual, the shortest z would be 1e5 times the farthest
limit."""
_MISSED = 1e-6
"""The rounding error allowed in a result, relative to the limits."""


def non_negative_least_squares(matrix: npt.ArrayLike, wanted: npt.ArrayLike) -> Float64Array:
    """Return u >= 0 for which ``matrix @ u`` is closest to `wanted`, shapes (m, n) and (m,).

    Columns are added one by one, steepest slope first, and removed if their coefficients would become negative (Lawson
    and Hanson, 23.10, NNLS).
    """
    a, b = np.asarray(matrix, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    result = np.zeros(a.shape[1])
    used = np.zeros(a.shape[1], dtype=np.bool_)
    small = 10.0 * np.finfo(np.float64).eps * float(np.abs(a).max(initial=0.0)) * max(a.shape)
    for _ in range(3 * a.shape[1]):
        slope = a.T @ (b - a @ result)
        slope[used] = -np.inf
        best = int(np.argmax(slope))
        if slope[best] <= small:
            break
        used[best] = True
        while True:
            trial = np.zeros(a.shape[1])
            trial[used] = np.linalg.lstsq(a[:, used], b, rcond=None)[0]
            out = used & (trial <= 0.0)
            if not out.any():
                result = trial
                break
            # The longest step toward the trial for which no number becomes negative.
            part = float((result[out] / np.maximum(result[out] - trial[out], np.finfo(np.float64).tiny)).min())
            result = result + part * (trial - result)
            used &= result > small
            result[~used] = 0.0
            if not used.any():
                break
    return result
