# SPDX-License-Identifier: GPL-3.0-or-later
"""Methods of tracks: chosen, saved, baked, live and restored.

Blender's playback is compared with each method's spline.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from interp.splines import METHODS
from tests.all_pairs import each_once
from tests.animation import reference
from tests.animation.curves import curve, differences, key, new_object, play, snapshot
from tests.animation.methods import FRAMES, TURNS, VALUES, chosen, keyed, spline_of

EACH = [
    (name, method.name)
    for method in METHODS.values()
    for name in ("location", "rotation")
    if (method.rotations if name == "rotation" else method.values)
]
EXACT = 4e-6
"""Float32 rounding error for values of this size, and for angles in radians."""
NEAR_ANGLE = np.radians(0.01)


@pytest.fixture
def thing(scene) -> bpy.types.Object:
    return keyed(VALUES, TURNS)


def off(thing: bpy.types.Object, name: str, spline: Any, frames: Any) -> float:
    """Return the maximum deviation of Blender's playback from the spline. For rotations, it is an angle."""
    exact, errors = spline(frames), []
    for frame, wanted in zip(frames, exact, strict=True):
        play(frame)
        if name == "rotation":
            errors.append(reference.apart(np.array(thing.rotation_quaternion), wanted))
        else:
            errors.append(float(np.abs(np.array(thing.location) - wanted).max()))
    return max(errors)


@pytest.mark.parametrize(("each", "cycle"), each_once(EACH, ["REPEAT", "LOOP"]), ids=str)
def test_a_method_cycles_beyond_its_keys(animation, scene, each: tuple[str, str], cycle: str) -> None:
    name, method = each
    values, turns = (*VALUES[:-1], VALUES[0]), (*TURNS[:-1], TURNS[0])
    thing = keyed(values, turns)
    chosen(animation, thing, name, method, cycle=cycle)
    animation.bake(thing, step=0.5, extend=(-30, 90))
    spline = spline_of(name, method, cycle, closed=True)
    period = FRAMES[-1] - FRAMES[0]
    frames = np.arange(-30, 90.5, 0.5)
    # There are two values at the start of each cycle.
    seams = np.abs((frames - FRAMES[0]) / period - np.rint((frames - FRAMES[0]) / period)) * period < 0.3
    assert off(thing, name, spline, frames[~seams]) < EXACT


@pytest.mark.parametrize(("each", "output"), each_once(EACH[::5], ["SAMPLES", "CURVES"]), ids=str)
def test_live_bakes_a_baked_track_again_when_another_method_is_chosen(
    animation, thing, each: tuple[str, str], output: str
) -> None:
    name, method = each
    animation.bake(thing, output=output, keep_look=False)
    thing.animation_data.action.tcb_live = True
    bpy.ops.tcb.sync()
    chosen(animation, thing, name, method)
    bpy.ops.tcb.sync()
    curves_within = NEAR_ANGLE if name == "rotation" else 1e-4 * np.ptp(VALUES, axis=0).max()
    within = EXACT if output == "SAMPLES" else 1.05 * curves_within
    assert off(thing, name, spline_of(name, method), np.arange(0.0, 42.0)) < within
    by_live = snapshot(thing)
    animation.bake(thing, output=output)
    assert differences(by_live, snapshot(thing)) == []


def test_what_a_method_is_not_for_is_refused(animation, thing) -> None:
    animation.enable(thing, keep_look=False)
    for name, there in (("location", "values"), ("rotation", "rotations")):
        for method in (method for method, made in METHODS.items() if getattr(made, there) is None):
            with pytest.raises(
                animation.AnimationError, match=r"cannot interpolate rotations|interpolates rotations only"
            ):
                animation.choose(thing, name, method=method)
            assert animation.find_track(thing, name).settings.method == "TCB"


def test_values_that_have_no_logarithm_are_named(animation, thing) -> None:
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "location", method="LOGARITHMIC")
    curve(thing, "location", 1).keyframe_points[2].co_ui.y = -1.0
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match=r'"Thing", Location, frame 20: .*component 1 '):
        animation.bake(thing, prefixes=["location"])
    assert differences(before, snapshot(thing)) == []


def test_a_component_that_is_keyed_by_itself_is_named_as_the_tracks(animation, thing) -> None:
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "location", method="LOGARITHMIC")
    curve(thing, "location", 2).keyframe_points.insert(25, -2.0)
    with pytest.raises(animation.AnimationError, match=r'"Thing", Location, frame 25: component 2'):
        animation.bake(thing, prefixes=["location"])


