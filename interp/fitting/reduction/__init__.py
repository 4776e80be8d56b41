# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the fewest keys that reproduce a densely sampled motion within a tolerance.

Many tracks of values and rotations are reduced at once, to keys with velocities or with tension and bias. Source:
docs/formulas, "Fewest keys".
"""

from .fewest_keys import part_of_steps
from .joints import Joint
from .noise_and_rest import limits_while_still, low_pass, stand_still
from .recovered_keys import RecoveredKeys, recover_keys
from .reduce_skeleton import reduce_skeleton
from .reduce_tracks import Reduced, SampledTracks, divided, reduce_tracks, reduce_tracks_steps
from .skeleton import Skeleton
from .windows import Method

__all__ = [
    "Joint",
    "Method",
    "RecoveredKeys",
    "Reduced",
    "SampledTracks",
    "Skeleton",
    "divided",
    "limits_while_still",
    "low_pass",
    "part_of_steps",
    "recover_keys",
    "reduce_skeleton",
    "reduce_tracks",
    "reduce_tracks_steps",
    "stand_still",
]
