# SPDX-License-Identifier: GPL-3.0-or-later
"""The fewest keys that reproduce a densely sampled motion within a tolerance.

For numbers and rotations, for many tracks at once, with velocities or with tension and bias. Source: docs/formulas,
"Fewest keys".
"""

from .few_keys import FewKeys, few_keys
from .noise import low_pass
from .reduce_skeleton import reduce_skeleton
from .skeleton import Joint, Skeleton
from .standing_still import limits_while_still, stand_still
from .tracks import Part, Reduced, divided, reduce_tracks, reduce_tracks_steps
from .windows import Method

__all__ = [
    "FewKeys",
    "Joint",
    "Method",
    "Part",
    "Reduced",
    "Skeleton",
    "divided",
    "few_keys",
    "limits_while_still",
    "low_pass",
    "reduce_skeleton",
    "reduce_tracks",
    "reduce_tracks_steps",
    "stand_still",
]
