# SPDX-License-Identifier: GPL-3.0-or-later
"""Import and export of 3D Studio files by the command."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from formats import three_ds
from tests.cli.scenes import load
from tests.exchange.files import save, scene, track


def run_cycle(folder: Path) -> Path:
    places = track("POSITION", (0, 0, 0, 0), (10, 5, 0, 0), (20, 6, 1, 2), parameters={1: (0.5, 0, 0, 0, 0)})
    save(folder / "run.3ds", scene(three_ds.Node("OBJECT", b"Box", tracks=(places,)), segment=(0, 20)))
    return folder / "run.3ds"


def test_import_makes_a_blend_of_each_file(tcb, tmp_path):
    ran = tcb("import", run_cycle(tmp_path), "--output", f"{tmp_path}/blends/", "--bake", "CURVES", "--json")
    assert (ran.status, ran.errors) == (0, [])
    assert ran.lines[0]["keys"] == 3
    load(tmp_path / "blends" / "run.blend")
    assert bpy.data.objects["Box"].animation_data.action is not None
    assert (bpy.context.scene.frame_end, bpy.context.scene.render.fps) == (20, 30)


@pytest.mark.parametrize("output", ["CURVES", "HANDLES"])
def test_an_import_says_how_far_off_the_motion_is_at_most(tcb, tmp_path, output):
    places = track("POSITION", (0, 0, 0, 0), (10, 5, 0, 0), (20, 6, 1, 2), parameters={1: (0, 0, 0, 0.5, 0.5)})
    save(tmp_path / "run.3ds", scene(three_ds.Node("OBJECT", b"Box", tracks=(places,)), segment=(0, 20)))
    result = tmp_path / "run.blend"
    (line,) = tcb("import", tmp_path / "run.3ds", "--output", result, "--bake", output, "--json").lines
    (info,) = tcb("info", result, "--json").lines
    errors = [each["error"] for datablock in info["animated"] for each in datablock["tracks"]]
    assert 0.0 < line["value_error"] < 0.5
    if output == "HANDLES":
        assert line["value_error"] == pytest.approx(max(errors), rel=1e-5)
        assert [each["track"] for each in line["handles"]] == ["location"]


def test_a_file_that_can_not_be_imported_is_an_error_with_its_place(tcb, tmp_path):
    (tmp_path / "none.3ds").write_bytes(b"no such file")
    ran = tcb("import", tmp_path / "none.3ds", "--output", tmp_path / "none.blend")
    assert ran.status == 1
    assert "byte 0: this is not a .3ds file" in ran.errors[0]
    assert not (tmp_path / "none.blend").exists()


def two_boxes(folder: Path) -> bytes:
    places = track("POSITION", (0, 0, 0, 0), (10, 5, 0, 0), (20, 6, 1, 2))
    nodes = [three_ds.Node("OBJECT", name, tracks=(places,)) for name in (b"First", b"Second")]
    return Path(save(folder / "two.3ds", scene(*nodes, segment=(0, 20)))).read_bytes()


def test_what_a_damaged_file_has_lost_is_an_error_and_the_rest_is_imported(tcb, tmp_path):
    whole = two_boxes(tmp_path)
    (tmp_path / "two.3ds").write_bytes(whole[:-20])
    ran = tcb("import", tmp_path / "two.3ds", "--output", tmp_path / "two.blend", "--json")
    (line,) = ran.lines
    assert (ran.status, line["status"], line["tracks"]) == (3, "faults", 1)
    assert len(line["errors"]) == 2
    assert (
        f"M3DMAGIC 4D4D declares {len(whole)} bytes, but the file has {len(whole) - 20}" in line["errors"][0]["message"]
    )
    assert "node 'Second': POS_TRACK_TAG B020 declares" in line["errors"][1]["message"]
    assert not any("declares" in note["message"] for note in line["notes"])
    load(tmp_path / "two.blend")
    assert [item.animation_data is not None for item in map(bpy.data.objects.get, ("First", "Second"))] == [True, False]


def test_cycles_of_more_samples_than_the_limit_are_told(tcb, tmp_path):
    places = track("POSITION", (0, 0, 0, 0), (10, 5, 0, 0), flags=2)
    save(tmp_path / "run.3ds", scene(three_ds.Node("OBJECT", b"Box", tracks=(places,)), segment=(0, 5000)))
    how = ("--output", tmp_path / "run.blend", "--bake", "SAMPLES", "--json", "--sample-limit")
    for limit, is_baked in (("1000", False), ("100000", True)):
        ran = tcb("import", tmp_path / "run.3ds", *how, limit)
        assert (ran.status, ran.errors) == (0, [])
        assert any("exceed the limit of 1,000" in note["message"] for note in ran.lines[0]["notes"]) != is_baked
        assert (ran.lines[0]["samples"] > 4900) == is_baked
    assert tcb("import", tmp_path / "run.3ds", *how, "0").status == 2


@pytest.mark.parametrize(("axes", "place"), [((), (6, 1, 2)), (("--forward=-Z", "--up=Y"), (6, -2, 1))])
def test_export_makes_a_file_of_each_blend_and_gives_an_import_back(tcb, tmp_path, axes, place):
    source = run_cycle(tmp_path)
    assert tcb("import", source, "--output", tmp_path / "run.blend", *axes).status == 0
    load(tmp_path / "run.blend")
    bpy.context.scene.frame_set(20)
    assert bpy.data.objects["Box"].location[:] == place
    ran = tcb("export", tmp_path / "run.blend", "--output", f"{tmp_path}/given/", *axes, "--json")
    assert (ran.status, ran.errors) == (0, [])
    assert ran.lines[0]["keys"] == 3
    given, read = (three_ds.read(path.read_bytes()) for path in (tmp_path / "given" / "run.3ds", source))
    assert given.nodes[0].tracks[0].values.tolist() == read.nodes[0].tracks[0].values.tolist()


def test_objects_of_other_scenes_are_named_and_not_exported(tcb, tmp_path):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.data.scenes.new("Second").collection.objects.link(bpy.data.objects.new("Elsewhere", None))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Here", None))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scenes.blend"))
    ran = tcb("export", tmp_path / "scenes.blend", "--output", tmp_path / "given.3ds", "--json")
    assert ("ONLY_IN_OTHER_SCENES", "Elsewhere") in [(note["code"], note["object"]) for note in ran.lines[0]["notes"]]
    given = three_ds.read((tmp_path / "given.3ds").read_bytes())
    assert [node.instance_name for node in given.nodes if node.kind == "OBJECT"] == [b"Here"]


def test_axes_along_one_line_are_an_error(tcb, tmp_path):
    ran = tcb("import", run_cycle(tmp_path), "--output", tmp_path / "run.blend", "--forward=Y", "--up=-Y")
    assert ran.status == 1
    assert "forward Y and up -Y are parallel" in ran.errors[0]
