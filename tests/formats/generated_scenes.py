# SPDX-License-Identifier: GPL-3.0-or-later
"""Random 3D Studio scenes with nodes and tracks of all kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from formats import three_ds

TRACKS = {
    "OBJECT": ("POSITION", "ROTATION", "SCALE", "MORPH", "HIDE"),
    "CAMERA": ("POSITION", "FOV", "ROLL"),
    "CAMERA_TARGET": ("POSITION",),
    "LIGHT": ("POSITION", "COLOR"),
    "SPOTLIGHT": ("POSITION", "COLOR", "HOTSPOT", "FALLOFF", "ROLL"),
    "LIGHT_TARGET": ("POSITION",),
    "AMBIENT": ("COLOR",),
}
"""The kinds of tracks of each kind of node."""


def make_track(rng: np.random.Generator, kind: str) -> three_ds.Track:
    """Make a track of a few random keys, with or without parameters."""
    count = int(rng.integers(0, 5))
    flags = rng.integers(0, 32, count) if rng.random() < 0.5 else np.full(count, rng.choice([0, 31]))
    # A key holds only the parameters whose flags are set.
    bits = np.arange(5)[:, np.newaxis]
    parameters = rng.random((5, count)) * ((flags >> bits) & 1)
    frames = np.sort(rng.integers(-5, 100, count)).astype(np.int32)
    values = rng.normal(size=(count, three_ds.COMPONENTS[kind])).astype(np.float32)
    track_flags = int(rng.integers(0, 0x800))
    names: tuple[bytes, ...] = ()
    if kind == "MORPH":
        names = tuple(rng.bytes(int(rng.integers(0, 4))).replace(b"\0", b"a") for _ in range(count))
    return three_ds.Track(
        kind,
        frames,
        values,
        flags.astype(np.uint16),
        parameters.astype(np.float32),
        track_flags,
        reserved=(0, 100),
        names=names,
    )


def make_node(rng: np.random.Generator, kind: str, index: int, with_ids: bool) -> three_ds.Node:
    """Make a node with the tracks of its kind. Its parent, if any, is an earlier node."""
    return three_ds.Node(
        kind,
        b"Node%d" % index,
        int(rng.integers(0, index)) if index and rng.random() < 0.5 else None,
        index if with_ids else None,
        pivot=rng.normal(size=3).astype(np.float32) if kind == "OBJECT" else None,
        instance_name=b"again" if rng.random() < 0.2 else None,
        tracks=tuple(make_track(rng, track) for track in TRACKS[kind]),
        chunks=(three_ds.Chunk(0xB014, rng.bytes(24), 2),) if rng.random() < 0.2 else (),
    )


def make_objects(rng: np.random.Generator) -> tuple[three_ds.Object, ...]:
    """Make a mesh, a camera, a light and a spotlight."""

    def floats(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    mesh = three_ds.Mesh(
        floats(3, 3),
        np.array([[0, 1, 2]], np.uint16),
        np.array([7], np.uint16),
        floats(3, 2),
        floats(4, 3),
        (three_ds.Chunk(0x4111, rng.bytes(8), 1),),
        (three_ds.Chunk(0x4130, b"Stone\0\1\0\0\0"),),
    )
    spotlight = three_ds.Light(floats(3), floats(3), 1.5, three_ds.Spotlight(floats(3), 40.0, 45.0, 0.0))
    return (
        three_ds.Object(b"Mesh", mesh, (three_ds.Chunk(0x4010, b""),)),
        three_ds.Object(b"Camera", three_ds.Camera(floats(3), floats(3))),
        three_ds.Object(b"Light", three_ds.Light(floats(3))),
        three_ds.Object(b"Spot", spotlight),
    )


def make_scene(rng: np.random.Generator, kinds: Sequence[str], with_objects: bool) -> three_ds.Scene:
    """Make a small scene with a node of each of these kinds."""
    with_ids = bool(rng.integers(0, 2))
    nodes = tuple(make_node(rng, kind, index, with_ids) for index, kind in enumerate(kinds))
    keyframer = three_ds.Keyframer(nodes, three_ds.Header(5, b"FUZZ", 100), (0, 100), 0)
    editor = three_ds.Editor(make_objects(rng), chunks=(three_ds.Chunk(0xAFFF, rng.bytes(20), 1),))
    return three_ds.Scene(editor if with_objects else None, keyframer)


def make_files(rng: np.random.Generator) -> list[bytes]:
    """Make the files from which damaged files are created. Most files are small, so a change is likely to matter."""
    kinds = list(TRACKS)
    small = [make_scene(rng, [kind], False) for kind in kinds for _ in range(3)]
    scenes = [*small, make_scene(rng, [], True), make_scene(rng, kinds, True)]
    return [three_ds.write(scene) for scene in scenes]
