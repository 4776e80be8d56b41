# SPDX-License-Identifier: GPL-3.0-or-later
"""Files for other programs, written by Blender's exporters."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path

import bpy
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from tests.all_pairs import each_once
from tests.animation.curves import key, new_object
from tests.animation.exports import FRAMES, PLACES, complaints, fbx, gltf, rig
from tests.animation.rotations import rotations_near_each_other

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


@pytest.mark.parametrize(
    ("name", "state"), [*product(EXPORTERS, ["handles", "live and removed"]), *each_once(["FBX", "glTF"], STATES)]
)
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


def retime(animation, things: list[bpy.types.Object]) -> None:
    animation.retime(things[0], "SCALE", scale=1.5)
    animation.retime(things[0], "REVERSE", track="location")
    bring(animation, things, "samples")


def test_nothing_of_frame_functions_is_exported_after_both_were_removed(animation, things, tmp_path) -> None:
    retime(animation, things)
    animation.remove(things[0])
    animation.remove(things[1])
    animation.remove_retiming(things[0])
    assert extras(gltf(tmp_path / "scene", export_extras=True)) == {}
