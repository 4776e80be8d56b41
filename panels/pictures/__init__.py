# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawings: the diagram of a key's parameters, and paths in the 3D viewport."""

from __future__ import annotations

from . import diagram, diagram_drag, overlay, path_panel, path_tool, paths, preset_pictures

__all__ = ["diagram", "diagram_drag", "overlay", "path_panel", "path_tool", "paths", "preset_pictures"]
_MODULES = (diagram, diagram_drag, preset_pictures, path_panel, overlay, path_tool)


def register() -> None:
    for module in _MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(_MODULES):
        module.unregister()
