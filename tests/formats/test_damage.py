# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about damaged files name the location, and the rest of a file is read."""

from __future__ import annotations

import math
import re
import struct
import tracemalloc

import numpy as np
import pytest

from formats import three_ds
from formats.three_ds.binary import MAX_WARNINGS
from tests.formats import layout
from tests.formats.layout import Key, chunk, keyframes, node, objects

KEYS = [Key(0, 0, (1, 2, 3)), Key(10, 0, (4, 5, 6))]
POSITION = layout.track(layout.POSITION, KEYS)
SCALE = layout.track(layout.SCALE, KEYS)
HUGE = 0xFFFFFFFF


def with_length(data: bytes, length: int) -> bytes:
    """Return a chunk with an incorrect length."""
    return data[:2] + struct.pack("<I", length) + data[6:]


def only_warning(data: bytes) -> three_ds.ReadWarning:
    (warning,) = three_ds.read(data).warnings
    return warning


def kinds(item: three_ds.Node) -> list[str]:
    return [track.kind for track in item.tracks]


@pytest.mark.parametrize(
    ("data", "offset", "words"),
    [
        (b"", 0, "this is not a .3ds file: it has only 0 bytes"),
        (b"MM\x06\0\0", 0, "this is not a .3ds file: it has only 5 bytes"),
        (b"\x89PNG\r\n\x1a\n", 0, r"begins with chunk 5089, not M3DMAGIC 4D4D"),
        (with_length(chunk(layout.MAIN), 5), 2, "M3DMAGIC 4D4D declares a length of 5 bytes"),
    ],
)
def test_what_is_no_3ds_file_is_an_error(data: bytes, offset: int, words: str) -> None:
    with pytest.raises(three_ds.ThreeDSError, match=f"^byte {offset}: .*{words}") as error:
        three_ds.read(data)
    assert error.value.offset == offset


def test_a_file_cut_off_in_a_track_is_read_up_to_that_track() -> None:
    whole = keyframes(node(b"Box", POSITION), node(b"Ball", POSITION, SCALE))
    at = whole.rindex(SCALE)
    scene = three_ds.read(whole[:-5])
    assert [(item.name, kinds(item)) for item in scene.nodes] == [
        (b"Box", ["POSITION"]),
        (b"Ball", ["POSITION"]),
    ]
    assert [str(warning) for warning in scene.warnings] == [
        f"byte 0: M3DMAGIC 4D4D declares {len(whole)} bytes, but the file has {len(whole) - 5}. "
        "The existing bytes were read",
        f"byte {at}: node 'Ball': SCL_TRACK_TAG B022 declares {len(SCALE)} bytes, but OBJECT_NODE_TAG B002 ends after "
        f"{len(SCALE) - 5}. It was skipped",
    ]


def test_a_file_may_be_cut_off_anywhere() -> None:
    mesh = chunk(layout.MESH, chunk(layout.VERTICES, b"\1\0", layout.floats(1, 2, 3)))
    editor = chunk(layout.EDITOR, chunk(layout.OBJECT, b"Box\0", mesh))
    whole = chunk(layout.MAIN, editor, chunk(layout.KEYFRAMER, node(b"Box", POSITION, ident=0)))
    for length in range(6, len(whole)):
        warnings = three_ds.read(whole[:length]).warnings
        assert warnings[0].offset == 0
        assert warnings[0].lost
        assert all(warning.offset <= length for warning in warnings)


@pytest.mark.parametrize("length", [len(POSITION) + 1000, HUGE])
def test_a_chunk_that_claims_more_than_its_parent_has_is_skipped_and_the_parents_neighbours_are_read(
    length: int,
) -> None:
    data = keyframes(node(b"Box", POSITION, with_length(SCALE, length)), node(b"Ball", POSITION))
    scene = three_ds.read(data)
    assert [kinds(item) for item in scene.nodes] == [["POSITION"], ["POSITION"]]
    (warning,) = scene.warnings
    assert warning.offset == data.index(with_length(SCALE, length))
    assert warning.message.startswith(
        f"node 'Box': SCL_TRACK_TAG B022 declares {length} bytes, but OBJECT_NODE_TAG B002 ends"
    )


