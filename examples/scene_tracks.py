# SPDX-License-Identifier: GPL-3.0-or-later
"""The tracks of the example scene, with their keys and TCB parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import bpy
from mathutils import Euler

START, END = 1, 112
PLANE, BALL, CARRIER = "Paper plane", "Ball", "Ball carrier"
LAMP, LIGHT, CAMERA = "Desk lamp", "Lamp light", "Camera"


@dataclass(frozen=True)
class Key:
    """A key of a track, and its five parameters."""

    frame: int
    value: tuple[float, ...]
    tension: float = 0.0
    continuity: float = 0.0
    bias: float = 0.0
    ease_to: float = 0.0
    ease_from: float = 0.0

    @property
    def parameters(self) -> dict[str, float]:
        """Return the parameters that differ from their default."""
        names = ("tension", "continuity", "bias", "ease_to", "ease_from")
        return {name: getattr(self, name) for name in names if getattr(self, name)}


@dataclass(frozen=True)
class Track:
    """The keys of a property of a datablock."""

    owner: str
    path: str
    keys: tuple[Key, ...]

    @property
    def datablock(self) -> bpy.types.ID:
        item = bpy.data.objects[self.owner]
        return item.data if item.data is not None and self.path in _OF_DATA else item


_OF_DATA = ("lens", "energy")


def _turned(heading: float, pitch: float, bank: float) -> tuple[float, ...]:
    """Return the quaternion of a plane that flies along its X axis, from angles in degrees.

    Nose up and right wing down are positive.
    """
    return _quaternion(bank, -pitch, heading)


def _bent(bend: float, twist: float = 0.0) -> tuple[float, ...]:
    """Return the quaternion of a bone, from angles in degrees about its X axis and along the bone."""
    return _quaternion(bend, twist, 0.0)


def _quaternion(x: float, y: float, z: float) -> tuple[float, ...]:
    q = Euler(radians_of(x, y, z), "XYZ").to_quaternion()
    return q.w, q.x, q.y, q.z


def radians_of(x: float, y: float, z: float) -> tuple[float, float, float]:
    return math.radians(x), math.radians(y), math.radians(z)


def _bone(name: str, mode: str = "quaternion") -> str:
    return f'pose.bones["{name}"].rotation_{mode}'


_BOUNCE = {"tension": -1.0, "continuity": -1.0}
"""The ball leaves the floor at its arrival speed, twice the chord. This gives parabolas with zero speed at the apex."""
_APEX = {"tension": 1.0}
TRACKS = (
    Track(
        PLANE,
        "location",
        (
            Key(1, (-6.6, 2.4, 4.6)),
            Key(22, (-3.6, -0.3, 1.75)),
            Key(40, (1.1, 0.45, 2.2), tension=-0.5),
            Key(48, (1.0, 0.6, 4.1), tension=-0.6),
            Key(57, (-0.75, -0.3, 4.1), tension=-0.6),
            Key(65, (-0.85, -0.1, 2.2), tension=-0.5),
            Key(86, (3.3, 0.7, 2.9), bias=0.2),
            Key(112, (6.5, -1.2, 4.7)),
        ),
    ),
    Track(
        PLANE,
        "rotation_quaternion",
        (
            Key(1, _turned(-52, -40, -15)),
            Key(22, _turned(-15, -16, 40), bias=-0.2),
            Key(38, _turned(16, 22, -10)),
            Key(48, _turned(20, 136, 0)),
            Key(57, _turned(20, 224, 0)),
            Key(66, _turned(20, 338, -5)),
            Key(80, _turned(8, 376, 140), continuity=-0.2),
            Key(96, _turned(-28, 376, 300)),
            Key(112, _turned(-50, 378, 385), tension=0.3),
        ),
    ),
    Track(
        CARRIER,
        "location",
        (
            Key(1, (-6.0, -2.3, 0.0)),
            Key(31, (-3.2, -2.5, 0.0)),
            Key(71, (0.8, -2.3, 0.0), bias=0.4),
            Key(97, (3.2, -3.0, 0.0), tension=-0.3, bias=0.3),
            Key(112, (3.9, -2.0, 0.0), tension=0.6),
        ),
    ),
    Track(
        BALL,
        "location",
        (
            Key(1, (0.0, 0.0, 2.2), **_APEX),
            Key(11, (0.0, 0.0, 1.2), **_BOUNCE),
            Key(20, (0.0, 0.0, 2.01), **_APEX),
            Key(31, (0.0, 0.0, 0.8), **_BOUNCE),
            Key(40, (0.0, 0.0, 1.61), **_APEX),
            Key(51, (0.0, 0.0, 0.4), **_BOUNCE),
            Key(60, (0.0, 0.0, 1.21), **_APEX),
            Key(71, (0.0, 0.0, 0.0), **_BOUNCE),
            Key(79, (0.0, 0.0, 0.64), **_APEX),
            Key(87, (0.0, 0.0, 0.0), **_BOUNCE),
            Key(92, (0.0, 0.0, 0.25), **_APEX),
            Key(97, (0.0, 0.0, 0.0), **_BOUNCE),
            Key(100, (0.0, 0.0, 0.09), **_APEX),
            Key(103, (0.0, 0.0, 0.0), **_BOUNCE),
            Key(112, (0.0, 0.0, 0.0)),
        ),
    ),
    Track(
        BALL,
        "scale",
        (
            Key(1, (1.0, 1.0, 1.0)),
            Key(8, (0.93, 0.93, 1.15), tension=0.5),
            Key(11, (1.2, 1.2, 0.7), continuity=-0.5),
            Key(14, (0.94, 0.94, 1.12)),
            Key(20, (1.0, 1.0, 1.0)),
            Key(28, (0.93, 0.93, 1.15), tension=0.5),
            Key(31, (1.2, 1.2, 0.7), continuity=-0.5),
            Key(34, (0.94, 0.94, 1.12)),
            Key(40, (1.0, 1.0, 1.0)),
            Key(48, (0.93, 0.93, 1.15), tension=0.5),
            Key(51, (1.2, 1.2, 0.7), continuity=-0.5),
            Key(54, (0.94, 0.94, 1.12)),
            Key(60, (1.0, 1.0, 1.0)),
            Key(68, (0.93, 0.93, 1.15), tension=0.5),
            Key(71, (1.2, 1.2, 0.7), continuity=-0.5),
            Key(74, (0.95, 0.95, 1.1)),
            Key(79, (1.0, 1.0, 1.0)),
            Key(87, (1.1, 1.1, 0.85), continuity=-0.5),
            Key(92, (1.0, 1.0, 1.0)),
        ),
    ),
    Track(
        LAMP,
        _bone("base", "euler"),
        (
            Key(1, radians_of(0, -25, 0)),
            Key(34, radians_of(0, 12, 0), bias=-0.4),
            Key(60, radians_of(0, -8, 0)),
            Key(84, radians_of(0, -32, 0), tension=-0.3),
            Key(112, radians_of(0, 34, 0), tension=0.5),
        ),
    ),
    Track(
        LAMP,
        _bone("lower"),
        (
            Key(1, _bent(-12)),
            Key(34, _bent(8, 6)),
            Key(52, _bent(-22, -4), tension=0.4),
            Key(76, _bent(10, 5)),
            Key(112, _bent(-8)),
        ),
    ),
    Track(
        LAMP,
        _bone("head"),
        (
            Key(1, _bent(-14, 8)),
            Key(30, _bent(16, -12)),
            Key(52, _bent(-30, 6), tension=0.3, bias=0.3),
            Key(72, _bent(18, 14), continuity=0.3),
            Key(112, _bent(-18, -10)),
        ),
    ),
    Track(
        CAMERA,
        "location",
        (
            Key(1, (-4.2, -11.0, 2.4), ease_from=0.5),
            Key(54, (-1.6, -12.8, 4.2)),
            Key(104, (0.2, -14.4, 5.4), ease_to=0.5),
        ),
    ),
    Track(
        CAMERA,
        "rotation_euler",
        (
            Key(1, radians_of(89, 0, 8), ease_from=0.5),
            Key(54, radians_of(82, 1.5, -6.5)),
            Key(104, radians_of(77.5, 0, 0.3), ease_to=0.5),
        ),
    ),
    Track(
        CAMERA,
        "lens",
        (Key(1, (46.0,), ease_from=0.5), Key(104, (34.0,), ease_to=0.5)),
    ),
    Track(
        LIGHT,
        "energy",
        (Key(1, (0.0,)), Key(14, (0.0,), tension=1.0), Key(22, (420.0,), bias=0.6), Key(34, (300.0,), tension=0.8)),
    ),
)
