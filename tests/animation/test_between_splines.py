# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments between splines, as used for velocities, the tab, smoothness, frame functions and other computations.

They match Blender's playback of the same keys on a plain object.
"""

from __future__ import annotations

import importlib
import math
import random

import bpy
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.all_pairs import each_once
from tests.animation.curves import MODES, co, curve, fcurves, key, new_object, rotation_path
from tests.animation.interpolation_choice import FRAMES, OUTPUTS, choose
from tests.animation.locations import VALUES
from tests.animation.rotations import quaternion_at, rotations_near_each_other, values_of

KINDS = ["CONSTANT", "LINEAR", "SINE", "CIRC", "BACK", "BOUNCE", "ELASTIC"]
SMOOTH = ["CONSTANT", "LINEAR", "SINE", "BACK"]
BETWEEN = [7.5, 9.0, 11.0, 12.0]
"""Frames after the key with the chosen interpolation."""
ROUNDING = 4e-6


def twins(animation, kind: str, output: str = "HANDLES") -> tuple[bpy.types.Object, bpy.types.Object]:
    """Return a TCB object and a plain object with locations. Their second keys have this interpolation."""
    thing, plain = new_object(), new_object("Plain")
    for item in (thing, plain):
        key(item, "location", list(zip(FRAMES, VALUES, strict=True)))
    animation.enable(thing, keep_look=False)
    for item in (thing, plain):
        choose(item, kind)
    animation.bake(thing, output=output)
    return thing, plain


def turned_twins(animation, mode: str, kinds: list[str]) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Return the same with rotations. `kinds` contains the interpolation of each channel's second key."""
    thing, plain = new_object("Thing", mode), new_object("Plain", mode)
    rows = values_of(mode, rotations_near_each_other(random.Random(3), 5, 0.8))
    for item in (thing, plain):
        key(item, rotation_path(mode), list(zip(FRAMES, rows, strict=True)))
    animation.enable(thing, keep_look=False)
    for item in (thing, plain):
        for fcurve, kind in zip(fcurves(item), kinds, strict=False):
            fcurve.keyframe_points[1].interpolation = kind
            fcurve.update()
    animation.bake(thing, output="HANDLES")
    return thing, plain


def written(animation, item: bpy.types.Object, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return frames between the second and third keys, and the three values written there."""
    animation.write_velocities(item)
    curves = [co(curve(item, f'["{name}"]', index)) for index in range(3)]
    there = (curves[0][:, 0] >= 8.0) & (curves[0][:, 0] <= 11.75)
    return curves[0][there, 0], np.stack([rows[there, 1] for rows in curves], axis=1)


def places(item: bpy.types.Object, frames) -> np.ndarray:
    return np.array([[fcurve.evaluate(float(frame)) for fcurve in fcurves(item)] for frame in frames])


def orientations(item: bpy.types.Object, frames) -> Rotation:
    return Rotation.from_quat([quaternion_at(item, float(frame)) for frame in frames], scalar_first=True)


def slope(at, frames, step: float = 0.25) -> np.ndarray:
    """Return the derivative by fourth-order differences. `at` returns differences between frames."""
    frames = np.array(frames)
    near, far = at(frames - step, frames + step), at(frames - 2 * step, frames + 2 * step)
    return (8 * near - far) / (12 * step)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_the_value_now_is_the_one_that_is_played(animation, kind: str, output: str) -> None:
    thing, plain = twins(animation, kind, output)
    for frame in BETWEEN:
        now = animation.checks.shown_key.values_now(animation.find_track(thing, "location"), frame)
        assert list(now.values()) == pytest.approx(places(plain, [frame])[0].tolist(), abs=ROUNDING)


@pytest.mark.parametrize(("kind", "mode"), each_once(KINDS, MODES))
def test_the_turn_now_is_the_one_that_is_played(animation, mode: str, kind: str) -> None:
    thing, plain = turned_twins(animation, mode, ["BEZIER", kind, kind])
    for frame in BETWEEN:
        _, _, angle, axis = animation.checks.shown_key.turn_now(
            animation.find_track(thing, rotation_path(mode)), frame, {}
        )
        before, there = orientations(plain, [FRAMES[1]])[0], orientations(plain, [frame])[0]
        assert (Rotation.from_rotvec(angle * np.array(axis)).inv() * there * before.inv()).magnitude() < ROUNDING


@pytest.mark.parametrize("kind", SMOOTH)
def test_velocities_are_those_of_what_is_played(animation, kind: str) -> None:
    thing, plain = twins(animation, kind)
    frames, found = written(animation, thing, "tcb_location_velocity")
    wanted = slope(lambda before, after: places(plain, after) - places(plain, before), frames)
    assert np.abs(found - wanted).max() < 3e-5


def test_accelerations_are_those_of_what_is_played(animation) -> None:
    """The segment is a quarter of a sine, which eases in."""
    thing, _ = twins(animation, "SINE")
    frames, found = written(animation, thing, "tcb_location_acceleration")
    width = FRAMES[2] - FRAMES[1]
    change = np.subtract(VALUES[2], VALUES[1])
    quarters = math.pi / 2 / width
    wanted = [change * quarters**2 * math.cos(quarters * (frame - FRAMES[1])) for frame in frames]
    assert np.abs(found - wanted).max() < 1e-7


@pytest.mark.parametrize(("kind", "mode"), each_once(SMOOTH, MODES))
def test_angular_velocities_are_those_of_what_is_played(animation, mode: str, kind: str) -> None:
    thing, plain = turned_twins(animation, mode, ["BEZIER", kind, kind])
    frames, found = written(animation, thing, "tcb_rotation_angular_velocity")
    wanted = slope(
        lambda before, after: (orientations(plain, after) * orientations(plain, before).inv()).as_rotvec(), frames
    )
    assert np.abs(found - wanted).max() < 3e-5


def test_what_jumps_at_a_key_is_measured_with_what_is_played_there(animation) -> None:
    """A quarter of a sine follows a line, and starts at rest. The splines on either side are lines, too."""
    thing = new_object()
    key(thing, "location", [(0, (0, 0, 0)), (10, (1, 0, 0)), (20, (3, 0, 0)), (30, (4, 0, 0))], channels=[0])
    animation.enable(thing, keep_look=False)
    points = curve(thing, "location", 0).keyframe_points
    points[1].interpolation, points[2].interpolation = "LINEAR", "SINE"
    value, velocity, *_ = animation.checks.shown_key.largest_jumps(animation.find_track(thing, "location"), {})
    assert not value.is_seen
    assert velocity.is_seen
    assert (velocity.frame, velocity.size) == (20.0, pytest.approx(0.2))


def test_handles_in_a_rotation_s_segment_go_along_with_keys_that_relaxation_moves(animation) -> None:
    motion = importlib.import_module(f"{animation.__name__}.adjust_keys.relaxed_motion")
    thing, plain = turned_twins(animation, "XYZ", ["BEZIER", "LINEAR", "LINEAR"])
    mover = motion.Mover(thing, "rotation", [FRAMES[1]], {})
    (spline,) = mover.splines(mover.start + 0.5)
    for fcurve in fcurves(plain):
        point = fcurve.keyframe_points[1]
        for each in fcurve.keyframe_points:
            each.handle_left_type = each.handle_right_type = "FREE"
        point.co_ui = (point.co.x, point.co.y + 0.5)
    found = Rotation.from_quat(spline.spline(BETWEEN), scalar_first=True)
    assert (found * orientations(plain, BETWEEN).inv()).magnitude().max() < ROUNDING
