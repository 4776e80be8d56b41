# SPDX-License-Identifier: GPL-3.0-or-later
"""Every method by the command: what Blender plays of its file, next to another's formulas."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
import pytest

from interp.splines import METHODS
from tests.animation import reference
from tests.animation.curves import PARAMETERS, differences, key, new_object, play, snapshot
from tests.cli.scenes import load, save
from tests.cli.tool import run
from tests.interp.references import REFERENCES, Drawn

EACH = [
    (method.name, kind)
    for method in METHODS.values()
    for kind in ("values", "rotations")
    if getattr(method, kind) is not None
]
ANGLES = [(name, "angles") for name, method in METHODS.items() if method.values and not method.value_options]
"""Of roll, pitch and yaw, by each method of values that needs no more than keys."""
BY_ANGLES = {"method": "ROLL_PITCH_YAW", "path": "AS_KEYED"}
PATHS = {"values": "location", "rotations": "rotation_quaternion", "angles": "rotation_euler"}
FRAMES = np.array([1.0, 8.0, 20.0, 29.0, 33.0, 45.0])
STEP = 0.5
AT = np.arange(FRAMES[0] - 2.0, FRAMES[-1] + 2.0, 3.0 * STEP)
"""Whole frames and half ones, of which samples have all."""
VALUE_TOLERANCE, ANGLE_TOLERANCE = 1e-3, 0.01
"""Of curves: of values up to 10 or so, and degrees."""
FLOAT32 = 1e-6
"""What F-curves lose: of the largest value, and of quaternions' components, a quarter of what it makes as an angle."""
BAKES = {
    "samples": ("--step", STEP),
    "curves": (
        *("--output-mode", "CURVES"),
        *("--value-tolerance", VALUE_TOLERANCE, "--rotation-tolerance", ANGLE_TOLERANCE),
    ),
}


class Shot(NamedTuple):
    """A file with an object for the values and one for the rotations of each method.

    By object: what Blender should play of it at `AT`, and its F-curves.
    """

    file: Path
    expected: dict[str, np.ndarray]
    curves: dict[str, list[Any]]


class Baked(NamedTuple):
    """What the command wrote, and by object what Blender plays of it at `AT`."""

    file: Path
    played: dict[str, np.ndarray]


def name_of(method: str, kind: str) -> str:
    return f"{method} {kind}"


@pytest.fixture(scope="module")
def shot(tcb_animation, tmp_path_factory) -> Shot:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    expected = {}
    for seed, (method, kind) in enumerate([*EACH, *ANGLES]):
        name, is_euler = name_of(method, kind), kind == "angles"
        keys = REFERENCES[method]["values" if is_euler else kind].draw(np.random.default_rng(seed), FRAMES)
        thing = new_object(name, "XYZ" if is_euler else "QUATERNION")
        chosen = {**BY_ANGLES, "angles": method} if is_euler else {"method": method}
        animate(tcb_animation.animation, thing, PATHS[kind], keys, chosen)
        expected[name] = keys.curve(np.clip(AT, FRAMES[0], FRAMES[-1]))
    file = save(tmp_path_factory.mktemp("methods") / "shot.blend")
    return Shot(file, expected, curves_of(expected))


def animate(animation, thing: bpy.types.Object, path: str, keys: Drawn, chosen: dict[str, str]) -> None:
    key(thing, path, list(zip(FRAMES, keys.values, strict=True)))
    animation.enable(thing, keep_look=False)
    animation.choose(thing, path, **chosen)
    for index, frame in enumerate(FRAMES):
        given = dict(zip(PARAMETERS, keys.parameters[:, index], strict=True))
        if keys.velocities is not None:
            given["velocity"] = keys.velocities[index]
        animation.key_set(thing, path, frame, **{part: number for part, number in given.items() if np.any(number)})


def curves_of(names) -> dict[str, list[Any]]:
    """The bits of the open file's F-curves."""
    return {name: snapshot(bpy.data.objects[name]) for name in names}


@pytest.fixture(scope="module")
def bakes(tcb_animation, shot) -> dict[str, Baked]:
    command = importlib.import_module(f"{tcb_animation.__name__}.cli").main
    return {how: bake(command, shot, how) for how in BAKES}


def bake(command: Callable[[list[str]], int], shot: Shot, how: str) -> Baked:
    file = shot.file.with_name(f"{how}.blend")
    assert command(["bake", *map(str, (shot.file, "--output", file, *BAKES[how]))]) == 0
    load(file)
    played: dict[str, list[Any]] = {name: [] for name in shot.expected}
    for frame in AT:
        play(frame)
        for name, rows in played.items():
            rows.append(list(getattr(bpy.data.objects[name], PATHS[name.split()[-1]])))
    return Baked(file, {name: np.array(rows) for name, rows in played.items()})


@pytest.mark.parametrize("how", BAKES)
@pytest.mark.parametrize(("method", "kind"), EACH)
def test_blender_plays_what_the_reference_says(shot, bakes, how, method, kind):
    name = name_of(method, kind)
    played, expected = bakes[how].played[name], shot.expected[name]
    if kind == "rotations":
        off = max(reference.apart(*pair) for pair in zip(played, expected, strict=True))
        exact, fitted = 4.0 * FLOAT32, np.radians(ANGLE_TOLERANCE)
    else:
        off = np.abs(played - expected).max()
        exact, fitted = FLOAT32 * np.abs(expected).max(), VALUE_TOLERANCE
    assert off < (exact + fitted if how == "curves" else exact)


@pytest.mark.parametrize("how", BAKES)
@pytest.mark.parametrize(("method", "kind"), ANGLES)
def test_roll_pitch_and_yaw_go_by_the_method_that_is_chosen_for_them(shot, bakes, how, method, kind):
    name = name_of(method, kind)
    played, expected = bakes[how].played[name], shot.expected[name]
    pairs = zip(map(reference.of_euler, played), map(reference.of_euler, expected), strict=True)
    exact = 4.0 * FLOAT32 * np.abs(expected).max()
    assert max(reference.apart(*pair) for pair in pairs) < exact + np.radians(ANGLE_TOLERANCE) * (how == "curves")


@pytest.fixture(scope="module")
def restored(shot, bakes) -> Path:
    """A folder with what the command restored of both files."""
    folder = shot.file.with_name("restored")
    ran = run("restore", *(bakes[how].file for how in BAKES), "--output", folder)
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.mark.parametrize("how", BAKES)
def test_restored_by_the_command_all_curves_are_as_they_were_to_the_bit(shot, restored, how):
    load(restored / f"{how}.blend")
    now = curves_of(shot.expected)
    assert {name: found for name in now if (found := differences(shot.curves[name], now[name]))} == {}
