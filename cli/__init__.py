# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `blender --command tcb VERB FILE…`: bake, restore, check, import, export… without a window."""

from __future__ import annotations

from typing import Any

import bpy

from .run import main

__all__ = ["main", "register", "unregister"]

_registered: list[Any] = []


def register() -> None:
    _registered.append(bpy.utils.register_cli_command("tcb", main))


def unregister() -> None:
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())
