# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the paths in the 3D Viewport, and their panel."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.translations import contexts
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty

from ...animation.sampling.camera_cuts import cameras_of
from ...ui.layouts import draw_properties, layout_of
from . import overlay


def _setting(kind: Any, name: str, description: str, **more: Any) -> Any:
    """Return a property that redraws the paths after each change."""
    return kind(name=name, description=description, options=set(), update=overlay.on_change, **more)


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
        layout.operator("wm.tool_set_by_id", text="Edit Paths", icon="CURVE_PATH").name = overlay.TOOL
        are_on = overlay.are_turned_on(context)
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
        if are_on and (note := overlay.status(context)):
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
