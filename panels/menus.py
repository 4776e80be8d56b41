# SPDX-License-Identifier: GPL-3.0-or-later
"""Menus TCB of the Dope Sheet, the Graph Editor and the viewport's menu Animation, and the presets."""

from __future__ import annotations

from typing import Any

import bpy

from ..operators.preset import SUBFOLDER, TCB_OT_preset_apply, own_presets
from ..ui.redraw import layout_of
from .widgets import sidebar_settings

_KEY_MENUS = ("DOPESHEET_MT_key", "DOPESHEET_MT_context_menu", "GRAPH_MT_key", "GRAPH_MT_context_menu")


class TCB_MT_presets(bpy.types.Menu):
    """Parameters to apply with one click; the last lines keep those of the chosen keys as one more, and remove yours"""

    bl_idname = "TCB_MT_presets"
    bl_label = "TCB Presets"

    preset_subdir = SUBFOLDER
    preset_operator = TCB_OT_preset_apply.bl_idname

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_preset(context)
        layout = layout_of(self)
        layout.separator()
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("tcb.preset_add", text="Keep as Preset…", icon="ADD")
        if own_presets():
            layout.menu("TCB_MT_presets_of_yours", icon="REMOVE")


class TCB_MT_presets_of_yours(bpy.types.Menu):
    """Presets that you made"""

    bl_idname = "TCB_MT_presets_of_yours"
    bl_label = "Remove Preset"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        for name in own_presets():
            remove = layout.operator("tcb.preset_add", text=bpy.path.display_name(name), translate=False)
            remove.name, remove.remove_name = name, True


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
        sidebar_settings(context).reduction.hand_to(reduce)
        reduce.frames = "SELECTED"
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
            ("bake", "bake_in_world", "free", "restore", "apply", "sync"),
            ("make_key", "key_whole", "fix_rotations", "reduce"),
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
