# SPDX-License-Identifier: GPL-3.0-or-later
"""End conditions of C2 cubics of values, as in scipy's CubicSpline. Source: docs/formulas, "Ends of C2 cubics"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from .arguments import checked_choice, checked_whole
from .cubic_equations import c2_slopes
from .key_batch import KeyBatch
from .keys import Float64Array, Keys, numbers

EndName = Literal["NOT_A_KNOT", "NATURAL", "CLAMPED"]
End = EndName | tuple[int, npt.ArrayLike]
"""The condition at an end, as in scipy's CubicSpline. A pair gives the order of a derivative, 1 or 2, and its value."""


@dataclass(frozen=True)
class Condition:
    """A condition at an end: a derivative's value, or the third derivative's continuity at the next key (order 3).

    If `parabola` is true, the second derivative is constant instead. In a track of three keys, this replaces one of two
    identical conditions.
    """

    order: int
    value: Float64Array
    parabola: bool = False

    def equation(
        self, lengths: Float64Array, chords: Float64Array, solutions: Float64Array, sign: float
    ) -> tuple[Float64Array, Float64Array]:
        """Return the coefficients of the two end slopes, and the right-hand side for each component.

        `lengths`, `chords` and `solutions` run from the end inward. `solutions` contains the slopes of the components
        with ends at rest, then the slopes that result from a slope of 1 at each end. `sign` is -1 at the last key,
        where frames run backward.
        """
        slope, mean = solutions[:, :3], chords / lengths
        if self.order == 1:
            left, right = slope[:, 0], self.value
        elif self.order == 2:
            left = sign * -(4.0 * slope[:, 0] + 2.0 * slope[:, 1]) / lengths[0]
            right = self.value - sign * 6.0 * mean[:, 0] / lengths[0]
        elif self.parabola:
            left, right = slope[:, 0] + slope[:, 1], 2.0 * mean[:, 0]
        else:
            # The third derivatives of both segments, divided by 6.
            weight, next_weight = 1.0 / lengths[0] ** 2, 1.0 / lengths[1] ** 2
            left = (slope[:, 0] + slope[:, 1]) * weight - (slope[:, 1] + slope[:, 2]) * next_weight
            right = 2.0 * (mean[:, 0] * weight - mean[:, 1] * next_weight)
        return left[-2:], right - left[:-2]


def checked_ends(ends: object, keys: Keys) -> tuple[Condition, Condition]:
    """Return the conditions at both ends, or raise a TypeError or ValueError that names the argument."""
    if not isinstance(ends, tuple | list) or len(ends) != 2:
        ends = ends, ends
    elif not isinstance(ends[0], tuple | list | str):
        raise TypeError(f"ends must be one condition, or one condition per end, not {ends!r}")
    return _checked_end("ends[0]", ends[0], keys), _checked_end("ends[1]", ends[1], keys)


def _checked_end(name: str, end: object, keys: Keys) -> Condition:
    """Return the condition at one end, or raise TypeError or ValueError."""
    components = keys.values.shape[1]
    if isinstance(end, str):
        checked_choice(name, end, ("NOT_A_KNOT", "NATURAL", "CLAMPED"))
        if end == "NOT_A_KNOT" and len(keys) == 2:
            return Condition(1, (keys.values[1] - keys.values[0]) / (keys.frames[1] - keys.frames[0]))
        return Condition({"CLAMPED": 1, "NATURAL": 2, "NOT_A_KNOT": 3}[end], np.zeros(components))
    if not isinstance(end, tuple | list) or len(end) != 2:
        raise TypeError(f"{name} must be NOT_A_KNOT, NATURAL, CLAMPED, or an order and a derivative, not {end!r}")
    order = checked_whole(name, end[0])
    if order not in (1, 2):
        raise ValueError(f"{name} must specify the derivative of order 1 or 2, not {order}")
    value = numbers(name, end[1])
    if value.shape not in ((), (components,)) or not np.isfinite(value).all():
        raise ValueError(f"{name} must be a finite derivative for each of {components} components, not {end[1]!r}")
    return Condition(order, np.broadcast_to(value, (components,)).copy())


def c2_slopes_with_ends(
    tracks: KeyBatch, values: Float64Array, ends: Sequence[tuple[Condition, Condition]]
) -> Float64Array:
    """Return the slopes of C2 cubics with any condition at the ends of each track, shape (d, K).

    The slopes are linear functions of the slopes at both ends, and so are the conditions, which gives two equations per
    track. The equations are derived from the solution for ends at rest and its sensitivity to each end slope
    (docs/formulas, "Ends of C2 cubics").
    """
    components, (first, last) = len(values), tracks.open
    # The slopes of two more components, which have a slope of 1 at first or last keys and no motion, are sensitivities.
    end_slopes = np.zeros((components + 2, len(tracks.frames)))
    end_slopes[components, first] = end_slopes[components + 1, last] = 1.0
    all_values = np.concatenate([values, np.zeros((2, len(tracks.frames)))])
    solutions = c2_slopes(tracks, all_values, "CLAMPED", end_slopes)
    slopes = solutions[:components].copy()
    conditions = dict(zip(tracks.first.tolist(), ends, strict=True))
    for start, end in zip(first.tolist(), last.tolist(), strict=True):
        keys = slice(start, end + 1)
        lengths, chords = np.diff(tracks.frames[keys]), np.diff(values[:, keys])
        at_ends = _end_slopes(conditions[start], lengths, chords, solutions[:, keys])
        slopes[:, keys] += at_ends.T @ solutions[components:, keys]
    return slopes


def _end_slopes(
    conditions: tuple[Condition, Condition], lengths: Float64Array, chords: Float64Array, solutions: Float64Array
) -> Float64Array:
    """Return the slopes at the first and last keys of a track for which both conditions hold, shape (2, d)."""
    at_first, at_last = conditions
    if len(lengths) == 2 and at_first.order == at_last.order == 3:
        # Both end conditions are the same, and the parabola through the keys satisfies it.
        at_last = replace(at_last, parabola=True)
    equations = [
        condition.equation(lengths[::step], chords[:, ::step], solutions[:, ::step], float(step))
        for condition, step in ((at_first, 1), (at_last, -1))
    ]
    matrix = np.array([coefficients for coefficients, _ in equations])
    return np.linalg.solve(matrix, np.array([right_side for _, right_side in equations]))
