# SPDX-License-Identifier: GPL-3.0-or-later
"""Make tracks TCB."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from .. import selection
from ..animation import enable
from .reporting import Status, finish, for_each, poll_selection


class TCB_OT_enable(bpy.types.Operator):
    """Give the keys of the selected objects (in Pose mode: bones) tension, continuity, bias and ease"""

    bl_idname = "tcb.enable"
    bl_label = "Enable TCB"
    bl_options = {"REGISTER", "UNDO"}

    use_data: BoolProperty(
        name="Object Data",
        description="Also what the objects are made of: cameras, lights, shape keys, materials and their nodes",
        default=True,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_selection(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        report = for_each(selection.selected_datablocks(context, self.use_data), enable)
        return finish(self, report, "Enabled", otherwise="Everything that is selected is TCB already")
