# SPDX-License-Identifier: GPL-3.0-or-later
"""The fewest keys with which dense samples of a motion are played within a tolerance.

Of numbers and of rotations, of many tracks at once, as Hermite's or as TCB keys. Source: docs/formulas.md,
"Fewest keys".
"""

from .noise import low_pass
from .reduce_skeleton import reduce_skeleton
from .skeleton import Joint, Skeleton
from .standing_still import limits_while_still, stand_still
from .tcb_curves import Method
from .tracks import Part, Reduced, divided, reduce_tracks

__all__ = [
    "Joint",
    "Method",
    "Part",
    "Reduced",
    "Skeleton",
    "divided",
    "limits_while_still",
    "low_pass",
    "reduce_skeleton",
    "reduce_tracks",
    "stand_still",
]
