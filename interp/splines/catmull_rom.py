# SPDX-License-Identifier: GPL-3.0-or-later
"""Catmull-Rom splines, whose velocities at the keys are central differences of the neighboring keys.

Source: docs/formulas, "Catmull-Rom" and "Cubics of rotation vectors". For uneven spacing, the method follows Barry and
Goldman. The velocity is the slope of the parabola through a key and its neighbors. If a fast segment is next to a slow
segment, the fast segment has the larger weight and causes overshoot. The difference over both intervals, ``(p[n+1] -
p[n-1]) / (F[n+1] - F[n-1])``, overshoots less. `tcb` uses this difference if all parameters are 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base_spline import ComponentSpline, Method
from ..cubics import Cubics
from ..keys import Float64Array, KeyBatch
from ..messages import n_
from ..rotations.base_rotation_spline import TurnedSpline, turns_between_keys
from ..rotations.curves import RotationVectors


def velocities(tracks: KeyBatch, before: Float64Array, after: Float64Array) -> Float64Array:
    """Return the velocities per frame at keys from the chords (d, K) before and after each key, shape (d, K).

    At the ends of a track that is not a loop, the chord on the side without a key is ignored. The velocity there is the
    slope of the parabola through the first or last three keys. With two keys, the velocity is the slope of the line.
    """
    slope_before, slope_after = tracks.slopes(before, after)
    share = tracks.share_before
    result: Float64Array = slope_before * (1.0 - share) + slope_after * share
    first, last = tracks.open_ends
    has_two_keys = last - first == 1
    line_first, line_last = slope_after[:, first], slope_before[:, last]
    result[:, first] = np.where(has_two_keys, line_first, 2.0 * line_first - result[:, first + 1])
    result[:, last] = np.where(has_two_keys, line_last, 2.0 * line_last - result[:, last - 1])
    return result


class VectorSpline(ComponentSpline):
    """Catmull-Rom spline of values, whose velocities at the keys are central differences.

    Parameters
    ----------
    keys, cycle
        See `ComponentSpline`.

    Notes
    -----
    Parabolas are reproduced for any spacing. Key values are exact. The error is below 1e-13 times the track's largest
    value or change in velocity within a segment.
    """

    @classmethod
    def curve(cls, splines: Sequence[VectorSpline], tracks: KeyBatch) -> Cubics:
        p = tracks.columns
        return Cubics.through(tracks, p, velocities(tracks, *tracks.chords(p)))


class RotationSpline(TurnedSpline):
    """Catmull-Rom spline of rotations, whose angular velocities at the keys are central differences.

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`.

    Notes
    -----
    The chords of the central differences are the rotation vectors between keys, in the parent frame. Each segment ends
    with the velocity at which the next segment starts, so the motion is C1. Holden's spline is not C1, because it
    treats each segment's end velocity as the derivative of its rotation vector. For turns about a single axis, both
    splines reduce to the vector spline of the angle. The error of a sample is below 1e-12. The error in angular
    velocities is below 1e-11 radians per segment length, and the error in angular accelerations is below 1e-11 radians
    per squared segment length. Both errors are multiplied by the largest velocity, in half turns per segment length, if
    that is above 1. For a literal arc of nearly 360 degrees, both errors are divided by pi - angle, where `angle` is
    half the rotation angle.
    """

    @classmethod
    def sphere_curve(cls, splines: Sequence[RotationSpline], tracks: KeyBatch) -> RotationVectors:
        turns = turns_between_keys(splines, tracks)
        before, after = (turns.onward[:, segments] for segments in tracks.segments_beside)
        return RotationVectors.through_keys(turns, tracks, velocities(tracks, before, after))

    @classmethod
    def value_curve(
        cls, splines: Sequence[RotationSpline], tracks: KeyBatch, values: Float64Array, rates: Float64Array
    ) -> Cubics:
        return Cubics.through(tracks, values, velocities(tracks, *tracks.segment_chords(values)))


METHOD = Method(
    "CATMULL_ROM",
    n_("Catmull-Rom"),
    n_("Velocity at each key, computed from the neighboring keys"),
    VectorSpline,
    RotationSpline,
    rotation_options=("path",),
)
