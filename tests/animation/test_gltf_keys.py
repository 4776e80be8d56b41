# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a bake, as seen by Blender's glTF exporter.

The exporter resamples a property whose channels have different key frames or mixed interpolations, and prints the
reason. A bake must not cause this, unless Blender plays some of the segments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest

from tests.all_pairs import all_pairs
from tests.animation import reference
from tests.animation.curves import co, curve, differences, fcurves, key, keyed, new_object, snapshot
from tests.animation.exports import FRAMES, PLACES, TURNS, complaints, gltf, rig

MIXED = "there are keyframes with different interpolation methods in one channel"
NUMBER = "the number of keyframes is not equal for all channel tracks"
OUTPUTS = ("SAMPLES", "CURVES", "HANDLES")
ANGLES = ((0, 0, 0), (1, 0.4, 0.3), (0.2, -0.6, 1), (-0.3, 0.2, 0.9))
AXES = ((0.1, 1, 0, 0), (1, 0, 1, 0), (0.5, 0, 1, 1), (2, 0, 0, 1))
SIGNS = (1, -1, 1, -1)


def thing(path: str, rows: Any, mode: str = "XYZ") -> bpy.types.Object:
    return keyed("Box", path, list(zip(FRAMES, rows, strict=True)), mode)


def location(_animation) -> bpy.types.Object:
    return thing("location", PLACES)


def eased(animation) -> bpy.types.Object:
    made = thing("location", PLACES)
    animation.enable(made, keep_look=False)
    animation.key_set(made, "location", 10, ease_to=0.7, ease_from=0.5, tension=0.3)
    return made


def interpolated(interpolation: str, row: int | None = None) -> Callable[[Any], bpy.types.Object]:
    """Set this interpolation on all keys, or on one key."""

    def make(_animation) -> bpy.types.Object:
        made = thing("location", PLACES)
        for fcurve in fcurves(made):
            for number, point in enumerate(fcurve.keyframe_points):
                point.interpolation = interpolation if row in (None, number) else "BEZIER"
        return made

    return make


def quaternions(signs: tuple[int, ...], **parameters: float) -> Callable[[Any], bpy.types.Object]:
    def make(animation) -> bpy.types.Object:
        rows = [tuple(sign * number for number in turn) for sign, turn in zip(signs, TURNS, strict=True)]
        made = thing("rotation_quaternion", rows, "QUATERNION")
        if parameters:
            animation.enable(made, keep_look=False)
            animation.key_set(made, "rotation_quaternion", 10, **parameters)
        return made

    return make


def euler(_animation) -> bpy.types.Object:
    return thing("rotation_euler", ANGLES)


def axis_and_angle(_animation) -> bpy.types.Object:
    return thing("rotation_axis_angle", AXES, "AXIS_ANGLE")


def apart(*frames: tuple[float, ...]) -> Callable[[Any], bpy.types.Object]:
    """Return a location whose channels have keys at these frames."""

    def make(_animation) -> bpy.types.Object:
        made = new_object("Box")
        for component, own in enumerate(frames):
            rows = [(frame, ((7 * frame + component) % 5,) * 3) for frame in own]
            key(made, "location", rows, channels=[component])
        return made

    return make


def apart_rotation(mode: str, path: str, rows: Any) -> Callable[[Any], bpy.types.Object]:
    def make(_animation) -> bpy.types.Object:
        made = new_object("Box", mode)
        for component in range(len(rows[0])):
            own = [each for number, each in enumerate(zip(FRAMES, rows, strict=True)) if number in (0, 3, component)]
            key(made, path, own, channels=[component])
        return made

    return make


def still(_animation) -> bpy.types.Object:
    return thing("location", [(x, 2, 0) for x, _, _ in PLACES])


def loop(animation) -> bpy.types.Object:
    made = thing("location", (*PLACES[:3], PLACES[0]))
    animation.enable(made, keep_look=False)
    animation.choose(made, "location", cycle="LOOP")
    return made


def retimed(animation) -> bpy.types.Object:
    made = thing("location", PLACES)
    animation.enable(made, keep_look=False)
    animation.retime(made, "SCALE", scale=1.5)
    return made


def armature(_animation) -> bpy.types.Object:
    return rig()


