# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person sees."""

from __future__ import annotations

import bpy

from . import pictures
from .sidebar import TCB_PT_bake, TCB_PT_bake_options, TCB_PT_key, TCB_PT_track, TCB_PT_tracks

_CLASSES = (TCB_PT_bake, TCB_PT_bake_options, TCB_PT_tracks, TCB_PT_key, TCB_PT_track)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    pictures.register()


def unregister() -> None:
    pictures.unregister()
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
