# SPDX-License-Identifier: GPL-3.0-or-later
"""Go to the next or previous key of the active track."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty

from .. import selection
from ..animation.inspecting import neighbour
from .reporting import Status


class TCB_OT_key_jump(bpy.types.Operator):
    """Go to the next or previous key that you made on this track, past all generated ones"""

    bl_idname = "tcb.key_jump"
    bl_label = "Jump to TCB Key"
    bl_options = {"REGISTER"}

    direction: EnumProperty(
        name="Direction", items=[("NEXT", "Next", "The next key"), ("PREVIOUS", "Previous", "The previous key")]
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if selection.active_track(context) is None:
            cls.poll_message_set("The active object has no track")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> Status:
        found = selection.active_track(context)
        assert found is not None
        datablock, track = found
        frame = neighbour(track, selection.action_frame(context, datablock), 1 if self.direction == "NEXT" else -1)
        if frame is None:
            self.report({"INFO"}, f"No {self.direction.lower()} key on {track.path}")
            return {"CANCELLED"}
        there = selection.scene_frame(datablock, frame)
        scene: Any = context.scene
        scene.frame_set(int(there // 1), subframe=there % 1)
        return {"FINISHED"}
