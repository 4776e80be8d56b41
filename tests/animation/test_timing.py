# SPDX-License-Identifier: GPL-3.0-or-later
"""Creation of frame functions: the values of their curves, and the speed of retimed bakes in Blender."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import bpy
import numpy as np
import pytest

from tests.all_pairs import each_once
from tests.animation import reference
from tests.animation.curves import HAS_SLOTS, bag_of, curve, differences, key, new_object, play, snapshot

PLACES = [(1, (0.0, 0.0, 0.0)), (10, (5.0, 2.0, 3.0)), (25, (-1.0, 0.0, 2.0)), (41, (0.0, 4.0, -2.0))]
TURNS = [(1.0, 0.0, 0.0, 0.0), (0.9, 0.3, 0.1, 0.0), (0.6, 0.2, 0.5, -0.4), (0.8, -0.1, 0.4, 0.2)]


def keyed(name: str = "Ball") -> bpy.types.Object:
    item = new_object(name, "QUATERNION")
    key(item, "location", PLACES, group="Places")
    key(item, "rotation_quaternion", [(frame, turn) for (frame, _), turn in zip(PLACES, TURNS, strict=True)])
    return item


SHAPES = {
    "AS_IT_IS": ({}, {-5: -5, 1: 1, 20: 20, 60: 60}),
    "SCALE": ({"scale": 0.5}, {1: 1, 11: 21, 21: 41}),
    "REVERSE": ({}, {1: 41, 15: 27, 41: 1}),
    "HOLD": ({"frame": 11, "length": 20.0}, {5: 5, 11: 11, 20: 11, 31: 11, 41: 21, 61: 41}),
    "LOOP": ({}, {1: 1, 30: 30, 51: 11, 91: 11, -29: 11}),
    "PING_PONG": ({}, {1: 1, 30: 30, 51: 31, 81: 1, 91: 11, -9: 11}),
    "FRACTION": ({}, {-5: 1, 1: 1, 21: 21, 41: 41, 50: 41}),
}


@pytest.mark.parametrize(("shape", "level"), each_once(SHAPES, ["scene", "object", "track"]))
def test_a_shape_plays_the_frames_that_it_is_named_after(animation, scene, level, shape):
    item = keyed()
    scene.frame_start, scene.frame_end = 1, 41
    options, expected = SHAPES[shape]
    owner, track = {"scene": (scene, ""), "object": (item, ""), "track": (item, "location")}[level]
    made = animation.retime(owner, shape, track=track, **options)
    assert {frame: made.curve.evaluate(frame) for frame in expected} == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("held", "keys"),
    [
        (1.0, [(1, 1), (11, 1), (51, 41)]),
        (1.005, [(1.005, 1.005), (11.005, 1.005), (51, 41)]),
        (41.0, [(1, 1), (41, 41), (51, 41)]),
    ],
)
def test_a_hold_at_the_first_or_last_frame_has_one_key_per_frame(animation, held, keys):
    fcurve = animation.retime(keyed(), "HOLD", frame=held, length=10.0).curve
    np.testing.assert_allclose([point.co for point in fcurve.keyframe_points], keys, rtol=1e-6)


def test_a_fraction_has_keys_of_0_and_1_and_the_property_shows_the_frame(animation):
    item = keyed()
    made = animation.retime(item, "FRACTION").curve
    assert [tuple(point.co) for point in made.keyframe_points] == [(1.0, 0.0), (41.0, 1.0)]
    made.keyframe_points[1].co.x = 81.0
    made.update()
    play(41)
    assert item.tcb_frame == pytest.approx(21.0, abs=1e-4)


def test_the_curve_is_an_ordinary_one_that_shows(animation):
    item = keyed()
    for track in ("", "location"):
        made = animation.retime(item, "AS_IT_IS", track=track).curve
        assert not any((made.hide, made.mute, made.lock))
    assert curve(item, 'tcb_tracks["location"].frame').group.name == "Places"
    assert item.path_resolve('tcb_tracks["location"].frame') == 0.0


def test_another_shape_takes_the_place_of_the_last(animation):
    item = keyed()
    animation.retime(item, "PING_PONG")
    animation.retime(item, "REVERSE")
    assert len([fcurve for fcurve in bag_of(item).fcurves if fcurve.data_path == "tcb_frame"]) == 1
    assert curve(item, "tcb_frame").evaluate(-9) == pytest.approx(51.0)


def ways(item: bpy.types.Object, start: int, end: int) -> np.ndarray:
    places = []
    for frame in range(start, end + 1):
        play(frame)
        places.append(tuple(item.location))
    return np.array(places)


@pytest.mark.parametrize(
    ("track", "path", "distance"),
    [("location", "location", math.dist), ("rotation", "rotation_quaternion", reference.apart)],
)
def test_constant_speed_is_constant_in_what_blender_plays(animation, track, path, distance):
    item = keyed()
    animation.enable(item, keep_look=False)
    made = animation.retime(item, "CONSTANT_SPEED", track=track)
    animation.bake(item, step=1 / 16)
    places = []
    for sixteenth in range(16 * 40 + 1):
        play(1 + sixteenth / 16)
        places.append(np.array(getattr(item, path)))
    steps = np.array([distance(a, b) for a, b in pairwise(places)]).reshape(40, 16).sum(axis=1)
    assert made.speed_change < 0.01
    assert np.abs(steps / steps.mean() - 1).max() < 0.012


def test_between_keys_the_speed_is_constant_and_keys_keep_their_frames(animation):
    item = keyed()
    animation.enable(item, keep_look=False)
    animation.retime(item, "CONSTANT_SPEED_KEYS", track="location")
    animation.bake(item)
    for frame, place in PLACES:
        play(frame)
        np.testing.assert_allclose(tuple(item.location), place, atol=1e-5)


def test_an_object_can_go_by_the_speed_of_one_of_its_tracks(animation):
    item = keyed()
    made = animation.retime(item, "CONSTANT_SPEED", by="location")
    assert made.curve.data_path == "tcb_frame"
    with pytest.raises(animation.AnimationError, match="no track is chosen"):
        animation.retime(item, "CONSTANT_SPEED")


def test_a_scene_can_go_by_the_speed_of_a_track_of_one_of_its_objects(animation, scene):
    item = keyed()
    animation.enable(item, keep_look=False)
    made = animation.retime(scene, "CONSTANT_SPEED", by="location", of=item)
    assert made.curve.id_data == scene.animation_data.action
    assert made.speed_change < 0.01


def test_a_taken_away_function_leaves_nothing(animation):
    item = keyed()
    before = snapshot(item)
    for track in ("", "location"):
        animation.retime(item, "REVERSE", track=track)
        animation.remove_retiming(item, track)
    assert differences(before, snapshot(item)) == []
    # Exporters write this as a custom property.
    assert not item.is_property_set("tcb_tracks")
    with pytest.raises(animation.AnimationError, match="no frame function"):
        animation.remove_retiming(item)


def test_remove_takes_the_function_of_a_track_with_its_parameters(animation):
    item = keyed()
    before = snapshot(item)
    animation.enable(item, keep_look=False)
    animation.retime(item, "REVERSE", track="location")
    animation.bake(item)
    animation.remove(item)
    assert differences(before, snapshot(item)) == []


def test_remove_leaves_the_function_of_the_object_and_says_so_with_the_last_track(animation):
    item = keyed()
    animation.enable(item, keep_look=False)
    animation.retime(item, "REVERSE")
    animation.bake(item)
    note = animation.Finding("TIMING_STAYS", "Ball")
    assert note not in animation.remove(item, ["location"]).notes
    assert note in animation.remove(item).notes
    made = curve(item, "tcb_frame")
    assert [made.evaluate(frame) for frame in (1, 41)] == pytest.approx([41, 1], abs=1e-4)
    animation.remove_retiming(item)
    animation.enable(item, keep_look=False)
    assert note not in animation.remove(item).notes


def still(item: bpy.types.Object) -> None:
    key(item, "location", [(1, (1.0, 1.0, 1.0)), (9, (1.0, 1.0, 1.0))])


def one_key(item: bpy.types.Object) -> None:
    key(item, "location", [(4, (1.0, 1.0, 1.0))])


@pytest.mark.parametrize(
    ("keys", "shape", "options", "message"),
    [
        (still, "CONSTANT_SPEED", {"track": "location"}, "there is no movement"),
        (one_key, "REVERSE", {}, "all keys are at the same frame"),
        (still, "HOLD", {"frame": 30.0}, r"outside the motion \(frames 1 to 9\)"),
        (still, "REVERSE", {"track": "scale"}, "no such track"),
    ],
)
def test_what_can_t_be_is_refused_and_changes_nothing(animation, keys, shape, options, message):
    item = new_object("Stone")
    keys(item)
    before = snapshot(item)
    with pytest.raises(animation.AnimationError, match=f'"Stone".*{message}'):
        animation.retime(item, shape, **options)
    assert differences(before, snapshot(item)) == []


@pytest.mark.parametrize(("track", "path"), [("", "tcb_frame"), ("location", 'tcb_tracks["location"].frame')])
def test_a_function_that_a_driver_decides_is_refused_by_its_name(animation, track, path):
    item = keyed()
    animation.enable(item, keep_look=False)
    if track:
        # This is the state while the track has a frame function.
        item.tcb_tracks.add().name = track
    item.driver_add(path).driver.expression = "7.0"
    before = snapshot(item)
    with pytest.raises(animation.AnimationError, match=f"{re.escape(path)} is driven"):
        animation.retime(item, "REVERSE", track=track)
    assert differences(before, snapshot(item)) == []
    item.animation_data.drivers[0].mute = True
    animation.retime(item, "REVERSE", track=track)
    assert curve(item, path).evaluate(1) == pytest.approx(41.0)


@pytest.mark.parametrize(
    "options", [{"shape": "SIDEWAYS"}, {"shape": "SCALE", "scale": 0.0}, {"shape": "HOLD", "length": -1.0}]
)
def test_a_shape_or_number_that_makes_no_sense_is_an_error(animation, options):
    with pytest.raises(ValueError, match=r"not one of|positive"):
        animation.retime(keyed(), **options)


def test_an_object_of_a_scene_that_was_never_animated_can_be_retimed_by_it(animation, scene):
    item = keyed()
    scene.frame_start, scene.frame_end = 1, 41
    assert scene.animation_data is None
    animation.retime(scene, "REVERSE")
    animation.bake(item, keep_look=False)
    for frame, place in PLACES:
        play(42 - frame)
        np.testing.assert_allclose(tuple(item.location), place, atol=2e-5)


@pytest.mark.parametrize("what", ["lock", "group"])
def test_a_locked_frame_function_is_neither_replaced_nor_removed(animation, what):
    item = keyed()
    made = animation.retime(item, "HOLD", track="location").curve
    (made if what == "lock" else made.group).lock = True
    before = snapshot(item)
    for verb in (
        lambda: animation.retime(item, "REVERSE", track="location"),
        lambda: animation.remove_retiming(item, "location"),
    ):
        with pytest.raises(animation.AnimationError, match='"Ball", Location: the frame function is locked'):
            verb()
    assert not differences(before, snapshot(item))


def test_a_frame_function_that_was_converted_to_samples_plays_them_until_it_is_made_anew(animation):
    item = keyed()
    made = animation.retime(item, "REVERSE").curve
    animation.bake(item, keep_look=False)
    before = ways(item, 1, 39)
    made.convert_to_samples(1, 41)
    animation.restore(item)
    animation.bake(item)
    np.testing.assert_array_equal(ways(item, 1, 39), before)
    made = animation.retime(item, "SCALE", scale=2.0).curve
    assert [made.evaluate(frame) for frame in (1, 41, 81)] == [1, 21, 41]


def test_a_scene_whose_action_has_no_curves_takes_a_frame_function(animation, scene):
    animated = scene.animation_data_create()
    animated.action = bpy.data.actions.new("Empty")
    if HAS_SLOTS:
        animated.action_slot = animated.action.slots.new("SCENE", "Scene")
    scene.frame_start, scene.frame_end = 1, 41
    assert animation.retime(scene, "REVERSE").curve.evaluate(11) == pytest.approx(31)
    assert [action.name for action in bpy.data.actions] == ["Empty"]
