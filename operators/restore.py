# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a bake away."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from .. import selection
from ..animation import restore
from .reporting import Status, finish, for_each, poll_selection


class TCB_OT_restore(bpy.types.Operator):
    """Take the baked motion away and put your curves back as they were; what you changed since stays"""

    bl_idname = "tcb.restore"
    bl_label = "Restore"
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
        report = for_each(selection.selected_datablocks(context, self.use_data), restore)
        return finish(self, report, "Restored")
