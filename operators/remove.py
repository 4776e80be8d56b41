# SPDX-License-Identifier: GPL-3.0-or-later
"""Make tracks ordinary again."""

from __future__ import annotations

import bpy

from .. import animation
from ..animation.translation import n_
from .on_selection import NOTHING_IS_TCB, OnSelection


class TCB_OT_remove(OnSelection, bpy.types.Operator):
    """Restore your own curves and delete all TCB data"""

    bl_idname = "tcb.remove"
    bl_label = "Remove TCB"

    work = staticmethod(animation.remove)
    done = n_("Removed TCB from {:s}")
    works_on = "TCB"
    nothing = NOTHING_IS_TCB
