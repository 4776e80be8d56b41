# SPDX-License-Identifier: GPL-3.0-or-later
"""Make tracks TCB."""

from __future__ import annotations

from .. import animation
from .on_selection import OnSelection


class TCB_OT_enable(OnSelection):
    """Give the keys of the selected objects (in Pose mode: bones) tension, continuity, bias and ease"""

    bl_idname = "tcb.enable"
    bl_label = "Enable TCB"

    work = staticmethod(animation.enable)
    done = "Enabled"
    otherwise = "Everything that is selected is TCB already"