def test_one_component_has_a_velocity_of_one_number(animation, scene) -> None:
    camera = bpy.data.cameras.new("Camera")
    key(camera, "lens", [(1, (20.0,)), (11, (50.0,))])
    animation.enable(camera, keep_look=False)
    animation.choose(camera, "lens", method="HERMITE")
    animation.key_set(camera, "lens", 1, velocity=2.5)
    animation.bake(camera)
    # Halfway, a Hermite cubic has the mean of the values plus an eighth of the length times the velocity difference.
    assert curve(camera, "lens").evaluate(6) == pytest.approx(35.0 + 10.0 / 8.0 * 2.5, rel=1e-6)


def test_a_velocity_of_more_components_than_the_track_has_is_refused_with_the_track(animation, scene) -> None:
    camera = bpy.data.cameras.new("Camera")
    key(camera, "lens", [(1, (20.0,)), (11, (50.0,))])
    animation.enable(camera, keep_look=False)
    before = snapshot(camera)
    with pytest.raises(animation.AnimationError, match=r"lens.*1 components, not 2"):
        animation.key_set(camera, "lens", 1, velocity=(1.0, 2.0))
    assert differences(before, snapshot(camera)) == []


def test_an_angular_velocity_that_nobody_can_see_is_refused(animation, thing) -> None:
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "rotation", method="HERMITE")
    animation.key_set(thing, "rotation", 20, velocity=(0, 0, 1e6))
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match=r'"Thing", Quaternion Rotation, frame 20: the angular velocity'):
        animation.bake(thing, prefixes=["rotation"])
    assert differences(before, snapshot(thing)) == []


@pytest.mark.parametrize("retimed", [False, True])
@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_keys_through_which_no_smooth_rotation_goes_are_named_and_others_are_baked(
    animation, thing, output: str, retimed: bool
) -> None:
    steep = new_object("Steep", "QUATERNION")
    # These were found by trial: moderate turns over two frames and over fifty frames.
    turns = (
        (1.0, 0.0, 0.0, 0.0),
        (0.7608061, 0.4169392, -0.1653499, -0.4690364),
        (0.9838771, -0.0468129, 0.1722157, -0.0116657),
    )
    key(steep, "rotation_quaternion", list(zip((2.0, 4.0, 54.0), turns, strict=True)))
    for item in (thing, steep):
        animation.enable(item, keep_look=False)
        animation.choose(item, "rotation", method="CUBIC_NATURAL")
        if retimed:
            animation.retime(item, "REVERSE")
    before = snapshot(steep)
    report = animation.bake_many([steep, thing], animation.Options(output=output))
    (refusal,) = report.refused
    assert all(part in str(refusal) for part in ('"Steep"', "Quaternion Rotation", "frame 54"))
    assert differences(before, snapshot(steep)) == []
    assert report.objects == 1


def test_what_a_method_has_to_say_of_the_keys_is_said(animation, scene) -> None:
    item = new_object("Thing")
    key(item, "location", [(frame, (frame % 3, 0.0, 0.0)) for frame in range(1, 13)])
    animation.enable(item, keep_look=False)
    animation.choose(item, "location", method="LAGRANGE")
    assert any("Lagrange through 12 keys oscillates" in str(note) for note in animation.bake(item).notes)


@pytest.mark.parametrize("output", ["SAMPLES", "CURVES"])
def test_a_motion_that_leaves_float32_is_refused(animation, thing, output: str) -> None:
    animation.enable(thing, keep_look=False)
    animation.choose(thing, "location", method="HERMITE")
    animation.key_set(thing, "location", 20, velocity=(0, 3e38, 0))
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match=r'"Thing", Location, frame .*float32'):
        animation.bake(thing, output=output, prefixes=["location"])
    assert differences(before, snapshot(thing)) == []


@pytest.mark.parametrize("method", [name for name, made in METHODS.items() if made.rotations])
def test_whole_turns_are_kept_or_the_key_is_named(animation, scene, method: str) -> None:
    item = new_object("Wheel", "XYZ")
    turns = [(1, 0.0), (11, 1.0), (21, 8.0), (31, 9.0)]
    key(item, "rotation_euler", [(frame, (0.0, 0.0, angle)) for frame, angle in turns])
    animation.enable(item, keep_look=False)
    animation.choose(item, "rotation", method=method)
    before = snapshot(item)
    if not any(hasattr(METHODS[method].rotations, maker) for maker in ("from_turns", "from_angles")):
        with pytest.raises(animation.AnimationError, match=r"frame 21: .*Turns: Shortest"):
            animation.bake(item)
        assert differences(before, snapshot(item)) == []
        return
    animation.bake(item)
    heights = [curve(item, "rotation_euler", 2).evaluate(frame) for frame in range(11, 22)]
    # The approximating spline takes a sixth of its value at a key from each neighbor.
    met = {"B_SPLINE": (2.0, 7.0)}.get(method, (1.0, 8.0))
    assert (heights[0], heights[-1]) == pytest.approx(met)
    assert max(np.diff(heights)) < 2.5
