# SPDX-License-Identifier: GPL-3.0-or-later
"""Files for other programs: output of Blender's exporters, and .blend files in a Blender without this extension."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from tests.animation.curves import bits, co, curve, differences, fcurves, key, new_object, snapshot
from tests.animation.exports import FRAMES, PLACES, complaints, fbx, gltf, rig
from tests.animation.rotations import rotations_near_each_other
from tests.cli import tool

OURS = ("tcb_animation", "tcb_tracks", "tcb_live")
TABLE = "tcb_animation"


def ball() -> bpy.types.Object:
    """Return a triangle with a keyed location."""
    mesh = bpy.data.meshes.new("Ball")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    made = new_object("Ball", data=mesh)
    key(made, "location", list(zip(FRAMES, PLACES, strict=True)))
    return made


@pytest.fixture
def things(animation) -> list[bpy.types.Object]:
    bpy.context.scene.frame_end = int(FRAMES[-1])
    return [ball(), rig()]


def enable(animation, things: list[bpy.types.Object]) -> None:
    for thing in things:
        animation.enable(thing, keep_look=False)
    animation.key_set(things[0], "location", 10, tension=0.5, bias=-0.3)


OUTPUTS = ("samples", "curves", "handles")


def bring(animation, things: list[bpy.types.Object], state: str) -> None:
    """Bring the objects into a state."""
    enable(animation, things)
    for thing in things:
        if state == "live and removed":
            thing.animation_data.action.tcb_live = True
        if state in OUTPUTS:
            animation.bake(thing, output=state.upper())
        if state == "applied":
            animation.bake(thing, output="HANDLES")
            animation.apply(thing)
        if state.endswith("removed"):
            animation.bake(thing)
            animation.remove(thing)


STATES = ("enabled", *OUTPUTS, "applied", "removed", "live and removed")


def usd(path: Path) -> Path:
    # Export as text, because binary files are compressed.
    file = path.with_suffix(".usda")
    bpy.ops.wm.usd_export(filepath=str(file), export_animation=True)
    return file


def alembic(path: Path) -> Path:
    file = path.with_suffix(".abc")
    bpy.ops.wm.alembic_export(filepath=str(file))
    return file


EXPORTERS = {"glTF": gltf, "FBX": fbx, "USD": usd, "Alembic": alembic}


def traces(file: Path) -> list[str]:
    """Return the extension's names that occur in the file."""
    content = file.read_bytes()
    return [name for name in OURS if name.encode() in content]


@pytest.mark.parametrize("name", EXPORTERS)
@pytest.mark.parametrize("state", STATES)
def test_nothing_of_ours_is_exported(animation, things, tmp_path, capfd, name: str, state: str) -> None:
    export = EXPORTERS[name]
    bring(animation, things, state)
    capfd.readouterr()
    file = export(tmp_path / "scene")
    assert complaints(capfd) == []
    assert file.stat().st_size > 1000
    assert traces(file) == []


def extras(file: Path) -> dict[str, list[str]]:
    """Return the extension's custom properties in each part of a glTF file, for animations by name."""
    content = json.loads(file.read_bytes())
    found = {}
    for part in ("scenes", "nodes", "meshes", "skins", "animations"):
        for element in content.get(part, ()):
            own = [name for name in element.get("extras", {}) if name.startswith("tcb")]
            if own:
                found[f"{part} {element['name']}"] = own
    return found


@pytest.mark.parametrize("state", ["enabled", *OUTPUTS])
def test_gltf_with_custom_properties_has_the_tables_of_actions_that_play_tcb(
    animation, things, tmp_path, state: str
) -> None:
    bring(animation, things, state)
    file = gltf(tmp_path / "scene", export_extras=True)
    assert extras(file) == {"animations BallAction": [TABLE], "animations RigAction": [TABLE]}


@pytest.mark.parametrize("state", ["applied", "removed", "live and removed"])
def test_gltf_with_custom_properties_has_nothing_after_apply_and_remove(
    animation, things, tmp_path, state: str
) -> None:
    bring(animation, things, state)
    assert [name for thing in things for name in thing.animation_data.action.keys()] == []  # noqa: SIM118
    found = extras(gltf(tmp_path / "scene", export_extras=True))
    # The options and defaults of the sidebar belong to the scene.
    assert {part for part in found if not part.startswith("scenes")} == set()


