# SPDX-License-Identifier: GPL-3.0-or-later
"""The maximum error allowed for a track's curves."""

from __future__ import annotations

from collections.abc import Sequence

from ....interp.fitting.curves import VALUE_TOLERANCE
from .protocol import Scope
from .splines import TrackSpline

_LEAST_RANGE = 1e-5
"""Relative to a track's largest value. Float32 can't represent a hundredth of this."""


def tolerance_of(scope: Scope, splines: Sequence[TrackSpline]) -> float:
    """Return the maximum error for the track's curves, in units of the property or in radians."""
    if scope.track.is_rotation:
        return scope.options.rotation_tolerance
    if scope.options.value_tolerance is not None:
        return scope.options.value_tolerance
    spread, size = (max(each) for each in zip(*(spline.extent for spline in splines), strict=True))
    return float(VALUE_TOLERANCE * max(spread, _LEAST_RANGE * size, 1e-30))
