# SPDX-License-Identifier: GPL-3.0-or-later
"""glTF files made by hand: interpolation, accessors, containers, and damage."""

from __future__ import annotations

import base64
import json
import random
import struct
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

from formats import gltf
from formats.motion import MotionError, Track
from tests.formats import fuzz_motion
from tests.formats.mutations import mutate

TIMES = np.array([0.25, 1.0, 2.5], dtype=np.float32)
PLACES = np.linspace(0.25, 2.5, 37)
RANDOM = np.random.default_rng(3)
POINTS = RANDOM.normal(size=(3, 3)).astype(np.float32)
TANGENTS = RANDOM.normal(size=(2, 3, 3)).astype(np.float32)
TURNS = Rotation.random(3, random_state=4)


def document(path: str, interpolation: str, values: np.ndarray, **accessor: Any) -> dict[str, Any]:
    """Return a file with one animated node and an embedded buffer."""
    data = TIMES.tobytes() + values.tobytes()
    return {
        "asset": {"version": "2.0"},
        "nodes": [{"name": "Root", "children": [1]}, {"name": "Box"}],
        "buffers": [{"byteLength": len(data), "uri": uri(data)}],
        "bufferViews": [
            {"buffer": 0, "byteLength": 12},
            {"buffer": 0, "byteOffset": 12, "byteLength": values.nbytes},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "SCALAR"},
            {
                "bufferView": 1,
                "componentType": 5126,
                "count": values.size // (4 if path == "rotation" else 3),
                "type": "VEC4" if path == "rotation" else "VEC3",
                **accessor,
            },
        ],
        "animations": [
            {
                "name": "Move",
                "samplers": [{"input": 0, "output": 1, "interpolation": interpolation}],
                "channels": [{"sampler": 0, "target": {"node": 1, "path": path}}],
            }
        ],
    }


def uri(data: bytes) -> str:
    return "data:application/octet-stream;base64," + base64.b64encode(data).decode()


def text(given: dict[str, Any]) -> bytes:
    return json.dumps(given).encode()


def track(given: dict[str, Any], path: str = "translation") -> Track:
    (take,) = gltf.read(text(given)).takes
    return take.motions[1].tracks[path]


def cubic() -> np.ndarray:
    return np.stack((TANGENTS[0], POINTS, TANGENTS[1]), axis=1)


def test_cubic_splines_are_hermites_with_tangents_per_second() -> None:
    found = track(document("translation", "CUBICSPLINE", cubic())).evaluate(PLACES)
    for key in range(2):
        inside = (TIMES[key] <= PLACES) & (TIMES[key + 1] >= PLACES)
        slopes = np.stack((TANGENTS[1][key], TANGENTS[0][key + 1]))
        wanted = CubicHermiteSpline(TIMES[key : key + 2], POINTS[key : key + 2], slopes)(PLACES[inside])
        np.testing.assert_allclose(found[inside], wanted, atol=1e-6)


def test_nodes_without_a_name_are_called_as_blenders_importer_calls_them() -> None:
    given = document("translation", "CUBICSPLINE", cubic())
    given["nodes"] = [{"children": [1]}, {"mesh": 0}, {"mesh": 1}]
    given["meshes"] = [{}, {"name": "Lid"}]
    assert [node.name for node in gltf.read(text(given)).nodes] == ["Node_0", "Mesh_0", "Lid"]


def test_steps_hold_the_first_key_of_a_segment() -> None:
    found = track(document("scale", "STEP", POINTS), "scale").evaluate(np.array([0.0, 0.9, 1.0, 9.0]))
    np.testing.assert_array_equal(found, POINTS[[0, 0, 1, 2]])


def test_linear_rotations_turn_at_constant_speed_the_shorter_way() -> None:
    values = TURNS.as_quat().astype(np.float32)
    values[1] *= -1.0
    found = track(document("rotation", "LINEAR", values), "rotation").evaluate(PLACES)
    wanted = Slerp(TIMES, TURNS)(PLACES)
    off = (Rotation.from_quat(found[:, [1, 2, 3, 0]]) * wanted.inv()).magnitude()
    assert off.max() < 1e-6


def test_normalized_integers_are_shares_of_the_largest() -> None:
    values = np.array([[127, 0, -127], [0, 127, -128], [1, 2, 3]], dtype=np.int8)
    given = document("translation", "LINEAR", values, componentType=5120, normalized=True, count=3)
    found = track(given).evaluate(TIMES.astype(np.float64))
    np.testing.assert_allclose(found, np.maximum(values / 127.0, -1.0), atol=1e-12)


