# SPDX-License-Identifier: GPL-3.0-or-later
"""TCB menus of the Dope Sheet, the Graph Editor and the viewport, and preset menus."""

from __future__ import annotations

from typing import Any

import bpy

from ..ui import preferences
from ..ui.presets import label_of, own_presets, presets
from ..ui.redraw import layout_of
from .widgets import sidebar_settings

_KEY_MENUS = ("DOPESHEET_MT_key", "DOPESHEET_MT_context_menu", "GRAPH_MT_key", "GRAPH_MT_context_menu")


class TCB_MT_presets(bpy.types.Menu):
    """Parameters to apply with one click"""

    bl_idname = "TCB_MT_presets"
    bl_label = "TCB Presets"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        for name in presets():
            layout.operator("tcb.preset_apply", text=label_of(name), translate=False).preset = name
        layout.separator()
        if own_presets():
            layout.menu("TCB_MT_presets_of_yours", icon="REMOVE")
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("tcb.preset_add", text="Save as Preset…", icon="ADD")


class TCB_MT_presets_of_yours(bpy.types.Menu):
    """Your saved presets"""

    bl_idname = "TCB_MT_presets_of_yours"
    bl_label = "Remove Preset"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        for name in own_presets():
            remove = layout.operator("tcb.preset_add", text=bpy.path.display_name(name), translate=False)
            remove.name, remove.remove_name = name, True


class TCB_MT_finish(bpy.types.Menu):
    """Turn the selection into plain animation"""

    bl_idname = "TCB_MT_finish"
    bl_label = "Finish"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.operator("tcb.apply", icon="CHECKMARK")
        layout.operator("tcb.restore", icon="LOOP_BACK")
        layout.operator("tcb.remove", icon="X")


class TCB_MT_keys(bpy.types.Menu):
    """Tension, continuity, bias and ease of the selected keys"""

    bl_idname = "TCB_MT_keys"
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

    bl_idname = "TCB_MT_objects"
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


def register() -> None:
    for name in _KEY_MENUS:
        getattr(bpy.types, name).append(_draw_in_key_menu)
    bpy.types.VIEW3D_MT_object_animation.append(_draw_in_animation_menu)


def unregister() -> None:
    for name in _KEY_MENUS:
        getattr(bpy.types, name).remove(_draw_in_key_menu)
    bpy.types.VIEW3D_MT_object_animation.remove(_draw_in_animation_menu)
