# SPDX-License-Identifier: GPL-3.0-or-later
"""Dismiss the notes of Live on the active object."""

from __future__ import annotations

import bpy

from ..ui import selection
from ..ui.live.messages import forget_notes, has_notes
from ..ui.redraw import redraw_editors
from ..ui.reporting import Status


class TCB_OT_messages_dismiss(bpy.types.Operator):
    """Dismiss messages about past edits"""

    bl_idname = "tcb.messages_dismiss"
    bl_label = "Dismiss Messages"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if any(map(has_notes, selection.active_actions(context))):
            return True
        cls.poll_message_set("No messages to dismiss")
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        for action in selection.active_actions(context):
            forget_notes(action)
        redraw_editors()
        return {"FINISHED"}
