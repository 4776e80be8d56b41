# SPDX-License-Identifier: GPL-3.0-or-later
"""Let Blender evaluate the transforms of objects and bones, frame by frame.

This module is used for objects that are animated by anything other than F-curves and parents.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from .transforms import Frames, Matrices, TransformSampler, UnknownMotionError

Owner = tuple[int, str]
"""The `session_uid` of an object, and the name of one of its bones, or "" for the object itself."""


class DepsgraphSampler:
    """A sampler that lets Blender evaluate objects and bones at `frames`, in steps of limited duration."""

    def __init__(self, owners: Sequence[Owner], frames: Frames) -> None:
        self.owners = tuple(owners)
        self.frames = frames
        self.dependencies: set[int] = set()
        """The `session_uid` of all datablocks that Blender evaluated."""
        self._done = 0
        self._matrices: dict[Owner, Matrices] = {owner: np.empty((len(frames), 4, 4)) for owner in owners}

    @property
    def part(self) -> float:
        """Return the finished fraction, 0 to 1."""
        return self._done / max(1, len(self.frames))

    @property
    def is_done(self) -> bool:
        """Return whether all frames have been evaluated."""
        return self._done == len(self.frames)

    def matrices(self, owner: Owner) -> Matrices:
        """Return the world matrices of an object or bone, shape (frames, 4, 4)."""
        return self._matrices[owner]

    def advance(self, objects: dict[int, Any], scene: bpy.types.Scene, seconds: float) -> None:
        """Evaluate at least one more frame of `scene`. `objects` must contain all objects to evaluate.

        A temporary scene is evaluated, so the current frame and unkeyed poses do not change.
        """
        end = time.perf_counter() + seconds
        items = [objects[uid] for uid in dict.fromkeys(uid for uid, _ in self.owners)]
        with _temporary_scene(scene, items) as evaluated_at:
            while not self.is_done:
                depsgraph = evaluated_at(float(self.frames[self._done]))
                for (uid, bone), matrices in self._matrices.items():
                    matrices[self._done] = _matrix(objects[uid].evaluated_get(depsgraph), bone)
                self._done += 1
                if time.perf_counter() > end or self.is_done:
                    self.dependencies |= {datablock.original.session_uid for datablock in depsgraph.ids}
                    break


def values_by_stepping(
    scene: bpy.types.Scene, item: bpy.types.Object, frames: Frames, read: Callable[[Any], Sequence[float]]
) -> npt.NDArray[np.float64]:
    """Return the numbers that `read` gets from the depsgraph at each frame, shape (frames, numbers)."""
    with _temporary_scene(scene, [item]) as evaluated_at:
        rows = [read(evaluated_at(frame)) for frame in frames.tolist()]
    return np.array(rows, dtype=np.float64)


def world_matrices(scene: bpy.types.Scene, item: bpy.types.Object, bone: str, frames: Frames) -> Matrices:
    """Return the matrices of the object or one of its bones at ascending frames.

    If only F-curves and parents animate the object, the matrices are computed from the F-curves. Otherwise, Blender
    steps through the frames.
    """
    try:
        return TransformSampler(frames).matrices(item, bone)
    except UnknownMotionError:
        sampler = DepsgraphSampler([(item.session_uid, bone)], frames)
        sampler.advance({item.session_uid: item}, scene, math.inf)
        return sampler.matrices((item.session_uid, bone))


def _matrix(item: Any, bone: str) -> Any:
    """Return the world matrix of an evaluated object or one of its bones."""
    return item.matrix_world @ item.pose.bones[bone].matrix if bone else item.matrix_world


@contextmanager
def _temporary_scene(scene: bpy.types.Scene, items: Sequence[bpy.types.Object]) -> Iterator[Callable[[float], Any]]:
    """Yield a function that evaluates these objects at a frame of `scene` and returns the depsgraph.

    The function evaluates a temporary scene that contains only these objects, so unkeyed poses do not change. Handlers
    are disabled.
    """
    handler_lists = (bpy.app.handlers.frame_change_pre, bpy.app.handlers.frame_change_post)
    saved_handlers = [list(handlers) for handlers in handler_lists]
    saved_frame = scene.frame_current, scene.frame_subframe
    temporary: list[Any] = []

    def evaluated_at(frame: float) -> Any:
        _set_frame(scene, int(frame // 1), frame % 1)
        if temporary and _is_read(scene, temporary[-1]):
            # A driver that reads the frame of another scene gets a copy that is created only once, with the depsgraph.
            bpy.data.scenes.remove(temporary.pop())
        if not temporary:
            temporary.append(_scene_with(items, scene))
        temporary[-1].frame_set(int(frame // 1), subframe=frame % 1)
        return temporary[-1].view_layers[0].depsgraph

    try:
        for handlers in handler_lists:
            handlers.clear()
        yield evaluated_at
    finally:
        for temporary_scene in temporary:
            bpy.data.scenes.remove(temporary_scene)
        _set_frame(scene, *saved_frame)
        for handlers, saved in zip(handler_lists, saved_handlers, strict=True):
            handlers[:] = saved


def _scene_with(items: Sequence[bpy.types.Object], scene: bpy.types.Scene) -> bpy.types.Scene:
    """Create a scene with these objects and the time mapping of `scene`."""
    new_scene = bpy.data.scenes.new("TCB paths")
    new_scene.render.frame_map_old = scene.render.frame_map_old
    new_scene.render.frame_map_new = scene.render.frame_map_new
    for item in items:
        new_scene.collection.objects.link(item)
    return new_scene


def _is_read(scene: bpy.types.Scene, temporary_scene: Any) -> bool:
    """Return whether anything that animates the objects, for example a driver, reads properties of the scene."""
    return any(datablock.original == scene for datablock in temporary_scene.view_layers[0].depsgraph.ids)


def _set_frame(scene: bpy.types.Scene, frame: int, subframe: float) -> None:
    """Set the current frame without evaluation, which would reset poses to their keys."""
    scenes = bpy.data.scenes
    index = list(scenes).index(scene)
    for name, number in (("frame_current", frame), ("frame_subframe", subframe)):
        numbers = [getattr(other, name) for other in scenes]
        numbers[index] = number
        # Unlike assigning to the property, this call tags nothing as changed.
        scenes.foreach_set(name, numbers)
