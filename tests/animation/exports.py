# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig to export, and the output of Blender's exporters for glTF and FBX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest

from tests.animation.curves import Bone, key, new_rig

FRAMES = (1.0, 10.0, 25.0, 40.0)
PLACES = ((0, 0, 0), (5, 2, 3), (-1, 0, 2), (0, 4, -2))
TURNS = ((1.0, 0.0, 0.0, 0.0), (0.9, 0.3, 0.1, 0.0), (0.6, 0.2, 0.5, -0.4), (0.8, -0.1, 0.4, 0.2))
BONES = ("Upper", "Lower")


def rig() -> bpy.types.Object:
    """Return an armature with two rotating bones."""
    upper, lower = BONES
    made = new_rig(Bone(upper, (0, 0, 0), (0, 1, 0)), Bone(lower, (0, 1, 0), (0, 2, 0), upper))
    for name in BONES:
        key(made, f'pose.bones["{name}"].rotation_quaternion', list(zip(FRAMES, TURNS, strict=True)), group=name)
    return made


def gltf(path: Path, **options: Any) -> Path:
    file = path.with_suffix(".gltf")
    bpy.ops.export_scene.gltf(filepath=str(file), export_format="GLTF_SEPARATE", export_yup=False, **options)
    return file


def fbx(path: Path) -> Path:
    file = path.with_suffix(".fbx")
    bpy.ops.export_scene.fbx(filepath=str(file), use_custom_props=True)
    return file


def complaints(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Return the printed warnings and errors, except about libraries that Blender lacks as a module."""
    printed = "\n".join(capfd.readouterr())
    found = (line for line in printed.splitlines() if any(word in line.lower() for word in ("warning", "error")))
    return [line for line in found if "library could not be found" not in line]
