# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of rotations in every rotation mode of Blender, and the quaternions that they represent."""

from __future__ import annotations

import random

import numpy as np
from mathutils import Euler, Quaternion

from tests.animation import reference
from tests.animation.curves import ORDERS, PARAMETERS, curve, key, rotation_path


def values_of(mode: str, quaternions) -> list[tuple[float, ...]]:
    """Return the float32 channel values of the mode."""
    rows = []
    for q in quaternions:
        turn = Quaternion(q)
        if mode == "QUATERNION":
            row = tuple(turn)
        elif mode == "AXIS_ANGLE":
            axis, angle = turn.to_axis_angle()
            row = (angle, *axis)
        else:
            row = tuple(turn.to_euler(mode) if not rows else turn.to_euler(mode, Euler(rows[-1], mode)))
        rows.append(tuple(float(np.float32(number)) for number in row))
    return rows


def quaternion_of(mode: str, row) -> np.ndarray:
    if mode == "QUATERNION":
        return np.asarray(row, dtype=np.float64)
    if mode == "AXIS_ANGLE":
        return reference.of_axis_angle(row[0], row[1:])
    return reference.of_euler(row, mode)


def rotations_near_each_other(dice: random.Random, count: int, most: float) -> list[np.ndarray]:
    q, result = np.array([1.0, 0, 0, 0]), []
    for _ in range(count):
        axis = [dice.gauss(0, 1) for _ in range(3)]
        q = reference.product(reference.of_axis_angle(dice.uniform(0.05, most), axis), q)
        result.append(q)
    return result


def keyed(animation, thing, mode: str, frames, rows, path: str = "", prefix: str = "", **parameters):
    path = prefix + (path or rotation_path(mode))
    key(thing, path, list(zip(frames, rows, strict=True)))
    animation.enable(thing, keep_look=False)
    keys = []
    for n, (frame, row) in enumerate(zip(frames, rows, strict=True)):
        numbers = {name: float(np.float32(values[n])) for name, values in parameters.items()}
        if numbers:
            animation.key_set(thing, path, frame, **numbers)
        rest = [numbers.get(name, 0.0) for name in PARAMETERS]
        keys.append(reference.Key(float(np.float32(frame)), tuple(quaternion_of(mode, row)), *rest))
    return keys


def channels_at(thing, path: str, width: int, frame: float) -> list[float]:
    return [curve(thing, path, index).evaluate(frame) for index in range(width)]


def quaternion_at(thing, frame: float, path: str = "") -> np.ndarray:
    """Return the rotation that the curves of the object's rotation mode, or of another path, have at the frame."""
    mode = thing.rotation_mode
    width = 3 if mode in ORDERS else 4
    return quaternion_of(mode, channels_at(thing, path or rotation_path(mode), width, frame))


ALL_PARAMETERS = {
    "tension": [0.3, -0.5, 0.5, 0.2, -1.0],
    "continuity": [0.0, 0.75, -0.4, 1.0, 0.6],
    "bias": [0.9, -0.3, 0.5, -1.0, 0.1],
    "ease_to": [0.0, 0.5, 0.0, 0.9, 0.25],
    "ease_from": [0.4, 0.0, 0.7, 0.8, 0.0],
}
