# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the paths in the 3D Viewport, and their panel."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.translations import contexts
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty

from ...animation.sampling.cameras import cameras_of
from ...ui.redraw import layout_of
from . import overlay


def _on_switch(settings: Any, _context: bpy.types.Context) -> None:
    overlay.switched(settings.show)


class TCBPaths(bpy.types.PropertyGroup):
    """Settings for paths of selected objects and bones."""

    show: BoolProperty(
        name="TCB Paths",
        description="Show paths of selected objects, or of selected bones in Pose Mode",
        options=set(),
        update=_on_switch,
    )
    point: EnumProperty(
        name="Point",
        description="Point of each object or bone whose path is shown",
        items=[
            ("ORIGIN", "Origin", "Origins of objects and heads of bones"),
            ("TAIL", "Tail", "Tails of bones, and origins of objects"),
            ("AXIS", "Axis", "Tip of a local axis, which also shows rotation"),
        ],
        default="TAIL",
        options=set(),
        update=_on_switch,
    )
    axis: EnumProperty(
        name="Axis",
        description="Local axis to follow",
        items=[
            ("X", "X", "The local X axis"),
            ("Y", "Y", "The local Y axis"),
            ("Z", "Z", "The local Z axis"),
            ("-X", "-X", "The local -X axis"),
            ("-Y", "-Y", "The local -Y axis"),
            ("-Z", "-Z", "The local -Z axis"),
        ],
        default="Z",
        options=set(),
        update=_on_switch,
    )
    length: FloatProperty(
        name="Length",
        description="Distance of the point along the axis",
        default=1.0,
        min=0.0,
        soft_max=10.0,
        subtype="DISTANCE",
        options=set(),
        update=_on_switch,
    )
    space: EnumProperty(
        name="Space",
        description="Space of the paths",
        translation_context=contexts.id_action,
        items=[
            ("WORLD", "World", "Paths in world space"),
            (
                "CAMERA",
                "Camera",
                "Paths as seen by the scene camera",
            ),
        ],
        options=set(),
        update=_on_switch,
    )
    frames: BoolProperty(
        name="Frames",
        description="Show a dot at every frame. Closely spaced dots mean slow motion",
        default=True,
        options=set(),
        update=_on_switch,
    )
    numbers: BoolProperty(
        name="Frame Numbers",
        description="Frame number beside each key",
        default=True,
        options=set(),
        update=_on_switch,
    )
    every: IntProperty(
        name="Number Every",
        description="Interval of frame numbers between keys. 0: only at keys",
        default=0,
        min=0,
        soft_max=100,
        options=set(),
        update=_on_switch,
    )
    around: BoolProperty(
        name="Around Frame",
        description="Show only frames around the current frame",
        options=set(),
        update=_on_switch,
    )
    before: IntProperty(
        name="Before",
        description="Frames to show before the current frame",
        default=10,
        min=0,
        soft_max=250,
        options=set(),
        update=_on_switch,
    )
    after: IntProperty(
        name="After",
        description="Frames to show after the current frame",
        default=10,
        min=0,
        soft_max=250,
        options=set(),
        update=_on_switch,
    )
    playhead: BoolProperty(
        name="Playhead",
        description="White dot at the current frame, with a darker path before it",
        default=True,
        options=set(),
        update=_on_switch,
    )
    tangents: BoolProperty(
        name="Tangents",
        description="Direction and speed of the path before and after each key",
        default=True,
        options=set(),
        update=_on_switch,
    )
    by_speed: BoolProperty(
        name="Color by Speed",
        description="Color from blue (slowest) to red (fastest)",
        options=set(),
        update=_on_switch,
    )


class TCB_PT_paths(bpy.types.Panel):
    """Paths of selected objects, or of selected bones in Pose Mode, in the viewport"""

    bl_idname = "TCB_PT_paths"
    bl_label = "Paths"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "TCB"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 5

    def draw_header(self, context: bpy.types.Context) -> None:
        scene: Any = context.scene
        layout = layout_of(self)
        layout.prop(scene.tcb_paths, "show", text="")

    def draw(self, context: bpy.types.Context) -> None:
        scene: Any = context.scene
        layout = layout_of(self)
        settings = scene.tcb_paths
        layout.use_property_split = True
        layout.use_property_decorate = False
        row = layout.row()
        row.operator("wm.tool_set_by_id", text="Edit Paths", icon="CURVE_PATH").name = overlay.TOOL
        layout.active = settings.show
        layout.prop(settings, "point")
        if settings.point == "AXIS":
            layout.prop(settings, "axis")
            layout.prop(settings, "length")
        layout.prop(settings, "space")
        if settings.space == "CAMERA" and not cameras_of(scene):
            layout.label(text="The scene has no camera. Paths are shown in world space", icon="INFO")
        column = layout.column(heading="Show")
        column.prop(settings, "frames")
        column.prop(settings, "playhead")
        column.prop(settings, "numbers")
        row = column.row()
        row.active = settings.numbers
        row.prop(settings, "every")
        column.prop(settings, "tangents")
        layout.prop(settings, "by_speed")
        layout.prop(settings, "around")
        if settings.around:
            column = layout.column(align=True)
            column.prop(settings, "before")
            column.prop(settings, "after")
        note = overlay.status(context) if settings.show else ""
        if note:
            layout.label(text=note, icon="INFO", translate=False)


def register() -> None:
    bpy.utils.register_class(TCBPaths)
    bpy.utils.register_class(TCB_PT_paths)
    owner: Any = bpy.types.Scene
    owner.tcb_paths = PointerProperty(type=TCBPaths)


def unregister() -> None:
    owner: Any = bpy.types.Scene
    del owner.tcb_paths
    bpy.utils.unregister_class(TCB_PT_paths)
    bpy.utils.unregister_class(TCBPaths)
