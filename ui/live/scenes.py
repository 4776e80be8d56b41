# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of what an action animates: whose defaults, and whose current frames, count for its keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from ...animation.datablocks import of_object
from .. import selection


def defaults_for(users: list[bpy.types.ID]) -> dict[str, float]:
    """Return the default parameters of the first scene with the datablocks; of the context's where there is none."""
    return selection.defaults_of(next(scenes_with(users), bpy.context.scene))


def scenes_with(users: list[bpy.types.ID]) -> Iterator[Any]:
    """Yield the scenes of the datablocks: those of windows, the first window's first, before others."""
    if len(bpy.data.scenes) == 1:
        yield bpy.context.scene
        return
    for scene in dict.fromkeys((*shown_scenes(), *bpy.data.scenes)):
        if _is_of(scene, users):
            yield scene


def _is_of(scene: bpy.types.Scene, users: list[bpy.types.ID]) -> bool:
    """Check whether a datablock is the scene, one of its objects, or a part of one."""
    if any(scene == user or user == scene.objects.get(user.name) for user in users):
        return True
    return any(part in users for obj in scene.objects for part in of_object(obj))


def shown_scenes() -> list[Any]:
    """Return the scenes of the windows, where a person can have edited something, in an order all windows share."""
    context: Any = bpy.context
    return list(dict.fromkeys((*(window.scene for window in context.window_manager.windows), context.scene)))
