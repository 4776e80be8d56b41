# SPDX-License-Identifier: GPL-3.0-or-later
"""Make tracks ordinary again."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from .. import selection
from ..animation import remove
from .reporting import Status, finish, for_each, poll_selection


class TCB_OT_remove(bpy.types.Operator):
    """Restore, and take away all that TCB keeps with the animation: parameters and choices too"""

    bl_idname = "tcb.remove"
    bl_label = "Remove TCB"
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
        report = for_each(selection.selected_datablocks(context, self.use_data), remove)
        return finish(self, report, "Removed TCB from")
