# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation tracks as played by Blender agree with an independent evaluation within a millionth of a radian."""

from __future__ import annotations

import math
import random

import bpy
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.all_pairs import each_once
from tests.animation import reference
from tests.animation.curves import (
    ALL_MODES,
    MODES,
    ORDERS,
    co,
    curve,
    differences,
    fcurves,
    key,
    new_object,
    orientations,
    rotation_path,
    snapshot,
)
from tests.animation.rotations import (
    ALL_PARAMETERS,
    channels_at,
    keyed,
    quaternion_at,
    quaternion_of,
    rotations_near_each_other,
    values_of,
)

RADIAN = 1e-6
CHORD = 0.001
"""Maximum angle in radians between the motion and linear interpolation of samples every quarter of a frame."""
FRAMES = [0.0, 7.0, 12.5, 30.0, 36.0]


def sampled_frames(thing, path: str) -> list[float]:
    return sorted({frame for f in fcurves(thing) if f.data_path == path for frame in co(f)[:, 0].tolist()})


@pytest.mark.parametrize(("cycle", "mode", "step"), each_once(["SINGLE", "REPEAT", "LOOP"], ALL_MODES, [0.5, 1.0]))
def test_samples_are_on_the_spline_and_its_cycles(animation, mode: str, cycle: str, step: float) -> None:
    turns = rotations_near_each_other(random.Random(11), 4, 1.0)
    rows = values_of(mode, turns)
    rows.append(rows[0])
    thing = new_object("Thing", mode)
    path = rotation_path(mode)
    keys = keyed(animation, thing, mode, FRAMES, rows, **ALL_PARAMETERS)
    animation.choose(thing, path, cycle=cycle)
    animation.bake(thing, step=step, extend=(-80, 110))
    for frame in np.arange(-80, 110.1, step).tolist():
        shown = quaternion_at(thing, frame)
        assert reference.apart(shown, reference.rotation(keys, frame, cycle)) < RADIAN, frame


@pytest.mark.parametrize(
    ("order", "axis", "degrees"), each_once(ORDERS, range(3), [450.0, -450.0, 1080.0, 359.0, 360.0, 180.0])
)
def test_one_euler_channel_turns_as_far_as_its_keys_say(animation, order: str, axis: int, degrees: float) -> None:
    thing = new_object("Thing", order)
    angles = [0.0, math.radians(degrees), math.radians(30)]
    rows = [tuple(angle if index == axis else 0.0 for index in range(3)) for angle in angles]
    key(thing, "rotation_euler", list(zip([0, 40, 60], rows, strict=True)))
    animation.bake(thing, keep_look=False)
    keys = [(frame, float(np.float32(angle))) for frame, angle in zip([0, 40, 60], angles, strict=True)]
    for frame in range(61):
        wanted = reference.scalar(keys, frame, ends="3DS")
        assert curve(thing, "rotation_euler", axis).evaluate(frame) == pytest.approx(wanted, abs=2e-6), frame


