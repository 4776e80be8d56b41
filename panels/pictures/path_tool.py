# SPDX-License-Identifier: GPL-3.0-or-later
"""Tool of the 3D Viewport that edits paths by dragging keys, tangents and frames."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import FloatProperty, StringProperty

from ...animation.errors import AnimationError
from ...animation.on_path.keys import delete_key, insert_key
from ...animation.on_path.points import Spot
from ...animation.translation import rpt_
from ...ui.live import handlers
from ...ui.operator_results import Status
from ...ui.redraw import redraw_editors
from ...ui.selection import defaults_of
from . import overlay
from .path_drag import InViewport, TCB_OT_path_drag, pressed_at, see, under_mouse


class TCB_OT_path_hover(InViewport, bpy.types.Operator):
    """Highlight the key or tangent under the mouse"""

    bl_idname = "tcb.path_hover"
    bl_label = "Highlight on Path"
    bl_options: Any = {"INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        see(context, event)
        found = under_mouse(context, (event.mouse_region_x, event.mouse_region_y))
        if overlay.hover(found and found[0]) and context.area is not None:
            context.area.tag_redraw()
        return {"PASS_THROUGH"}


class _OnKey(InViewport, bpy.types.Operator):
    """Base class for operators on the path key under the mouse, or on a key given by a script."""

    bl_options: Any = {"REGISTER", "UNDO"}

    object: StringProperty(name="Object", description="Object with the path to edit", options={"SKIP_SAVE"})
    bone: StringProperty(name="Bone", description="Bone with the path to edit", options={"SKIP_SAVE"})
    frame: FloatProperty(name="Frame", description="Frame of the key", options={"SKIP_SAVE"})

    on_path = True
    """True if the operator needs a position on the path that has no key."""
    change = staticmethod(insert_key)
    """Function that is called with the spot. Raises AnimationError before any change."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        found = under_mouse(context, pressed_at(context, event))
        if found is None:
            return {"PASS_THROUGH"}
        if (found[0].part == "PATH") != self.on_path:
            # If the mouse misses a key, Blender would delete the object.
            return {"PASS_THROUGH"} if self.on_path else {"CANCELLED"}
        picked, shown = found
        self.object, self.bone, self.frame = shown.item.name, shown.bone, picked.frame
        if self.on_path:
            self.frame = float(round(picked.frame))
        return self._do(picked._replace(frame=self.frame).spot(context.scene, shown))

    def execute(self, context: bpy.types.Context) -> Status:
        scene = context.scene
        item = bpy.data.objects.get(self.object)
        if item is None or (self.bone and (item.pose is None or self.bone not in item.pose.bones)):
            self.report({"ERROR"}, rpt_("No such object or bone"))
            return {"CANCELLED"}
        defaults = tuple(defaults_of(scene).items())
        return self._do(Spot(scene, item, self.bone, overlay.followed(scene), self.frame, defaults))

    def _do(self, spot: Spot) -> Status:
        try:
            self.change(spot)
        except AnimationError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        handlers.flush()
        overlay.hover(None)
        redraw_editors()
        return {"FINISHED"}


class TCB_OT_path_key_insert(_OnKey):
    """Insert a key on the path in all tracks that move this point"""

    bl_idname = "tcb.path_key_insert"
    bl_label = "Make Key on Path"


class TCB_OT_path_key_delete(_OnKey):
    """Delete the key under the mouse in all tracks that move this point"""

    bl_idname = "tcb.path_key_delete"
    bl_label = "Delete Key on Path"
    on_path = False
    change = staticmethod(delete_key)


class _PathTool(bpy.types.WorkSpaceTool):
    bl_space_type = "VIEW_3D"
    bl_idname = overlay.TOOL
    bl_label = "Edit Paths"
    bl_description = "Drag keys and tangents on paths. Ctrl: change frame. Double-click: add. X: delete"
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
_CLASSES = (TCB_OT_path_hover, TCB_OT_path_drag, TCB_OT_path_key_insert, TCB_OT_path_key_delete)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    for tool in _TOOLS:
        bpy.utils.register_tool(tool, after={"builtin.transform"}, separator=True)


def unregister() -> None:
    for tool in reversed(_TOOLS):
        bpy.utils.unregister_tool(tool)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
