# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear interpolation of values, and of rotations along great-circle arcs (slerp), both at constant speed.

Source: docs/formulas, "Linear".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base_spline import ComponentSpline, Method
from ..cubics import Cubics
from ..keys import Float64Array, KeyBatch
from ..messages import n_
from ..rotations.base_rotation_spline import TurnedSpline, turns_between_keys
from ..rotations.curves import RotationVectors


class VectorSpline(ComponentSpline):
    """Linear spline of values.

    Parameters
    ----------
    keys, cycle
        See `ComponentSpline`. Loops also have corners at keys.

    Notes
    -----
    The error is below 1e-15 times the track's largest value.
    """

    @classmethod
    def curve(cls, splines: Sequence[VectorSpline], tracks: KeyBatch) -> Cubics:
        p = tracks.columns
        end = p[:, tracks.segment_end]
        return Cubics(p, end, end - p, end - p)


class RotationSpline(TurnedSpline):
    """Linear spline of rotations, which turns about one axis at a constant speed between keys (slerp).

    Parameters
    ----------
    keys, cycle, path
        See `OrientationSpline`. Loops also have corners at keys.

    Notes
    -----
    The error of a sample is below 1e-14. For a literal arc of nearly 360 degrees, this bound is multiplied by 1 / (pi -
    angle), where `angle` is half the rotation angle. For turns that include full turns, the error is 1e-15 times their
    angle.
    """

    @classmethod
    def sphere_curve(cls, splines: Sequence[RotationSpline], tracks: KeyBatch) -> RotationVectors:
        start, onward = turns_between_keys(splines, tracks)
        return RotationVectors(start, onward[np.newaxis])

    @classmethod
    def value_curve(
        cls, splines: Sequence[RotationSpline], tracks: KeyBatch, values: Float64Array, rates: Float64Array
    ) -> Cubics:
        return VectorSpline.curve([], replace(tracks, values=values.T))


METHOD = Method(
    "LINEAR",
    n_("Linear"),
    n_("Straight lines between keys, without smoothing or overshoot"),
    VectorSpline,
    RotationSpline,
    rotation_options=("path",),
)
