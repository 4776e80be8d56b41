# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules shared by operators and panels: properties, selection, Live and reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType

import bpy


def classes_in(modules: Iterable[ModuleType]) -> Iterator[type]:
    """Yield the types that the modules define for Blender, in order of definition."""
    types = bpy.types
    kinds = types.Operator, types.Panel, types.Menu, types.UIList, types.FileHandler, types.PropertyGroup
    for module in modules:
        for value in vars(module).values():
            # Imported classes belong to other modules.
            if isinstance(value, type) and issubclass(value, kinds) and value.__module__ == module.__name__:
                yield value
