# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxation: the least change of some numbers with which errors vanish that depend on them.

Every round linearises the errors in the numbers and solves for the least change that brings all of them down at once.
Source: docs/formulas, "Relaxation", with the differences from the published technique.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .keys import Float64Array

Excess = Callable[[Float64Array], Float64Array]

ROUNDS = 40
"""Most rounds; each costs one evaluation of the errors a number, and a few more."""
_AIM = 0.5
"""Part of the tolerance that a round aims at: the rest is for rounding to float32, and for errors between samples."""
_KEPT = 0.75
"""Part of the tolerance: where all errors are below the aim, a round may let them grow up to it."""
_SETTLED = 1e-2
"""Where the tolerance is reached, a round that moves by less than this part of the whole change is the last one."""
_STANDS_STILL = 1e-7
"""The same where it is not reached: then there is no progress any more."""
_HALVINGS = 12
_DERIVATIVE = 1e-6
"""Step of the numeric derivatives, for numbers of the size of 1: half of float64's digits."""
_DAMPING = 1e-9
"""Part of the largest square of a derivative: directions that the errors do not depend on stay as they are."""


@dataclass(frozen=True)
class Relaxed:
    """The result of a relaxation."""

    numbers: Float64Array
    """The changed numbers, shape (n,)."""
    excess: float
    """The largest remaining error, negative where all conditions hold with a margin."""
    reached: bool
    """Whether the largest error is within the tolerance."""
    rounds: int
    """The rounds that were done."""


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
        From numbers, shape (n,), to errors, shape (m,): by how much each condition is violated, below 0 where it is
        not. Differentiable almost everywhere.
    start : array_like, shape (n,)
        The numbers as they are.
    tolerance : float
        Above 0, in the unit of the errors.
    weights : float or array_like, shape (n,)
        The cost of a change of each number: the sum of ``(weight change)**2`` is minimized.
    longest : float or array_like, shape (n,)
        The most that one round may change each number: as far as the errors are nearly linear.
    progress : callable, optional
        Called with the rounds done and the most there may be.

    Returns
    -------
    Relaxed
        Where the tolerance was reached, the change is the least in a neighborhood; else these are the numbers with
        the least sum of squares of errors that was found.

    Raises
    ------
    ValueError
        The tolerance is not positive and finite, or there are no numbers, or the errors are not finite at the start.
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
    # In units of their weights from here on: the length of `change` is minimized.
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
    return Relaxed(begin + scale * change, largest, largest <= tolerance, done)


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
    """Return the longest tried part of the step that is an improvement, and the errors there; 0 if there is none.

    Where all errors are below the aim, a smaller change may let them grow a little.
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
    """Return the sum of squares of the errors above the aim."""
    over = np.maximum(errors - aim, 0.0)
    return float(over @ over)


def _downhill(slopes: Float64Array, over: Float64Array) -> Float64Array:
    """Return the damped Gauss-Newton step for the sum of squares of errors above 0, here or after the step."""
    bad = over > 0.0
    damping = _DAMPING * max(float((slopes**2).sum(axis=0).max()), np.finfo(np.float64).tiny)
    step = np.zeros(slopes.shape[1])
    for _ in range(_HALVINGS):
        part = slopes[bad]
        # Where not all errors can vanish, this is the step of least squares.
        matrix = part.T @ part + damping * np.eye(slopes.shape[1])
        step = np.asarray(np.linalg.solve(matrix, -part.T @ over[bad]), dtype=np.float64)
        now = bad | (over + slopes @ step > 0.0)
        if (now == bad).all():
            break
        bad = now
    return step


def least_change(slopes: npt.ArrayLike, room: npt.ArrayLike) -> Float64Array | None:
    """Return the shortest z with ``slopes @ z <= room``, or None where there is none.

    Parameters
    ----------
    slopes : array_like, shape (m, n)
    room : array_like, shape (m,)

    Notes
    -----
    Lawson and Hanson (23.27), LDP: the residual of a problem of non-negative least squares gives z.
    """
    rows, limits = -np.asarray(slopes, dtype=np.float64), -np.asarray(room, dtype=np.float64)
    length = np.linalg.norm(rows, axis=1)
    flat = length <= np.finfo(np.float64).tiny
    if (limits[flat] > 0.0).any():
        return None
    rows, limits = rows[~flat] / length[~flat, np.newaxis], limits[~flat] / length[~flat]
    if not len(rows) or limits.max() <= 0.0:
        return np.zeros(rows.shape[1])
    # In units of the farthest limit, z is at least 1 long, and the residual has all its digits.
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
"""A squared residual that counts as 0: the shortest z would be 1e5 times the farthest limit."""
_MISSED = 1e-6
"""Relative to the limits: the error that rounding may leave in a result."""


def non_negative_least_squares(matrix: npt.ArrayLike, wanted: npt.ArrayLike) -> Float64Array:
    """Return u >= 0 for which ``matrix @ u`` is closest to `wanted`.

    Parameters
    ----------
    matrix : array_like, shape (m, n)
    wanted : array_like, shape (m,)

    Notes
    -----
    Lawson and Hanson (23.10), NNLS: columns are added one by one, that with the steepest slope first, and removed where
    they would become negative.
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
            # The longest step toward the trial with which no number becomes negative.
            part = float((result[out] / np.maximum(result[out] - trial[out], np.finfo(np.float64).tiny)).min())
            result = result + part * (trial - result)
            used &= result > small
            result[~used] = 0.0
            if not used.any():
                break
    return result
