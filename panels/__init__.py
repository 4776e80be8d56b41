# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, menus and drawings in the viewport."""

from __future__ import annotations

import bpy

from ..ui import classes_in
from . import advanced, bake, menus, messages, pictures, reduce, tracks

_CLASSES = (
    *classes_in((menus, messages)),
    *tracks.PANELS,
    *classes_in((bake, reduce, advanced)),
)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    menus.register()
    pictures.register()


def unregister() -> None:
    pictures.unregister()
    menus.unregister()
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
