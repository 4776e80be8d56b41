# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators, one file a verb: each checks, calls `animation` and reports."""

from __future__ import annotations

import bpy

from . import preset
from .apply import TCB_OT_apply
from .bake import TCB_OT_bake
from .bake_for_gltf import TCB_OT_bake_for_gltf
from .bake_in_world import TCB_OT_bake_in_world
from .check import TCB_OT_check
from .edit_tried import TCB_OT_edit_tried
from .enable import TCB_OT_enable
from .export_3ds import EXPORT_ANIM_OT_tcb_3ds
from .export_table import EXPORT_ANIM_OT_tcb_table
from .finding_show import TCB_OT_finding_show
from .fix_rotations import TCB_OT_fix_rotations
from .frame_function import TCB_OT_frame_function, TCB_OT_frame_function_remove
from .free import TCB_OT_free
from .import_3ds import IMPORT_ANIM_OT_tcb_3ds
from .import_table import IMPORT_ANIM_OT_tcb_table
from .joint_check import TCB_OT_joint_check
from .key_copy_paste import TCB_OT_key_copy, TCB_OT_key_paste
from .key_drag import TCB_OT_key_drag
from .key_jump import TCB_OT_key_jump
from .key_play import TCB_OT_handles_free, TCB_OT_key_bezier
from .key_reset import TCB_OT_key_reset
from .key_select import TCB_OT_key_select
from .key_set import TCB_OT_key_set
from .key_whole import TCB_OT_key_whole
from .make_key import TCB_OT_make_key
from .messages_dismiss import TCB_OT_messages_dismiss
from .reduce import TCB_OT_reduce, TCB_OT_reduce_compare
from .relax import TCB_OT_relax
from .remove import TCB_OT_remove
from .restore import TCB_OT_restore
from .restore_curves import IMPORT_ANIM_OT_tcb_restore_curves
from .sync import TCB_OT_sync
from .track_choose import TCB_OT_track_choose
from .track_select import TCB_OT_track_select
from .velocities_write import TCB_OT_velocities_write

_CLASSES = (
    TCB_OT_enable,
    TCB_OT_key_set,
    TCB_OT_key_drag,
    TCB_OT_key_copy,
    TCB_OT_key_paste,
    TCB_OT_key_reset,
    TCB_OT_key_select,
    TCB_OT_key_jump,
    TCB_OT_handles_free,
    TCB_OT_key_bezier,
    preset.TCB_OT_preset_apply,
    preset.TCB_OT_preset_add,
    TCB_OT_track_select,
    TCB_OT_track_choose,
    TCB_OT_frame_function,
    TCB_OT_frame_function_remove,
    TCB_OT_bake,
    TCB_OT_bake_in_world,
    TCB_OT_bake_for_gltf,
    TCB_OT_free,
    TCB_OT_make_key,
    TCB_OT_key_whole,
    TCB_OT_fix_rotations,
    TCB_OT_sync,
    TCB_OT_restore,
    TCB_OT_apply,
    TCB_OT_remove,
    TCB_OT_check,
    TCB_OT_joint_check,
    TCB_OT_relax,
    TCB_OT_reduce,
    TCB_OT_reduce_compare,
    TCB_OT_finding_show,
    TCB_OT_messages_dismiss,
    TCB_OT_edit_tried,
    IMPORT_ANIM_OT_tcb_3ds,
    EXPORT_ANIM_OT_tcb_3ds,
    IMPORT_ANIM_OT_tcb_table,
    IMPORT_ANIM_OT_tcb_restore_curves,
    EXPORT_ANIM_OT_tcb_table,
    TCB_OT_velocities_write,
)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    preset.register()


def unregister() -> None:
    preset.unregister()
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
