# SPDX-License-Identifier: GPL-3.0-or-later
"""An object whose track uses a chosen method, and that method's spline through its keys."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from interp import Keys
from interp.splines import METHODS
from tests.animation.curves import key, new_object

FRAMES = (1.0, 8.0, 20.0, 29.0, 40.0)
VALUES = ((0.5, 1.0, 2.0), (5.0, 1.5, 2.0), (1.0, 1.0, 2.5), (3.0, 4.0, 2.0), (2.0, 3.0, 2.5))
TURNS = (
    (1.0, 0.0, 0.0, 0.0),
    (0.9, 0.3, 0.1, 0.0),
    (0.8, 0.3, -0.4, 0.2),
    (0.7, 0.6, -0.3, 0.2),
    (0.9, 0.2, 0.0, 0.4),
)
VELOCITIES = {
    "location": ((0.1, 0, 0), (-0.2, 0.1, 0.3), (0, 0, 0), (0.3, -0.2, 0.1), (0, 0.1, 0)),
    "rotation": ((0.01, 0, 0), (0, 0.05, 0.02), (0, 0, 0), (0.03, -0.02, 0.01), (0, 0, 0.04)),
}


def keyed(values: Any, turns: Any) -> bpy.types.Object:
    item = new_object("Thing", "QUATERNION")
    key(item, "location", list(zip(FRAMES, values, strict=True)), group="Transform")
    key(item, "rotation_quaternion", list(zip(FRAMES, turns, strict=True)), group="Transform")
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    return item


def chosen(animation, thing: bpy.types.Object, name: str, method: str, **choices: str) -> None:
    """Make a track use the method, with velocities if the method uses them."""
    animation.enable(thing, keep_look=False)
    animation.choose(thing, name, method=method, **choices)
    if "velocities" in options_of(name, method):
        for frame, velocity in zip(FRAMES, VELOCITIES[name], strict=True):
            animation.key_set(thing, name, frame, velocity=velocity)
    animation.key_set(thing, name, FRAMES[1], ease_from=0.25)
    animation.key_set(thing, name, FRAMES[3], ease_to=0.5)


def options_of(name: str, method: str) -> tuple[str, ...]:
    made = METHODS[method]
    return made.rotation_options if name == "rotation" else made.value_options


def spline_of(name: str, method: str, cycle: str = "SINGLE", closed: bool = False) -> Any:
    """Return the method's spline through the float32 keys. With `closed`, the last key has the first key's pose."""
    made = METHODS[method].rotations if name == "rotation" else METHODS[method].values
    values = np.array(TURNS if name == "rotation" else VALUES, dtype=np.float32)
    values[-1] = values[0] if closed else values[-1]
    keys = Keys(FRAMES, values, ease_from=[0, 0.25, 0, 0, 0], ease_to=[0, 0, 0, 0.5, 0])
    given = {"velocities": np.float32(VELOCITIES[name])} if "velocities" in options_of(name, method) else {}
    return made(keys, cycle, **given)
