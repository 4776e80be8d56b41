# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that are moved in time or get new values keep their data. Moving them back restores every bit."""

from __future__ import annotations

import importlib

import bpy
import numpy as np
import pytest

from tests.animation.curves import bag_of, curve, differences, given, key, new_object, snapshot, track_keys

KEYS = [(1, (0.0, 1.0, 0.0)), (11, (5.0, -1.0, 2.0)), (31, (2.0, 0.5, 1.0))]
PATH = "location"


@pytest.fixture
def places(animation):
    return importlib.import_module(f"{animation.__name__}.edit.keys")


@pytest.fixture
def canceled_changes(animation):
    return importlib.import_module(f"{animation.__name__}.edit.keys")


@pytest.fixture
def thing(animation):
    made = new_object("Thing")
    key(made, PATH, KEYS)
    return made


def chosen(animation, thing, *frames, path=PATH):
    keys = track_keys(animation, thing, path)
    return keys.take(np.isin(keys.frames, frames))


def co(thing, index=0, path=PATH):
    return [tuple(point.co) for point in curve(thing, path, index).keyframe_points]


def own(animation, thing):
    return {round(frame, 3) for frame in track_keys(animation, thing, PATH).frames.tolist()}


def moved_by_blender(thing, frame, to, value=None):
    """Move keys in a script through Blender's own properties, which also move the handles."""
    for fcurve in (curve(thing, PATH, index) for index in range(3)):
        for point in fcurve.keyframe_points:
            if point.co.x == frame:
                point.co_ui.x = to
                if value is not None and fcurve.array_index == 0:
                    point.co_ui.y = value
        fcurve.update()


@pytest.mark.parametrize("handles", ["AUTO_CLAMPED", "FREE", "VECTOR"])
@pytest.mark.parametrize("to", [17.0, 4.25, -8.0, 40.0])
def test_a_key_of_a_plain_track_moves_as_blender_moves_it(animation, places, thing, to, handles):
    other = new_object("Other")
    key(other, PATH, KEYS)
    for each in (thing, other):
        for fcurve in (curve(each, PATH, index) for index in range(3)):
            for point in fcurve.keyframe_points:
                point.handle_left_type = point.handle_right_type = handles
            fcurve.update()
    places.move_keys(chosen(animation, thing, 11), [to])
    moved_by_blender(other, 11, to)
    assert snapshot(thing) == snapshot(other)


def test_a_value_is_set_as_blender_sets_it(animation, places, thing):
    other = new_object("Other")
    key(other, PATH, KEYS)
    places.set_value(chosen(animation, thing, 11), 0, 7.5)
    moved_by_blender(other, 11, 11, 7.5)
    assert snapshot(thing) == snapshot(other)
    assert {i: numbers.tolist() for i, numbers in places.values_of(chosen(animation, thing, 11)).items()} == {
        0: [7.5],
        1: [-1.0],
        2: [2.0],
    }


def test_values_are_set_for_the_keys_that_have_the_component(animation, places, thing):
    fcurve = curve(thing, PATH, 1)
    fcurve.keyframe_points.remove(fcurve.keyframe_points[1])
    places.set_value(track_keys(animation, thing, PATH), 1, [7.0, 8.0, 9.0])
    assert co(thing, 1) == [(1.0, 7.0), (31.0, 9.0)]


@pytest.mark.parametrize(
    ("to", "reason"),
    [
        (31.0, "there is already a key at this frame"),
        (31.005, "there is already a key"),
        (2e6, "outside Blender's range"),
        (np.nan, "outside Blender's range"),
    ],
)
def test_a_key_in_the_way_and_a_frame_that_blender_has_not_are_refused(animation, places, thing, to, reason):
    animation.enable(thing, keep_look=False)
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match=reason):
        places.move_keys(chosen(animation, thing, 11), [to])
    with pytest.raises(animation.AnimationError, match="there is already a key"):
        places.move_keys(chosen(animation, thing, 1, 11), [20.0, 20.0])
    assert snapshot(thing) == before


