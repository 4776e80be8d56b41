# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading of files that were assembled byte by byte."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from formats import three_ds
from tests.formats import layout
from tests.formats.layout import Key, chunk, floats, keyframes, node, objects

NODES = {
    "AMBIENT": 0xB001,
    "OBJECT": 0xB002,
    "CAMERA": 0xB003,
    "CAMERA_TARGET": 0xB004,
    "LIGHT": 0xB005,
    "LIGHT_TARGET": 0xB006,
    "SPOTLIGHT": 0xB007,
}
TRACKS = {
    "POSITION": (0xB020, 3),
    "ROTATION": (0xB021, 4),
    "SCALE": (0xB022, 3),
    "FOV": (0xB023, 1),
    "ROLL": (0xB024, 1),
    "COLOR": (0xB025, 3),
    "HOTSPOT": (0xB027, 1),
    "FALLOFF": (0xB028, 1),
    "HIDE": (0xB029, 0),
}


@pytest.mark.parametrize("kind", NODES)
def test_each_kind_of_node_is_read(kind: str) -> None:
    pivot, instance = chunk(layout.PIVOT, floats(1, 2, 3)), chunk(layout.INSTANCE, b"again\0")
    data = keyframes(node(b"Name", pivot, instance, kind=NODES[kind], ident=12, parent=3))
    (item,) = three_ds.read(data).nodes
    assert (item.kind, item.name, item.node_id, item.parent) == (kind, b"Name", 12, 3)
    assert (item.flags, item.pivot.tolist(), item.instance_name) == ((0x4000, 0), [1, 2, 3], b"again")


@pytest.mark.parametrize("kind", TRACKS)
@pytest.mark.parametrize("flags", [(0, 0, 0), (31, 31, 31), (0, 5, 0x8010)])
def test_each_kind_of_track_is_read_with_its_parameters(kind: str, flags: tuple[int, ...]) -> None:
    ident, components = TRACKS[kind]
    keys, parameters = [], np.zeros((5, 3))
    values = np.arange(3.0 * components).reshape(3, components)
    for index, bits in enumerate(flags):
        given = [row for row in range(5) if bits >> row & 1]
        parameters[given, index] = [0.125 * (row + 1) for row in given]
        keys.append(Key(10 * index - 5, bits, [*parameters[given, index], *values[index]]))
    data = keyframes(node(b"Box", layout.track(ident, keys, flags=0x12B)))
    scene = three_ds.read(data)
    track = scene.nodes[0].track(kind)
    assert scene.warnings == ()
    assert (track.flags, track.reserved) == (0x12B, (0, 100))
    assert track.frames.tolist() == [-5, 5, 15]
    assert track.key_flags.tolist() == [*flags]
    assert track.parameters.tolist() == parameters.tolist()
    assert track.values.tolist() == values.tolist()


def test_a_morph_track_names_an_object_a_key() -> None:
    keys = [Key(0, 0, (), b"Open\0"), Key(9, 9, (0.5, 0.25), b"\0"), Key(12, 0, (), b"Shut\0")]
    data = keyframes(node(b"Mouth", layout.track(layout.MORPH, keys), layout.track(layout.SCALE, [])))
    morph, scale = three_ds.read(data).nodes[0].tracks
    assert morph.names == (b"Open", b"", b"Shut")
    assert morph.frames.tolist() == [0, 9, 12]
    assert morph.parameters[:, 1].tolist() == [0.5, 0, 0, 0.25, 0]
    assert len(scale.frames) == 0


@pytest.mark.parametrize(("flags", "cycle"), [(0, "SINGLE"), (1, "SINGLE"), (2, "REPEAT"), (0x43, "LOOP")])
def test_the_lower_two_bits_of_a_tracks_flags_are_its_cycle(flags: int, cycle: str) -> None:
    data = keyframes(node(b"Box", layout.track(layout.POSITION, [], flags=flags)))
    assert three_ds.read(data).nodes[0].tracks[0].cycle == cycle


