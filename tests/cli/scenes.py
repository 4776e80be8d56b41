# SPDX-License-Identifier: GPL-3.0-or-later
"""Input files for the command, and checks of its output files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from tests.animation.curves import curve, key, new_object

FRAMES = (1.0, 10.0, 25.0, 40.0)
VALUES = {
    "location": ((0, 0, 0), (3, -1, 2), (1, 4, 0), (5, 0, 1)),
    "rotation_quaternion": ((1, 0, 0, 0), (0.8, 0.6, 0, 0), (0, 1, 0, 0), (0.6, 0, 0, 0.8)),
}


def thing(name: str, *paths: str) -> bpy.types.Object:
    """Return an object with four keys on each of the paths."""
    made = new_object(name, "QUATERNION")
    for path in paths:
        key(made, path, list(zip(FRAMES, VALUES[path], strict=True)))
    return made


def save(path: Path, compress: bool = False, backups: int = 0) -> Path:
    """Save the open file, without Blender's backups, which are not tested."""
    assert bpy.context.preferences is not None
    bpy.context.preferences.filepaths.save_version = backups
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=compress)
    return path


def load(path: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=True, use_scripts=False)


def key_count(name: str, path: str = "location") -> int:
    """Return the number of keys on the first component in the open file, including generated keys."""
    return len(curve(bpy.data.objects[name], path).keyframe_points)


def state(path: Path, name: str = "Hips") -> str:
    """Open the file, and return "as keyed", "baked" or the number of keys of the location of the object."""
    load(path)
    return {len(FRAMES): "as keyed", 40: "baked"}.get(key_count(name), f"{key_count(name)} keys")


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def keys_of(datablock: Any, path: str, index: int = 0) -> dict[float, float]:
    return {point.co.x: point.co.y for point in curve(datablock, path, index).keyframe_points}


def linked_from(library, file):
    """Save a scene as `file`, with a local animated object and an object linked from `library`."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    save(file)
    with bpy.data.libraries.load(str(library), link=True, relative=True) as (_there, here):
        here.objects = ["Hips"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Hips"])
    thing("Prop", "location")
    return save(file)
