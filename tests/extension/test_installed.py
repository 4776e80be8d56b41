# SPDX-License-Identifier: GPL-3.0-or-later
"""Assumptions of all other tests in Blender: the installed package, and new files."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import bpy

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = "bl_ext.user_default.tcb_animation"


def test_the_package_is_the_installed_one_not_the_checkout(tcb_animation: ModuleType) -> None:
    assert tcb_animation.__name__ == PACKAGE
    assert tcb_animation.__file__ is not None
    assert not Path(tcb_animation.__file__).resolve().is_relative_to(ROOT)


def test_a_new_file_is_empty(scene: bpy.types.Scene) -> None:
    import bpy

    assert list(scene.objects) == []
    assert list(bpy.data.actions) == []


def test_a_new_file_keeps_the_extension_enabled(scene: bpy.types.Scene) -> None:
    import bpy

    assert bpy.context.preferences is not None
    assert PACKAGE in bpy.context.preferences.addons