def test_ranges_and_the_current_frame_are_read() -> None:
    data = keyframes(
        chunk(layout.HEADER, b"\5\0", b"MAXSCENE\0", struct.pack("<i", 300)),
        chunk(layout.SEGMENT, struct.pack("<ii", -5, 250)),
        chunk(layout.CURRENT_FRAME, struct.pack("<i", 640)),
    )
    keyframer = three_ds.read(data).keyframer
    assert keyframer.header == three_ds.Header(5, b"MAXSCENE", 300)
    assert keyframer.segment == (-5, 250)
    assert keyframer.current_frame == 640


def test_nodes_without_ids_are_counted_in_the_order_of_the_file() -> None:
    items = [node(b"Lamp", kind=0xB005), node(b"Arm"), node(b"Hand", parent=1), node(b"Ring", parent=2)]
    assert three_ds.read(keyframes(*items)).keyframer.parents() == (None, None, 1, 2)


def test_parents_are_found_by_id_where_there_are_ids() -> None:
    items = [node(b"Hand", ident=7, parent=65534), node(b"Arm", ident=65534), node(b"Ring", ident=0, parent=7)]
    assert three_ds.read(keyframes(*items)).keyframer.parents() == (1, None, 0)


def test_a_mesh_is_read() -> None:
    mesh = chunk(
        layout.MESH,
        chunk(layout.VERTICES, b"\3\0", floats(0, 0, 0, 1, 0, 0, 0, 1, 0)),
        chunk(layout.TEXTURE_COORDINATES, b"\3\0", floats(0, 0, 1, 0, 0, 1)),
        chunk(layout.MATRIX, floats(*range(12))),
        chunk(layout.FACES, b"\1\0", struct.pack("<4H", 0, 1, 2, 7), chunk(0x4150, bytes(4))),
    )
    (item,) = three_ds.read(objects(chunk(layout.OBJECT, b"Triangle\0", mesh))).objects
    assert item.name == b"Triangle"
    assert item.content.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert item.content.texture_coordinates.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert item.content.matrix.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert (item.content.faces.tolist(), item.content.face_flags.tolist()) == ([[0, 1, 2]], [7])
    assert item.content.face_chunks == (three_ds.Chunk(0x4150, bytes(4)),)


def test_a_camera_is_read() -> None:
    ranges = chunk(0x4720, floats(0, 1000))
    camera = chunk(layout.CAMERA, floats(1, 2, 3, 4, 5, 6, 7.5, 35), ranges)
    (item,) = three_ds.read(objects(chunk(layout.OBJECT, b"Camera01\0", camera))).objects
    assert (item.content.position.tolist(), item.content.target.tolist()) == ([1, 2, 3], [4, 5, 6])
    assert (item.content.roll, item.content.lens) == (7.5, 35)
    assert item.content.chunks == (three_ds.Chunk(0x4720, floats(0, 1000)),)


def test_a_light_and_a_spotlight_are_read() -> None:
    color, multiplier = chunk(0x0010, floats(1, 0.5, 0.25)), chunk(0x465B, floats(1.5))
    spot = chunk(layout.SPOTLIGHT, floats(4, 5, 6, 40, 45), chunk(0x4656, floats(12)))
    lamp = chunk(layout.OBJECT, b"Lamp\0", chunk(layout.LIGHT, floats(1, 2, 3)))
    spotlight = chunk(layout.OBJECT, b"Spot\0", chunk(layout.LIGHT, floats(1, 2, 3), color, multiplier, spot))
    plain, item = (each.content for each in three_ds.read(objects(lamp, spotlight)).objects)
    assert (plain.position.tolist(), plain.color, plain.multiplier, plain.spotlight) == ([1, 2, 3], None, None, None)
    assert (item.color.tolist(), item.multiplier) == ([1, 0.5, 0.25], 1.5)
    assert (item.spotlight.target.tolist(), item.spotlight.roll) == ([4, 5, 6], 12)
    assert (item.spotlight.hotspot, item.spotlight.falloff) == (40, 45)
