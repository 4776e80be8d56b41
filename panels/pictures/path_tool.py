# SPDX-License-Identifier: GPL-3.0-or-later
"""Tool of the 3D Viewport that edits paths by dragging keys, tangents and frames."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.props import FloatProperty, StringProperty

from ...animation.errors import AnimationError
from ...animation.on_path.keys import delete_key, insert_key
from ...animation.on_path.points import Spot
from ...animation.translation import rpt_
from ...ui.live import updates
from ...ui.operator_results import Status, refuse
from ...ui.redraw import redraw_editors
from . import overlay
from .mouse_in_viewport import InViewport, pressed_at, record_mouse, under_mouse


class TCB_OT_path_hover(InViewport, bpy.types.Operator):
    """Highlight the key or tangent under the mouse"""

    bl_idname = "tcb.path_hover"
    bl_label = "Highlight on Path"
    bl_options: Any = {"INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        record_mouse(context, event)
        hit = under_mouse(context, (event.mouse_region_x, event.mouse_region_y))
        picked = hit[0] if hit is not None else None
        if overlay.hover(picked) and context.area is not None:
            context.area.tag_redraw()
        return {"PASS_THROUGH"}


class _ChangesKey(InViewport):
    """Base class of operators that insert or delete a key, under the mouse or at the frame that a script gives."""

    bl_options: Any = {"REGISTER", "UNDO"}

    object: StringProperty(name="Object", description="Object with the path to edit", options={"SKIP_SAVE"})
    bone: StringProperty(name="Bone", description="Bone with the path to edit", options={"SKIP_SAVE"})
    frame: FloatProperty(name="Frame", description="Frame of the key", options={"SKIP_SAVE"})

    acts_between_keys: ClassVar[bool]
    """True if the operator needs a position on the path that has no key."""
    change: ClassVar[Any]
    """Static function that takes the position on the path as a `Spot`. Raises AnimationError before any change."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        hit = under_mouse(context, pressed_at(context, event))
        if hit is None:
            return {"PASS_THROUGH"}
        picked, drawn = hit
        if (picked.part == "PATH") != self.acts_between_keys:
            # On a path but beside its keys, passing the event on would let Blender delete the object.
            return {"PASS_THROUGH"} if self.acts_between_keys else {"CANCELLED"}
        # Insert at whole frames.
        frame = float(round(picked.frame)) if self.acts_between_keys else picked.frame
        self.object, self.bone, self.frame = drawn.obj.name, drawn.bone, frame
        return self._change_at(picked._replace(frame=frame).spot(context.scene, drawn))

    def execute(self: Any, context: bpy.types.Context) -> Status:
        obj = bpy.data.objects.get(self.object)
        if obj is None:
            return refuse(self, rpt_('There is no object "{:s}"', self.object))
        if self.bone and (obj.pose is None or self.bone not in obj.pose.bones):
            return refuse(self, rpt_('"{:s}" has no bone "{:s}"', self.object, self.bone))
        trace = overlay.trace_of(context.scene)
        return self._change_at(Spot(context.scene, obj, self.bone, trace, self.frame, trace.defaults))

    def _change_at(self: Any, spot: Spot) -> Status:
        try:
            self.change(spot)
        except AnimationError as refusal:
            return refuse(self, refusal)
        updates.flush()
        overlay.hover(None)
        redraw_editors()
        return {"FINISHED"}


class TCB_OT_path_key_insert(_ChangesKey, bpy.types.Operator):
    """Insert a key on the path in all tracks that move this point"""

    bl_idname = "tcb.path_key_insert"
    bl_label = "Insert Key on Path"
    acts_between_keys = True
    change = staticmethod(insert_key)


class TCB_OT_path_key_delete(_ChangesKey, bpy.types.Operator):
    """Delete the key under the mouse in all tracks that move this point"""

    bl_idname = "tcb.path_key_delete"
    bl_label = "Delete Key on Path"
    acts_between_keys = False
    change = staticmethod(delete_key)


class _PathTool(bpy.types.WorkSpaceTool):
    bl_space_type = "VIEW_3D"
    bl_idname = overlay.TOOL
    bl_label = "Edit Paths"
    bl_description = "Drag keys and tangents on paths. Ctrl: change frame. Double-click: insert. X: delete"
    bl_icon = "ops.curve.pen"
    # The keymap has no operator that selects on press. Blender would call it first, and it would select the object
    # under the mouse. The 3D Viewport's own keymap selects if the mouse is not on a path.
    bl_keymap = (
        ("tcb.path_hover", {"type": "MOUSEMOVE", "value": "ANY", "any": True}, None),
        ("tcb.path_key_insert", {"type": "LEFTMOUSE", "value": "DOUBLE_CLICK"}, None),
        ("tcb.path_drag", {"type": "LEFTMOUSE", "value": "PRESS", "any": True}, None),
        ("tcb.path_key_delete", {"type": "X", "value": "PRESS"}, None),
        ("tcb.path_key_delete", {"type": "DEL", "value": "PRESS"}, None),
        ("view3d.select_box", {"type": "LEFTMOUSE", "value": "CLICK_DRAG"}, None),
    )

    @staticmethod
    def draw_settings(context: Any, layout: bpy.types.UILayout, _tool: Any) -> None:
        """Draw the settings of the followed point in the header."""
        settings = context.scene.tcb_paths
        layout.prop(settings, "point")
        if settings.point == "AXIS":
            layout.prop(settings, "axis", text="")


class _InObjectMode(_PathTool):
    bl_context_mode = "OBJECT"


class _InPoseMode(_PathTool):
    bl_context_mode = "POSE"


_TOOLS = (_InObjectMode, _InPoseMode)


def register() -> None:
    for tool in _TOOLS:
        bpy.utils.register_tool(tool, after={"builtin.transform"}, separator=True)


def unregister() -> None:
    for tool in reversed(_TOOLS):
        bpy.utils.unregister_tool(tool)
