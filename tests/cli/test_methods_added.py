# SPDX-License-Identifier: GPL-3.0-or-later
"""A method that is added as described in docs/project/extending.md can be chosen, baked and restored like any other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

from tests.animation import reference
from tests.animation.curves import fcurves, key, new_object, play
from tests.cli.scenes import load, save

ROOT = Path(__file__).resolve().parents[2]
FRAMES = np.array([1.0, 10.0, 25.0, 40.0])
PLACES = np.array([[0.0, 0.0, 0.0], [3.0, -1.0, 2.0], [1.0, 4.0, 0.0], [5.0, 0.0, 1.0]])
TURNS = Rotation.from_rotvec([[0.0, 0.0, 0.0], [1.0, 0.5, 0.0], [0.0, 2.0, 1.0], [-0.5, 0.5, 1.5]])
NO_SOURCES = (".*", "build", "docs", "tests")
CHOOSE = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
import bpy, tcb

tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])
bpy.ops.wm.open_mainfile(filepath=sys.argv[2])
importlib.import_module(tcb.PACKAGE).register()
for name, track in (("Hips", "location"), ("Head", "rotation")):
    bpy.context.view_layer.objects.active = bpy.data.objects[name]
    bpy.data.objects[name].select_set(True)
    bpy.ops.tcb.enable(keep_look=False)
    bpy.ops.tcb.track_choose(track=track, method="SMOOTH_STEP")
    bpy.data.objects[name].select_set(False)
bpy.ops.wm.save_mainfile()
sys.stdout.flush()
importlib.import_module("os")._exit(0)
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of this checkout with the page's diff applied."""
    if shutil.which("git") is None:
        pytest.skip("git, which applies the diff, is not there")
    copy = tmp_path_factory.mktemp("added") / "checkout"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NO_SOURCES, "__pycache__"))
    (diff,) = re.findall(
        r"```diff\n(.*?)```", (ROOT / "docs" / "project" / "extending.md").read_text(encoding="utf-8"), re.DOTALL
    )
    # Inside another repository, git would resolve the paths in that repository.
    alone = {**os.environ, "GIT_CEILING_DIRECTORIES": str(copy.parent)}
    applied = subprocess.run(["git", "apply", "-"], cwd=copy, input=diff, text=True, capture_output=True, env=alone)
    assert applied.returncode == 0, applied.stderr
    return copy


def run(*command: object) -> None:
    ran = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="module")
def baked(tcb_animation, checkout) -> Path:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    key(new_object("Hips"), "location", list(zip(FRAMES, PLACES, strict=True)))
    turns = list(zip(FRAMES, np.roll(TURNS.as_quat(), 1, axis=1), strict=True))
    key(new_object("Head", "QUATERNION"), "rotation_quaternion", turns)
    shot = save(checkout.with_name("shot.blend"))
    run("-c", CHOOSE, checkout / "tools", shot)
    run(checkout / "tools" / "tcb.py", "bake", shot, "--output", checkout.with_name("baked.blend"), "--step", "0.5")
    return checkout.with_name("baked.blend")


def test_the_command_bakes_it(baked):
    load(baked)
    at = np.arange(FRAMES[0], FRAMES[-1], 0.5)
    places = CubicHermiteSpline(FRAMES, PLACES, np.zeros_like(PLACES))(at)
    start = np.searchsorted(FRAMES, at, side="right") - 1
    length = np.diff(FRAMES)[start]
    u = (at - FRAMES[start]) / length
    turns = Slerp(FRAMES, TURNS)(FRAMES[start] + length * (3.0 * u**2 - 2.0 * u**3))
    for frame, place, turn in zip(at, places, turns, strict=True):
        play(frame)
        np.testing.assert_allclose(np.array(bpy.data.objects["Hips"].location), place, rtol=0, atol=5e-6)
        found = np.array(bpy.data.objects["Head"].rotation_quaternion)
        assert reference.apart(found, np.roll(turn.as_quat(), 1)) < 4e-6


def test_the_command_takes_it_away_again(baked, checkout):
    restored = checkout.with_name("restored.blend")
    run(checkout / "tools" / "tcb.py", "remove", baked, "--output", restored)
    load(restored)
    for name, path in (("Hips", "location"), ("Head", "rotation_quaternion")):
        curves = fcurves(bpy.data.objects[name])
        assert {fcurve.data_path for fcurve in curves} == {path}
        assert {len(fcurve.keyframe_points) for fcurve in curves} == {len(FRAMES)}
