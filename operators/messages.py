# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that dismiss messages from Live and explain that baked tracks are locked."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty

from ..animation.store.table.custom_property import has_baked_tracks
from ..ui.live import attempts_to_edit_baked
from ..ui.operator_results import Status, keep_result_notes, result_notes
from ..ui.redraw import redraw_editors


class TCB_OT_messages_dismiss(bpy.types.Operator):
    """Dismiss messages about past edits"""

    bl_idname = "tcb.messages_dismiss"
    bl_label = "Dismiss Messages"

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        if result_notes():
            return True
        cls.poll_message_set("No messages to dismiss")
        return False

    def execute(self, _context: bpy.types.Context) -> Status:
        keep_result_notes(())
        redraw_editors()
        return {"FINISHED"}


class TCB_OT_edit_tried(bpy.types.Operator):
    """Explain that baked tracks are locked, before Blender's own shortcut runs"""

    bl_idname = "tcb.edit_tried"
    bl_label = "Explain Locked Keys"
    bl_options = {"INTERNAL"}

    edit: EnumProperty(
        name="Edit",
        description="Action that the shortcut performs",
        items=[
            ("KEY", "Insert Key", "Insert keys into selected tracks"),
            ("DRAG", "Drag", "Drag selected keys, or a selection box"),
            ("MOVE", "Move", "Move selected keys"),
            ("CHANGE", "Change", "Delete or duplicate selected keys"),
        ],
    )

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        return any(map(has_baked_tracks, bpy.data.actions))

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Status:
        if self.edit == "KEY":
            attempts_to_edit_baked.explain_keying(context)
        elif self.edit == "DRAG":
            attempts_to_edit_baked.explain_drag(context)
        else:
            attempts_to_edit_baked.explain_locked_keys(context, is_moved=self.edit == "MOVE")
        return {"PASS_THROUGH"}