def test_changed_bake_options_are_the_scenes_in_gltf(animation, things, tmp_path) -> None:
    assert extras(gltf(tmp_path / "before", export_extras=True)) == {}
    bpy.context.scene.tcb.step = 2.0
    # The exporter of Blender 5.0 does not know where Blender stores them.
    expected = [] if bpy.app.version[:2] == (5, 0) else [["tcb"]]
    assert list(extras(gltf(tmp_path / "after", export_extras=True)).values()) == expected


def translations(file: Path) -> Iterator[tuple[float, np.ndarray]]:
    """Return the frames and locations of the ball in a glTF file."""
    content = json.loads(file.read_bytes())
    buffer = (file.parent / content["buffers"][0]["uri"]).read_bytes()

    def array(number: int) -> np.ndarray:
        accessor = content["accessors"][number]
        view = content["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3}[accessor["type"]]
        count = accessor["count"] * width
        return np.frombuffer(buffer, np.float32, count, view.get("byteOffset", 0)).reshape(-1, width)

    for animation in content["animations"]:
        for channel in animation["channels"]:
            node = content["nodes"][channel["target"]["node"]]["name"]
            if (node, channel["target"]["path"]) == ("Ball", "translation"):
                sampler = animation["samplers"][channel["sampler"]]
                seconds = array(sampler["input"])[:, 0]
                yield from zip((seconds * 24).tolist(), array(sampler["output"]), strict=True)


@pytest.mark.parametrize("state", [*OUTPUTS, "applied"])
def test_gltf_plays_what_blender_plays(animation, things, tmp_path, state: str) -> None:
    bring(animation, things, state)
    played = list(translations(gltf(tmp_path / "scene", export_frame_range=False)))
    assert len(played) == 40
    for frame, place in played:
        bpy.context.scene.frame_set(round(frame))
        assert place == pytest.approx(np.array(things[0].matrix_world.translation), abs=1e-6)


def keys_in(file: Path, path: str, width: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Return times, values (including tangents of cubics) and interpolation of a property. Rotations: x, y, z, w."""
    content = json.loads(file.read_bytes())
    buffer = (file.parent / content["buffers"][0]["uri"]).read_bytes()
    (animation,) = content["animations"]
    (channel,) = [each for each in animation["channels"] if each["target"]["path"] == path]
    sampler = animation["samplers"][channel["sampler"]]

    def array(number: int, width: int) -> np.ndarray:
        accessor = content["accessors"][number]
        start = content["bufferViews"][accessor["bufferView"]].get("byteOffset", 0)
        return np.frombuffer(buffer, np.float32, accessor["count"] * width, start).reshape(-1, width).astype(np.float64)

    return array(sampler["input"], 1)[:, 0], array(sampler["output"], width), sampler.get("interpolation", "LINEAR")


def played_by_gltf(seconds: np.ndarray, numbers: np.ndarray, second: float) -> np.ndarray:
    """Evaluate a cubic spline of glTF by its definition."""
    arriving, values, leaving = numbers[0::3], numbers[1::3], numbers[2::3]
    row = int(np.clip(np.searchsorted(seconds, second) - 1, 0, len(seconds) - 2))
    between = slice(row, row + 2)
    return CubicHermiteSpline(seconds[between], values[between], [leaving[row], arriving[row + 1]])(second)


@pytest.mark.parametrize(("output", "most"), [("HANDLES", 10.0), ("CURVES", 0.06)])
def test_a_rotation_in_gltf_that_is_not_sampled(animation, scene, tmp_path, output: str, most: float) -> None:
    """The deviation of glTF's cubic splines, by their definition, from Blender's playback is an angle in degrees."""
    item = ball()
    item.rotation_mode = "QUATERNION"
    turns = rotations_near_each_other(random.Random(5), 6, 1.5)
    key(item, "rotation_quaternion", list(zip((1, 9, 22, 30, 47, 60), turns, strict=True)))
    scene.frame_end = 60
    animation.enable(item, keep_look=False)
    animation.key_set(item, "rotation_quaternion", 22, tension=0.4, ease_to=0.3)
    animation.bake(item, output=output)
    file = gltf(tmp_path / "scene", export_force_sampling=False, export_frame_range=False)
    seconds, numbers, interpolation = keys_in(file, "rotation", 4)
    assert interpolation == "CUBICSPLINE"
    worst = 0.0
    for frame in np.arange(1.0, 60.0, 0.25):
        shown = played_by_gltf(seconds, numbers, frame / scene.render.fps)
        scene.frame_set(int(frame), subframe=frame % 1)
        seen = np.array(item.matrix_world.to_quaternion())[[1, 2, 3, 0]]
        shown /= np.linalg.norm(shown)
        apart = min(np.linalg.norm(shown - seen), np.linalg.norm(shown + seen))
        worst = max(worst, np.degrees(4.0 * np.arcsin(apart / 2.0)))
    assert worst <= most
    assert (worst > 0.5) == (output == "HANDLES"), worst


@pytest.mark.parametrize("output", ["HANDLES", "CURVES"])
def test_an_eased_location_in_gltf_that_is_not_sampled(animation, scene, tmp_path, output: str) -> None:
    """The deviation of glTF's cubic splines, by their definition, from Blender's playback is relative to the range."""
    item, span = ball(), 5.0
    key(item, "location", [(1, (0, 0, 0)), (20, (span, 1, 0)), (40, (1, 0, 2)), (60, (0, 2, 0))])
    scene.frame_end = 60
    animation.enable(item, keep_look=False)
    animation.key_set(item, "location", 20, ease_to=0.8, ease_from=0.5)
    animation.bake(item, output=output)
    file = gltf(tmp_path / "scene", export_force_sampling=False, export_frame_range=False)
    seconds, numbers, interpolation = keys_in(file, "translation", 3)
    assert interpolation == "CUBICSPLINE"
    worst = 0.0
    for frame in np.arange(1.0, 60.0, 0.25):
        scene.frame_set(int(frame), subframe=frame % 1)
        shown = played_by_gltf(seconds, numbers, frame / scene.render.fps)
        worst = max(worst, abs(shown - np.array(item.matrix_world.translation)).max() / span)
    assert (worst > 0.01) == (output == "HANDLES"), worst
    assert worst < 0.2 if output == "HANDLES" else worst < 2e-4, worst


ELSEWHERE = """
import json, sys
from pathlib import Path
import bpy

sys.path.insert(0, sys.argv[1])
from tests.animation.curves import bits, curve, fcurves

every = {}
for file in map(Path, sys.argv[2:]):
    bpy.ops.wm.open_mainfile(filepath=str(file))
    assert not hasattr(bpy.context.scene, "tcb")
    told = every[file.stem] = {}
    for name in ("Ball", "Rig"):
        thing = bpy.data.objects[name]
        states = [bits(fcurve) for fcurve in fcurves(thing)]
        told[name] = [{key: v.hex() if isinstance(v, bytes) else v for key, v in s.items()} for s in states]
        told[name + " properties"] = list(thing.animation_data.action.keys())
    if file.stem == "moved":
        for index in range(3):
            point = curve(bpy.data.objects["Ball"], "location", index).keyframe_points
            own = next(each for each in point if each.co.x == 10.0)
            own.co.x += 0.5
    bpy.ops.wm.save_as_mainfile(filepath=str(file.with_suffix(".elsewhere.blend")))
file.with_name("told.json").write_text(json.dumps(every))
"""


class Elsewhere(NamedTuple):
    """Objects in some state that were then opened and saved in a Blender without the extension."""

    file: Path
    """The file saved by this Blender."""
    before: dict[str, list[Any]]
    """Each object's F-curves before TCB was enabled, by name."""
    bits: dict[str, list[dict[str, Any]]]
    """The bits of each object's F-curves in the tested state, by name."""
    told: dict[str, Any]
    """The facts that this Blender reported about the objects."""
    said: str
    """The printed output of this Blender for all files."""


STATES_ELSEWHERE = {"enabled": "enabled", "samples": "samples", "curves": "curves", "moved": "handles"}


@pytest.fixture(scope="module")
def elsewhere(tcb_animation, tmp_path_factory) -> dict[str, Elsewhere]:
    """One for each state. In "moved", a key is moved in that Blender."""
    folder, empty = tmp_path_factory.mktemp("files"), tmp_path_factory.mktemp("empty")
    made = {}
    for name, state in STATES_ELSEWHERE.items():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        things = [ball(), rig()]
        before = {thing.name: snapshot(thing) for thing in things}
        bring(tcb_animation.animation, things, state)
        made[save(folder / f"{name}.blend")] = before, {thing.name: as_told(thing) for thing in things}
    arguments = [sys.executable, "-c", ELSEWHERE, str(tool.ROOT), *map(str, made)]
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(empty), "PYTHONPATH": ""}
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, env=environment)
    # As a module, Blender may crash when it ends. By then, the file exists, or the run has failed.
    assert (folder / "told.json").exists(), done.stderr
    told = json.loads((folder / "told.json").read_text())
    said = done.stdout + done.stderr
    return {
        file.stem: Elsewhere(file.with_suffix(".elsewhere.blend"), *states, told[file.stem], said)
        for file, states in made.items()
    }