def test_of_a_node_that_claims_too_much_what_is_there_is_read() -> None:
    data = keyframes(node(b"Box", POSITION), with_length(node(b"Ball", POSITION), HUGE))
    scene = three_ds.read(data)
    assert [kinds(item) for item in scene.nodes] == [["POSITION"], ["POSITION"]]
    assert "The existing bytes were read" in only_warning(data).message


@pytest.mark.parametrize("length", [0, 5])
def test_after_a_chunk_shorter_than_its_own_header_the_rest_of_its_parent_is_skipped(length: int) -> None:
    broken = with_length(SCALE, length)
    data = keyframes(node(b"Box", POSITION, broken, SCALE), node(b"Ball", SCALE))
    scene = three_ds.read(data)
    assert [kinds(item) for item in scene.nodes] == [["POSITION"], ["SCALE"]]
    (warning,) = scene.warnings
    assert warning.offset == data.index(broken)
    assert (
        f"declares a length of {length} bytes. The rest of OBJECT_NODE_TAG B002, {2 * len(SCALE)} bytes"
        in warning.message
    )


@pytest.mark.parametrize("count", [3, HUGE])
def test_a_track_that_claims_more_keys_than_it_has_bytes_for_is_skipped(count: int) -> None:
    broken = layout.track(layout.POSITION, KEYS, count=count)
    data = keyframes(node(b"Box", broken, SCALE))
    tracemalloc.start()
    scene = three_ds.read(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kinds(scene.nodes[0]) == ["SCALE"]
    claim = f"POS_TRACK_TAG B020 declares {count} keys, but 36 bytes hold at most 2. It was skipped"
    assert scene.warnings == (three_ds.ReadWarning(data.index(broken) + 16, f"node 'Box': {claim}", lost=True),)
    assert peak < 1 << 20


def test_a_track_whose_parameters_leave_no_room_for_its_last_key_is_skipped() -> None:
    # Three keys would fit without parameters.
    keys = [Key(0, 31, (0, 0, 0, 0, 0, 1, 2, 3)), Key(5, 1, (0, 4, 5, 6)), Key(9, 0, (7, 8, 9))]
    broken = layout.track(layout.POSITION, keys)[:-4]
    data = keyframes(node(b"Box", with_length(broken, len(broken)), SCALE))
    warning = only_warning(data)
    assert warning.message == "node 'Box': POS_TRACK_TAG B020 has too few bytes for key 2. It was skipped"
    assert struct.unpack_from("<i", data, warning.offset) == (9,)
    assert kinds(three_ds.read(data).nodes[0]) == ["SCALE"]


@pytest.mark.parametrize(
    ("ident", "size", "name"),
    [
        (layout.VERTICES, 12, "POINT_ARRAY 4110"),
        (layout.TEXTURE_COORDINATES, 8, "TEX_VERTS 4140"),
        (layout.FACES, 8, "FACE_"),
    ],
)
def test_a_mesh_that_claims_more_rows_than_it_has_bytes_for_lacks_them(ident: int, size: int, name: str) -> None:
    matrix = chunk(layout.MATRIX, layout.floats(*range(12)))
    data = objects(chunk(layout.OBJECT, b"Box\0", chunk(layout.MESH, chunk(ident, b"\xff\xff", bytes(20)), matrix)))
    warning = only_warning(data)
    assert warning.message.startswith(f"object 'Box': {name}")
    assert f"declares 65535 times {size} bytes, but has 20. It was skipped" in warning.message
    mesh = three_ds.read(data).objects[0].content
    assert [len(table) for table in (mesh.vertices, mesh.faces, mesh.texture_coordinates)] == [0, 0, 0]
    assert mesh.matrix.tolist() == np.arange(12).reshape(4, 3).tolist()


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        (chunk(layout.NODE_HEADER, b"Box without an end"), "NODE_HDR B010"),
        (chunk(layout.INSTANCE, b"Box"), "INSTANCE_NAME B011"),
    ],
)
def test_a_name_without_an_end_is_not_looked_for_beyond_its_chunk(broken: bytes, name: str) -> None:
    # The following bytes contain enough zeros.
    data = keyframes(node(b"Ball", POSITION, broken, SCALE))
    start = data.index(broken)
    if name.startswith("NODE_HDR"):
        data = keyframes(chunk(layout.OBJECT_NODE, broken, POSITION), node(b"Ball", SCALE))
        start = data.index(broken)
    warning = three_ds.read(data).warnings[0]
    assert warning.offset == start + 6
    assert f"{name} has a name without a terminating zero. It was skipped" in warning.message
    assert kinds(three_ds.read(data).nodes[-1])[-1] == "SCALE"


