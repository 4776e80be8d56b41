# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake objects and bones with parents along their motion in the world."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation import AnimationError, Report, bake_in_world
from ..animation.options import BAKE
from ..animation.translation import rpt_, translated
from ..ui import selection
from ..ui.option_properties import property_of
from ..ui.reporting import Status, finish, poll_selection


class TCB_OT_bake_in_world(bpy.types.Operator):
    """Bake with interpolation in world space instead of the parents' axes"""

    bl_idname = "tcb.bake_in_world"
    bl_label = "Bake in World Space"
    bl_options = {"REGISTER", "UNDO"}

    step: property_of(BAKE["step"])

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_selection(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        report = Report()
        defaults = selection.default_parameters(context)
        for obj, bones in _selected(context).items():
            try:
                report.add(bake_in_world(obj, bones, step=self.step, defaults=defaults))
            except AnimationError as refusal:
                report.errors += refusal.findings
            except ValueError as error:
                # Of an argument, which is the same for all: the first refuses it, and none is changed.
                self.report({"ERROR"}, translated(error))
                return {"CANCELLED"}
        return finish(self, report, rpt_("Baked in world space {:s}", report.counts))


def _selected(context: bpy.types.Context) -> dict[Any, list[str]]:
    """Return the objects, parents first because children follow them, with their selected bones in Pose mode."""
    if context.mode == "POSE":
        bones: dict[Any, list[str]] = {}
        for bone in context.selected_pose_bones or ():
            bones.setdefault(bone.id_data, []).append(bone.name)
        return bones
    return {obj: [] for obj in sorted(context.selected_objects, key=_depth)}


def _depth(obj: bpy.types.Object) -> int:
    return 0 if obj.parent is None else 1 + _depth(obj.parent)