def as_told(thing: bpy.types.Object) -> list[dict[str, Any]]:
    """Return the bits of all F-curves in the form in which JSON returns them."""
    states = [bits(fcurve) for fcurve in fcurves(thing)]
    every = [{name: v.hex() if isinstance(v, bytes) else v for name, v in state.items()} for state in states]
    return json.loads(json.dumps(every))


def save(path: Path) -> Path:
    bpy.context.preferences.filepaths.save_version = 0
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def load(path: Path) -> list[bpy.types.Object]:
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return [bpy.data.objects["Ball"], bpy.data.objects["Rig"]]


@pytest.mark.parametrize("state", ["enabled", "samples", "curves"])
def test_a_blender_without_the_extension_finds_plain_curves_and_says_nothing(elsewhere, state: str) -> None:
    found = elsewhere[state]
    for name, curves in found.before.items():
        assert found.told[name] == found.bits[name]
        assert [tuple(each["path"]) for each in found.told[name]] == [each["path"] for each in curves]
        assert found.told[f"{name} properties"] == [TABLE]
    complaining = ("warn", "error", "tcb")
    assert [line for line in found.said.splitlines() if any(word in line.lower() for word in complaining)] == []


def by_the_command(verb: str, *files: Path) -> Path:
    """Return a folder with the results of the command in a separate process, which does not know the rows."""
    folder = files[0].with_name(verb)
    done = tool.run(verb, *files, "--output", f"{folder}/")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def restored(elsewhere) -> Path:
    return by_the_command("restore", elsewhere["samples"].file, elsewhere["curves"].file)


