# SPDX-License-Identifier: GPL-3.0-or-later
"""Files read back bit for bit as they were written. Data that can't be written raise an error."""

from __future__ import annotations

import numpy as np
import pytest

from formats import three_ds
from tests.formats import layout
from tests.formats.generated_scenes import TRACKS, make_scene
from tests.formats.scene_equality import same


def reads_the_same(scene: three_ds.Scene) -> bool:
    data = three_ds.write(scene)
    again = three_ds.read(data)
    return same(again, scene) and three_ds.write(again) == data


@pytest.mark.slow
def test_a_scene_that_is_written_reads_the_same() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        assert reads_the_same(make_scene(rng, rng.choice([*TRACKS], 3).tolist(), seed % 2 == 0)), seed


NUMBERS = np.array([0x7F800001, 0xFFC00001, 0x80000000], np.uint32).view(np.float32)
"""A signaling NaN, a negative NaN and -0."""
UNKNOWN = tuple(three_ds.Chunk(ident, b"some") for ident in (0x7001, 0xAFFF))
PARTS: tuple[three_ds.Editor | three_ds.Keyframer | None, ...] = (
    None,
    three_ds.Editor((), None, None),
    three_ds.Editor((), 7, 0.5, UNKNOWN),
    three_ds.Editor((three_ds.Object(b""), three_ds.Object(b"\xe9", three_ds.Mesh(), UNKNOWN))),
    three_ds.Editor((three_ds.Object(b"A", three_ds.Mesh(NUMBERS[np.newaxis], face_chunks=UNKNOWN)),)),
    three_ds.Editor((three_ds.Object(b"A", three_ds.Camera(NUMBERS, NUMBERS, 1.0, 35.0, UNKNOWN)),)),
    three_ds.Editor((three_ds.Object(b"A", three_ds.Light(NUMBERS, NUMBERS, None, None, UNKNOWN)),)),
    three_ds.Editor((three_ds.Object(b"A", three_ds.Light(NUMBERS, None, 2.0)),)),
    three_ds.Editor(
        (three_ds.Object(b"A", three_ds.Light(NUMBERS, spotlight=three_ds.Spotlight(NUMBERS, 1.0, 2.0, 9.0, UNKNOWN))),)
    ),
    three_ds.Keyframer((), chunks=UNKNOWN),
    three_ds.Keyframer((), three_ds.Header(9, b"\xff", -(1 << 31)), current_frame=(1 << 31) - 1),
    three_ds.Keyframer(
        (three_ds.Node("OBJECT", b"", pivot=NUMBERS, flags=(0xFFFF, 1), chunks=UNKNOWN),), None, (-9, 9)
    ),
)


@pytest.mark.parametrize("part", PARTS)
def test_parts_that_are_there_or_not_read_the_same(part: three_ds.Editor | three_ds.Keyframer | None) -> None:
    if isinstance(part, three_ds.Keyframer):
        assert reads_the_same(three_ds.Scene(keyframer=part, version=None))
    else:
        assert reads_the_same(three_ds.Scene(part, chunks=UNKNOWN))


def test_many_keys_of_different_sizes_read_the_same() -> None:
    count = 40_000
    rng = np.random.default_rng(1)
    flags = rng.integers(0, 32, count).astype(np.uint16)
    parameters = (rng.random((5, count)) * (flags >> np.arange(5)[:, np.newaxis] & 1)).astype(np.float32)
    frames, values = np.arange(count, dtype=np.int32), rng.random((count, 4), np.float32)
    track = three_ds.Track("ROTATION", frames, values, flags, parameters)
    keyframer = three_ds.Keyframer((three_ds.Node("OBJECT", b"Box", tracks=(track,)),))
    again = three_ds.read(three_ds.write(three_ds.Scene(keyframer=keyframer)))
    assert same(again.nodes[0].tracks[0], track)


def test_chunks_that_are_not_modelled_stay_byte_for_byte_where_they_were() -> None:
    material, viewport, box = (layout.chunk(*each) for each in ((0xAFFF, b"stone"), (0x7001, b"\0\1"), (0xB014, b"24")))
    key = layout.Key(0, 0, (1, 2, 3))
    node = layout.node(b"Box", box, layout.track(layout.POSITION, [key]), layout.chunk(0xB015, b"smooth"))
    segment = layout.chunk(layout.SEGMENT, bytes(8))
    editor = layout.chunk(
        layout.EDITOR, material, layout.chunk(layout.OBJECT, b"Box\0"), layout.chunk(0x4010), material
    )
    keyframer = layout.chunk(layout.KEYFRAMER, viewport, segment, viewport, node, viewport)
    data = layout.chunk(layout.MAIN, viewport, editor, keyframer, viewport)
    scene = three_ds.read(data)
    assert scene.warnings == ()
    assert scene.editor.chunks[0] == three_ds.Chunk(0xAFFF, b"stone", 0)
    assert three_ds.write(scene) == data


def test_arrays_that_were_read_cannot_be_changed() -> None:
    data = layout.keyframes(layout.node(b"Box", layout.track(layout.POSITION, [layout.Key(0, 0, (1, 2, 3))])))
    track = three_ds.read(data).nodes[0].tracks[0]
    for array in (track.frames, track.values, track.key_flags, track.parameters):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


def test_a_track_that_has_no_place_in_the_file_is_refused_with_its_node() -> None:
    frames, values, parameters = np.zeros(1, np.int32), np.zeros((1, 3), np.float32), np.zeros((5, 1), np.float32)
    wrong = three_ds.Track("POSITION", frames, values, np.zeros(1, np.uint16), parameters, flags=0x10000)
    scene = three_ds.Scene(keyframer=three_ds.Keyframer((three_ds.Node("OBJECT", b"Box01", tracks=(wrong,)),)))
    with pytest.raises(three_ds.ThreeDSError, match=r"^node 'Box01': position track: .*65536"):
        three_ds.write(scene)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (three_ds.Node("OBJECT", b"a\0b"), "contains a null character"),
        (three_ds.Node("OBJECT", b"Box", parent=1 << 16), "65536"),
        (three_ds.Node("OBJECT", b"Box", node_id=-1), "-1"),
    ],
)
def test_a_node_that_has_no_place_in_the_file_is_refused(node: three_ds.Node, words: str) -> None:
    with pytest.raises(three_ds.ThreeDSError, match=words):
        three_ds.write(three_ds.Scene(keyframer=three_ds.Keyframer((node,))))


def test_a_mesh_of_more_vertices_than_the_file_can_count_is_refused_with_its_object() -> None:
    mesh = three_ds.Mesh(np.zeros((65_536, 3), np.float32))
    scene = three_ds.Scene(three_ds.Editor((three_ds.Object(b"Big", mesh),)))
    with pytest.raises(three_ds.ThreeDSError, match=r"^object 'Big': 65536"):
        three_ds.write(scene)
