# SPDX-License-Identifier: GPL-3.0-or-later
"""Defaults and choices of a reduction, as an operator and the command show them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from ..translation import n_

if TYPE_CHECKING:
    from ...interp.fitting.reduction import Method

ERROR = 0.005
"""Units: half a centimetre in metres."""
ANGLE = math.radians(0.5)

Together = Literal["TRACK", "BONE", "COLLECTION", "POSE"]
"""What has its keys at common frames."""
TOGETHER: dict[Together, tuple[str, str]] = {
    "TRACK": (n_("Each Track"), n_("Location, rotation and scale have keys of their own")),
    "BONE": (n_("Each Bone"), n_("Location, rotation and scale of a bone, or an object, have their keys in common")),
    "COLLECTION": (n_("Bone Collections"), n_("All bones of a collection have their keys in common, such as a hand")),
    "POSE": (n_("Whole Poses"), n_("Common keys for all bones of an armature, or tracks of an object")),
}
"""Names and descriptions."""


KEY_METHODS: dict[Method, tuple[str, str]] = {
    "TCB": (n_("TCB"), n_("Keys with tension and bias, to edit with the sliders")),
    "HERMITE": (n_("Hermite"), n_("Keys with velocities: the fewest keys, without sliders")),
}
"""Names and descriptions of what plays the keys."""
