# SPDX-License-Identifier: GPL-3.0-or-later
"""File menu entries for 3D Studio files, tables, and curves from other files.

3D Studio files can also be dropped on the 3D viewport and on the Outliner.
"""

from __future__ import annotations

from typing import Any

import bpy


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
