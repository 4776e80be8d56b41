# SPDX-License-Identifier: GPL-3.0-or-later
"""Warning in the glTF exporter about handles that it would export incorrectly, with an operator that bakes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

from ..animation import AnimationError, Options, bake_many
from ..animation.chosen_paths import WholePath
from ..animation.edit.track_keys import keys_of
from ..animation.fcurves.channels import channels_of
from ..animation.store.find_tracks import find_tracks
from ..animation.store.tracks import Track
from ..animation.translation import rpt_
from ..ui.layouts import layout_of
from ..ui.operator_results import Status, finish
from ..ui.scene import defaults_of


class TCB_PT_gltf_export(bpy.types.Panel):
    """Rotations and eased tracks that need Always Sample Animations or a bake"""

    bl_label = "TCB"
    bl_space_type = "FILE_BROWSER"
    bl_region_type = "TOOL_PROPS"
    bl_parent_id = "FILE_PT_operator"

    @classmethod
    def poll(cls, context: Any) -> bool:
        exporter = context.space_data.active_operator
        return (
            exporter is not None
            and exporter.bl_idname == "EXPORT_SCENE_OT_gltf"
            and exporter.export_animations
            and not exporter.export_force_sampling
            # The other modes always sample.
            and exporter.export_animation_mode not in {"NLA_TRACKS", "SCENE"}
            and bool(paths_to_sample(context.scene))
        )

    def draw(self, _context: bpy.types.Context) -> None:
        column = layout_of(self).column()
        column.label(text="Handles play rotations or eases:", icon="ERROR")
        column.label(text="exported incorrectly unless sampled", icon="BLANK1")
        column.operator("tcb.bake_for_gltf")


class TCB_OT_bake_for_gltf(bpy.types.Operator):
    """Bake rotations and eased tracks that handles play, so exports need no sampling"""

    bl_idname = "tcb.bake_for_gltf"
    bl_label = "Bake Rotations and Eases as Curves"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> Status:
        options = Options(output="CURVES", defaults=defaults_of(context.scene))
        report = bake_many(paths_to_sample(context.scene), options)
        nothing_done = rpt_("No rotations or eases are played by handles")
        return finish(self, report, rpt_("Baked {:s}", report.counts), nothing_done)


def paths_to_sample(scene: Any) -> dict[bpy.types.ID, list[str]]:
    """Return the objects in the scene, with the paths of tracks that the glTF exporter needs to sample.

    The exporter assumes that each handle spans a third of the segment. Handles of rotations and eased tracks have
    other lengths.
    """
    defaults = defaults_of(scene)
    paths_by_object: dict[bpy.types.ID, list[str]] = {}
    for obj in scene.objects:
        try:
            tracks = [track for track in find_tracks(obj, channels_of(obj)) if track.in_use]
            paths: list[str] = [
                WholePath(track.path)
                for track in tracks
                if track.is_played_by_handles and _needs_sampling(obj, track, defaults)
            ]
        except AnimationError:
            continue
        if paths:
            paths_by_object[obj] = paths
    return paths_by_object


def _needs_sampling(obj: bpy.types.Object, track: Track, defaults: Mapping[str, float]) -> bool:
    if track.is_rotation:
        return True
    parameters = keys_of(obj, track).parameters(defaults)
    return bool(parameters["ease_to"].any() or parameters["ease_from"].any())
