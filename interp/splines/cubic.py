# SPDX-License-Identifier: GPL-3.0-or-later
"""C2 cubic splines with natural ends (second derivative 0), clamped ends (given velocities) or other end conditions.

Source: docs/formulas, "C2 cubics", "Ends of C2 cubics" and "C2 rotations".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from ..arguments import checked_choice, checked_numbers, checked_whole
from ..base_spline import ComponentSpline, Cycle, Method
from ..cubic_equations import c2_slopes, c2_velocities
from ..cubics import Cubics
from ..keys import Float64Array, KeyBatch, Keys
from ..messages import n_
from ..rotations.base_rotation_spline import Path, SolvedSpline, turns_between_keys
from ..rotations.curves import RotationVectors
from . import hermite

if TYPE_CHECKING:
    from typing import Self

# With turns of up to this angle (97 degrees), all tested keys had a solution. Above 120 degrees, some had none.
_CERTAIN_TURN = 1.7

EndName = Literal["NOT_A_KNOT", "NATURAL", "CLAMPED"]
End = EndName | tuple[int, npt.ArrayLike]
"""The condition at an end. A pair gives the order of a derivative, 1 or 2, and its value."""
_END_ORDERS = {"CLAMPED": 1, "NATURAL": 2, "NOT_A_KNOT": 3}


@dataclass(frozen=True)
class EndCondition:
    """The derivative of order 1 or 2 at an end has a value (d,), or order 3 is continuous at the next key."""

    order: int
    value: Float64Array


class NaturalVectorSpline(ComponentSpline):
    """Natural cubic spline of values, whose continuous second derivative is 0 at the first and last keys.

    Parameters
    ----------
    keys, cycle
        See `ComponentSpline`. The first and second derivatives of a loop are continuous across the
        seam. A loop of two keys repeats instead.

    Notes
    -----
    At keys with an ease, the spline is only C1. The error in a value is below 1e-13 times the track's largest value,
    slope times segment length, or second derivative times squared segment length. The error in a derivative of order k
    is below this bound divided by the k-th power of the shortest segment length. Source: docs/formulas, "C2 cubics".
    """

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Cubics:
        values = tracks.columns
        return Cubics.through(tracks, values, c2_slopes(tracks, values))


class ClampedVectorSpline(hermite.VectorSpline):
    """Clamped cubic spline of values, with a continuous second derivative and given velocities at the ends.

    Parameters
    ----------
    keys, cycle
        See `NaturalVectorSpline`. A loop of more than two keys ignores velocities.
    velocities : array_like, shape (n, d), or (n,) for one component, or None
        Velocities per frame. Only the first and last velocities are used. If None, the motion starts and ends at rest.

    Raises
    ------
    KeysError
        If velocities are not finite or do not have one row per key.

    Notes
    -----
    The error bounds are the same as for `NaturalVectorSpline`. Source: docs/formulas, "C2 cubics".
    """

    @classmethod
    def curve(cls, splines: Sequence[hermite.VectorSpline], tracks: KeyBatch) -> Cubics:
        values = tracks.columns
        return Cubics.through(tracks, values, c2_slopes(tracks, values, hermite.velocities_of(splines)))


class VectorSpline(ComponentSpline):
    """C2 cubic spline of values with any end conditions, as in scipy's CubicSpline.

    Parameters
    ----------
    keys, cycle
        See `NaturalVectorSpline`. A loop of more than two keys ignores `ends` and equals scipy's "periodic".
    ends : str, or a pair of conditions
        The condition at both ends, or a pair for the first and last keys. With "NOT_A_KNOT", the two segments at an end
        are one cubic, two keys give a line, and three keys give a parabola. With "NATURAL", the second derivative is 0.
        With "CLAMPED", the end is at rest. A pair can also contain ``(1, slope)`` or ``(2, second derivative)`` with
        one number, or one per component.

    Raises
    ------
    TypeError, ValueError
        If `ends` is invalid.

    Notes
    -----
    The error bounds are the same as for `NaturalVectorSpline`. Source: docs/formulas, "Ends of C2 cubics".

    Examples
    --------
    >>> from tcb_splines.splines import cubic
    >>> spline = cubic.VectorSpline(Keys([0, 1, 2, 4], [0, 1, 8, 64]))  # reproduces the cubic
    >>> spline([3.0, 5.0], extrapolate=True).ravel()
    array([ 27., 125.])
    """

    ends: tuple[EndCondition, EndCondition]

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE", ends: EndName | tuple[End, End] = "NOT_A_KNOT") -> None:
        super().__init__(keys, cycle)
        self._set(ends=_checked_ends(ends, keys))

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Cubics:
        values = tracks.columns
        return Cubics.through(tracks, values, _c2_slopes_with_ends(tracks, values, [spline.ends for spline in splines]))


class NaturalRotationSpline(SolvedSpline):
    """Natural cubic spline of rotations, whose continuous angular acceleration is 0 at the first and last keys.

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`, and `NaturalVectorSpline` for loops.

    Raises
    ------
    KeysError
        If `OrientationSpline` raises the error, or no angular velocities are found. None are found for some tracks that
        turn by more than 120 degrees between keys, with a different axis each time. The same applies to some tracks
        whose segment lengths differ by a factor of more than 10.

    Notes
    -----
    The error of a sample is below 1e-13. The error in an angular velocity is below 1e-13 times *W*, where *W* is the
    largest angular velocity plus one radian per shortest segment length. The error in an angular acceleration is below
    1e-13 divided by the square of the shortest segment length. These bounds hold for turns of up to 115 degrees and
    segment lengths that differ by a factor of less than ten. The largest difference from a solution with 50 digits was
    3e-15. The difference from scipy's RotationSpline is 1e-11 if scipy iterates to convergence. By default,
    RotationSpline stops at an error of 1e-9. The closed forms in scipy lose digits at turns of less than a few
    hundredths of a radian. For rotation about one axis, the motion is the spline of the angle, including full turns.
    Source: docs/formulas, "C2 rotations".
    """

    certain_turn = _CERTAIN_TURN

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE", path: Path = "SHORTEST") -> None:
        super().__init__(keys, cycle, path)
        self.check()

    @classmethod
    def sphere_curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> RotationVectors:
        turns = turns_between_keys(splines, tracks)
        return RotationVectors.through_keys(turns, tracks, c2_velocities(tracks, turns))

    @classmethod
    def value_curve(
        cls, splines: Sequence[Self], tracks: KeyBatch, values: Float64Array, rates: Float64Array
    ) -> Cubics:
        return Cubics.through(tracks, values, c2_slopes(tracks, values))


class ClampedRotationSpline(SolvedSpline, hermite.RotationSpline):
    """Clamped cubic spline of rotations, with a continuous angular acceleration and given velocities at the ends.

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`. A loop of more than two keys ignores velocities.
    velocities : array_like, shape (n, 3), or None
        Angular velocities in the parent frame, in radians per frame. Only the first and last velocities are used. If
        None, the motion starts and ends at rest. With the mean velocities of the first and last turns, the spline
        equals scipy's RotationSpline.

    Raises
    ------
    KeysError
        If `NaturalRotationSpline` raises the error, or velocities are not finite or do not have one row per key.

    Notes
    -----
    The error bounds are the same as for `NaturalRotationSpline`.
    """

    certain_turn = _CERTAIN_TURN

    def __init__(
        self,
        keys: Keys,
        cycle: Cycle = "SINGLE",
        path: Path = "SHORTEST",
        velocities: npt.ArrayLike | None = None,
    ) -> None:
        hermite.RotationSpline.__init__(self, keys, cycle, path, velocities)
        self.check()

    @classmethod
    def sphere_curve(cls, splines: Sequence[hermite.RotationSpline], tracks: KeyBatch) -> RotationVectors:
        turns = turns_between_keys(splines, tracks)
        velocities = c2_velocities(tracks, turns, hermite.velocities_of(splines))
        return RotationVectors.through_keys(turns, tracks, velocities)

    @classmethod
    def value_curve(
        cls, splines: Sequence[hermite.RotationSpline], tracks: KeyBatch, values: Float64Array, rates: Float64Array
    ) -> Cubics:
        return Cubics.through(tracks, values, c2_slopes(tracks, values, rates))


def _checked_ends(ends: object, keys: Keys) -> tuple[EndCondition, EndCondition]:
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
        return EndCondition(_END_ORDERS[end], np.zeros(components))
    if not isinstance(end, tuple | list) or len(end) != 2:
        raise TypeError(f"{name} must be NOT_A_KNOT, NATURAL, CLAMPED, or an order and a derivative, not {end!r}")
    order = checked_whole(name, end[0])
    if order not in (1, 2):
        raise ValueError(f"{name} must specify the derivative of order 1 or 2, not {order}")
    value = checked_numbers(name, end[1])
    if value.shape not in ((), (components,)) or not np.isfinite(value).all():
        raise ValueError(f"{name} must be a finite derivative for each of {components} components, not {end[1]!r}")
    return EndCondition(order, np.broadcast_to(value, (components,)).copy())


def _c2_slopes_with_ends(
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


NATURAL = Method(
    "CUBIC_NATURAL",
    n_("Cubic, Natural"),
    n_("Continuous acceleration. Zero acceleration at both ends"),
    NaturalVectorSpline,
    NaturalRotationSpline,
    rotation_options=("path",),
)
CLAMPED = Method(
    "CUBIC_CLAMPED",
    n_("Cubic, Clamped"),
    n_("Continuous acceleration. The first and last keys have their own velocities"),
    ClampedVectorSpline,
    ClampedRotationSpline,
    value_options=("velocities",),
    rotation_options=("path", "velocities"),
)
