# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions at the ends of C2 cubic splines, as in scipy's CubicSpline.

Source: docs/formulas, "Ends of C2 cubics".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from .arguments import checked_choice, checked_numbers, checked_whole
from .cubic_equations import c2_slopes
from .key_batch import KeyBatch
from .keys import Float64Array, Keys

EndName = Literal["NOT_A_KNOT", "NATURAL", "CLAMPED"]
End = EndName | tuple[int, npt.ArrayLike]
"""The condition at an end. A pair gives the order of a derivative, 1 or 2, and its value."""
_ORDERS = {"CLAMPED": 1, "NATURAL": 2, "NOT_A_KNOT": 3}


@dataclass(frozen=True)
class EndCondition:
    """The derivative of order 1 or 2 at an end has a value (d,), or order 3 is continuous at the next key."""

    order: int
    value: Float64Array


def checked_ends(ends: object, keys: Keys) -> tuple[EndCondition, EndCondition]:
    """Return the conditions at both ends, or raise a TypeError or ValueError that names the argument."""
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        ends = ends, ends
    elif not isinstance(ends[0], tuple | list | str):
        raise TypeError(f"ends must be one condition, or one condition per end, not {ends!r}")
    return _checked_end("ends[0]", ends[0], keys), _checked_end("ends[1]", ends[1], keys)


def _checked_end(name: str, end: object, keys: Keys) -> EndCondition:
    """Return the condition at one end, or raise TypeError or ValueError."""
    components = keys.values.shape[1]
    if isinstance(end, str):
        checked_choice(name, end, get_args(EndName))
        if end == "NOT_A_KNOT" and len(keys) == 2:
            return EndCondition(1, (keys.values[1] - keys.values[0]) / (keys.frames[1] - keys.frames[0]))
        return EndCondition(_ORDERS[end], np.zeros(components))
    if not isinstance(end, tuple | list) or len(end) != 2:
        raise TypeError(f"{name} must be NOT_A_KNOT, NATURAL, CLAMPED, or an order and a derivative, not {end!r}")
    order = checked_whole(name, end[0])
    if order not in (1, 2):
        raise ValueError(f"{name} must specify the derivative of order 1 or 2, not {order}")
    value = checked_numbers(name, end[1])
    if value.shape not in ((), (components,)) or not np.isfinite(value).all():
        raise ValueError(f"{name} must be a finite derivative for each of {components} components, not {end[1]!r}")
    return EndCondition(order, np.broadcast_to(value, (components,)).copy())


def c2_slopes_with_ends(
    tracks: KeyBatch, values: Float64Array, ends: Sequence[tuple[EndCondition, EndCondition]]
) -> Float64Array:
    """Return the slopes of C2 cubics with any condition at the ends of each track, shape (d, K).

    The slopes are linear functions of the slopes at both ends, and so are the conditions, which gives two equations per
    track. The equations are derived from the solution for ends at rest and its sensitivity to each end slope.
    """
    components, (first, last) = len(values), tracks.open_ends
    # The slopes of two more components, which have a slope of 1 at first or last keys and no motion, are sensitivities.
    end_slopes = np.zeros((components + 2, len(tracks.frames)))
    end_slopes[components, first] = end_slopes[components + 1, last] = 1.0
    all_values = np.concatenate([values, np.zeros((2, len(tracks.frames)))])
    solutions = c2_slopes(tracks, all_values, end_slopes)
    slopes = solutions[:components].copy()
    conditions = dict(zip(tracks.first.tolist(), ends, strict=True))
    for start, end in zip(first.tolist(), last.tolist(), strict=True):
        keys = slice(start, end + 1)
        lengths, chords = np.diff(tracks.frames[keys]), np.diff(values[:, keys])
        slopes_at_ends = _slopes_at_ends(conditions[start], lengths, chords, solutions[:, keys])
        slopes[:, keys] += slopes_at_ends.T @ solutions[components:, keys]
    return slopes


def _slopes_at_ends(
    conditions: tuple[EndCondition, EndCondition], lengths: Float64Array, chords: Float64Array, solutions: Float64Array
) -> Float64Array:
    """Return the slopes at the first and last keys of a track for which both conditions hold, shape (2, d)."""
    at_first, at_last = conditions
    equations = [
        _equation(at_first, lengths, chords, solutions, 1.0),
        _equation(at_last, lengths[::-1], chords[:, ::-1], solutions[:, ::-1], -1.0),
    ]
    if len(lengths) == 2 and at_first.order == at_last.order == 3:
        # Both conditions are the same. With a constant second derivative, the parabola through the keys satisfies them.
        left = solutions[:, -1] + solutions[:, -2]
        right = 2.0 * chords[:, -1] / lengths[-1]
        equations[1] = left[-2:], right - left[:-2]
    matrix = np.array([coefficients for coefficients, _ in equations])
    return np.linalg.solve(matrix, np.array([right_side for _, right_side in equations]))


def _equation(
    condition: EndCondition, lengths: Float64Array, chords: Float64Array, solutions: Float64Array, sign: float
) -> tuple[Float64Array, Float64Array]:
    """Return the coefficients (2,) of the two end slopes, and the right-hand side (d,).

    `lengths` (n - 1,), `chords` (d, n - 1) and `solutions` (d + 2, n) run from the end inward. `solutions` contains the
    slopes of the components with ends at rest, then the slopes that result from a slope of 1 at each end. `sign` is -1
    at the last key, where frames run backward.
    """
    slopes, means = solutions[:, :3], chords / lengths
    if condition.order == 1:
        left, right = slopes[:, 0], condition.value
    elif condition.order == 2:
        left = sign * -(4.0 * slopes[:, 0] + 2.0 * slopes[:, 1]) / lengths[0]
        right = condition.value - sign * 6.0 * means[:, 0] / lengths[0]
    else:
        # The third derivatives of both segments, divided by 6.
        weight, next_weight = 1.0 / lengths[0] ** 2, 1.0 / lengths[1] ** 2
        left = (slopes[:, 0] + slopes[:, 1]) * weight - (slopes[:, 1] + slopes[:, 2]) * next_weight
        right = 2.0 * (means[:, 0] * weight - means[:, 1] * next_weight)
    return left[-2:], right - left[:-2]