def named_another_way_round(animation, mode: str) -> tuple[bpy.types.Object, list[reference.Key]]:
    """Return an object with small rotations between five keys, two of which have values for another direction."""
    turn, pi = 2 * math.pi, math.pi
    angles = [(0.1, 0.0, 0.0), (0.5, 0.4, 0.3), (0.6 + turn, 0.3, 0.2), (0.4 + turn, 0.5, 0.1), (0.2, 0.6, -0.1)]
    # Half a turn about each axis results in the same orientation.
    middle = "XYZ".index(mode[1]) if mode != "AXIS_ANGLE" else 0
    angles[4] = tuple(pi - n if index == middle else n + pi for index, n in enumerate(angles[4]))
    rows = [(a, *reference.unit((1.0, b, c)).tolist()) for a, b, c in angles] if mode == "AXIS_ANGLE" else angles
    thing = new_object("Thing", mode)
    keys = keyed(animation, thing, mode, [0.0, 10.0, 20.0, 30.0, 40.0], rows)
    animation.choose(thing, "rotation", path="SHORTEST")
    return thing, keys


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "AXIS_ANGLE"])
def test_a_bake_meets_keys_that_name_another_way_round_without_turning_there(animation, mode: str, output: str) -> None:
    """This also holds between samples, because the curves have other values for the same orientations."""
    thing, keys = named_another_way_round(animation, mode)
    path, before = rotation_path(mode), snapshot(thing)
    report = animation.bake(thing, output=output, step=0.25)
    assert report.notes == []
    rows = [channels_at(thing, path, 4 if mode == "AXIS_ANGLE" else 3, n / 8) for n in range(321)]
    for n, row in enumerate(rows):
        assert reference.apart(quaternion_of(mode, row), reference.rotation(keys, n / 8)) < CHORD, n / 8
    assert np.abs(np.diff(rows, axis=0)).max() < 0.1
    animation.free(thing)
    assert differences(before, snapshot(thing)) == []


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "AXIS_ANGLE"])
def test_handles_turn_the_keys_whose_angles_name_another_way_round(animation, mode: str) -> None:
    thing, keys = named_another_way_round(animation, mode)
    report = animation.bake(thing, output="HANDLES")
    assert not any(note.code == "EULER_OTHER_WAY" for note in report.notes)
    assert len([note for note in report.notes if note.code == "TURNED_SHORT"]) == 1
    (error,) = [each["error"] for each in report.handles]
    for n in range(81):
        row = channels_at(thing, rotation_path(mode), 4 if mode == "AXIS_ANGLE" else 3, n / 2)
        assert reference.apart(quaternion_of(mode, row), reference.rotation(keys, n / 2)) < math.radians(error) + CHORD


@pytest.mark.parametrize("mode", ["XYZ", "ZXY"])
def test_handles_name_the_keys_to_which_keyed_angles_name_another_way_round(animation, mode: str) -> None:
    thing, _ = named_another_way_round(animation, mode)
    animation.choose(thing, "rotation", path="ONE_AXIS")
    (note,) = [note for note in animation.bake(thing, output="HANDLES").notes if note.code == "EULER_OTHER_WAY"]
    assert str(note).startswith('"Thing", Euler Rotation: Euler angles jump at frame')


@pytest.mark.parametrize("order", ORDERS)
def test_through_gimbal_lock_the_rotation_stays_right(animation, order: str) -> None:
    middle = "XYZ".index(order[1])
    rows = []
    for outer, locked in [(0.2, 0.3), (0.4, math.pi / 2), (0.7, 2.2), (0.1, math.pi / 2), (0.0, 0.0)]:
        row = [outer, outer / 2, -outer]
        row[middle] = locked
        rows.append(tuple(row))
    thing = new_object("Thing", order)
    keys = keyed(animation, thing, order, FRAMES, rows)
    animation.bake(thing)
    for frame in sampled_frames(thing, "rotation_euler"):
        row = channels_at(thing, "rotation_euler", 3, frame)
        assert reference.apart(reference.of_euler(row, order), reference.rotation(keys, frame)) < RADIAN, frame


