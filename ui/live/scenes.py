# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes that contain the users of an action. These scenes determine default parameters and current frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from ...animation.datablocks import of_object
from .. import selection


def defaults_for(users: list[bpy.types.ID]) -> dict[str, float]:
    """Return the default parameters of the first scene that contains the datablocks, or of the context's scene."""
    return selection.defaults_of(next(scenes_with(users), bpy.context.scene))


def scenes_with(users: list[bpy.types.ID]) -> Iterator[Any]:
    """Yield the scenes that contain the datablocks: first the scenes of windows, in window order, then other scenes."""
    if len(bpy.data.scenes) == 1:
        yield bpy.context.scene
        return
    for scene in dict.fromkeys((*shown_scenes(), *bpy.data.scenes)):
        if _is_of(scene, users):
            yield scene


def _is_of(scene: bpy.types.Scene, users: list[bpy.types.ID]) -> bool:
    """Return whether any of the datablocks is the scene, one of its objects, or part of an object."""
    if any(scene == user or user == scene.objects.get(user.name) for user in users):
        return True
    return any(part in users for obj in scene.objects for part in of_object(obj))


def shown_scenes() -> list[Any]:
    """Return the scenes shown in windows, where edits are possible. The order is the same for all windows."""
    context: Any = bpy.context
    return list(dict.fromkeys((*(window.scene for window in context.window_manager.windows), context.scene)))
