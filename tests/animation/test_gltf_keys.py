# SPDX-License-Identifier: GPL-3.0-or-later
"""What glTF's exporter says of the keys of a bake: it resamples a property whose channels have not all the same keys,
of one interpolation, and says so. Of a new action it says nothing, but where Blender itself plays segments."""

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
    animation.enable(made)
    animation.key_set(made, "location", 10, ease_to=0.7, ease_from=0.5, tension=0.3)
    return made


def interpolated(interpolation: str, row: int | None = None) -> Callable[[Any], bpy.types.Object]:
    """All keys, or one, with that interpolation."""

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
            animation.enable(made)
            animation.key_set(made, "rotation_quaternion", 10, **parameters)
        return made

    return make


def euler(_animation) -> bpy.types.Object:
    return thing("rotation_euler", ANGLES)


def axis_and_angle(_animation) -> bpy.types.Object:
    return thing("rotation_axis_angle", AXES, "AXIS_ANGLE")


def apart(*frames: tuple[float, ...], lines: bool = False) -> Callable[[Any], bpy.types.Object]:
    """A location whose channels have keys at those frames."""

    def make(_animation) -> bpy.types.Object:
        made = new_object("Box")
        for component, own in enumerate(frames):
            rows = [(frame, ((7 * frame + component) % 5,) * 3) for frame in own]
            key(made, "location", rows, channels=[component])
            if lines:
                curve(made, "location", component).extrapolation = "LINEAR"
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
    animation.enable(made)
    animation.choose(made, "location", cycle="LOOP")
    return made


def retimed(animation) -> bpy.types.Object:
    made = thing("location", PLACES)
    animation.enable(made)
    animation.retime(made, "SCALE", scale=1.5)
    return made


def armature(_animation) -> bpy.types.Object:
    return rig()


ENDS, INSIDE = ((1, 10, 25, 40), (1, 40), (1, 20, 40)), ((1, 10, 25, 40), (1, 40), (5, 20.5, 30))
CASES: dict[str, tuple[Callable[[Any], bpy.types.Object], dict[str, str]]] = {
    "location": (location, {}),
    "eased": (eased, {"CURVES": NUMBER}),
    "linear": (interpolated("LINEAR"), {}),
    "sine": (interpolated("SINE"), {}),
    "last key linear": (interpolated("LINEAR", 3), {}),
    "quaternions": (quaternions((1, 1, 1, 1)), {}),
    "opposite quaternions": (quaternions(SIGNS), {"SAMPLES": MIXED, "CURVES": MIXED}),
    "eased opposite quaternions": (quaternions(SIGNS, ease_to=0.7), {"SAMPLES": MIXED, "CURVES": MIXED}),
    "Euler angles": (euler, {}),
    "axis and angle": (axis_and_angle, {}),
    "channels apart": (apart(*ENDS), {"CURVES": NUMBER, "HANDLES": NUMBER}),
    "channels of other lengths": (apart(*INSIDE), dict.fromkeys(OUTPUTS, NUMBER)),
    "lines of other lengths": (apart(*INSIDE, lines=True), dict.fromkeys(OUTPUTS, NUMBER)),
    "quaternions apart": (apart_rotation("QUATERNION", "rotation_quaternion", TURNS), {}),
    "Euler angles apart": (apart_rotation("XYZ", "rotation_euler", ANGLES), {}),
    "a channel still": (still, {"SAMPLES": NUMBER}),
    "loop": (loop, {}),
    "retimed": (retimed, {"CURVES": NUMBER}),
    "armature": (armature, {}),
}
"""How it is made, and for each output in place what is said of it: of a new action nothing."""
AS_KEYED = (
    "opposite quaternions",
    "eased opposite quaternions",
    "channels apart",
    "channels of other lengths",
    "lines of other lengths",
)
"""What the animator's own keys make the exporter sample anew."""
REFUSED = ("quaternions apart", "Euler angles apart", "retimed")
"""What handles can't play."""


def said(capfd: pytest.CaptureFixture[str], folder: Any) -> set[str]:
    capfd.readouterr()
    gltf(folder / "scene")
    return {line.rpartition("because ")[2].removeprefix("of ") for line in complaints(capfd)}


@pytest.mark.parametrize(("target", "output", "case"), all_pairs(["IN_PLACE", "NEW_ACTION"], OUTPUTS, CASES))
def test_what_gltf_says_after_a_bake(animation, scene, capfd, tmp_path, case: str, output: str, target: str) -> None:
    make, in_place = CASES[case]
    made = make(animation)
    before = snapshot(made, identities=False)
    if output == "HANDLES" and case in REFUSED:
        with pytest.raises(animation.AnimationError):
            animation.bake(made, output=output, target=target)
        return
    report = animation.bake(made, output=output, target=target)
    expected = {in_place[output]} if target == "IN_PLACE" and output in in_place else set()
    assert said(capfd, tmp_path) == expected
    # Where that comes of how it was keyed, the bake has said so before.
    told = [note for note in report.notes if "glTF's exporter samples it anew" in note]
    assert len(told) == len(expected) * (case in AS_KEYED)
    if target == "IN_PLACE":
        animation.restore(made)
    else:
        animation.back_to_original(made)
    assert differences(before, snapshot(made, identities=False)) == []


