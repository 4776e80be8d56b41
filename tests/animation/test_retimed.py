# SPDX-License-Identifier: GPL-3.0-or-later
"""Frame functions: Blender's playback of a retimed bake is the motion at the frames given by the F-curves."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np
import pytest

from interp.splines import METHODS
from tests.animation import reference
from tests.animation.action_users import load
from tests.animation.curves import (
    MODES,
    bag_of,
    co,
    curve,
    differences,
    fcurves,
    function,
    key,
    new_object,
    play,
    rotation_path,
    snapshot,
)
from tests.animation.live import let_time_pass

PLACES = [(1, (0.0, 0.0, 0.0)), (10, (5.0, 2.0, 3.0)), (25, (-1.0, 0.0, 2.0)), (40, (0.0, 4.0, -2.0))]
TURNS = [(1.0, 0.0, 0.0, 0.0), (0.9, 0.3, 0.1, 0.0), (0.6, 0.2, 0.5, -0.4), (0.8, -0.1, 0.4, 0.2)]
ANGLES = [(0.0, 0.0, 0.0), (1.0, -0.4, 0.3), (7.0, 0.2, 0.9), (0.5, 0.6, -3.0)]
NEAR = 2e-6
"""Tolerance for float32 rounding, because Blender stores values and evaluates the function in float32."""


def keyed(name: str = "Ball", mode: str = "QUATERNION") -> bpy.types.Object:
    item = new_object(name, mode)
    key(item, "location", PLACES, group="Places")
    key(item, rotation_path(mode), list(zip([1, 10, 25, 40], turns(mode), strict=True)))
    return item


def turns(mode: str) -> Sequence[tuple[float, ...]]:
    if mode == "QUATERNION":
        return TURNS
    return ANGLES if mode != "AXIS_ANGLE" else [(0.2, 0, 0, 1), (1.5, 0, 1, 1), (9.0, 0, 1, 1), (2.0, 1, 0, 0)]


def location(frame: float) -> list[float]:
    return [reference.scalar([(at, place[axis]) for at, place in PLACES], frame) for axis in range(3)]


def orientation(item: bpy.types.Object) -> np.ndarray:
    if item.rotation_mode == "QUATERNION":
        return np.array(item.rotation_quaternion)
    if item.rotation_mode == "AXIS_ANGLE":
        return reference.of_axis_angle(item.rotation_axis_angle[0], item.rotation_axis_angle[1:])
    return reference.of_euler(item.rotation_euler, item.rotation_mode)


def played(item: bpy.types.Object, frames) -> tuple[np.ndarray, np.ndarray]:
    places, orientations = [], []
    for frame in frames:
        play(frame)
        places.append(np.array(item.location))
        orientations.append(orientation(item))
    return np.array(places), np.array(orientations)


def assert_plays(item: bpy.types.Object, frames, of: dict[float, float]) -> None:
    """Check that Blender plays the motion's frame `of[frame]` at each frame."""
    places, _ = played(item, frames)
    np.testing.assert_allclose(places, [location(of[frame]) for frame in frames], atol=10 * NEAR)


