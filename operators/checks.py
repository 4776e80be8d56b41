# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that check conditions and joints, jump to the findings, and adjust keys to a condition."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import bpy
from bpy.app.translations import contexts
from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    StringProperty,
)

from ..animation import AnimationError, StaysAbove, StaysAt, TurnsWithin, check_many, joint_gap, relax
from ..animation.adjust_keys.relax import TOLERANCE
from ..animation.adjust_keys.relaxed_motion import Condition
from ..animation.edit.track_keys import keys_of
from ..animation.fcurves.channels import channels_of
from ..animation.report import Finding
from ..animation.store.find_tracks import find_tracks
from ..animation.store.paths import BONES
from ..animation.text import iface_, n_, rpt_, size_text
from ..animation.track_paths import track_name
from ..ui import selection
from ..ui.layouts import layout_of
from ..ui.operator_results import Status, keep_result_notes, refuse, report_notes
from ..ui.option_properties import CustomRange
from ..ui.properties import show_findings
from ..ui.redraw import redraw_editors
from ..ui.scene import defaults_of, go_to
from .on_selection import Progress, poll_active

# Operators that check conditions and joints, and jump to the findings


class TCB_OT_check(CustomRange, bpy.types.Operator):
    """Find faults in cameras, targets and scales, including faults between frames"""

    bl_idname = "tcb.check"
    bl_label = "Check"
    bl_options = {"REGISTER"}

    use_range: BoolProperty(name="Custom Range", description="Check this range instead of the scene range and all keys")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if _selected_objects(context):
            return True
        cls.poll_message_set("Select the objects to check")
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        frame_range = (self.frame_start, self.frame_end) if self.use_range else None
        try:
            checks = check_many(_selected_objects(context), frame_range, context.scene)
        except ValueError as error:
            return refuse(self, error)
        rows = [
            {
                "item": violation.name,
                "frame": violation.worst,
                "place": violation.place,
                "track": track_name(violation.track),
                "name": violation.message,
            }
            for violation in checks.violations
        ]
        show_findings(context.window_manager, checks.summary, rows)
        found = [violation.finding for violation in checks.violations]
        report_notes(self, [*checks.errors, *found, *checks.notes], "WARNING")
        self.report({"WARNING"} if checks.errors else {"INFO"}, checks.summary)
        redraw_editors()
        return {"FINISHED"}