@pytest.mark.parametrize("target", ["IN_PLACE", "NEW_ACTION"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_of_stepped_keys_gltf_says_what_it_says_of_the_plain_file(
    animation, scene, capfd, tmp_path, output: str, target: str
) -> None:
    made = interpolated("CONSTANT", 1)(animation)
    assert said(capfd, tmp_path) == {MIXED}
    animation.bake(made, output=output, target=target)
    assert said(capfd, tmp_path) == {MIXED}


# Nothing of the motion changes by it


def played(made: bpy.types.Object, path: str) -> np.ndarray:
    own = [fcurve for fcurve in fcurves(made) if fcurve.data_path == path]
    return np.array([[fcurve.evaluate(frame) for fcurve in own] for frame in np.arange(-10.0, 50.0, 0.125)])


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("case", ["eased", "channels apart", "channels of other lengths", "lines of other lengths"])
def test_a_new_action_in_which_channels_got_keys_plays_what_the_bake_in_place_plays(
    animation, scene, case: str, output: str
) -> None:
    make, _ = CASES[case]
    one, two = make(animation), make(animation)
    animation.bake(one, output=output)
    report = animation.bake(two, output=output, target="NEW_ACTION")
    difference = np.abs(played(two, "location") - played(one, "location"))
    assert difference.max() < 2e-5
    counts = [len(fcurve.keyframe_points) for fcurve in fcurves(two)]
    assert len(set(counts)) == 1
    assert report.samples + report.curve_keys == sum(counts) - sum(len(each) for each in own_frames(make(animation)))


def own_frames(made: bpy.types.Object) -> list[list[float]]:
    return [co(fcurve)[:, 0].tolist() for fcurve in fcurves(made)]


def test_channels_whose_keys_would_stand_too_near_stay_as_they_are(animation, scene, capfd, tmp_path) -> None:
    made = apart((1, 10, 40), (1, 10.005, 40), (1, 20, 40))(animation)
    animation.bake(made, output="HANDLES", target="NEW_ACTION")
    assert own_frames(made) == [[1, 10, 40], pytest.approx([1, 10.005, 40]), [1, 20, 40]]


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_quaternions_of_a_new_action_go_on_from_each_other(animation, scene, output: str) -> None:
    made = quaternions(SIGNS, bias=0.4)(animation)
    turns = [reference.Key(frame, turn) for frame, turn in zip(FRAMES, TURNS, strict=True)]
    turns[1] = reference.Key(10, TURNS[1], bias=0.4)
    animation.bake(made, output=output, target="NEW_ACTION", step=0.5)
    rows = np.array([co(fcurve)[:, 1] for fcurve in fcurves(made)], dtype=np.float64).T
    assert (np.einsum("ij,ij->i", rows[1:], rows[:-1]) > 0.0).all()
    frames = co(curve(made, "rotation_quaternion"))[:, 0]
    assert np.diff(frames).min() > 0.4
    for frame in np.arange(1.0, 40.0, 0.5):
        row = np.array([curve(made, "rotation_quaternion", index).evaluate(frame) for index in range(4)])
        assert reference.apart(row, reference.rotation(turns, frame)) < (1e-6 if output == "SAMPLES" else 2e-4)


@pytest.mark.parametrize(("output", "expected"), [("SAMPLES", "LINEAR"), ("CURVES", "BEZIER"), ("HANDLES", "BEZIER")])
@pytest.mark.parametrize("interpolation", ["BEZIER", "LINEAR", "SINE", "BACK", "ELASTIC"])
def test_the_last_key_has_the_interpolation_of_the_bake_until_restore(
    animation, scene, interpolation: str, output: str, expected: str
) -> None:
    made = interpolated(interpolation, 3)(animation)
    before = snapshot(made, identities=False)
    for _ in range(2):
        animation.bake(made, output=output)
        for fcurve in fcurves(made):
            assert {point.interpolation for point in fcurve.keyframe_points} == {expected}
    animation.restore(made)
    assert differences(before, snapshot(made, identities=False)) == []


@pytest.mark.parametrize("chosen", ["CONSTANT", "BOUNCE"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_a_last_key_whose_interpolation_was_chosen_keeps_it(animation, scene, output: str, chosen: str) -> None:
    made = location(animation)
    animation.enable(made)
    last = [fcurve.keyframe_points[3] for fcurve in fcurves(made)]
    for point in last:
        point.interpolation = chosen
    for _ in range(2):
        animation.bake(made, output=output)
        assert {fcurve.keyframe_points[-1].interpolation for fcurve in fcurves(made)} == {chosen}
    animation.restore(made)
    assert {fcurve.keyframe_points[-1].interpolation for fcurve in fcurves(made)} == {chosen}
