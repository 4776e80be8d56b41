# SPDX-License-Identifier: GPL-3.0-or-later
"""Key rotations in all their channels."""

from __future__ import annotations

import bpy

from .. import animation
from ..animation.translation import n_
from .on_selection import OnSelection


class TCB_OT_key_whole(OnSelection, bpy.types.Operator):
    """Make keys in all channels of a rotation where one has a key, as handles need it; the motion stays"""

    bl_idname = "tcb.key_whole"
    bl_label = "Key Whole Rotations"

    work = staticmethod(animation.key_whole)
    done = n_("Keyed whole {:s}")
    otherwise = n_("All rotations are keyed whole")
