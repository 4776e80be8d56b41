# SPDX-License-Identifier: GPL-3.0-or-later
"""Menus TCB of the Dope Sheet, the Graph Editor and the viewport's menu Animation, and the presets."""

from __future__ import annotations

from typing import Any

import bpy
from bl_ui.utils import PresetPanel

from ..operators.preset import SUBFOLDER, TCB_OT_preset_add, TCB_OT_preset_apply
from ..ui.redraw import layout_of

_KEY_MENUS = ("DOPESHEET_MT_key", "DOPESHEET_MT_context_menu", "GRAPH_MT_key", "GRAPH_MT_context_menu")


class TCB_PT_presets(PresetPanel, bpy.types.Panel):
    """Parameters to apply with one click; the last line keeps those of the selected keys as one more"""

    bl_idname = "TCB_PT_presets"
    bl_label = "TCB Presets"

    preset_subdir = SUBFOLDER
    preset_operator = TCB_OT_preset_apply.bl_idname
    preset_add_operator = TCB_OT_preset_add.bl_idname


class TCB_MT_presets(bpy.types.Menu):
    """Parameters to apply with one click"""

    bl_idname = "TCB_MT_presets"
    bl_label = "TCB Presets"

    preset_subdir = SUBFOLDER
    preset_operator = TCB_OT_preset_apply.bl_idname

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_preset(context)


class TCB_MT_keys(bpy.types.Menu):
    """Tension, continuity, bias and ease of the selected keys"""

    bl_idname = "TCB_MT_keys"
    bl_label = "TCB"

    def draw(self, _context: bpy.types.Context) -> None:
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
        layout.operator_menu_enum("tcb.key_select", "condition", text="Select by Parameter")
        layout.operator("tcb.key_jump", text="Next Key").direction = "NEXT"
        layout.operator("tcb.key_jump", text="Previous Key").direction = "PREVIOUS"


class TCB_MT_objects(bpy.types.Menu):
    """Tension, continuity, bias and ease for the keys of the selected objects or bones"""

    bl_idname = "TCB_MT_objects"
    bl_label = "TCB"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        for verbs in (
            ("enable", "remove"),
            ("bake", "bake_in_world", "restore", "apply", "sync"),
            ("make_key", "key_whole"),
            ("velocities_write", "check", "joint_check", "relax"),
        ):
            for verb in verbs:
                layout.operator(f"tcb.{verb}")
            layout.separator()


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
