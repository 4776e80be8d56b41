# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked actions in a Blender without the extension, and tables that are damaged, deleted or copied."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.all_pairs import all_pairs
from tests.animation.action_users import with_slots
from tests.animation.baked_ball import baked_ball
from tests.animation.curves import (
    KEYS,
    MODES,
    bag_of,
    co,
    curve,
    differences,
    fcurves,
    has_table,
    key,
    keyed,
    new_object,
    orientations,
    rotation_path,
    snapshot,
    states,
)
from tests.animation.damage import damaged, forget
from tests.animation.rotations import rotations_near_each_other, values_of

ROOT = Path(__file__).resolve().parents[2]
OUTPUTS = ("SAMPLES", "CURVES")
FRAMES = [frame for frame, _ in KEYS]
OTHER_BLENDER = ROOT / ".venv-bpy-4.2" / "bin" / "python"


def obj(name: str = "Ball") -> Any:
    """Return the object by name, because loading recreates all objects."""
    return bpy.data.objects[name]


def motion(item: bpy.types.ID) -> list[list[float]]:
    return [[fcurve.evaluate(frame / 4) for frame in range(-20, 200)] for fcurve in fcurves(item)]


def is_locked(item: bpy.types.ID) -> bool:
    """Return whether any channel or group is locked."""
    return any(each.lock for each in [*fcurves(item), *bag_of(item).groups])


def refusal_of(animation, change) -> str:
    """Return the reason why nothing was done."""
    with pytest.raises(animation.AnimationError) as error:
        change()
    return str(error.value)


# Without the extension


PLAIN = """
import json, sys
import bpy
from tests.animation.curves import *
from tests.animation.editors import editor

assert "tcb_frame" not in bpy.types.Object.bl_rna.properties, "the extension is enabled"
path = sys.argv[1]
bpy.ops.wm.open_mainfile(filepath=path)
ball = bpy.data.objects["Ball"]
"""
SAVE = """
bpy.ops.wm.save_as_mainfile(filepath=path)
"""


