# SPDX-License-Identifier: GPL-3.0-or-later
"""The fewest Bezier keys that play a spline within a tolerance, for many splines at once.

Between two keys a channel plays a cubic in time if its handles are at thirds of the segment, and with the exact values
and derivatives at both keys that cubic is Hermite's. A vector segment without ease is such a cubic already. The others,
eased segments and rotations, are divided by knots; each piece is compared with the spline itself, with handles rounded
as Blender stores them. The length of a quaternion means nothing, so its knots may have another length where that saves
one. Source: docs/formulas, "Fitting curves".
"""

# The steps of a fit: `strands` lists the segments of all requests. `fewest_pieces` divides them until each piece is
# good, where `cubics` measures, and `knots` places and balances the knots by `subdivision`. `fit` sorts the pieces by
# request.

from .fit import ROTATION_TOLERANCE, VALUE_TOLERANCE, Fit, Knots, fit_many, handles

__all__ = ["ROTATION_TOLERANCE", "VALUE_TOLERANCE", "Fit", "Knots", "fit_many", "handles"]
