# SPDX-License-Identifier: GPL-3.0-or-later
"""TCB menus of the editors, preset menus, and entries in the File menu.

3D Studio files can also be dropped on the 3D viewport and on the Outliner.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..operators.preset import label_of, presets, user_presets
from ..ui import preferences
from ..ui.layouts import layout_of
from .widgets import sidebar_settings

_KEY_MENUS = ("DOPESHEET_MT_key", "DOPESHEET_MT_context_menu", "GRAPH_MT_key", "GRAPH_MT_context_menu")


class TCB_MT_presets(bpy.types.Menu):
    """Parameters to apply with one click"""

    bl_label = "TCB Presets"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        for name in presets():
            layout.operator("tcb.preset_apply", text=label_of(name), translate=False).preset = name
        layout.separator()
        if user_presets():
            layout.menu("TCB_MT_presets_of_yours", icon="REMOVE")
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("tcb.preset_add", text="Save as Preset…", icon="ADD")


class TCB_MT_presets_of_yours(bpy.types.Menu):
    """Your saved presets"""

    bl_label = "Remove Preset"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        for name in user_presets():
            remove = layout.operator("tcb.preset_add", text=bpy.path.display_name(name), translate=False)
            remove.name, remove.remove_name = name, True


class TCB_MT_finish(bpy.types.Menu):
    """Turn the selection into plain animation"""

    bl_label = "Finish"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.operator("tcb.apply", icon="CHECKMARK")
        layout.operator("tcb.restore", icon="LOOP_BACK")
        layout.operator("tcb.remove", icon="X")


class TCB_MT_keys(bpy.types.Menu):
    """Tension, continuity, bias and ease of the selected keys"""

    bl_label = "TCB"

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.operator_context = "INVOKE_REGION_WIN"
        layout.operator("tcb.key_set", text="Set Parameters…")
        layout.operator_menu_enum("tcb.key_drag", "parameter", text="Drag")
        layout.menu("TCB_MT_presets", text="Presets")
        layout.separator()
        layout.operator("tcb.key_copy", text="Copy Parameters", icon="COPYDOWN")
        layout.operator("tcb.key_paste", text="Paste Parameters", icon="PASTEDOWN")
        layout.operator("tcb.key_reset", text="Reset Parameters")
        layout.separator()
        layout.operator("tcb.make_key", text="Make Key")
        reduce: Any = layout.operator("tcb.reduce", text="Reduce Selected Keys")
        sidebar_settings(context).reduction.copy_to(reduce)
        reduce.frames = "SELECTED"


class TCB_MT_objects(bpy.types.Menu):
    """Tension, continuity, bias and ease of keys of the selected objects or bones"""

    bl_label = "TCB"

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        for verb in ("enable", "bake", "bake_in_world", "free"):
            layout.operator(f"tcb.{verb}")
        layout.menu("TCB_MT_finish")
        layout.separator()
        layout.operator("tcb.reduce")
        layout.operator("tcb.fix_rotations")
        if preferences.shows_advanced(context):
            layout.separator()
            for verb in ("check", "joint_check", "relax", "velocities_write"):
                layout.operator(f"tcb.{verb}")


def _draw_in_animation_menu(menu: Any, _context: bpy.types.Context) -> None:
    menu.layout.separator()
    menu.layout.menu("TCB_MT_objects")


def _draw_in_key_menu(menu: Any, _context: bpy.types.Context) -> None:
    menu.layout.separator()
    menu.layout.menu("TCB_MT_keys")


class IMPORT_ANIM_FH_tcb_3ds(bpy.types.FileHandler):  # noqa: N801  Blender's way of naming
    """Dropped 3D Studio files"""

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


_ENTRIES = (
    *((name, _draw_in_key_menu) for name in _KEY_MENUS),
    ("VIEW3D_MT_object_animation", _draw_in_animation_menu),
    ("TOPBAR_MT_file_import", _draw_import),
    ("TOPBAR_MT_file_export", _draw_export),
)
"""Blender's menus, each with the function that draws an entry."""


def register() -> None:
    for name, draw in _ENTRIES:
        getattr(bpy.types, name).append(draw)


def unregister() -> None:
    for name, draw in reversed(_ENTRIES):
        getattr(bpy.types, name).remove(draw)