def in_plain_blender(tmp_path: Path, path: str, code: str) -> str:
    """Open the file in a Blender without the extension, run code, and return the output."""
    user = tmp_path / "plain"
    user.mkdir(exist_ok=True)
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(user), "PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-c", PLAIN + code, path]
    ran = subprocess.run(run, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    complaints = ("warn", "error", "tcb")
    said = (ran.stdout + ran.stderr).splitlines()
    assert [line for line in said if any(word in line.lower() for word in complaints)] == []
    return ran.stdout


def saved(animation, tmp_path: Path, output: str = "SAMPLES") -> tuple[str, list[Any], list[Any]]:
    """Return a file with the baked ball, its own curves, as played by handles, and its baked curves."""
    item = baked_ball(animation, output)
    baked = snapshot(item)
    animation.free(item)
    own = snapshot(item)
    animation.bake(item, output=output)
    path = str(tmp_path / "ball.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert differences(baked, snapshot(item)) == []
    return path, own, baked


EDITORS = """
print("MOTION", json.dumps([[c.evaluate(f / 4) for f in range(-20, 200)] for c in fcurves(ball)]))
choose_alone(ball)
for fcurve in fcurves(ball):
    fcurve.keyframe_points.foreach_set("select_control_point", [True] * len(fcurve.keyframe_points))
with editor("DOPESHEET"):
    bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(5, 0, 0, 0))
    for edit in (bpy.ops.action.delete, bpy.ops.action.duplicate):
        try:
            edit()
        except RuntimeError:
            pass
ball.keyframe_insert("scale", frame=5)
"""


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_plain_blender_plays_the_bake_and_its_editors_do_not_edit_it(animation, tmp_path, output: str) -> None:
    path, own, baked = saved(animation, tmp_path, output)
    expected = motion(obj())
    printed = in_plain_blender(tmp_path, path, EDITORS + SAVE)
    (line,) = [line for line in printed.splitlines() if line.startswith("MOTION")]
    assert json.loads(line.removeprefix("MOTION")) == expected
    bpy.ops.wm.open_mainfile(filepath=path)
    forget(animation)
    after, scale = snapshot(obj())[: len(baked)], snapshot(obj())[len(baked) :]
    assert [each["path"] for each in scale] == [("scale", index) for index in range(3)]
    assert [[each["co"], each["interpolation"]] for each in after] == [
        [each["co"], each["interpolation"]] for each in baked
    ]
    assert set(states(animation, obj()).values()) == {"BAKED", "PLAIN"}
    animation.free(obj())
    assert differences([*own, *scale], snapshot(obj())) == []


# Missing and damaged tables


LOST = ("deleted", "damaged")


def lose(animation, item: bpy.types.ID, how: str) -> None:
    if how == "deleted":
        del item.animation_data.action["tcb_animation"]
        forget(animation)
    else:
        damaged(animation, item, "another stamp")


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("how", LOST)
def test_all_but_remove_and_apply_are_refused_with_both_ways_on(animation, how: str, output: str) -> None:
    item = baked_ball(animation, output)
    lose(animation, item, how)
    before = snapshot(item)
    words = (
        "damaged (stamp). Delete it with Remove TCB"
        if how == "damaged"
        else "baked, but the TCB table is missing. Remove TCB keeps"
    )
    for change in (
        lambda: animation.bake(item, keep_look=False),
        lambda: animation.bake(item, output="HANDLES", keep_look=False),
        lambda: animation.free(item),
        lambda: animation.free(item, discard_edits=True),
        lambda: animation.restore(item),
        lambda: animation.enable(item, keep_look=False),
    ):
        assert words in refusal_of(animation, change)
    assert differences(before, snapshot(item)) == []


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("how", LOST)
def test_remove_keeps_the_own_keys_and_says_what_it_could_not(animation, how: str, output: str) -> None:
    item = baked_ball(animation, output)
    lose(animation, item, how)
    report = animation.remove(item)
    assert report.tracks == 2
    assert any(
        "the TCB table is missing" in str(note) or "damaged TCB table was removed" in str(note) for note in report.notes
    )
    for index in range(3):
        expected = [(frame, values[index]) for frame, values in KEYS]
        assert co(curve(item, "location", index)).tolist() == [list(each) for each in expected]
    assert {point.type for fcurve in fcurves(item) for point in fcurve.keyframe_points} == {"KEYFRAME"}
    assert not is_locked(item)
    assert not has_table(item)
    # It can be made TCB again.
    assert animation.bake(item, keep_look=False).tracks == 2


@pytest.mark.parametrize(("verb", "how"), all_pairs(["remove", "apply"], LOST))
def test_a_track_s_frame_function_is_removed_with_its_name(animation, how: str, verb: str) -> None:
    item = baked_ball(animation, "SAMPLES")
    animation.retime(item, "REVERSE", track="location")
    lose(animation, item, how)
    getattr(animation, verb)(item)
    assert {fcurve.data_path for fcurve in fcurves(item)} == {"location", "rotation_euler"}
    assert len(item.tcb_tracks) == 0


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("how", LOST)
def test_apply_keeps_the_motion(animation, how: str, output: str) -> None:
    item = baked_ball(animation, output)
    before = motion(item)
    lose(animation, item, how)
    report = animation.apply(item)
    assert report.tracks == 2
    assert not any(note.code == "KEPT_IDENTIFIED_KEYS" for note in report.notes)
    assert motion(item) == before
    assert {point.type for fcurve in fcurves(item) for point in fcurve.keyframe_points} == {"KEYFRAME"}
    assert not is_locked(item)
    assert not has_table(item)


@pytest.mark.parametrize(("components", "how", "mode"), all_pairs(["all", "two"], LOST, MODES))
def test_remove_keeps_the_poses_at_own_keys(animation, mode: str, how: str, components: str) -> None:
    """Baked keys may have equivalent values, and a bake creates channels that the animator has not keyed."""
    item, path = new_object("Ball", mode), rotation_path(mode)
    turns = values_of(mode, rotations_near_each_other(random.Random(4), len(FRAMES), 2.0))
    key(item, path, list(zip(FRAMES, turns, strict=True)), channels=[0, 1] if components == "two" else ())
    expected = orientations(item, FRAMES)
    animation.bake(item, step=0.5, keep_look=False)
    lose(animation, item, how)
    animation.remove(item)
    assert {len(fcurve.keyframe_points) for fcurve in fcurves(item)} == {len(FRAMES)}
    assert not is_locked(item)
    np.testing.assert_allclose(orientations(item, FRAMES), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("verb", "how", "interpolation"), all_pairs(["remove", "apply"], LOST, ["BEZIER", "CONSTANT", "SINE", "ELASTIC"])
)
def test_tracks_without_generated_keys_are_unlocked_too(animation, interpolation: str, how: str, verb: str) -> None:
    """The track does not move, or Blender plays it."""
    still = [(frame, (1.0, 1.0, 1.0)) for frame in FRAMES]
    item = keyed(keys=still if interpolation == "BEZIER" else KEYS, group="Places")
    animation.enable(item, keep_look=False)
    for fcurve in fcurves(item):
        for point in fcurve.keyframe_points:
            point.interpolation = interpolation
    before = [co(fcurve).tolist() for fcurve in fcurves(item)]
    animation.bake(item)
    assert all(fcurve.lock for fcurve in fcurves(item))
    lose(animation, item, how)
    assert getattr(animation, verb)(item).tracks == 1
    assert not is_locked(item)
    assert [co(fcurve).tolist() for fcurve in fcurves(item)] == before


@with_slots
def test_a_track_that_lost_its_table_in_a_merge_without_the_extension_is_told(animation, tmp_path) -> None:
    """If two actions are merged, Blender keeps the table of only one."""
    baked_ball(animation)
    other = keyed("Other")
    animation.bake(other, keep_look=False)
    path = str(tmp_path / "ball.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    in_plain_blender(
        tmp_path,
        path,
        """
choose_alone(ball)
bpy.data.objects["Other"].select_set(True)
assert bpy.ops.anim.merge_animation() == {"FINISHED"}
bpy.data.orphans_purge()
"""
        + SAVE,
    )
    bpy.ops.wm.open_mainfile(filepath=path)
    forget(animation)
    other = obj("Other")
    assert other.animation_data.action == obj().animation_data.action
    assert set(states(animation, obj()).values()) == {"BAKED"}
    assert "the TCB table is missing" in refusal_of(animation, lambda: animation.free(other))
    animation.remove(other)
    assert [co(curve(other, "location", index)).tolist() for index in range(3)] == [
        [[frame, values[index]] for frame, values in KEYS] for index in range(3)
    ]
    assert not is_locked(other)
    assert set(states(animation, obj()).values()) == {"BAKED"}


# Files from the oldest supported version


OLDER = """
import importlib, json, sys
import bpy
from tests.animation.curves import *
from tests.animation.baked_ball import baked_ball

zip, folder, *cases = sys.argv[1:]
bpy.ops.extensions.package_install_files(filepath=zip, repo="user_default", enable_on_install=True)
animation = importlib.import_module("bl_ext.user_default.tcb_animation.animation")
for case in cases:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    baked_ball(animation, *case.split())
    bpy.ops.wm.save_as_mainfile(filepath=f"{folder}/{case}.blend")
    ball = bpy.data.objects["Ball"]
    animation.free(ball)
    print("OWN", json.dumps([{name: repr(value) for name, value in each.items()} for each in snapshot(ball)]))
import os
sys.stdout.flush()
os._exit(0)
"""


def but_linear_handles(every: Any) -> Any:
    """Remove the handles of linear keys, which have no effect and which versions of Blender place differently."""
    return [
        each if "BEZIER" in each["interpolation"] else {k: v for k, v in each.items() if not k.startswith("handle_")}
        for each in every
    ]


needs_other_blender = pytest.mark.skipif(
    bpy.app.version < (5, 0, 0) or not OTHER_BLENDER.exists(), reason="Blender 4.2 is not set up, or it is this one"
)


CASES = ("SAMPLES OFF", "CURVES HANDLES")
"""The output of a bake, and what played the track before."""


@pytest.fixture(scope="module")
def older(extension_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, Any]]:
    """Files from an older Blender with the baked ball, and the animator's curves, for each case."""
    folder = tmp_path_factory.mktemp("older")
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(folder / "user"), "PYTHONPATH": str(ROOT)}
    run = [str(OTHER_BLENDER), "-c", OLDER, str(extension_zip), str(folder), *CASES]
    ran = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    own = [json.loads(line.removeprefix("OWN")) for line in ran.stdout.splitlines() if line.startswith("OWN")]
    return {case: (str(folder / f"{case}.blend"), curves) for case, curves in zip(CASES, own, strict=True)}


