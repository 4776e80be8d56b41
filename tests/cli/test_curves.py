# SPDX-License-Identifier: GPL-3.0-or-later
"""The verb `curves`."""

from __future__ import annotations

import bpy
import pytest

from tests.animation.curves import curve
from tests.cli.scenes import load, save, thing


@pytest.fixture
def model(scene, tmp_path):
    """A file of an object, and a .blend file of the same object with linear keys, as after an import."""
    made = thing("Hips", "location")
    path = tmp_path / "model.glb"
    bpy.ops.export_scene.gltf(filepath=str(path), export_force_sampling=False, export_frame_range=False)
    for point in (point for index in range(3) for point in curve(made, "location", index).keyframe_points):
        point.interpolation = "LINEAR"
    return path, save(tmp_path / "model.blend")


def test_curves_of_a_model_are_restored_and_saved(tcb, model, tmp_path):
    path, blend = model
    made = tmp_path / "made.blend"
    ran = tcb("curves", blend, "--from", path, "--output", made, "--json")
    assert (ran.status, ran.errors) == (0, [])
    assert ran.lines[0]["tracks"] == 1
    load(made)
    points = curve(bpy.data.objects["Hips"], "location", 0).keyframe_points
    assert {point.interpolation for point in points[:-1]} == {"BEZIER"}


def test_a_model_that_is_none_is_an_error_and_the_file_stays(tcb, model, tmp_path):
    _path, blend = model
    before = blend.read_bytes()
    (tmp_path / "nothing.fbx").write_bytes(b"nothing")
    ran = tcb("curves", blend, "--from", tmp_path / "nothing.fbx", "--in-place")
    assert ran.status == 1
    assert "error: nothing.fbx: not an FBX file" in ran.errors[0]
    assert blend.read_bytes() == before


def test_a_dry_run_that_restores_nothing_lists_no_changes(tcb, model, tmp_path):
    _path, blend = model
    (tmp_path / "nothing.fbx").write_bytes(b"nothing")
    ran = tcb("curves", blend, "--from", tmp_path / "nothing.fbx", "--in-place", "--dry-run", "--json")
    assert (ran.status, ran.lines[0]["status"], ran.lines[0]["changes"]) == (1, "failed", [])