def test_a_sparse_accessor_replaces_some_elements_of_zeros() -> None:
    rows = np.array([2], dtype=np.uint16)
    given = document("translation", "LINEAR", np.concatenate((POINTS, POINTS)))
    view = {"buffer": 0, "byteOffset": 12, "byteLength": 12}
    extra = uri(rows.tobytes())
    given["buffers"].append({"byteLength": 2, "uri": extra})
    given["bufferViews"] += [view, {"buffer": 1, "byteLength": 2}]
    given["accessors"][1] = {
        "componentType": 5126,
        "count": 3,
        "type": "VEC3",
        "sparse": {
            "count": 1,
            "indices": {"bufferView": 3, "componentType": 5123},
            "values": {"bufferView": 2},
        },
    }
    found = track(given).evaluate(TIMES.astype(np.float64))
    np.testing.assert_array_equal(found, [[0, 0, 0], [0, 0, 0], POINTS[0]])


def binary(given: dict[str, Any]) -> bytes:
    data = base64.b64decode(given["buffers"][0].pop("uri").partition(",")[2])
    body = text(given)
    body += b" " * (-len(body) % 4)
    chunks = struct.pack("<II", len(body), 0x4E4F534A) + body + struct.pack("<II", len(data), 0x004E4942) + data
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def test_a_binary_file_and_a_buffer_beside_the_file_give_the_same_motion() -> None:
    given = document("translation", "CUBICSPLINE", cubic())
    wanted = track(given).evaluate(PLACES)
    beside = json.loads(text(given))
    data = base64.b64decode(beside["buffers"][0]["uri"].partition(",")[2])
    beside["buffers"][0]["uri"] = "some%20folder/move.bin"
    fetched = {"some folder/move.bin": data}
    for file in (gltf.read(binary(given)), gltf.read(text(beside), fetched.__getitem__)):
        found = file.takes[0].motions[1].tracks["translation"]
        assert found is not None
        np.testing.assert_array_equal(found.evaluate(PLACES), wanted)
        assert [(node.name, node.parent) for node in file.nodes] == [("Root", -1), ("Box", 0)]


def changed(**changes: Any) -> dict[str, Any]:
    return {**document("translation", "CUBICSPLINE", cubic()), **changes}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the JSON cannot be read"),
        (b"[]", "the JSON is not an object"),
        (b"[" * 100_000, "the JSON cannot be read"),
        (b'{"asset": {"version": NaN}}', "NaN is not a number"),
        (b'{"asset": {"version": "1.0"}}', "version 1.0"),
        (b"glTF\2\0\0\0", "ends within the header"),
        (text(changed(nodes=[{"children": [0]}])), "is its own ancestor"),
        (text(changed(nodes=[{}])), "target.node is 1"),
        (text(changed(buffers=[{"byteLength": 900, "uri": uri(b"short")}])), "declares 900 bytes, but has 5"),
        (text(changed(buffers=[{"byteLength": 9, "uri": "../secret.bin"}])), "outside the folder of this file"),
        (text(changed(buffers=[{"byteLength": 9, "uri": "move.bin"}])), "which is not available"),
    ],
)
def test_what_is_no_sound_file_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(MotionError, match=words):
        gltf.read(data)


@pytest.mark.parametrize(
    ("accessor", "words"),
    [
        ({"count": 10**9}, "more than the limit of"),
        ({"count": 12}, "which has only 108"),
        ({"type": "VEC4"}, "is of type VEC4"),
        ({"componentType": 7}, "unknown component type, 7"),
        ({"count": 6}, "3 keys but 6 values"),
        ({"bufferView": None, "count": 10**7}, "more than the limit of"),
    ],
)
def test_damaged_accessors_are_refused_by_number(accessor: dict[str, Any], words: str) -> None:
    with pytest.raises(MotionError, match=words):
        gltf.read(text(document("translation", "CUBICSPLINE", cubic(), **accessor)))


def test_keys_out_of_order_are_refused_by_channel_and_key() -> None:
    given = changed()
    data = np.array([0.0, 2.0, 1.0], dtype=np.float32).tobytes() + cubic().tobytes()
    given["buffers"][0]["uri"] = uri(data)
    with pytest.raises(MotionError, match="key 2 is not later than the previous key"):
        gltf.read(text(given))


def test_damaged_files_raise_nothing_but_the_readers_own_error() -> None:
    seeds = [text(changed()), binary(changed())]
    outcomes = {fuzz_motion.judge(mutate(random.Random(number), seeds[number % 2], seeds)) for number in range(300)}
    assert outcomes == {"read", "refused"}
