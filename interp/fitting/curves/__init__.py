# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit the fewest Bezier keys that play a spline within a tolerance, for many splines at once.

With handles at thirds of a segment, a channel plays a cubic in time. With exact values and derivatives at both keys,
the result is the Hermite cubic, which is exact for vector segments without ease. Eased segments and rotations are
divided by knots. Each piece is compared with the spline, with handles rounded as Blender stores them. Source:
docs/formulas, "Fitting curves".
"""

# The steps of a fit: `strands` lists the segments of all requests. `search` places knots until `cubics` finds
# each piece accurate enough. `fit` sorts the pieces by request, and turns their derivatives into handles.

from .fit import ROTATION_TOLERANCE, VALUE_TOLERANCE, Fit, Knots, fit_many, handles

__all__ = ["ROTATION_TOLERANCE", "VALUE_TOLERANCE", "Fit", "Knots", "fit_many", "handles"]
