# SPDX-License-Identifier: GPL-3.0-or-later
"""Provide C2 cubic splines with clamped ends (given velocities), natural ends (zero curvature) or other conditions.

Source: docs/formulas, "C2 cubics" and "C2 rotations".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy.typing as npt

from ..base_splines import ComponentSpline
from ..batch import Continuity, Cycle, KeyBatch, Method
from ..cubic_equations import Condition, End, EndName, c2_slopes, c2_slopes_with_ends, c2_velocities, checked_ends
from ..cubics import Cubics
from ..keys import Keys
from ..messages import n_
from ..rotations.orientations import Path
from ..rotations.rotation_vectors import RotationVectors, SolvedSpline
from . import hermite

if TYPE_CHECKING:
    from typing import Self

# Radians. With turns of up to this angle between keys, all tested keys had a solution. At 2.4 some had none.
_CERTAIN_TURN = 1.7


class NaturalVectorSpline(ComponentSpline):
    """Represent a track of numbers with a continuous second derivative that is 0 at the first and last key.

    Parameters
    ----------
    keys, cycle
        See `components.ComponentSpline`. The first and second derivatives of a loop are continuous across the seam.
        A loop of two keys repeats.

    Notes
    -----
    At keys with an ease the spline is only C1. The error of a value is below 1e-13 times the track's largest value,
    slope times segment length, or second derivative times length squared. The error of a derivative of order k is this
    error over the k-th power of the shortest segment length. Source: docs/formulas, "C2 cubics".
    """

    continuity: Continuity = "C2"
    support = None
    is_cubic = True

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Cubics:
        values = tracks.columns
        return Cubics.through(tracks, values, c2_slopes(tracks, values, "NATURAL"))


class ClampedVectorSpline(hermite.VectorSpline):
    """Represent a track of numbers with a continuous second derivative and given velocities at its ends.

    Parameters
    ----------
    keys, cycle
        See `NaturalVectorSpline`. A loop of more than two keys ignores velocities.
    velocities : array_like, shape (n, d), or (n,) for one component, or None
        Velocities per frame. Only the first and last velocities are used. With None, the motion starts and ends at
        rest.

    Raises
    ------
    KeysError
        If velocities are not finite or do not have one row per key.

    Notes
    -----
    The error bounds are the same as for `NaturalVectorSpline`. Source: docs/formulas, "C2 cubics".
    """

    continuity: Continuity = "C2"
    support = None

    @classmethod
    def curve(cls, splines: Sequence[hermite.VectorSpline], tracks: KeyBatch) -> Cubics:
        values = tracks.columns
        return Cubics.through(tracks, values, c2_slopes(tracks, values, "CLAMPED", hermite.velocities_of(splines)))


class VectorSpline(ComponentSpline):
    """Represent a track of numbers with a continuous second derivative and any end conditions, as in scipy.

    Parameters
    ----------
    keys, cycle
        See `NaturalVectorSpline`. A loop of more than two keys ignores `ends` and equals scipy's "periodic".
    ends : str, or a pair of conditions
        The condition at both ends, or a pair for the first and last key. With "NOT_A_KNOT", the two segments at an end
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
    >>> from interp.splines import cubic
    >>> spline = cubic.VectorSpline(Keys([0, 1, 2, 4], [0, 1, 8, 64]))  # reproduces the cubic
    >>> spline([3.0, 5.0], extrapolate=True).ravel()
    array([ 27., 125.])
    """

    continuity: Continuity = "C2"
    support = None
    is_cubic = True
    ends: tuple[Condition, Condition]

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE", ends: EndName | tuple[End, End] = "NOT_A_KNOT") -> None:
        super().__init__(keys, cycle)
        self._set(ends=checked_ends(ends, keys))

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> Cubics:
        values = tracks.columns
        return Cubics.through(tracks, values, c2_slopes_with_ends(tracks, values, [each.ends for each in splines]))


class NaturalRotationSpline(SolvedSpline):
    """Represent a track of rotations with a continuous angular acceleration that is 0 at the first and last key.

    Parameters
    ----------
    keys, cycle, path
        See `rotation_vectors.TurningSpline`, and `NaturalVectorSpline` for loops.

    Raises
    ------
    KeysError
        If `rotation_vectors.TurningSpline` raises it, or for some turns of more than 120 degrees between keys about
        changing axes. See `cubic_equations.c2_velocities`.

    Notes
    -----
    The error of a sample is below 1e-13. The error of an angular velocity is below 1e-13 times *W*, where *W* is the
    largest angular velocity plus one radian per shortest segment. The error of an angular acceleration is below 1e-13
    over the square of that segment's length. These bounds hold for steps of up to 115 degrees and segments whose
    lengths differ by less than ten times. Compared with the equations solved at 50 digits, the largest error was 3e-15.
    The difference from scipy's RotationSpline is 1e-11 if scipy iterates to convergence. RotationSpline stops at an
    error of 1e-9, and its closed forms lose digits at turns of less than a few hundredths of a radian. For rotation
    about one axis, it is the spline of the angle, including full turns. Source: docs/formulas, "C2 rotations".
    """

    continuity: Continuity = "C2"
    support = None
    certain_turn = _CERTAIN_TURN

    def __init__(self, keys: Keys, cycle: Cycle = "SINGLE", path: Path = "SHORTEST") -> None:
        super().__init__(keys, cycle, path)
        self.check()

    @classmethod
    def curve(cls, splines: Sequence[Self], tracks: KeyBatch) -> RotationVectors:
        turns = cls.turns(splines, tracks)
        return RotationVectors.through_keys(turns, tracks, c2_velocities(tracks, turns, "NATURAL"))


class ClampedRotationSpline(SolvedSpline, hermite.RotationSpline):
    """Represent a track of rotations with a continuous angular acceleration and given velocities at its ends.

    Parameters
    ----------
    keys, cycle, path
        See `rotation_vectors.TurningSpline`. A loop of more than two keys ignores velocities.
    velocities : array_like, shape (n, 3), or None
        Angular velocities in the parent frame, in radians per frame. Only the first and last velocities are used. With
        None, the motion starts and ends at rest. With the mean velocities of the first and last turn it equals scipy's
        RotationSpline.

    Raises
    ------
    KeysError
        If `NaturalRotationSpline` raises it, or velocities are not finite or do not have one row per key.

    Notes
    -----
    The error bounds are the same as for `NaturalRotationSpline`.
    """

    continuity: Continuity = "C2"
    support = None
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
        turns, velocities = cls.turns(splines, tracks), hermite.velocities_of(splines)
        return RotationVectors.through_keys(turns, tracks, c2_velocities(tracks, turns, "CLAMPED", velocities))


CLAMPED = Method(
    "CUBIC_CLAMPED",
    n_("Cubic, Clamped"),
    n_("Continuous acceleration. First and last key have their own velocities"),
    ClampedVectorSpline,
    ClampedRotationSpline,
    value_options=("velocities",),
    rotation_options=("path", "velocities"),
)
NATURAL = Method(
    "CUBIC_NATURAL",
    n_("Cubic, Natural"),
    n_("Continuous acceleration. Zero acceleration at both ends"),
    NaturalVectorSpline,
    NaturalRotationSpline,
    rotation_options=("path",),
)
