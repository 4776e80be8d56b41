# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that restore curves of FBX and glTF files, and the warning in the glTF exporter."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from .. import animation
from ..animation import AnimationError, Options, bake_many
from ..animation.edit.track_keys import keys_of
from ..animation.fcurves.channels import channels_of
from ..animation.options import RESTORE_CURVES
from ..animation.steps import IMPORT_STEPS
from ..animation.store.find_tracks import find_tracks
from ..animation.store.tracks import Track
from ..animation.text import rpt_
from ..animation.track_paths import WholePath
from ..ui.layouts import draw_properties, layout_of
from ..ui.operator_results import Status, finish, refuse
from ..ui.option_properties import property_of
from ..ui.scene import defaults_of
from .on_selection import Progress
from .three_ds_and_tables import path_of

# Operator that restores the curves of an imported FBX or glTF file


_OBJECT_ITEMS = (
    ("ALL", "All Objects", "All scene objects whose names are in the file"),
    ("SELECTED", "Selected Objects", "Selected objects, including the objects of the last import"),
)


class IMPORT_ANIM_OT_tcb_restore_curves(bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Replace imported keys with the keys and tangents in the file. Import the file first"""

    bl_idname = "import_anim.tcb_restore_curves"
    bl_label = "Restore Curves"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filter_glob: StringProperty(default="*.fbx;*.glb;*.gltf", options={"HIDDEN"})

    objects: EnumProperty(name="Objects", description="Objects whose curves are restored", items=_OBJECT_ITEMS)
    use_exact: property_of(RESTORE_CURVES["exact"])
    value_tolerance: property_of(RESTORE_CURVES["value_tolerance"])
    rotation_tolerance: property_of(RESTORE_CURVES["rotation_tolerance"])
    use_tcb: property_of(RESTORE_CURVES["use_tcb"])

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        draw_properties(layout, self, ("objects", "use_exact"))
        tolerances = layout.column()
        tolerances.active = self.use_exact or self.use_tcb
        draw_properties(tolerances, self, ("value_tolerance", "rotation_tolerance"))
        draw_properties(layout, self, ("use_tcb",))

    def execute(self: Any, context: Any) -> Status:
        objects = list(context.selected_objects if self.objects == "SELECTED" else context.scene.objects)
        try:
            with closing(Progress(context.window_manager, IMPORT_STEPS)) as progress:
                report = animation.restore_curves(
                    path_of(self.filepath),
                    objects,
                    exact=self.use_exact,
                    value_tolerance=self.value_tolerance,
                    rotation_tolerance=self.rotation_tolerance,
                    use_tcb=self.use_tcb,
                    progress=progress,
                )
        except AnimationError as refusal:
            return refuse(self, refusal)
        return finish(self, report, rpt_("Restored the curves of {:s}", report.counts))


# Warning in the glTF exporter about handles that it would export incorrectly, with an operator that bakes them


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
