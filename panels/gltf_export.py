# SPDX-License-Identifier: GPL-3.0-or-later
"""Warning in the glTF exporter about handles that it would export incorrectly."""

from __future__ import annotations

from typing import Any

import bpy

from ..operators.gltf import paths_to_sample
from ..ui.layouts import layout_of


class TCB_PT_gltf_export(bpy.types.Panel):
    """Rotations and eased tracks that need Always Sample Animations or a bake"""

    bl_label = "TCB"
    bl_space_type = "FILE_BROWSER"
    bl_region_type = "TOOL_PROPS"
    bl_parent_id = "FILE_PT_operator"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        space: Any = context.space_data
        exporter = space.active_operator
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
