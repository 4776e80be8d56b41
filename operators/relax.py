# SPDX-License-Identifier: GPL-3.0-or-later
"""Change keys as little as needed for a condition to hold at every frame."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, StringProperty

from ..animation import AnimationError, KeepsApart, StaysAbove, StaysAt, TurnsWithin, relax
from ..animation.edit.track_keys import TrackKeys, keys_of
from ..animation.errors import Finding
from ..animation.fcurves.channels import channels_of
from ..animation.number_text import size_text
from ..animation.relaxation.wanted_conditions import Wanted
from ..animation.store.paths import BONES
from ..animation.store.tracks import find_tracks
from ..animation.translation import n_, rpt_, translated
from ..ui import findings, selection
from ..ui.frame_ranges import CustomRange
from ..ui.redraw import layout_of, redraw_editors
from ..ui.relaxation_settings import Relaxation, draw_condition
from ..ui.reporting import Status, report_notes
from .checks import active_part
from .in_steps import Progress


class TCB_OT_relax(Relaxation, CustomRange, bpy.types.Operator):
    """Change selected keys until the condition holds at every frame"""

    bl_idname = "tcb.relax"
    bl_label = "Adjust Keys"
    bl_options = {"REGISTER", "UNDO"}

    target: StringProperty(name="Target", description="Name of the object that the condition is about besides this one")
    use_range: BoolProperty(
        name="Custom Range",
        description="Let it hold in this range instead of the scene's and at all keys",
        default=False,
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj, bone = active_part(context)
        if obj is None or (context.mode == "POSE" and not bone):
            cls.poll_message_set("No active object" if obj is None else "No active bone")
            return False
        return True

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        draw_condition(layout, self)
        layout.prop(self, "use_range")
        if self.use_range:
            layout.prop(self, "frame_start")
            layout.prop(self, "frame_end")

    def execute(self, context: bpy.types.Context) -> Status:
        obj, bone = active_part(context)
        progress = Progress(context.window_manager, n_("{:d} of {:d} rounds"))
        try:
            result = relax(
                obj,
                self._wanted(obj),
                self._chosen(context, obj),
                bone=bone,
                point=self.point,
                tolerance=self.turn_tolerance if self.wanted == "LIMITS" else self.tolerance,
                frame_range=(self.frame_start, self.frame_end) if self.use_range else None,
                keep_best=self.keep_best,
                least=self.least,
                defaults=selection.default_parameters(context),
                scene=context.scene,
                progress=progress,
            )
        except (AnimationError, ValueError) as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        finally:
            progress.end()
        report_notes(self, result.notes)
        left = [] if result.reached else [_worst(obj, bone, result.after, result.after_frame)]
        findings.put(context.window_manager, left, str(result))
        self.report({"INFO"} if result.reached else {"WARNING"}, str(result))
        redraw_editors()
        return {"FINISHED"} if result.keys else {"CANCELLED"}

    def _wanted(self, obj: bpy.types.Object) -> Wanted:
        """Return the condition. Raises AnimationError where its target does not exist."""
        if self.wanted == "LIMITS":
            low, high = (
                tuple(angle if used else None for used, angle in zip(limited, angles, strict=True))
                for limited, angles in ((self.use_low, self.low), (self.use_high, self.high))
            )
            return TurnsWithin(low, high)  # type: ignore[arg-type]
        target = bpy.data.objects.get(self.target) if self.target else None
        if self.target and target is None:
            raise AnimationError(Finding("RELAX_NO_OBJECT", obj.name, arguments=(self.target,)))
        if self.wanted == "ABOVE":
            return StaysAbove(target, self.height)
        if target is None:
            raise AnimationError(Finding("RELAX_NO_TARGET", obj.name))
        if self.target_bone and (target.pose is None or self.target_bone not in target.pose.bones):
            raise AnimationError(Finding("NO_BONE", target.name, arguments=(self.target_bone,)))
        if self.wanted == "AT":
            return StaysAt(target, self.target_bone, self.target_point)
        return KeepsApart(target, self.distance, self.target_bone, self.target_point)

    def _chosen(self, context: bpy.types.Context, obj: bpy.types.Object) -> list[TrackKeys]:
        """Return the keys that may change. Raises AnimationError where none are selected."""
        found = []
        for datablock, prefixes in selection.selected_datablocks(context, use_data=False).items():
            try:
                tracks = find_tracks(datablock, channels_of(datablock), prefixes)
            except AnimationError as refusal:
                if refusal.has("LAYERED"):
                    raise
                continue
            for track in tracks:
                name = "ROTATION" if track.is_rotation else track.path.rpartition(".")[2].upper()
                posed = track.path.startswith(BONES)
                if (
                    name in self.tracks
                    and track.in_use
                    and posed == (prefixes is not None)
                    and "delta" not in track.path
                ):
                    keys = keys_of(datablock, track)
                    found.append(keys if self.keys == "ALL" else keys.take(keys.selected))
        if not any(len(keys) for keys in found):
            if self.keys == "SELECTED":
                raise AnimationError(Finding("RELAX_SELECT_KEYS", obj.name))
            raise AnimationError(Finding("RELAX_NONE_SELECTED", obj.name))
        return found


def _worst(obj: bpy.types.Object, bone: str, error: float, frame: float) -> findings.FoundPlace:
    """Return the frame at which the condition is farthest from holding."""
    fault = rpt_("the largest error is {:s}", size_text(error))
    return findings.FoundPlace(obj, frame, rpt_("frame {:g}", frame), "", fault, bone)