def test_a_locked_track_is_left_alone(animation, places, thing):
    curve(thing, PATH).lock = True
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match="lock"):
        places.move_keys(chosen(animation, thing, 11), [12.0])
    with pytest.raises(animation.AnimationError, match="lock"):
        places.set_value(chosen(animation, thing, 11), 0, 2.0)
    assert snapshot(thing) == before


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("output", ["", "SAMPLES", "HANDLES"])
def test_places_are_put_back_to_the_last_bit_baked_again_or_not(
    animation, places, canceled_changes, tcb_animation, thing, output, live
):
    updates = tcb_animation.ui.live.updates
    if output:
        animation.enable(thing, keep_look=False)
        animation.key_set(thing, PATH, 11, tension=0.3, bias=0.7)
        animation.bake(thing, output=output)
    if live and output:
        thing.animation_data.action.tcb_live = True
    bpy.context.view_layer.update()
    updates.flush_all()
    before = snapshot(thing)
    kept = canceled_changes.record_tracks([(thing, animation.find_track(thing, PATH))])
    at = 11.0
    for to in (12.0, 25.5, 40.0, 2.0):
        places.move_keys(chosen(animation, thing, at), [to])
        at = to
        places.set_value(chosen(animation, thing, at), 1, to)
        bpy.context.view_layer.update()
        updates.flush()
        if live or not output:
            assert own(animation, thing) == {1.0, at, 31.0}
    canceled_changes.revert_tracks(kept)
    assert snapshot(thing) == before
    bpy.context.view_layer.update()
    updates.flush_all()
    assert snapshot(thing) == before
    track = animation.find_track(thing, PATH)
    if output:
        assert importlib.import_module(f"{animation.__name__}.store.up_to_date").is_up_to_date(track)


@pytest.mark.parametrize("output", ["", "HANDLES"])
def test_what_was_deleted_meanwhile_is_put_back_too(animation, canceled_changes, thing, output):
    other = new_object("Other")
    key(other, PATH, KEYS)
    if output:
        animation.enable(thing, keep_look=False)
        animation.key_set(thing, PATH, 11, tension=0.3)
        animation.bake(thing, output=output)
    # Channels that are created again are not selected.
    for fcurve in (*bag_of(thing).fcurves, *bag_of(other).fcurves):
        fcurve.select = False
    before = snapshot(other), snapshot(thing)
    parameters = given(animation, thing, PATH, "tension") if output else None
    # The last key is moved back first.
    kept = canceled_changes.record_tracks((item, animation.find_track(item, PATH)) for item in (other, thing))
    if output:
        animation.remove(thing)
    for index in (0, 1, 2):
        bag_of(thing).fcurves.remove(curve(thing, PATH, index))
    for point in curve(other, PATH, 1).keyframe_points:
        point.co.y += 3.0
    bag_of(other).fcurves.remove(curve(other, PATH, 2))
    canceled_changes.revert_tracks(kept)
    assert [*differences(before[0], snapshot(other)), *differences(before[1], snapshot(thing))] == []
    if output:
        assert given(animation, thing, PATH, "tension") == parameters
        assert importlib.import_module(f"{animation.__name__}.store.up_to_date").is_up_to_date(
            animation.find_track(thing, PATH)
        )


@pytest.mark.parametrize("output", ["", "HANDLES", "SAMPLES"])
def test_a_canceled_edit_removes_added_channels_and_restores_the_extrapolation(
    animation, canceled_changes, thing, output
):
    bag_of(thing).fcurves.remove(curve(thing, PATH, 2))
    curve(thing, PATH, 0).extrapolation = "LINEAR"
    if output:
        animation.enable(thing, keep_look=False)
        animation.bake(thing, output=output)
    before = snapshot(thing)
    recorded = canceled_changes.record_tracks([(thing, animation.find_track(thing, PATH))])
    bag_of(thing).fcurves.new(PATH, index=2).keyframe_points.insert(11, 4.0)
    curve(thing, PATH, 0).extrapolation, curve(thing, PATH, 1).extrapolation = "CONSTANT", "LINEAR"
    canceled_changes.revert_tracks(recorded)
    assert [*differences(before, snapshot(thing))] == []


def test_of_a_quaternion_that_handles_play_negated_the_keys_own_number_is_set(animation, places):
    thing = new_object("Thing", "QUATERNION")
    path = "rotation_quaternion"
    key(thing, path, [(1, (1.0, 0.0, 0.0, 0.0)), (11, (-0.8, -0.6, 0.0, 0.0)), (21, (0.6, 0.8, 0.0, 0.0))])
    animation.enable(thing, keep_look=False)
    animation.bake(thing, output="HANDLES")
    assert co(thing, 0, path)[1][1] == pytest.approx(0.8)
    keys = chosen(animation, thing, 11, path=path)
    assert places.values_of(keys)[0].tolist() == pytest.approx([-0.8])
    places.set_value(keys, 1, -0.5)
    assert places.values_of(chosen(animation, thing, 11, path=path))[1].tolist() == pytest.approx([-0.5])
    animation.restore(thing)
    assert co(thing, 0, path)[1][1] == pytest.approx(-0.8)
    assert co(thing, 1, path)[1][1] == pytest.approx(-0.5)
