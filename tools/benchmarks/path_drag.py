# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure a step of a drag on the path, with 100 bones live.

The file is a character of 100 bones in ten chains with 50 keys of location and rotation each, played with handles. The
location of a key, its tip, or the end of a tangent is dragged on one bone. The result "hold" is the start of the drag,
"step" one mouse movement, and "look" the full comparison by Live after the button is released. The result "co" is the
time for reading `co` of all keys of the character's F-curves in the same run, to which the ratios refer. All times are
processor times without Blender's own redraw.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import bpy
import numpy as np

from tools.benchmarks.character import read_places
from tools.benchmarks.checkout import animation, module, package
from tools.benchmarks.timing import milliseconds_of

movable, points = module("animation.on_path.drag_point"), module("animation.on_path.path_keys")
tangents = module("animation.on_path.drag_tangent")
canceled_changes = module("animation.edit.keys")
updates = module("ui.live.updates")

BONES, CHAIN = 100, 10
DRAGGED, FRAME = "b45", 401
DRAGGED_PARTS = ("location", "tip", "tangent")


def character() -> Any:
    """Create the rig and switch Live on."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    context: Any = bpy.context
    rig: Any = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    context.collection.objects.link(rig)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for number in range(BONES):
        bone = rig.data.edit_bones.new(f"b{number}")
        bone.tail = (0, 0, 1)
        bone.parent = parent if number % CHAIN else None
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    random = np.random.default_rng(3)
    for pose in rig.pose.bones:
        pose.rotation_mode = "QUATERNION"
        for frame in range(1, 1001, 20):
            pose.location, pose.rotation_quaternion = random.normal(size=3), random.normal(size=4)
            for path in ("location", "rotation_quaternion"):
                pose.keyframe_insert(path, frame=frame)
    package.register()
    context.scene.frame_end = 250
    animation.enable(rig, keep_look=False)
    animation.bake(rig, output="HANDLES")
    rig.animation_data.action.tcb_live = True
    updates.flush_all()
    return rig


def drag(rig: Any, part: str, steps: int) -> dict[str, float]:
    """Return the median milliseconds of the start of a drag, of a step, and of Live's comparison after the drag."""
    rig.pose.bones[DRAGGED].lock_location = (part == "tip",) * 3
    followed = points.Followed("ORIGIN" if part == "location" else "TAIL", "Z", 1.0)
    spot = points.Spot(bpy.context.scene, rig, DRAGGED, followed, FRAME)
    step, held = begin(spot, part)
    before = recorded(spot)
    times = [milliseconds_of(partial(step, number / steps)) for number in range(steps)]
    looks = []
    for number in range(5):
        step(1.0 + number / 5)
        looks.append(milliseconds_of(look_at(rig)))
    canceled_changes.revert_tracks(before)
    updates.flush()
    rig.pose.bones[DRAGGED].lock_location = (False,) * 3
    return {"hold": held, "step": median(times), "look": median(looks)}


def recorded(spot: Any) -> Any:
    """Record the tracks that move the point, as the start of a drag does."""
    moving = points.moving_tracks(spot.item, spot.bone, spot.followed)
    return canceled_changes.record_tracks((spot.item, track) for track in moving)


def begin(spot: Any, part: str) -> tuple[Callable[[float], object], float]:
    """Return a function that drags by a fraction of a distance, and the milliseconds of the start of the drag."""
    start = time.process_time()
    recorded(spot)
    if part == "tangent":
        tangent = tangents.DraggedTangent(spot, "handle_right", np.ones(3), 20, {})
        return lambda fraction: tangent.drag_to(np.ones(3) * (1 + fraction)), 1000.0 * (time.process_time() - start)
    key = movable.movable_point(spot)
    milliseconds = 1000.0 * (time.process_time() - start)
    place = movable.PointInWorld(spot, key.track).now()
    return lambda fraction: key.move_to(place + 0.4 * fraction), milliseconds


def look_at(rig: Any) -> Callable[[], object]:
    def look() -> None:
        updates.mark(rig.animation_data.action)
        updates.flush()

    return look


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=int, default=20)


def run(options: argparse.Namespace) -> None:
    rig = character()
    co = median(read_places(rig) for _ in range(11))
    print(f"Blender {bpy.app.version_string}; co: {co:.2f} ms")
    for part in DRAGGED_PARTS:
        times = drag(rig, part, options.steps)
        print(f"{part:9}", "  ".join(f"{name} {ms:.1f} ms, {ms / co:.1f} x co" for name, ms in times.items()))
