# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels, menus and drawings in the viewport."""

from __future__ import annotations

import bpy

from ..ui import classes_in
from . import bake, checks, defaults, file_menus, header, menus, pictures, reduce, smoothness, tab, timing

_CLASSES = (
    *classes_in((menus, header)),
    *tab.PANELS,
    *classes_in((bake, defaults, timing, smoothness, reduce, checks, file_menus)),
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
