# SPDX-License-Identifier: GPL-3.0-or-later
"""Tool of the 3D Viewport that edits paths, and the settings of paths with their panel."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.app.translations import contexts
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ...animation.on_path.path_keys import Spot, delete_key, insert_key
from ...animation.report import AnimationError
from ...animation.sampling.cameras import cameras_of
from ...animation.text import rpt_
from ...ui.layouts import draw_properties, layout_of
from ...ui.live import updates
from ...ui.operator_results import Status, refuse
from ...ui.redraw import redraw_editors
from . import paths_in_viewport
from .mouse_on_paths import InViewport, pressed_at, record_mouse, under_mouse

# Settings of the paths in the 3D Viewport, and their panel


def _setting(kind: Any, name: str, description: str, **more: Any) -> Any:
    """Return a property that redraws the paths after each change."""
    return kind(name=name, description=description, options=set(), update=paths_in_viewport.on_change, **more)


class TCBPaths(bpy.types.PropertyGroup):
    """Settings for paths of selected objects and bones."""

    point: _setting(
        EnumProperty,
        "Point",
        "Point of each object or bone that the path follows",
        items=[
            ("ORIGIN", "Origin or Head", "Origins of objects and heads of bones"),
            ("TAIL", "Origin or Tail", "Origins of objects and tails of bones"),
            ("AXIS", "Axis", "Tip of a local axis, which also shows rotation"),
        ],
        default="TAIL",
    )
    axis: _setting(
        EnumProperty,
        "Axis",
        "Local axis to follow",
        items=[(axis, axis, "") for axis in ("X", "Y", "Z", "-X", "-Y", "-Z")],
        default="Z",
    )
    length: _setting(
        FloatProperty,
        "Length",
        "Distance of the point along the axis",
        default=1.0,
        min=0.0,
        soft_max=10.0,
        subtype="DISTANCE",
    )
    space: _setting(
        EnumProperty,
        "Space",
        "Coordinate space of the paths",
        translation_context=contexts.id_action,
        items=[
            ("WORLD", "World", "Paths in world space"),
            ("CAMERA", "Camera", "Paths as seen by the scene camera"),
        ],
    )
    frames: _setting(
        BoolProperty, "Frames", "Show a dot at every frame. Closely spaced dots mean slow motion", default=True
    )
    numbers: _setting(BoolProperty, "Frame Numbers", "Show the frame number next to each key", default=True)
    every: _setting(
        IntProperty, "Number Every", "Interval between frame numbers. 0 means only at keys", min=0, soft_max=100
    )
    around: _setting(BoolProperty, "Around Frame", "Show only frames around the current frame")
    before: _setting(IntProperty, "Before", "Frames to show before the current frame", default=10, min=0, soft_max=250)
    after: _setting(IntProperty, "After", "Frames to show after the current frame", default=10, min=0, soft_max=250)
    playhead: _setting(
        BoolProperty, "Playhead", "White dot at the current frame, with a darker path before it", default=True
    )
    tangents: _setting(
        BoolProperty, "Tangents", "Direction and speed of the path before and after each key", default=True
    )
    by_speed: _setting(BoolProperty, "Color by Speed", "Color from blue (slowest) to red (fastest)")


class TCB_PT_paths(bpy.types.Panel):
    """Paths of selected objects, or of selected bones in Pose Mode, in the viewport"""

    bl_label = "Paths"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "TCB"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 5

    def draw_header(self, context: bpy.types.Context) -> None:
        layout_of(self).prop(context.window_manager, "tcb_show_paths", text="")

    def draw(self, context: bpy.types.Context) -> None:
        scene: Any = context.scene
        layout = layout_of(self)
        settings = scene.tcb_paths
        layout.operator("wm.tool_set_by_id", text="Edit Paths", icon="CURVE_PATH").name = paths_in_viewport.TOOL
        are_on = paths_in_viewport.are_turned_on(context)
        layout = layout.column()
        layout.active = are_on
        axis_settings = ("axis", "length") if settings.point == "AXIS" else ()
        draw_properties(layout, settings, ("point", *axis_settings, "space"))
        if settings.space == "CAMERA" and not cameras_of(scene):
            layout.label(text="The scene has no camera. Paths are shown in world space", icon="INFO")
        column = layout.column(heading="Show")
        draw_properties(column, settings, ("frames", "playhead", "numbers"))
        row = column.row()
        row.active = settings.numbers
        row.prop(settings, "every")
        column.prop(settings, "tangents")
        draw_properties(layout, settings, ("by_speed", "around"))
        if settings.around:
            draw_properties(layout.column(align=True), settings, ("before", "after"))
        if are_on and (note := paths_in_viewport.status(context)):
            layout.label(text=note, icon="INFO", translate=False)


PROPERTIES = (
    (bpy.types.Scene, "tcb_paths", PointerProperty(type=TCBPaths)),
    # Blender adds no undo step for changes to the window manager.
    (
        bpy.types.WindowManager,
        "tcb_show_paths",
        _setting(BoolProperty, "TCB Paths", "Show paths of selected objects, or of selected bones in Pose Mode"),
    ),
)
"""Properties to add to Blender's types: type, name and definition."""


# Tool of the 3D Viewport that edits paths by dragging keys, tangents and frames


class TCB_OT_path_hover(InViewport, bpy.types.Operator):
    """Highlight the key or tangent under the mouse"""

    bl_idname = "tcb.path_hover"
    bl_label = "Highlight on Path"
    bl_options: Any = {"INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        record_mouse(context, event)
        hit = under_mouse(context, (event.mouse_region_x, event.mouse_region_y))
        picked = hit[0] if hit is not None else None
        if paths_in_viewport.hover(picked) and context.area is not None:
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
        trace = paths_in_viewport.trace_of(context.scene)
        return self._change_at(Spot(context.scene, obj, self.bone, trace, self.frame, trace.defaults))

    def _change_at(self: Any, spot: Spot) -> Status:
        try:
            self.change(spot)
        except AnimationError as refusal:
            return refuse(self, refusal)
        updates.flush()
        paths_in_viewport.hover(None)
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
    bl_idname = paths_in_viewport.TOOL
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
