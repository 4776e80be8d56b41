# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of .3ds files with features that importers and exporters encounter."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from formats import three_ds
from tests.exchange.files import box, camera, scene, spotlight, track

TWO_ROTATIONS = track("ROTATION", (0, 0.5, 0.6, 0.0, 0.8), (10, 1.1, 0.0, 1.0, 0.0), (25, -0.7, 0.0, 0.6, 0.8))
THREE_PLACES = track("POSITION", (0, 1, 2, 3), (10, 4, -1, 2), (25, 0, 0, 5), parameters={1: (0.4, -0.3, 0.6, 0, 0)})


def family(*, ids: bool) -> three_ds.Scene:
    """Return a scene with a child before its parent, both with pivots, rotations and scales."""
    child = three_ds.Node(
        "OBJECT",
        b"Child",
        parent=1,
        node_id=0 if ids else None,
        pivot=np.array([0.5, 0, 1], np.float32),
        tracks=(THREE_PLACES, TWO_ROTATIONS),
    )
    parent = three_ds.Node(
        "OBJECT",
        b"Parent",
        node_id=1 if ids else None,
        pivot=np.array([0, 2, 0], np.float32),
        tracks=(TWO_ROTATIONS, track("SCALE", (0, 1, 1, 1), (20, 2, 0.5, 1.5))),
    )
    matrix = np.eye(4)
    matrix[:3] = [[0, -2, 0, 5], [1, 0, 0.3, 6], [0, 0, 1, 7]]
    return scene(child, parent, objects=(box(b"Child", matrix), box(b"Parent")))


def with_much_to_leave() -> three_ds.Scene:
    """Return a scene with two boxes with materials. One box has invalid faces and smoothing groups."""
    faces = np.array([[0, 1, 2], [2, 0, 1], [2, 1, 0], [3, 3, 4], [5, 6, 5], [4, 6, 7]], np.uint16)
    groups = np.array([1, 1, 4, 0, 0, 5], "<u4").tobytes()
    chunks = (three_ds.Chunk(0x4130, b"Stone\0\1\0\0\0"), three_ds.Chunk(0x4150, groups))
    bad = box(b"Bad")
    assert isinstance(bad.content, three_ds.Mesh)
    mesh = dataclasses.replace(bad.content, faces=faces, face_flags=np.full(6, 7, np.uint16), face_chunks=chunks)
    items = dataclasses.replace(bad, content=mesh), box(b"Box"), camera(b"Eye"), spotlight(b"Lamp")
    materials = tuple(three_ds.Chunk(0xAFFF, name) for name in (b"Stone", b"Wood"))
    names = ((b"Box", None), (b"Box", b"again"), (b"Bad", None))
    nodes = [three_ds.Node("OBJECT", name, instance_name=instance) for name, instance in names]
    return three_ds.Scene(three_ds.Editor(items, chunks=materials), three_ds.Keyframer(tuple(nodes)))


def watched(kind: str, *more: three_ds.Track) -> tuple[three_ds.Node, three_ds.Node]:
    target = "CAMERA_TARGET" if kind == "CAMERA" else "LIGHT_TARGET"
    moving = track("POSITION", (0, 3, 5, 1), (20, -4, 6, 2), (30, 1, 4, 0))
    return three_ds.Node(kind, b"Eye", tracks=(THREE_PLACES, *more)), three_ds.Node(target, b"Eye", tracks=(moving,))


def spun(start: tuple[float, ...], *turns: tuple[float, ...], tension: float = 0.0) -> three_ds.Scene:
    """Return a box that rotates about an axis (x, y, z, degrees per key), keyed every ten frames."""
    rows = [(0, *start), *((10 * (n + 1), -math.radians(turn[3]), *turn[:3]) for n, turn in enumerate(turns))]
    rotations = track("ROTATION", *rows, parameters={1: (tension, 0, 0, 0, 0)})
    return scene(three_ds.Node("OBJECT", b"Box", tracks=(rotations,)), objects=(box(b"Box"),))


UPRIGHT, TILTED = (0.0, 0.0, 0.0, 1.0), (0.8, 0.6, 0.0, 0.8)


def scene_with_everything() -> three_ds.Scene:
    child = three_ds.Node("OBJECT", b"Box", parent=0, tracks=(THREE_PLACES, TWO_ROTATIONS))
    more = track("ROLL", (0, 1), (9, 2)), track("FOV", (0, 40), (9, 50))
    return scene(*watched("CAMERA", *more), child, objects=(box(b"Box"), camera(b"Eye")))


SCENES = {
    "family": lambda: family(ids=True),
    "camera": lambda: scene(
        *watched("CAMERA", track("ROLL", (0, -10), (12, 400), (30, 90)), track("FOV", (0, 45), (20, 100), (30, 20))),
        objects=(camera(b"Eye"),),
    ),
    "spotlight": lambda: scene(
        *watched("SPOTLIGHT", track("HOTSPOT", (0, 20), (30, 60)), track("FALLOFF", (0, 50), (10, 80), (30, 70))),
        objects=(spotlight(b"Eye"),),
    ),
    "hidden": lambda: scene(
        three_ds.Node("OBJECT", b"Box", tracks=(track("HIDE", (5,), (9,)),)), objects=(box(b"Box"),)
    ),
    "cycle": lambda: scene(
        three_ds.Node("OBJECT", b"Box", tracks=(track("SCALE", (0, 1, 1, 1), (9, 2, 2, 2), flags=3),))
    ),
    "spun upright": lambda: spun(UPRIGHT, (0.6, 0, 0.8, 450), (0.6, 0, 0.8, -720), (0.6, 0, 0.8, 90), tension=0.3),
    "spun tilted": lambda: spun(TILTED, (0, 0, 1, 450), (0, 0, 1, -720), (0, 0, 1, 90), tension=0.3),
    "long way": lambda: spun(TILTED, (0.6, 0, 0.8, 300), (0, 0.6, 0.8, -200)),
}