ENDS, INSIDE = ((1, 10, 25, 40), (1, 40), (1, 20, 40)), ((1, 10, 25, 40), (1, 40), (5, 20.5, 30))
CASES: dict[str, tuple[Callable[[Any], bpy.types.Object], str]] = {
    "location": (location, ""),
    "eased": (eased, ""),
    "linear": (interpolated("LINEAR"), ""),
    "quaternions": (quaternions((1, 1, 1, 1)), ""),
    "opposite quaternions": (quaternions(SIGNS), ""),
    "eased opposite quaternions": (quaternions(SIGNS, ease_to=0.7), ""),
    "Euler angles": (euler, ""),
    "axis and angle": (axis_and_angle, ""),
    "channels apart": (apart(*ENDS), NUMBER),
    "channels of other lengths": (apart(*INSIDE), NUMBER),
    "quaternions apart": (apart_rotation("QUATERNION", "rotation_quaternion", TURNS), ""),
    "Euler angles apart": (apart_rotation("XYZ", "rotation_euler", ANGLES), ""),
    "a channel still": (still, ""),
    "loop": (loop, ""),
    "retimed": (retimed, ""),
    "armature": (armature, ""),
}
"""For each case, the function that creates the object, and why its keys are resampled when handles play them."""
REFUSED = ("retimed",)
"""Cases that handles can't play."""
COMPLETED = ("quaternions apart", "Euler angles apart")
"""Cases that get keys in all channels when handles play them."""


def said(capfd: pytest.CaptureFixture[str], folder: Any) -> set[str]:
    capfd.readouterr()
    gltf(folder / "scene")
    return {line.rpartition("because ")[2].removeprefix("of ") for line in complaints(capfd)}


@pytest.mark.parametrize(("output", "case"), all_pairs(OUTPUTS, CASES))
def test_a_bake_gives_gltf_no_reason_to_resample(animation, scene, capfd, tmp_path, case: str, output: str) -> None:
    make, of_handles = CASES[case]
    made = make(animation)
    before = snapshot(made, identities=False)
    if output == "HANDLES" and case in REFUSED:
        with pytest.raises(animation.AnimationError):
            animation.bake(made, output=output)
        return
    animation.bake(made, output=output, keep_look=False)
    assert said(capfd, tmp_path) == ({of_handles} if output == "HANDLES" and of_handles else set())
    animation.restore(made)
    if output != "HANDLES" or case not in COMPLETED:
        assert differences(before, snapshot(made, identities=False)) == []


@pytest.mark.parametrize("output", OUTPUTS)
def test_stepped_keys_are_resampled_as_those_of_the_plain_file(animation, scene, capfd, tmp_path, output: str) -> None:
    made = interpolated("CONSTANT", 1)(animation)
    assert said(capfd, tmp_path) == {MIXED}
    animation.bake(made, output=output, keep_look=False)
    assert said(capfd, tmp_path) == {MIXED}


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_baked_quaternions_keep_one_sign(animation, scene, output: str) -> None:
    made = quaternions(SIGNS, bias=0.4)(animation)
    turns = [reference.Key(frame, turn) for frame, turn in zip(FRAMES, TURNS, strict=True)]
    turns[1] = reference.Key(10, TURNS[1], bias=0.4)
    animation.bake(made, output=output, step=0.5)
    rows = np.array([co(fcurve)[:, 1] for fcurve in fcurves(made)], dtype=np.float64).T
    assert (np.einsum("ij,ij->i", rows[1:], rows[:-1]) > 0.0).all()
    for frame in np.arange(1.0, 40.0, 0.5):
        row = np.array([curve(made, "rotation_quaternion", index).evaluate(frame) for index in range(4)])
        assert reference.apart(row, reference.rotation(turns, frame)) < (1e-6 if output == "SAMPLES" else 2e-4)


@pytest.mark.parametrize(("interpolation", "output"), all_pairs(["BEZIER", "BACK"], OUTPUTS))
def test_the_last_key_has_the_interpolation_of_the_bake_until_restore(
    animation, scene, interpolation: str, output: str
) -> None:
    made = interpolated(interpolation, 3)(animation)
    expected = "LINEAR" if output == "SAMPLES" else "BEZIER"
    before = snapshot(made, identities=False)
    for _ in range(2):
        animation.bake(made, output=output, keep_look=False)
        for fcurve in fcurves(made):
            assert {point.interpolation for point in fcurve.keyframe_points} == {expected}
    animation.restore(made)
    assert differences(before, snapshot(made, identities=False)) == []
