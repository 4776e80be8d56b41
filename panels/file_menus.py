# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries for 3D Studio files, tables and curves in the File menu, and a warning in the glTF exporter.

3D Studio files can also be dropped on the 3D viewport and on the Outliner.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..operators.bake import wrong_in_gltf
from ..ui.redraw import layout_of


class IMPORT_ANIM_FH_tcb_3ds(bpy.types.FileHandler):  # noqa: N801  Blender's way of naming
    """Dropped 3D Studio files"""

    bl_idname = "IMPORT_ANIM_FH_tcb_3ds"
    bl_label = "3D Studio Animation"
    bl_import_operator = "import_anim.tcb_3ds"
    bl_file_extensions = ".3ds"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:
        return context.area is not None and context.area.type in {"VIEW_3D", "OUTLINER"}


def _draw_import(menu: Any, _context: bpy.types.Context) -> None:
    menu.layout.operator("import_anim.tcb_3ds", text="3D Studio Animation (.3ds)")
    menu.layout.operator("import_anim.tcb_table", text="Table of Keys (.csv)")
    menu.layout.operator("import_anim.tcb_restore_curves", text="Restore Curves (.fbx, .glb, .gltf)")


def _draw_export(menu: Any, _context: bpy.types.Context) -> None:
    menu.layout.operator("export_anim.tcb_3ds", text="3D Studio Animation (.3ds)")
    menu.layout.operator("export_anim.tcb_table", text="Table of Keys (.csv)")


def register() -> None:
    bpy.utils.register_class(IMPORT_ANIM_FH_tcb_3ds)
    bpy.types.TOPBAR_MT_file_import.append(_draw_import)
    bpy.types.TOPBAR_MT_file_export.append(_draw_export)


def unregister() -> None:
    bpy.types.TOPBAR_MT_file_export.remove(_draw_export)
    bpy.types.TOPBAR_MT_file_import.remove(_draw_import)
    bpy.utils.unregister_class(IMPORT_ANIM_FH_tcb_3ds)


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
            and bool(wrong_in_gltf(context.scene))
        )

    def draw(self, _context: bpy.types.Context) -> None:
        column = layout_of(self).column()
        column.label(text="Handles play rotations or eases:", icon="ERROR")
        column.label(text="exported incorrectly unless sampled", icon="BLANK1")
        column.operator("tcb.bake_for_gltf")
