# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes that windows show, and the scene whose default parameters apply to a datablock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from ...animation.datablocks import of_object
from ..scene import defaults_of


def default_parameters(datablocks: Sequence[bpy.types.ID]) -> dict[str, float]:
    """Return the default parameters of the first scene that contains any of the datablocks, or of the context's scene.

    The scenes of windows come first, in window order.
    """
    scenes = dict.fromkeys((*shown_scenes(), *bpy.data.scenes)) if len(bpy.data.scenes) > 1 else ()
    return defaults_of(next((scene for scene in scenes if _contains(scene, datablocks)), bpy.context.scene))


def shown_scenes() -> list[Any]:
    """Return the scenes shown in windows, in window order, then the context's scene, which no window may show."""
    context: Any = bpy.context
    return list(dict.fromkeys((*(window.scene for window in context.window_manager.windows), context.scene)))


def _contains(scene: Any, datablocks: Sequence[bpy.types.ID]) -> bool:
    """Return whether any of the datablocks is the scene, its world, one of its objects, or part of one of these."""
    # Most animated datablocks are objects, which are found by name.
    if any(datablock == scene.objects.get(datablock.name) for datablock in datablocks):
        return True
    if not set(_own_datablocks(scene)).isdisjoint(datablocks):
        return True
    return any(part in datablocks for obj in scene.objects for part in of_object(obj))


def _own_datablocks(scene: Any) -> Iterator[bpy.types.ID]:
    """Yield the scene, its compositor, its world and the nodes of the world."""
    yield scene
    # Blender 5.0 renamed the compositor's node tree.
    compositor = getattr(scene, "compositing_node_group", None) or getattr(scene, "node_tree", None)
    if compositor is not None:
        yield compositor
    if scene.world is not None:
        yield scene.world
        if scene.world.node_tree is not None:
            yield scene.world.node_tree
