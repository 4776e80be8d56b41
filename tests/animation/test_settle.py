# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of baked tracks that are not live: a look after each takes note of it, and computes nothing anew."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.animation.curves import co, curve, key, new_object
from tools.edit_kinds import editor

KEYS = [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (1, 1, 2.5)), (40, (-3, 0, 2))]


@pytest.fixture(params=["SAMPLES", "CURVES"])
def thing(request, animation) -> bpy.types.Object:
    item = new_object("Ball")
    key(item, "location", KEYS)
    animation.enable(item)
    animation.key_set(item, "location", 10, tension=0.5, ease_to=0.5)
    animation.bake(item, output=request.param)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    return item


def look(animation, thing: bpy.types.Object, watches: dict) -> list[str]:
    return animation.live.update.refresh_all(watches, thing.animation_data.action, is_live=False).notes


def move(thing: bpy.types.Object, frame: float, amount: float) -> None:
    for fcurve in (curve(thing, "location", index) for index in range(3)):
        for point in fcurve.keyframe_points:
            chosen = abs(point.co.x - frame) < 0.01
            point.select_control_point = point.select_left_handle = point.select_right_handle = chosen
    with editor("DOPESHEET"):
        bpy.ops.transform.transform(mode="TIME_TRANSLATE", value=(amount, 0, 0, 0))


def test_a_look_that_finds_no_edit_changes_no_bit(animation, thing) -> None:
    before = [co(curve(thing, "location", index)).tobytes() for index in range(3)]
    assert look(animation, thing, {}) == []
    assert [co(curve(thing, "location", index)).tobytes() for index in range(3)] == before
    assert animation.store.up_to_date.is_up_to_date(animation.find_track(thing, "location"))


def test_a_key_that_is_moved_makes_the_track_out_of_date_and_the_motion_stays_as_it_is_seen(animation, thing) -> None:
    watches: dict = {}
    look(animation, thing, watches)
    move(thing, 10, 3)
    seen = [co(curve(thing, "location", index)) for index in range(3)]
    look(animation, thing, watches)
    assert all(np.array_equal(co(curve(thing, "location", index)), seen[index]) for index in range(3))
    assert not animation.store.up_to_date.is_up_to_date(animation.find_track(thing, "location"))


def test_a_key_made_of_a_generated_one_after_another_edit_is_the_animators(animation, thing) -> None:
    watches: dict = {}
    look(animation, thing, watches)
    move(thing, 10, 3)
    look(animation, thing, watches)
    made = curve(thing, "location", 0).keyframe_points.insert(20, 7.0)
    made.type = "KEYFRAME"
    look(animation, thing, watches)
    animation.bake(thing)
    animation.restore(thing)
    frames = co(curve(thing, "location", 0))[:, 0].tolist()
    assert frames == [0, 13, 20, 25, 40]
    assert co(curve(thing, "location", 0))[2, 1] == 7.0
    keys = animation.edit.track_keys.keys_of(thing, animation.find_track(thing, "location"))
    at = keys.frames.tolist().index(13)
    assert keys.parameters({})["tension"][at] == 0.5


def test_restore_after_looks_gives_the_handles_of_the_record(animation, thing) -> None:
    twin = new_object("Twin")
    key(twin, "location", KEYS)
    watches: dict = {}
    look(animation, thing, watches)
    for item in (thing, twin):
        for index in range(3):
            point = next(p for p in curve(item, "location", index).keyframe_points if p.co.x == 25)
            point.co_ui = (25, point.co.y + 1.0)
    look(animation, thing, watches)
    animation.restore(thing)
    for index in range(3):
        mine, plain = curve(thing, "location", index), curve(twin, "location", index)
        plain.update()
        assert np.array_equal(co(mine), co(plain))
        for one, other in zip(mine.keyframe_points, plain.keyframe_points, strict=True):
            assert one.interpolation == other.interpolation
            assert one.handle_left_type == other.handle_left_type
            assert np.allclose(one.handle_left, other.handle_left, atol=1e-4)


def own_frames(animation, thing: bpy.types.Object) -> list[list[float]]:
    own = animation.store.own_keys.read_own_keys(animation.find_track(thing, "location"))
    return [own[index].keys.frames.tolist() for index in range(3)]


@pytest.mark.parametrize("then", ["operator", "frame"])
@pytest.mark.parametrize("thing", ["SAMPLES"], indirect=True)
def test_without_a_window_an_edit_is_noted_before_the_next_operator_or_frame(animation, thing, then) -> None:
    move(thing, 10, 3)
    # A key is set by a script, and what hides it comes after: all values go along.
    for index in range(3):
        fcurve = curve(thing, "location", index)
        row = int(np.argmin(np.abs(co(fcurve)[:, 0] - 20)))
        fcurve.keyframe_points[row].co_ui = (fcurve.keyframe_points[row].co.x, 7.0)
    frame = float(co(curve(thing, "location", 0))[row, 0])
    if then == "frame":
        bpy.context.scene.frame_set(3)
    for index in range(3):
        for point in curve(thing, "location", index).keyframe_points:
            point.select_control_point = point.select_left_handle = point.select_right_handle = True
    with editor("FCURVES"):
        bpy.ops.transform.translate(value=(0, 2.5, 0))
    assert own_frames(animation, thing) == [[0, 13, frame, 25, 40]] * 3
    animation.bake(thing, output="SAMPLES")
    animation.restore(thing)
    for index in range(3):
        at = co(curve(thing, "location", index))
        assert at[:, 0].tolist() == [0, 13, frame, 25, 40]
        assert at[2, 1] == pytest.approx(9.5, abs=1e-5)


@pytest.mark.parametrize("thing", ["SAMPLES"], indirect=True)
def test_without_a_window_doubts_are_printed(animation, thing, capfd) -> None:
    bpy.context.view_layer.update()
    fcurve = curve(thing, "location", 0)
    points = fcurve.keyframe_points
    for row in np.flatnonzero(np.abs(co(fcurve)[:, 0] - 32) < 6).tolist():
        points[row].co_ui = (points[row].co.x, points[row].co.y + 1.0)
    bpy.context.view_layer.update()
    printed = capfd.readouterr().out
    assert 'TCB: "Ball", location: edited so that keys can\'t be told for sure' in printed


def test_without_a_window_a_frame_change_or_a_bake_makes_nothing_of_the_animators(animation, thing) -> None:
    before = own_frames(animation, thing)
    bpy.context.scene.frame_set(7)
    bpy.ops.tcb.bake(output="SAMPLES", step=0.5)
    bpy.context.scene.frame_set(9)
    assert own_frames(animation, thing) == before
    assert animation.store.up_to_date.is_up_to_date(animation.find_track(thing, "location"))
