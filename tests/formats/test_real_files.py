# SPDX-License-Identifier: GPL-3.0-or-later
"""Real files: nothing is lost, and there are no warnings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from formats import three_ds
from tests.formats.files import FILES


@pytest.mark.parametrize("name", FILES)
def test_what_is_read_and_written_again_has_every_byte(shared_data: Path, name: str) -> None:
    data = (shared_data / name).read_bytes()
    scene = three_ds.read(data)
    assert scene.warnings == ()
    assert three_ds.write(scene) == data


def test_keys_that_share_a_frame_stay_two(shared_data: Path) -> None:
    (claw,) = three_ds.read((shared_data / "claw.3DS").read_bytes()).nodes
    assert claw.track("ROTATION").frames.tolist() == [0, 83, 83]


def test_the_skulls_teeth_hang_from_its_jaw_and_its_bones_by_their_order_in_the_file(shared_data: Path) -> None:
    keyframer = three_ds.read((shared_data / "skull.3ds").read_bytes()).keyframer
    named = [node.name for node in keyframer.nodes]
    pairs = {named[child]: named[parent] for child, parent in enumerate(keyframer.parents()) if parent is not None}
    assert {node.node_id for node in keyframer.nodes} == {None}
    assert pairs == {b"lowerteeth": b"jaw", b"upperteeth": b"skull"}


def test_a_mesh_matrix_is_where_its_node_is_at_the_first_frame(shared_data: Path) -> None:
    scene = three_ds.read((shared_data / "RotatingCube.3DS").read_bytes())
    (cube,), (node,) = scene.objects, scene.nodes
    matrix = np.asarray(cube.content.matrix)
    assert matrix[3] == pytest.approx(node.track("POSITION").values[0], abs=1e-5)
    assert np.abs(np.linalg.det(matrix[:3])) == pytest.approx(1, abs=1e-5)


def test_the_only_file_with_parameters_has_them_at_their_keys(shared_data: Path) -> None:
    (node,) = three_ds.read((shared_data / "tcb_fixture_lib3ds.3ds").read_bytes()).nodes
    position = node.track("POSITION")
    assert position.frames.tolist() == [0, 10, 14, 40, 60]
    tension, continuity, bias, ease_to, ease_from = position.parameters
    assert tension == pytest.approx([0.25, 0, -0.5, 1, 0.1])
    assert continuity == pytest.approx([0, 0.5, -1, 0, 0.2])
    assert bias == pytest.approx([0, -0.25, 0.5, 0, 0.3])
    assert ease_to == pytest.approx([0, 0.3, 0, 0.6, 0.4])
    assert ease_from == pytest.approx([0.5, 0, 0.2, 0.7, 0])
    assert node.track("SCALE").cycle == "LOOP"
