# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, menus and drawings in the viewport."""

from __future__ import annotations

import bpy

from . import file_menus, menus, pictures
from .bake import TCB_PT_bake_options, TCB_PT_defaults
from .checks import TCB_PT_checks, TCB_PT_reduce, TCB_UL_findings
from .editors import PANELS
from .gltf_export import TCB_PT_gltf_export
from .header import TCB_PT_messages
from .motion import TCB_PT_motion
from .timing import TCB_PT_timing

_CLASSES = (
    menus.TCB_MT_presets,
    menus.TCB_MT_presets_of_yours,
    menus.TCB_MT_finish,
    menus.TCB_MT_keys,
    menus.TCB_MT_objects,
    TCB_PT_messages,
    TCB_PT_bake_options,
    *PANELS,
    TCB_PT_timing,
    TCB_PT_motion,
    TCB_PT_reduce,
    TCB_UL_findings,
    TCB_PT_checks,
    TCB_PT_defaults,
    TCB_PT_gltf_export,
)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    menus.register()
    file_menus.register()
    pictures.register()


def unregister() -> None:
    pictures.unregister()
    file_menus.unregister()
    menus.unregister()
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
