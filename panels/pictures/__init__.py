# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawings: the diagram of key parameters, and paths and text in the 3D Viewport."""

from __future__ import annotations

from . import baked_text, diagram, overlay, own_keys, path_panel, path_tool, paths, preset_pictures

__all__ = ["baked_text", "diagram", "overlay", "own_keys", "path_panel", "path_tool", "paths", "preset_pictures"]
_MODULES = (diagram, preset_pictures, path_panel, overlay, path_tool, baked_text, own_keys)


def register() -> None:
    for module in _MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(_MODULES):
        module.unregister()