FUNCTIONS = {
    "reversed": [(1, 40.0), (40, 1.0)],
    "twice as long": [(1, 1.0), (79, 40.0)],
    "there, a rest, and back": [(1, 1.0), (20, 25.0), (30, 25.0), (50, 5.0)],
    "faster than a frame a frame": [(5, 1.0), (12, 40.0)],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_blender_plays_the_motion_at_the_frames_of_the_function(animation, name):
    item = keyed()
    fcurve = function(item, FUNCTIONS[name], interpolation="BEZIER")
    animation.bake(item, keep_look=False)
    frames = [float(frame) for frame in range(-3, 85)]
    assert_plays(item, frames, {frame: fcurve.evaluate(frame) for frame in frames})


def test_curves_are_baked_as_samples(animation):
    by_samples, by_curves = keyed("Samples", "XYZ"), keyed("Curves", "XYZ")
    for item, output in ((by_samples, "SAMPLES"), (by_curves, "CURVES")):
        function(item, FUNCTIONS["there, a rest, and back"], interpolation="BEZIER")
        report = animation.bake(item, output=output, keep_look=False)
        assert (report.samples > 0, report.curve_keys) == (True, 0)
    assert [note.code for note in report.notes] == ["TIMED_AS_SAMPLES", "TIMED_AS_SAMPLES"]
    for fcurve in fcurves(by_samples):
        np.testing.assert_array_equal(co(curve(by_curves, fcurve.data_path, fcurve.array_index)), co(fcurve))


@pytest.mark.parametrize("mode", ["AXIS_ANGLE", "XYZ", "ZXY"])
def test_angles_go_on_without_a_jump(animation, mode):
    item = keyed(mode=mode)
    function(item, FUNCTIONS["there, a rest, and back"])
    animation.bake(item, step=0.25, keep_look=False)
    path = rotation_path(mode)
    for fcurve in fcurves(item):
        if fcurve.data_path == path:
            values = [fcurve.evaluate(frame / 8) for frame in range(8, 401)]
            assert np.abs(np.diff(values)).max() < 0.5


def test_scene_object_and_track_compose_from_outside_in(animation, scene):
    item = keyed()
    animation.enable(item, keep_look=False)
    outer = function(scene, [(1, 1.0), (60, 30.0)], interpolation="BEZIER")
    middle = function(item, [(1, 40.0), (30, 5.0)])
    inner = function(item, [(1, 1.0), (20, 30.0), (40, 40.0)], 'tcb_tracks["location"].frame')
    animation.bake(item)
    frames = [float(frame) for frame in range(1, 61)]
    at = {frame: inner.evaluate(middle.evaluate(outer.evaluate(frame))) for frame in frames}
    assert_plays(item, frames, at)


def test_the_function_of_another_scene_changes_nothing(animation, scene):
    other = bpy.data.scenes.new("Other")
    function(other, FUNCTIONS["reversed"])
    item = keyed()
    animation.bake(item, keep_look=False)
    frames = [float(frame) for frame in range(1, 41)]
    assert_plays(item, frames, {frame: frame for frame in frames})


def test_a_scene_s_function_counts_for_what_its_objects_are_made_of(animation, scene):
    camera = bpy.data.cameras.new("Camera")
    new_object("Camera", data=camera)
    key(camera, "lens", [(1, 20.0), (40, 60.0)])
    function(scene, FUNCTIONS["reversed"])
    animation.bake(camera, keep_look=False)
    for frame, lens in ((1, 60.0), (40, 20.0)):
        play(frame)
        assert camera.lens == pytest.approx(lens, abs=1e-4)


def test_a_muted_function_is_off(animation):
    item = keyed()
    function(item, FUNCTIONS["reversed"]).mute = True
    animation.bake(item, keep_look=False)
    frames = [float(frame) for frame in range(1, 41)]
    assert_plays(item, frames, {frame: frame for frame in frames})


def test_modifiers_of_the_function_are_played(animation, scene):
    item = keyed()
    scene.frame_start, scene.frame_end = 1, 150
    fcurve = function(item, [(1, 1.0), (40, 40.0)])
    modifier = fcurve.modifiers.new("CYCLES")
    modifier.mode_after = "MIRROR"
    animation.bake(item, keep_look=False)
    frames = [float(frame) for frame in range(1, 151)]
    at = {frame: 1.0 + abs((frame - 1 + 39) % 78 - 39) for frame in frames}
    assert_plays(item, frames, at)


def test_a_function_that_goes_on_is_baked_throughout_the_scene_and_no_farther_than_it_changes_anything(
    animation, scene
):
    item = keyed()
    scene.frame_start, scene.frame_end = -50, 500
    function(item, [(1, 1.0), (40, 40.0)], extrapolation="LINEAR")
    animation.bake(item, keep_look=False)
    frames = co(curve(item, "location"))[:, 0]
    assert (frames.min(), frames.max()) == (1.0, 40.0)


def test_where_the_function_jumps_the_motion_does_not_run_there(animation):
    item = keyed()
    function(item, [(1, 1.0), (20.0, 35.0), (40, 35.0)], interpolation="CONSTANT")
    animation.bake(item, keep_look=False)
    for frame, of in ((19.0, 1.0), (19.9, 1.0), (20.0, 35.0), (30.0, 35.0)):
        play(frame)
        np.testing.assert_allclose(tuple(item.location), location(of), atol=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_restore_gives_everything_back_to_the_last_bit(animation, mode):
    item = keyed(mode=mode)
    function(item, FUNCTIONS["there, a rest, and back"], interpolation="BEZIER")
    animation.enable(item, keep_look=False)
    before = snapshot(item)
    animation.bake(item)
    animation.bake(item)
    animation.restore(item)
    assert differences(before, snapshot(item)) == []


def test_an_edit_of_the_function_makes_the_track_out_of_date(animation):
    item = keyed()
    fcurve = function(item, FUNCTIONS["twice as long"])
    animation.bake(item, keep_look=False)

    def is_up_to_date():
        return animation.store.up_to_date.is_up_to_date(animation.find_track(item, "location"))

    assert is_up_to_date()
    fcurve.keyframe_points[1].co.y = 30.0
    assert not is_up_to_date()
    animation.bake(item)
    assert is_up_to_date()
    fcurve.keyframe_points[0].interpolation = "BEZIER"
    assert not is_up_to_date()


@pytest.mark.parametrize("level", ["scene", "object", "track"])
def test_live_bakes_again_when_a_function_is_edited(animation, scene, level):
    item = keyed()
    animation.enable(item, keep_look=False)
    animation.bake(item)
    item.animation_data.action.tcb_live = True
    let_time_pass(animation)
    owner, path = {
        "scene": (scene, "tcb_frame"),
        "object": (item, "tcb_frame"),
        "track": (item, 'tcb_tracks["location"].frame'),
    }[level]
    frames = [float(frame) for frame in range(1, 41)]

    fcurve = function(owner, FUNCTIONS["reversed"], path)
    let_time_pass(animation)
    assert_plays(item, frames, {frame: 41.0 - frame for frame in frames})
    fcurve.keyframe_points[0].co.y = 20.0
    fcurve.update()
    let_time_pass(animation)
    assert_plays(item, frames, {frame: fcurve.evaluate(frame) for frame in frames})
    bag_of(owner).fcurves.remove(fcurve)
    let_time_pass(animation)
    assert_plays(item, frames, {frame: frame for frame in frames})


def test_a_function_that_leads_too_far_is_refused_and_nothing_changes(animation):
    item = keyed()
    animation.enable(item, keep_look=False)
    animation.choose(item, "rotation", cycle="LOOP")
    function(item, [(1, 1.0), (40, 1e9)])
    before = snapshot(item)
    with pytest.raises(animation.AnimationError, match=r"Quaternion Rotation.*too many frames"):
        animation.bake(item, prefixes=["rotation"])
    assert differences(before, snapshot(item)) == []


def test_the_value_that_the_sidebar_shows_is_what_is_played(animation):
    item = keyed()
    fcurve = function(item, FUNCTIONS["reversed"])
    animation.bake(item, keep_look=False)
    values = animation.checks.shown_key.values_now(animation.find_track(item, "location"), 7.0)
    np.testing.assert_allclose([values[axis] for axis in range(3)], location(fcurve.evaluate(7.0)), atol=1e-5)
    angle = animation.checks.shown_key.turn_now(animation.find_track(item, "rotation"), 41.0 - 25.0, {}).angle
    assert angle == pytest.approx(reference.apart(np.array(TURNS[1]), np.array(TURNS[2])), abs=1e-5)


def test_an_override_has_its_own_functions_and_those_that_it_came_with(animation, tmp_path):
    item = keyed()
    animation.enable(item, keep_look=False)
    animation.retime(item, "REVERSE", track="location")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    override = load(str(tmp_path / "library.blend"), link=True).override_create(remap_local_usages=True)
    animation.bake(override)
    play(1)
    np.testing.assert_allclose(tuple(override.location), PLACES[-1][1], atol=1e-5)
    animation.retime(override, "REVERSE")
    animation.bake(override)
    play(1)
    np.testing.assert_allclose(tuple(override.location), PLACES[0][1], atol=1e-5)


@pytest.mark.parametrize("method", [*METHODS][::3])
def test_each_method_is_played_backwards(animation, method):
    forward, back = keyed("Forward"), keyed("Back")
    kinds = {"location": METHODS[method].values, "rotation": METHODS[method].rotations}
    places = [(frame, tuple(axis + 6.0 for axis in place)) for frame, place in PLACES]
    for item in (forward, back):
        # Logarithmic tracks can't have values below 0.
        key(item, "location", places)
        animation.enable(item, keep_look=False)
        for name in (name for name, kind in kinds.items() if kind is not None):
            animation.choose(item, name, method=method)
    function(back, FUNCTIONS["reversed"])
    animation.bake(forward)
    animation.bake(back)
    frames = list(range(1, 41))
    there, ahead = played(forward, frames)
    and_back, behind = played(back, frames)
    np.testing.assert_allclose(and_back[::-1], there, atol=1.2e-4)
    assert max(reference.apart(a, b) for a, b in zip(ahead, behind[::-1], strict=True)) < 1.2e-4


def test_samples_count(animation, scene):
    item = new_object("Ball")
    key(item, "location", [(1, (0, 0, 0)), (21, (1, 2, 3)), (41, (0, 0, 0))])
    animation.retime(item, "HOLD")
    scene.frame_end = 1001
    with pytest.raises(animation.AnimationError, match="needs about 3,000 samples, more than the limit of 2,500"):
        animation.bake(item, sample_limit=2_500, keep_look=False)
    assert animation.bake(item, sample_limit=3_000, keep_look=False).tracks == 1
