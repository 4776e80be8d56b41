# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the motion as plain animation, without TCB."""

from __future__ import annotations

import bpy

from .. import animation
from ..animation.translation import n_
from .on_selection import NOTHING_IS_TCB, OnSelection


class TCB_OT_apply(OnSelection, bpy.types.Operator):
    """Keep the motion as plain animation and delete all TCB data"""

    bl_idname = "tcb.apply"
    bl_label = "Apply TCB"

    work = staticmethod(animation.apply)
    done = n_("Applied {:s}")
    works_on = "TCB"
    nothing = NOTHING_IS_TCB
