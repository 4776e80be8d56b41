# SPDX-License-Identifier: GPL-3.0-or-later
"""Reset the parameters of keys to the defaults."""

from __future__ import annotations

import bpy

from ..animation.edit.parameters.set_parameters import reset
from ..animation.translation import rpt_
from ..ui import selection
from ..ui.reporting import NO_OWN_KEY_SELECTED, Status, finish, for_each_of, poll_keys


class TCB_OT_key_reset(bpy.types.Operator):
    """Reset these keys to the default parameters"""

    bl_idname = "tcb.key_reset"
    bl_label = "Reset TCB Parameters"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_keys(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        report = for_each_of(selection.chosen_keys(context), reset)
        return finish(self, report, rpt_("Reset {:s}", report.counts), NO_OWN_KEY_SELECTED)
