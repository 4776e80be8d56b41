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
    return animation.live.watch.refresh_all(watches, thing.animation_data.action, is_live=False).notes


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
    assert animation.store.recording.is_up_to_date(animation.find_track(thing, "location"))


def test_a_key_that_is_moved_makes_the_track_out_of_date_and_the_motion_stays_as_it_is_seen(animation, thing) -> None:
    watches: dict = {}
    look(animation, thing, watches)
    move(thing, 10, 3)
    seen = [co(curve(thing, "location", index)) for index in range(3)]
    look(animation, thing, watches)
    assert all(np.array_equal(co(curve(thing, "location", index)), seen[index]) for index in range(3))
    assert not animation.store.recording.is_up_to_date(animation.find_track(thing, "location"))


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
    keys = animation.edit.selected_keys.keys_of(thing, animation.find_track(thing, "location"))
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