@pytest.mark.parametrize("state", ["samples", "curves"])
def test_a_file_that_was_saved_without_the_extension_is_restored(elsewhere, restored, state: str) -> None:
    found = elsewhere[state]
    for thing in load(restored / found.file.name):
        assert differences(found.before[thing.name], snapshot(thing), identities=False) == []


def test_a_file_that_was_saved_without_the_extension_is_plain_after_remove(elsewhere) -> None:
    found = elsewhere["samples"]
    for thing in load(by_the_command("remove", found.file) / found.file.name):
        assert differences(found.before[thing.name], snapshot(thing)) == []
        assert list(thing.animation_data.action.keys()) == []


def test_a_key_that_was_moved_without_the_extension_keeps_its_parameters(animation, elsewhere) -> None:
    moved, _ = load(elsewhere["moved"].file)
    animation.bake(moved)
    twin = ball()
    for index in range(3):
        point = curve(twin, "location", index).keyframe_points[1]
        point.co.x += 0.5
    animation.enable(twin, keep_look=False)
    animation.key_set(twin, "location", 10.5, tension=0.5, bias=-0.3)
    animation.bake(twin)
    for index in range(3):
        assert co(curve(moved, "location", index)).tolist() == co(curve(twin, "location", index)).tolist()


def retime(animation, things: list[bpy.types.Object]) -> None:
    animation.retime(things[0], "SCALE", scale=1.5)
    animation.retime(things[0], "REVERSE", track="location")
    bring(animation, things, "samples")


def test_gltf_with_custom_properties_has_the_present_frames_of_frame_functions(animation, things, tmp_path) -> None:
    retime(animation, things)
    found = extras(gltf(tmp_path / "scene", export_extras=True))
    # The exporter of Blender 5.0 does not know where Blender stores them.
    expected = [] if bpy.app.version[:2] == (5, 0) else ["tcb_frame", "tcb_tracks"]
    assert sorted(found.pop("nodes Ball", [])) == expected
    assert all(names == [TABLE] for names in found.values())


def test_nothing_of_frame_functions_is_exported_after_both_were_removed(animation, things, tmp_path) -> None:
    retime(animation, things)
    animation.remove(things[0])
    animation.remove(things[1])
    animation.remove_retiming(things[0])
    assert extras(gltf(tmp_path / "scene", export_extras=True)) == {}


def test_gltf_with_custom_properties_says_that_an_action_is_live(animation, things, tmp_path) -> None:
    things[0].animation_data.action.tcb_live = True
    found = extras(gltf(tmp_path / "scene", export_extras=True))["animations BallAction"]
    # The exporter of Blender 5.0 does not know where Blender stores it.
    assert sorted(found) == ([TABLE] if bpy.app.version[:2] == (5, 0) else [TABLE, "tcb_live"])