def _selected_objects(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the selected objects, or in Pose Mode the posed armatures."""
    if context.mode == "POSE":
        return list(context.objects_in_mode)
    return list(context.selected_objects)


class TCB_OT_joint_check(bpy.types.Operator):
    """Measure the gap between the active bone or object and its parent"""

    bl_idname = "tcb.joint_check"
    bl_label = "Joint"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not poll_active(cls, context):
            return False
        obj, bone = selection.active_object_and_bone(context)
        if (obj.pose.bones[bone] if bone else obj).parent is None:
            cls.poll_message_set("No parent")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> Status:
        obj, bone = selection.active_object_and_bone(context)
        try:
            gap = joint_gap(obj, bone, scene=context.scene)
        except AnimationError as refusal:
            return refuse(self, refusal)
        row = {
            "item": obj.name,
            "bone": bone,
            "frame": gap.frame,
            "place": rpt_("frame {:g}", gap.frame),
            "name": rpt_("{:s} is {:s} away from its position on {:s}", gap.name, size_text(gap.distance), gap.parent),
        }
        show_findings(context.window_manager, str(gap), [row])
        self.report({"INFO"}, str(gap))
        redraw_editors()
        return {"FINISHED"}


class TCB_OT_finding_show(bpy.types.Operator):
    """Go to the frame of this finding, and select its object"""

    bl_idname = "tcb.finding_show"
    bl_label = "Go to Finding"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(name="Finding", description="Index in the list, starting at 0", min=0)

    @classmethod
    def poll(cls, context: Any) -> bool:
        if len(context.window_manager.tcb_findings):
            return True
        cls.poll_message_set("No findings. Press Check first")
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        manager: Any = context.window_manager
        if self.index >= len(manager.tcb_findings):
            return refuse(self, rpt_("The list has only {:d} findings", len(manager.tcb_findings)))
        finding = manager.tcb_findings[self.index]
        manager.tcb_finding = self.index
        go_to(context.scene, finding.frame)
        obj = context.view_layer.objects.get(finding.item) if context.view_layer else None
        if obj is None:
            self.report({"WARNING"}, rpt_('"{:s}" is no longer in this view layer', finding.item))
        elif context.mode == "OBJECT":
            selection.select_only(context, [obj])
            context.view_layer.objects.active = obj
        elif obj.pose and finding.bone in obj.pose.bones and context.object == obj:
            obj.data.bones.active = obj.data.bones[finding.bone]
        return {"FINISHED"}


# Operator that adjusts keys to a condition


_CONDITION_ITEMS = [
    ("ABOVE", "Above a Plane", "Keep the point on or above the XY plane of an object or the world"),
    ("AT", "At a Point", "Keep the point attached to a point on another object or bone"),
    ("LIMITS", "Rotation Limits", "Keep the local rotation of the object or bone, as Euler angles, within limits"),
]


class TCB_OT_relax(CustomRange, bpy.types.Operator):
    """Change the selected keys as little as possible to satisfy a condition at every frame"""

    bl_idname = "tcb.relax"
    bl_label = "Adjust Keys to Condition"
    bl_options = {"REGISTER", "UNDO"}

    condition: EnumProperty(
        name="Condition",
        description="Condition to satisfy at every frame",
        items=_CONDITION_ITEMS,
        translation_context=contexts.id_action,
    )
    point: FloatVectorProperty(
        name="Point",
        description="Point to adjust, in local coordinates of the active object or bone",
        size=3,
        subtype="TRANSLATION",
    )
    target: StringProperty(name="Target", description="Name of the other object in the condition")
    target_bone: StringProperty(name="Bone", description="Bone of the target object. If empty, the object itself")
    target_point: FloatVectorProperty(
        name="Target Point", description="Point in the target's local coordinates", size=3, subtype="TRANSLATION"
    )
    height: FloatProperty(name="Height", description="Height above the plane", default=0.0, subtype="DISTANCE")
    use_low: BoolVectorProperty(name="Low", description="Angles with a lower limit", size=3)
    low: FloatVectorProperty(
        name="Low", description="Lower limits of the angles", size=3, subtype="EULER", min=-math.pi, max=math.pi
    )
    use_high: BoolVectorProperty(name="High", description="Angles with an upper limit", size=3)
    high: FloatVectorProperty(
        name="High", description="Upper limits of the angles", size=3, subtype="EULER", min=-math.pi, max=math.pi
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Maximum error, in world units",
        default=TOLERANCE,
        min=1e-6,
        soft_max=0.1,
        precision=5,
    )
    turn_tolerance: FloatProperty(
        name="Tolerance",
        description="Maximum error",
        default=math.radians(0.1),
        min=1e-5,
        soft_max=0.1,
        subtype="ANGLE",
    )
    use_range: BoolProperty(
        name="Custom Range",
        description="Satisfy the condition in this range instead of the scene range and all keys",
    )

    poll = classmethod(poll_active)

    def invoke(self, context: Any, _event: bpy.types.Event) -> Any:
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        layout.prop(self, "condition")
        if self.condition == "LIMITS":
            self._draw_limits(layout)
            layout.prop(self, "turn_tolerance")
        else:
            layout.prop(self, "point")
            layout.prop_search(self, "target", bpy.data, "objects")
            if self.condition == "ABOVE":
                layout.prop(self, "height")
            else:
                target = bpy.data.objects.get(self.target)
                if target is not None and target.pose is not None:
                    layout.prop_search(self, "target_bone", target.pose, "bones")
                layout.prop(self, "target_point")
            layout.prop(self, "tolerance")
        layout.prop(self, "use_range")
        if self.use_range:
            layout.prop(self, "frame_start")
            layout.prop(self, "frame_end")

    def _draw_limits(self, layout: bpy.types.UILayout) -> None:
        for limits, text in (("low", n_("Low {:s}")), ("high", n_("High {:s}"))):
            column = layout.column(align=True)
            for axis, letter in enumerate("XYZ"):
                row = column.row(align=True)
                row.prop(self, f"use_{limits}", index=axis, text=iface_(text, letter), translate=False)
                value = row.row()
                value.enabled = getattr(self, f"use_{limits}")[axis]
                value.prop(self, limits, index=axis, text="")

    def execute(self, context: bpy.types.Context) -> Status:
        obj, bone = selection.active_object_and_bone(context)
        try:
            with closing(Progress(context.window_manager, n_("{:d} of {:d} rounds"))) as progress:
                result = relax(
                    obj,
                    self._condition(obj),
                    _selected_keys(context, obj),
                    bone=bone,
                    point=self.point,
                    tolerance=self.turn_tolerance if self.condition == "LIMITS" else self.tolerance,
                    frame_range=(self.frame_start, self.frame_end) if self.use_range else None,
                    defaults=defaults_of(context.scene),
                    scene=context.scene,
                    progress=progress,
                )
        except (AnimationError, ValueError) as error:
            return refuse(self, error)
        keep_result_notes(result.notes)
        report_notes(self, result.notes)
        show_findings(context.window_manager, str(result))
        self.report({"INFO"}, str(result))
        redraw_editors()
        return {"FINISHED"} if result.keys else {"CANCELLED"}

    def _condition(self, obj: bpy.types.Object) -> Condition:
        """Return the condition. Raises AnimationError if the condition's target does not exist."""
        if self.condition == "LIMITS":
            return TurnsWithin(_limits(self.use_low, self.low), _limits(self.use_high, self.high))
        target = bpy.data.objects.get(self.target) if self.target else None
        if self.target and target is None:
            raise AnimationError(Finding("RELAX_NO_OBJECT", obj.name, arguments=(self.target,)))
        if self.condition == "ABOVE":
            return StaysAbove(target, self.height)
        if target is None:
            raise AnimationError(Finding("RELAX_NO_TARGET", obj.name))
        return StaysAt(target, self.target_bone, self.target_point)


def _limits(is_limited: Iterable[bool], angles: Iterable[float]) -> Any:
    """Return a tuple with each angle, or None for an angle without a limit."""
    return tuple(angle if limited else None for limited, angle in zip(is_limited, angles, strict=True))


def _selected_keys(context: bpy.types.Context, obj: bpy.types.Object) -> dict[bpy.types.ID, dict[str, list[float]]]:
    """Return the selected location and rotation keys. Raises AnimationError if no such keys are selected."""
    selected: dict[bpy.types.ID, dict[str, list[float]]] = {}
    for datablock, prefixes in selection.selected_datablocks(context, use_data=False).items():
        try:
            tracks = find_tracks(datablock, channels_of(datablock), prefixes)
        except AnimationError as refusal:
            if refusal.has("LAYERED"):
                raise
            continue
        for track in tracks:
            is_of_bone = track.path.startswith(BONES)
            is_transform = track.is_rotation or track.path.endswith("location")
            if is_of_bone == (prefixes is not None) and track.in_use and is_transform and "delta" not in track.path:
                keys = keys_of(datablock, track)
                if keys.selected.any():
                    selected.setdefault(datablock, {})[track.path] = keys.frames[keys.selected].tolist()
    if not selected:
        raise AnimationError(Finding("RELAX_SELECT_KEYS", obj.name))
    return selected
