# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class for splines of values with independent components."""

from __future__ import annotations

import math
from collections.abc import Hashable

from .base_spline import BaseSpline
from .cubics import Cubics, PiecewisePolynomial, polynomials
from .keys import Float64Array


class ComponentSpline(BaseSpline):
    """Base class for splines of values with independent components.

    Parameters
    ----------
    keys : Keys
        Values of shape (n, d).
    cycle : "SINGLE", "REPEAT" or "LOOP"
        Outside the keys, hold the end values, repeat the motion, or repeat it smoothly across the seam.
    """

    @property
    def loop_gap(self) -> float:
        """Return the distance between the values of the first and last keys (0 for a closed loop)."""
        return math.hypot(*(self.keys.values[-1] - self.keys.values[0]).tolist())

    @property
    def batch(self) -> Hashable:
        """Return the batch identifier. Tracks with the same number of components are computed together."""
        return type(self), self.keys.values.shape[1]

    def to_ppoly(self) -> PiecewisePolynomial:
        """Return the spline as piecewise polynomials in the frame, including ease and the motion outside the keys.

        Raises
        ------
        ValueError
            If the segments are not cubics (`is_cubic` is False).

        Notes
        -----
        The error is twice the error of direct evaluation. Source: docs/formulas, "Hermite cubics" and "Ease".
        """
        curve = self.prepared.curve
        if not isinstance(curve, Cubics):
            raise ValueError(f"{type(self).__module__.rsplit('.')[-1]} has no segments that are cubic in the frame")
        frames = self.keys.frames
        period = None if self.cycle == "SINGLE" or len(frames) == 1 else float(frames[-1] - frames[0])
        return polynomials(curve, self.prepared.local_parameter, frames, period)

    def antiderivative(self, n: int = 1) -> PiecewisePolynomial:
        """Return the n-th antiderivative, which is 0 at the first key.

        Raises
        ------
        ValueError
            If the segments are not cubics, or the spline is a cycle, which has no piecewise antiderivative.
        """
        return self.to_ppoly().antiderivative(n)

    def integrate(self, a: float, b: float, extrapolate: bool = False) -> Float64Array:
        """Return the integral from frame `a` to frame `b`, shape (d,).

        Outside the keys, the held, repeated or extrapolated motion is integrated.

        Raises
        ------
        ValueError
            If the segments are not cubics, or `a` or `b` is not a finite frame.
        """
        return self.to_ppoly().integrate(a, b, extrapolate)