def test_a_morph_key_whose_name_has_no_end_loses_its_track() -> None:
    broken = layout.track(layout.MORPH, [Key(0, 0, (), b"Open\0"), Key(9, 1, (0.5,), b"Shut")])
    data = keyframes(node(b"Mouth", broken, SCALE))
    warning = only_warning(data)
    assert (
        warning.message
        == "node 'Mouth': MORPH_TRACK_TAG B026 has no terminating zero in the name of key 1. It was skipped"
    )
    assert data[warning.offset :].startswith(b"Shut")


@pytest.mark.parametrize("left", [5, 8])
def test_a_morph_key_whose_parameters_have_no_room_loses_its_track(left: int) -> None:
    last = layout.track(layout.MORPH, [Key(9, 3, (0.5, 0.5), b"Shut\0")])[20:]
    broken = layout.track(layout.MORPH, [Key(0, 0, (), b"Open\0" + last[:left])], count=2)
    data = keyframes(node(b"Mouth", broken))
    assert only_warning(data) == three_ds.ReadWarning(
        data.index(last[:left]),
        "node 'Mouth': MORPH_TRACK_TAG B026 has too few bytes for key 1. It was skipped",
        lost=True,
    )


def test_a_node_without_a_header_keeps_its_number_and_loses_its_tracks() -> None:
    headless = chunk(layout.OBJECT_NODE, POSITION)
    data = keyframes(node(b"Box"), headless, node(b"Ball", parent=1), node(b"Ring", parent=2))
    scene = three_ds.read(data)
    assert [(item.name, len(item.tracks)) for item in scene.nodes] == [
        (b"Box", 0),
        (b"", 0),
        (b"Ball", 0),
        (b"Ring", 0),
    ]
    assert scene.keyframer.parents() == (None, None, 1, 2)
    (warning,) = scene.warnings
    assert warning.offset == data.index(headless)
    assert "has no NODE_HDR B010" in warning.message


def test_bytes_that_are_too_few_or_too_many_are_said() -> None:
    short = chunk(layout.PIVOT, bytes(11))
    long = chunk(layout.NODE_ID, b"\7\0", b"more")
    data = keyframes(chunk(layout.OBJECT_NODE, long, node(b"Box")[6:], short, b"tail"))
    scene = three_ds.read(data + b"after")
    assert scene.nodes[0].node_id == 7
    assert scene.nodes[0].pivot is None
    assert [str(warning) for warning in scene.warnings] == [
        f"byte {len(data)}: 5 bytes after the end of M3DMAGIC 4D4D were skipped",
        f"byte {data.index(b'more')}: node 'Box': NODE_ID B030: 4 extra bytes were skipped",
        f"byte {data.index(short) + 6}: node 'Box': PIVOT B013 declares 1 times 12 bytes, but has 11. It was skipped",
        f"byte {data.index(b'tail')}: node 'Box': OBJECT_NODE_TAG B002: "
        "the last 4 bytes are not a chunk and were skipped",
    ]


NOT_FINITE = layout.track(layout.POSITION, [Key(0, 0, (1, 2, math.nan))])


@pytest.mark.parametrize(
    ("data", "lost"),
    [
        (keyframes(node(b"Box", with_length(SCALE, HUGE))), True),
        (keyframes(with_length(node(b"Box", SCALE), HUGE)), True),
        (keyframes(node(b"Box", with_length(SCALE, 3), POSITION)), True),
        (keyframes(node(b"Box", layout.track(layout.POSITION, KEYS, count=3))), True),
        (keyframes(chunk(layout.OBJECT_NODE, POSITION)), True),
        (keyframes(node(b"Box", chunk(layout.PIVOT, bytes(11)))), True),
        (chunk(layout.MAIN, *(chunk(layout.KEYFRAMER, node(name, SCALE)) for name in (b"A", b"B"))), True),
        (keyframes(node(b"Box", SCALE), bytes(100)), False),
        (keyframes(node(b"Box", SCALE, b"tail")), False),
        (keyframes(node(b"Box", SCALE)) + b"after", False),
        (keyframes(node(b"Box", chunk(layout.PIVOT, bytes(15)))), False),
        (keyframes(node(b"Box", SCALE, SCALE)), False),
        (keyframes(node(b"Box", NOT_FINITE)), False),
        (keyframes(node(b"Box", SCALE, parent=900)), False),
    ],
)
def test_warnings_tell_what_is_lost_from_what_is_only_strange(data: bytes, lost: bool) -> None:
    assert [warning.lost for warning in three_ds.read(data).warnings] == [lost]


