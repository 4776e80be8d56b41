# SPDX-License-Identifier: GPL-3.0-or-later
"""A character with 100 bones and 1,000 channels, whose keys are all at the same of its 250 frames."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tools.benchmarks.checkout import animation
from tools.benchmarks.scenes import RIG, Size, fcurves, make
from tools.benchmarks.timing import milliseconds_of

SIZE = Size(1000, 250)
KEYS = 10


def plain_character(path: Path, keys: int) -> Any:
    """Create a new file and return its rig."""
    make(SIZE, path)
    rig: Any = bpy.data.objects[RIG]
    for fcurve in fcurves(rig):
        spare = len(fcurve.keyframe_points) - keys
        for row in sorted((2 * n + 2 for n in range(spare)), reverse=True):
            fcurve.keyframe_points.remove(fcurve.keyframe_points[row])
    return rig


def character(path: Path, keys: int = KEYS) -> Any:
    """Create the character with TCB tracks and a parameter on the rotation of every bone."""
    rig = plain_character(path, keys)
    dice = random.Random(1)
    animation.enable(rig, keep_look=False)
    frames = own_frames(rig)
    for bone in rig.pose.bones:
        animation.key_set(rig, f'pose.bones["{bone.name}"].rotation', dice.choice(frames), tension=dice.uniform(-1, 1))
    return rig


def own_frames(rig: Any) -> list[float]:
    return [point.co.x for point in fcurves(rig)[0].keyframe_points if point.type != "GENERATED"]


def read_places(rig: Any) -> float:
    """Return the milliseconds to read `co` of all keys of the character's F-curves, each into a new array."""

    def read() -> None:
        for curve in fcurves(rig):
            points = curve.keyframe_points
            points.foreach_get("co", np.empty(2 * len(points), dtype=np.float32))

    return milliseconds_of(read)
