# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs: what a person or a script can do. Each chooses, checks, calls `animation` and reports."""

from __future__ import annotations

import bpy

from . import preset
from .bake import TCB_OT_bake
from .enable import TCB_OT_enable
from .export_3ds import EXPORT_ANIM_OT_tcb_3ds
from .import_3ds import IMPORT_ANIM_OT_tcb_3ds
from .key_copy import TCB_OT_key_copy, TCB_OT_key_paste
from .key_drag import TCB_OT_key_drag
from .key_jump import TCB_OT_key_jump
from .key_reset import TCB_OT_key_reset
from .key_select import TCB_OT_key_select
from .key_set import TCB_OT_key_set
from .make_key import TCB_OT_make_key
from .remove import TCB_OT_remove
from .restore import TCB_OT_restore
from .sync import TCB_OT_sync
from .track_choose import TCB_OT_track_choose
from .track_select import TCB_OT_track_select

_CLASSES = (
    TCB_OT_enable,
    TCB_OT_key_set,
    TCB_OT_key_drag,
    TCB_OT_key_copy,
    TCB_OT_key_paste,
    TCB_OT_key_reset,
    TCB_OT_key_select,
    TCB_OT_key_jump,
    preset.TCB_OT_preset_apply,
    preset.TCB_OT_preset_add,
    TCB_OT_track_select,
    TCB_OT_track_choose,
    TCB_OT_bake,
    TCB_OT_make_key,
    TCB_OT_sync,
    TCB_OT_restore,
    TCB_OT_remove,
    IMPORT_ANIM_OT_tcb_3ds,
    EXPORT_ANIM_OT_tcb_3ds,
)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    preset.register()


def unregister() -> None:
    preset.unregister()
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