def test_that_something_is_lost_is_told_after_the_most_warnings() -> None:
    nodes = [node(b"Box", NOT_FINITE)] * (MAX_WARNINGS + 5)
    for more, lost in (((), False), ((node(b"Box", with_length(SCALE, HUGE)),), True)):
        *_, last = warnings = three_ds.read(keyframes(*nodes, *more)).warnings
        assert len(warnings) == MAX_WARNINGS + 1
        assert last.message == f"{5 + len(more)} more warnings are not listed"
        assert last.lost == lost


def test_a_part_that_is_there_twice_is_read_once() -> None:
    first, second = (chunk(layout.PIVOT, layout.floats(*(value,) * 3)) for value in (1, 2))
    data = keyframes(node(b"Box", first, second))
    assert three_ds.read(data).nodes[0].pivot.tolist() == [1, 1, 1]
    assert only_warning(data) == three_ds.ReadWarning(
        data.index(second), "node 'Box': PIVOT B013 occurs a second time and was skipped"
    )


def test_of_two_tracks_of_a_kind_the_first_counts_and_both_are_kept() -> None:
    data = keyframes(node(b"Box", POSITION, layout.track(layout.POSITION, KEYS[1:])))
    item = three_ds.read(data).nodes[0]
    assert [len(track.frames) for track in item.tracks] == [2, 1]
    assert item.track("POSITION") is item.tracks[0]
    assert "POS_TRACK_TAG B020 occurs 2 times. The first is used" in only_warning(data).message
    assert three_ds.write(three_ds.read(data)) == data


@pytest.mark.parametrize("with_ids", [True, False])
def test_nodes_that_hang_from_each_other_in_a_circle_are_cut_loose_at_the_first(with_ids: bool) -> None:
    parents = [3, 0, 1, 2, 4, 1]
    items = [
        node(b"N%d" % index, ident=index if with_ids else None, parent=parent) for index, parent in enumerate(parents)
    ]
    data = keyframes(*items)
    scene = three_ds.read(data)
    assert scene.keyframer.parents() == (None, 0, 1, 2, None, 1)
    assert [item.parent for item in scene.nodes] == parents
    loose = "the node is its own ancestor. Imported without a parent"
    assert scene.warnings == (
        three_ds.ReadWarning(data.index(items[0]), f"node 'N0': {loose}"),
        three_ds.ReadWarning(data.index(items[4]), f"node 'N4': {loose}"),
    )


def test_nodes_that_hang_from_a_circle_keep_their_parents() -> None:
    items = [node(b"N%d" % index, parent=parent) for index, parent in enumerate([2, 3, 3, 2])]
    assert three_ds.read(keyframes(*items)).keyframer.parents() == (2, 3, None, 2)


def test_a_parent_that_is_not_there_and_an_id_that_is_there_twice_are_said() -> None:
    items = [node(b"A", ident=5), node(b"B", ident=5), node(b"C", ident=6, parent=5), node(b"D", ident=7, parent=900)]
    data = keyframes(*items)
    scene = three_ds.read(data)
    assert scene.keyframer.parents() == (None, None, 0, None)
    assert [(warning.offset, warning.message) for warning in scene.warnings] == [
        (
            data.index(items[1]),
            "node 'B': the id 5 is also used by node 0, which becomes the parent of the children of 5",
        ),
        (data.index(items[3]), "node 'D': the parent, id 900, is not in the file. Imported without a parent"),
    ]


