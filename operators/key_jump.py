# SPDX-License-Identifier: GPL-3.0-or-later
"""Go to the next or previous own key."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty

from ..animation.checks.key_info import AT
from ..animation.fcurves.keyframes import Float32Array
from ..animation.translation import n_
from ..ui import selection
from ..ui.reporting import Status


class TCB_OT_key_jump(bpy.types.Operator):
    """Go to your next or previous key"""

    bl_idname = "tcb.key_jump"
    bl_label = "Jump to TCB Key"
    # As Blender's own jumps: many in a row are one undo step.
    bl_options = {"REGISTER", "UNDO_GROUPED"}
    bl_undo_group = n_("Frame Change")

    direction: EnumProperty(
        name="Direction",
        description="Direction in time",
        items=[("NEXT", "Next", "The next key"), ("PREVIOUS", "Previous", "The previous key")],
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if selection.in_animation_editor(context):
            return True
        if selection.active_track(context) is None:
            cls.poll_message_set("The active object has no track")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> Status:
        step = 1 if self.direction == "NEXT" else -1
        scene: Any = context.scene
        there = [
            selection.scene_frame(keys.datablock, frame)
            for keys in selection.shown_keys(context)
            if (frame := _neighbour(keys.frames, selection.action_frame(context, keys.datablock), step)) is not None
        ]
        if not there:
            self.report({"INFO"}, "No next key" if step > 0 else "No previous key")
            return {"CANCELLED"}
        frame = min(there) if step > 0 else max(there)
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        return {"FINISHED"}


def _neighbour(frames: Float32Array, frame: float, direction: int) -> float | None:
    """Return the next of the frames (`direction` 1) or the previous one (-1)."""
    there = frames[frames > frame + AT] if direction > 0 else frames[frames < frame - AT]
    return float(there[0 if direction > 0 else -1]) if len(there) else None
