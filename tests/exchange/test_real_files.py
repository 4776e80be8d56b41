# SPDX-License-Identifier: GPL-3.0-or-later
"""Import of real files: their motion plays in Blender."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from formats import three_ds
from tests.exchange.composition import composition_of
from tests.exchange.matrices import apart
from tests.formats.files import FILES


def read(path: Path) -> three_ds.Scene:
    return three_ds.read(path.read_bytes())


def object_of(node: three_ds.Node) -> bpy.types.Object:
    """Return the imported object for a node of a real file."""
    suffix = ".Target" if node.kind in ("CAMERA_TARGET", "LIGHT_TARGET") else ""
    return bpy.data.objects[node.name.decode() + suffix]


def world_of(item: bpy.types.Object) -> np.ndarray:
    return np.array(item.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)


@pytest.mark.parametrize(("output", "most"), [("SAMPLES", 1e-5), ("HANDLES", 0.1)])
@pytest.mark.parametrize("name", FILES)
def test_every_object_is_where_the_file_has_it_at_every_frame(
    scene, shared_data: Path, name: str, output: str, most: float
) -> None:
    bpy.ops.import_anim.tcb_3ds(filepath=str(shared_data / name), output=output)
    composition = composition_of(shared_data / name)
    frames = composition.key_frames()
    for frame in range(frames[0], frames[-1] + 1):
        scene.frame_set(frame)
        for index, node in enumerate(composition.scene.nodes):
            error = apart(world_of(object_of(node)), composition.world(index, frame))
            assert error < most, (node.name, frame)


@pytest.mark.parametrize("name", FILES)
def test_every_vertex_is_where_the_file_has_it(scene, shared_data: Path, name: str) -> None:
    bpy.ops.import_anim.tcb_3ds(filepath=str(shared_data / name), output="SAMPLES")
    composition = composition_of(shared_data / name)
    scene.frame_set(7)
    for index, node in enumerate(composition.scene.nodes):
        item = object_of(node)
        if item.type == "MESH":
            points = np.array([world_of(item) @ (*vertex.co, 1.0) for vertex in item.data.vertices])[:, :3]
            expected = composition.vertices(index, 7)
            assert np.abs(points - expected).max() < 1e-6 * max(1.0, np.abs(expected).max()), node.name


def test_every_parameter_arrives(scene, shared_data: Path, animation) -> None:
    path = shared_data / "tcb_fixture_lib3ds.3ds"
    bpy.ops.import_anim.tcb_3ds(filepath=str(path))
    node = read(path).nodes[0]
    item = object_of(node)
    for kind, track in (("POSITION", "location"), ("ROTATION", "rotation_quaternion"), ("SCALE", "scale")):
        keys = animation.edit.track_keys.keys_of(item, animation.find_track(item, track))
        expected = node.track(kind)
        assert keys.frames.tolist() == expected.frames.tolist()
        for values, row in zip(keys.parameters({}).values(), expected.parameters, strict=True):
            assert values.astype(np.float32).tolist() == row.tolist(), kind