@pytest.mark.parametrize(
    ("mode", "rows"),
    [
        # Without rotation, any axis represents the key.
        ("AXIS_ANGLE", [(1, 1, 0, 0), (0, 0.01, -1, 0), (45, 0.01, 1, 0)]),
        # In gimbal lock, x and z may change together.
        ("XYZ", [(0, 89, 0), (-89, 90, -89), (89, 45, 89)]),
    ],
)
def test_next_to_a_key_with_undetermined_values_the_rotation_stays_right(animation, mode: str, rows) -> None:
    """The values before the key and the values after it are closest to different equivalents of the key's values."""
    angles = 1 if mode == "AXIS_ANGLE" else 3
    rows = [(*map(math.radians, row[:angles]), *row[angles:]) for row in rows]
    corner = {"continuity": [0.0, -1.0, 0.0]}
    thing, plain = new_object("Thing", mode), new_object("Plain", "QUATERNION")
    keys = keyed(animation, thing, mode, [0.0, 10.0, 20.0], rows, **corner)
    keyed(animation, plain, "QUATERNION", [0.0, 10.0, 20.0], [each.value for each in keys], **corner)
    for item in (thing, plain):
        animation.choose(item, "rotation", path="SHORTEST")
        animation.bake(item)
    frames = [8.5, 9.5, 10.5, 11.5]
    turns = Rotation.from_matrix(orientations(thing, frames)).inv() * Rotation.from_matrix(orientations(plain, frames))
    assert np.degrees(turns.magnitude()).max() < 0.1


@pytest.mark.parametrize("mode", MODES)
def test_channels_keyed_at_other_frames_meet_at_the_union(animation, mode: str) -> None:
    """A channel's missing value is the value of its own curve before the bake."""
    path, width = rotation_path(mode), 4 if mode in ("QUATERNION", "AXIS_ANGLE") else 3
    thing, plain = new_object("Thing", mode), new_object("Plain", mode)
    dice = random.Random(4)
    own = {index: [0, dice.choice([8, 10, 14]), 20 + index] for index in range(width)}
    for item in (thing, plain):
        dice = random.Random(5)
        for index, frames in own.items():
            keys = [(frame, (dice.uniform(0.2, 1.0),) * width) for frame in frames]
            key(item, path, keys, channels=[index])
    union = sorted({frame for frames in own.values() for frame in frames})
    keys = [reference.Key(frame, tuple(quaternion_at(plain, frame))) for frame in union]
    animation.bake(thing, keep_look=False)
    for frame in range(union[-1] + 1):
        shown = quaternion_at(thing, frame)
        assert reference.apart(shown, reference.rotation(keys, frame)) < RADIAN, frame


@pytest.mark.parametrize("construction", ["DE_CASTELJAU", "SQUAD"])
@pytest.mark.parametrize("ends", ["3DS", "TANGENT"])
def test_about_one_axis_every_method_is_the_spline_of_the_angle(animation, construction: str, ends: str) -> None:
    thing = new_object("Thing", "QUATERNION")
    angles = [0.0, 1.0, 0.2, 2.0]
    key(thing, "rotation_quaternion", [(10 * n, tuple(reference.of_euler((0, a, 0)))) for n, a in enumerate(angles)])
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "rotation_quaternion", construction=construction, ends=ends)
    animation.key_set(thing, "rotation_quaternion", 10, tension=0.4, continuity=0.3, bias=-0.6)
    animation.bake(thing)
    keys = [(10 * n, a, *([0.0] * 5)) for n, a in enumerate(angles)]
    keys[1] = (10, 1.0, *(float(np.float32(number)) for number in (0.4, 0.3, -0.6)))
    for frame in range(31):
        row = channels_at(thing, "rotation_quaternion", 4, frame)
        wanted = reference.scalar(keys, frame, ends=ends)
        assert reference.apart(row, reference.of_euler((0, wanted, 0))) < RADIAN, frame


@pytest.mark.parametrize("path", ["delta_rotation_euler", "delta_rotation_quaternion"])
def test_delta_rotations_are_rotations(animation, path: str) -> None:
    mode = "QUATERNION" if path.endswith("quaternion") else "XYZ"
    rows = values_of(mode, rotations_near_each_other(random.Random(8), 5, 1.2))
    thing = new_object("Thing", mode)
    keys = keyed(animation, thing, mode, FRAMES, rows, path=path)
    animation.bake(thing)
    for frame in sampled_frames(thing, path):
        shown = quaternion_at(thing, frame, path)
        assert reference.apart(shown, reference.rotation(keys, frame)) < RADIAN, frame
