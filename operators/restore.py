# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a bake away."""

from __future__ import annotations

import bpy

from .. import animation
from ..animation.translation import n_
from .on_selection import OnSelection


class TCB_OT_restore(OnSelection, bpy.types.Operator):
    """Take the motion of TCB away and put your own curves back, with what you changed since; parameters stay"""

    bl_idname = "tcb.restore"
    bl_label = "Restore"

    work = staticmethod(animation.restore)
    done = n_("Restored {:s}")
    works_on = "BAKED"
    nothing = n_("Nothing that is selected is baked")
