# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules shared by operators and panels: properties, selection, Live and reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType

import bpy


def classes_in(modules: Iterable[ModuleType]) -> Iterator[type]:
    """Yield the operators, panels, menus, lists and file handlers that the modules define, in order of definition."""
    kinds = bpy.types.Operator, bpy.types.Panel, bpy.types.Menu, bpy.types.UIList, bpy.types.FileHandler
    for module in modules:
        for value in vars(module).values():
            # Imported classes belong to other modules.
            if isinstance(value, type) and issubclass(value, kinds) and value.__module__ == module.__name__:
                yield value
