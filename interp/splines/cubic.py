# SPDX-License-Identifier: GPL-3.0-or-later
"""C2 cubic splines with natural ends (second derivative 0), clamped ends (given velocities) or other end conditions.

Source: docs/formulas, "C2 cubics" and "C2 rotations".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy.typing as npt

from ..base_spline import ComponentSpline, Cycle, Method
from ..cubic_ends import End, EndCondition, EndName, c2_slopes_with_ends, checked_ends
from ..cubic_equations import c2_slopes, c2_velocities
from ..cubics import Cubics
from ..key_batch import KeyBatch
from ..keys import Keys
from ..messages import n_
from ..rotations.base_rotation_spline import Path
from ..rotations.rotation_vectors import RotationVectors, SolvedSpline, turns_between_keys
from . import hermite

if TYPE_CHECKING:
    from typing import Self

# With turns of up to this angle (97 degrees), all tested keys had a solution. Above 120 degrees, some had none.
_CERTAIN_TURN = 1.7


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

    is_cubic = True

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

    is_cubic = True
    ends: tuple[EndCondition, EndCondition]

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE", ends: EndName | tuple[End, End] = "NOT_A_KNOT") -> None:
        super().__init__(keys, cycle)
        self._set(ends=checked_ends(ends, keys))

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Cubics:
        values = tracks.columns
        return Cubics.through(tracks, values, c2_slopes_with_ends(tracks, values, [spline.ends for spline in splines]))


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
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> RotationVectors:
        turns = turns_between_keys(splines, tracks)
        return RotationVectors.through_keys(turns, tracks, c2_velocities(tracks, turns))


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
    def curve(cls, splines: Sequence[hermite.RotationSpline], tracks: KeyBatch) -> RotationVectors:
        turns = turns_between_keys(splines, tracks)
        velocities = c2_velocities(tracks, turns, hermite.velocities_of(splines))
        return RotationVectors.through_keys(turns, tracks, velocities)


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
