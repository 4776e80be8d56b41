# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Blender itself places objects and bones, frame by frame: for those that more than F-curves and parents move."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from .transforms import Frames, Matrices, UnknownMotionError, World

Thing = tuple[int, str]
"""An object's `session_uid`; the name of a bone of it, or nothing."""


class Stepping:
    """Places things at `frames`, as far as it gets in the time that it is given."""

    def __init__(self, things: Sequence[Thing], frames: Frames) -> None:
        self.things = tuple(things)
        self.frames = frames
        self.read: set[int] = set()
        """The `session_uid` of all that Blender looked at."""
        self._done = 0
        self._matrices: dict[Thing, Matrices] = {thing: np.empty((len(frames), 4, 4)) for thing in things}

    @property
    def part(self) -> float:
        """How much is done, 0 to 1."""
        return self._done / max(1, len(self.frames))

    @property
    def is_done(self) -> bool:
        return self._done == len(self.frames)

    def matrices(self, thing: Thing) -> Matrices:
        return self._matrices[thing]

    def advance(self, objects: dict[int, Any], scene: bpy.types.Scene, seconds: float) -> None:
        """Go on with the things, which are among `objects`, as `scene` counts time: a frame at least.

        The frames pass in a scene of its own, which is gone again afterwards: the animator's frame, and poses that were
        not keyed yet, stay as they are.
        """
        end = time.perf_counter() + seconds
        with _aside(scene, [objects[uid] for uid in dict.fromkeys(uid for uid, _ in self.things)]) as evaluated_at:
            while not self.is_done:
                depsgraph = evaluated_at(float(self.frames[self._done]))
                for thing, matrices in self._matrices.items():
                    matrices[self._done] = _matrix(objects[thing[0]].evaluated_get(depsgraph), thing[1])
                self._done += 1
                if time.perf_counter() > end or self.is_done:
                    self.read |= {each.original.session_uid for each in depsgraph.ids}
                    break


def stepped(
    scene: bpy.types.Scene, item: bpy.types.Object, frames: Frames, read: Callable[[Any], Sequence[float]]
) -> npt.NDArray[np.float64]:
    """What `read` finds on the object as Blender evaluates it at each of the frames, shape (frames, numbers)."""
    with _aside(scene, [item]) as evaluated_at:
        rows = [read(item.evaluated_get(evaluated_at(frame))) for frame in frames.tolist()]
    return np.array(rows, dtype=np.float64)


def placed(scene: bpy.types.Scene, item: bpy.types.Object, bone: str, frames: Frames) -> Matrices:
    """Where the object or a bone of it is at the frames, ascending: by its F-curves and parents where these are all
    that moves it; else Blender has to step through the frames."""
    try:
        return World(frames).matrices(item, bone)
    except UnknownMotionError:
        stepping = Stepping([(item.session_uid, bone)], frames)
        stepping.advance({item.session_uid: item}, scene, math.inf)
        return stepping.matrices((item.session_uid, bone))


def _matrix(item: Any, bone: str) -> Any:
    return item.matrix_world @ item.pose.bones[bone].matrix if bone else item.matrix_world


@contextmanager
def _aside(scene: bpy.types.Scene, items: Sequence[bpy.types.Object]) -> Iterator[Callable[[float], Any]]:
    """Lend a function that evaluates these objects at a frame of `scene`, unseen by anybody's handlers, and returns the
    depsgraph. It is that of a scene with these objects alone, so that poses that were not keyed stay."""
    handlers = (bpy.app.handlers.frame_change_pre, bpy.app.handlers.frame_change_post)
    held = [list(each) for each in handlers]
    before = _frame_of(scene)
    asides: list[Any] = []

    def evaluated_at(frame: float) -> Any:
        _set_frame(scene, int(frame // 1), frame % 1)
        if asides and _is_read(scene, asides[-1]):
            # A depsgraph copies the frame that a driver reads of another scene once, when it is made.
            bpy.data.scenes.remove(asides.pop())
        if not asides:
            asides.append(_scene_of(items, scene))
        asides[-1].frame_set(int(frame // 1), subframe=frame % 1)
        return asides[-1].view_layers[0].depsgraph

    try:
        for each in handlers:
            each.clear()
        yield evaluated_at
    finally:
        for each in asides:
            bpy.data.scenes.remove(each)
        _set_frame(scene, *before)
        for each, kept in zip(handlers, held, strict=True):
            each[:] = kept


def _scene_of(items: Sequence[bpy.types.Object], scene: Any) -> Any:
    """Make a scene of these objects that counts time as `scene` does."""
    made: Any = bpy.data.scenes.new("TCB paths")
    made.render.frame_map_old, made.render.frame_map_new = scene.render.frame_map_old, scene.render.frame_map_new
    for item in items:
        made.collection.objects.link(item)
    return made


def _is_read(scene: bpy.types.Scene, aside: Any) -> bool:
    """Tell whether something that moves the objects, such as a driver, reads the scene's properties."""
    return any(each.original == scene for each in aside.view_layers[0].depsgraph.ids)


def _frame_of(scene: Any) -> tuple[int, float]:
    return scene.frame_current, scene.frame_subframe


def _set_frame(scene: bpy.types.Scene, frame: int, subframe: float) -> None:
    """Set the present frame for those who read it, and evaluate nothing: that would take poses back to their keys."""
    scenes: Any = bpy.data.scenes
    at = list(scenes).index(scene)
    for name, number in (("frame_current", frame), ("frame_subframe", subframe)):
        numbers = [getattr(each, name) for each in scenes]
        numbers[at] = number
        # Unlike the assignment of a property this tags nothing as changed.
        scenes.foreach_set(name, numbers)