@needs_other_blender
@pytest.mark.parametrize("case", CASES)
def test_a_file_of_an_older_blender_is_baked_and_freed(animation, older, case: str) -> None:
    path, own = older[case]
    output = case.split()[0]
    bpy.ops.wm.open_mainfile(filepath=path)
    forget(animation)
    assert set(states(animation, obj()).values()) == {"BAKED"}
    before = but_linear_handles(snapshot(obj()))
    animation.bake(obj(), output=output)
    assert differences(before, but_linear_handles(snapshot(obj()))) == []
    animation.free(obj())
    assert [{name: repr(value) for name, value in each.items()} for each in snapshot(obj())] == own


@needs_other_blender
@pytest.mark.parametrize("verb", ["free", "apply", "remove"])
def test_of_a_file_of_an_older_blender_no_copy_of_the_table_is_left(animation, older, verb: str) -> None:
    bpy.ops.wm.open_mainfile(filepath=older["SAMPLES OFF"][0])
    forget(animation)
    action = obj().animation_data.action
    assert "tcb_animation" in action.bl_system_properties_get()
    getattr(animation, verb)(obj())
    assert "tcb_animation" not in action.bl_system_properties_get()
    assert has_table(obj()) == (verb == "free")


@needs_other_blender
def test_a_table_that_was_deleted_from_a_file_of_an_older_blender_is_gone(animation, older) -> None:
    bpy.ops.wm.open_mainfile(filepath=older["SAMPLES OFF"][0])
    forget(animation)
    assert set(states(animation, obj()).values()) == {"BAKED"}
    del obj().animation_data.action["tcb_animation"]
    assert "the TCB table is missing" in refusal_of(animation, lambda: animation.free(obj()))