@pytest.mark.parametrize(
    ("keys", "key", "words"),
    [
        ([Key(9, 0, (1, 2, 3)), Key(8, 0, (4, 5, 6))], 1, "8 follows frame 9"),
        ([Key(0, 0, (1, 2, 3)), Key((1 << 31) - 1, 0, (4, 5, 6))], 1, "2147483647 is after frame 16777216"),
        ([Key(-(1 << 31), 0, (1, 2, 3))], 0, "-2147483648 is before frame -16777216"),
        ([Key(0, 0, (1, math.nan, 3))], 0, "0 has a value that is not a finite number"),
        ([Key(0, 0, (1, 2, 3)), Key(7, 0, (-math.inf, 2, 3))], 1, "7 has a value that is not a finite"),
        ([Key(0, 4, (0, 1, 2, 3)), Key(7, 3, (0, 25, 1, 2, 3))], 1, r"7 has continuity 25, not in \[-1, 1\]"),
        ([Key(0, 16, (-0.5, 1, 2, 3))], 0, r"0 has ease from -0.5, not in \[0, 1\]"),
        ([Key(0, 1, (math.nan, 1, 2, 3))], 0, r"0 has tension nan, not in \[-1, 1\]"),
        ([Key(9, 0, (1, 2, 3)), Key(8, 0, (4, 5, 6)), Key(1, 0, (4, 5, 6))], 1, r"follows frame 9 \(and 1 more\)"),
    ],
)
def test_a_strange_key_is_kept_and_said_with_its_place(keys: list[Key], key: int, words: str) -> None:
    data = keyframes(node(b"Box", layout.track(layout.POSITION, keys)))
    scene = three_ds.read(data)
    (warning,) = scene.warnings
    assert re.match(f"node 'Box': POS_TRACK_TAG B020: key {key} at frame .*{words}", warning.message)
    assert struct.unpack_from("<iH", data, warning.offset) == (keys[key].frame, keys[key].flags)
    assert three_ds.write(scene) == data


def test_keys_that_share_a_frame_are_kept_without_a_word() -> None:
    data = keyframes(node(b"Box", layout.track(layout.POSITION, [Key(83, 0, (1, 2, 3)), Key(83, 0, (4, 5, 6))])))
    scene = three_ds.read(data)
    assert scene.nodes[0].tracks[0].frames.tolist() == [83, 83]
    assert scene.warnings == ()


def test_strange_numbers_of_a_mesh_are_kept_and_said() -> None:
    vertices = chunk(layout.VERTICES, b"\2\0", layout.floats(0, 0, 0, 1, math.nan, 1))
    mapped = chunk(layout.TEXTURE_COORDINATES, b"\1\0", layout.floats(0, 0))
    faces = chunk(layout.FACES, b"\3\0", struct.pack("<12H", 0, 1, 1, 7, 0, 1, 2, 7, 0xFFFF, 0, 0, 7))
    mesh = chunk(layout.MESH, vertices, mapped, faces)
    data = objects(chunk(layout.OBJECT, b"Box\0", mesh))
    scene = three_ds.read(data)
    assert [str(warning) for warning in scene.warnings] == [
        f"byte {data.index(vertices) + 6}: object 'Box': POINT_ARRAY 4110 has a number that is not finite",
        f"byte {data.index(mesh)}: object 'Box': N_TRI_OBJECT 4100 has 2 vertices but 1 texture coordinates",
        f"byte {data.index(faces) + 16}: object 'Box': FACE_ARRAY 4120: face 1 has vertex 2 of 2 (and 1 more)",
    ]
    assert three_ds.write(scene) == data


def test_chunks_in_chunks_without_an_end_are_read_without_recursion() -> None:
    depth = 20_000
    data = b"".join(struct.pack("<HI", layout.KEYFRAMER, 6 * (depth - level)) for level in range(depth))
    data = chunk(layout.MAIN, data)
    scene = three_ds.read(data)
    assert len(scene.keyframer.chunks[0].content) == 6 * (depth - 2)
    assert three_ds.write(scene) == data


@pytest.mark.slow
def test_a_file_of_nothing_but_chunks_is_refused_before_it_fills_the_memory() -> None:
    data = keyframes(chunk(0x7001) * 200_000)
    with pytest.raises(three_ds.ThreeDSError, match="the file has more than 200000 chunks") as error:
        three_ds.read(data)
    # The keyframer section is an additional chunk.
    assert error.value.offset == len(data) - 6
