# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake as curves all rotations of the scene that handles play, so that glTF's exporter can do without samples."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation import AnimationError, Options, bake_many
from ..animation.fcurves.channels import channels_of
from ..animation.store.tracks import find_tracks
from ..animation.translation import rpt_
from ..ui import selection
from ..ui.reporting import Status, finish


def rotations_by_handles(scene: Any) -> dict[bpy.types.ID, list[str]]:
    """Return the objects of the scene with rotations that handles play, each with the paths of these."""
    found: dict[bpy.types.ID, list[str]] = {}
    for item in scene.objects:
        try:
            tracks = find_tracks(item, channels_of(item))
        except AnimationError:
            continue
        paths = [t.path for t in tracks if t.is_rotation and t.in_use and t.is_played_by_handles]
        if paths:
            found[item] = paths
    return found


class TCB_OT_bake_rotations(bpy.types.Operator):
    """Bake all rotations in the scene that handles play as curves, for an export without sampling"""

    bl_idname = "tcb.bake_rotations"
    bl_label = "Bake Rotations as Curves"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> Status:
        options = Options(output="CURVES", defaults=selection.default_parameters(context))
        rotations = rotations_by_handles(context.scene)
        report = bake_many(rotations, options, rotations)
        return finish(self, report, rpt_("Baked {:s}", report.counts), rpt_("Handles play no rotation"))
