# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Key inserts a key between the animator's keys, with the value of the motion."""

from __future__ import annotations

import bpy
import pytest

from tests.animation.curves import co, curve, differences, key, new_object, rotation_path, snapshot

KEYS = [(0, (0, 1, 2, 0)), (10, (5, -1, 2, 1)), (25, (1, 1, 2.5, 0.5)), (40, (-3, 0, 2, 1))]
OUTPUTS = ({"step": 1.0}, {"step": 0.5}, {"output": "CURVES"}, {"output": "HANDLES"})


@pytest.fixture(params=OUTPUTS, ids=["samples", "half samples", "curves", "handles"])
def options(request) -> dict:
    return request.param


@pytest.fixture
def thing(animation, options) -> bpy.types.Object:
    item = new_object("Ball", "QUATERNION")
    key(item, "location", [(frame, row[:3]) for frame, row in KEYS], group="Transform")
    key(item, rotation_path("QUATERNION"), [(frame, (1, *row[:3])) for frame, row in KEYS], group="Transform")
    animation.enable(item, keep_look=False)
    animation.key_set(item, "location", 10, ease_from=0.5, bias=0.3)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    animation.bake(item, **options)
    return item


def own_frames(animation, thing, path: str) -> list[float]:
    return [float(frame) for frame in animation.store.read_own_keys.key_frames(animation.find_track(thing, path))]


@pytest.mark.parametrize("frame", [15, 15.25])
@pytest.mark.parametrize("path", ["location", "rotation_quaternion"])
def test_make_key_makes_a_key_of_the_motion(animation, thing, path: str, frame: float) -> None:
    value = [curve(thing, path, index).evaluate(frame) for index in range(3)]
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    assert bpy.ops.tcb.make_key() == {"FINISHED"}
    assert own_frames(animation, thing, path) == [0, 10, frame, 25, 40]
    for index in range(3):
        places = co(curve(thing, path, index))
        assert places[places[:, 0] == frame, 1] == pytest.approx([value[index]], abs=1e-6)


def test_make_key_refuses_where_there_is_one(thing) -> None:
    bpy.context.scene.frame_set(10)
    with pytest.raises(RuntimeError, match="there is already a key at this frame"):
        bpy.ops.tcb.make_key()


def test_make_key_refuses_beside_a_key_that_blender_would_replace(animation) -> None:
    item = new_object("Ball")
    key(item, "location", [(frame, row[:3]) for frame, row in KEYS])
    animation.enable(item, keep_look=False)
    before = snapshot(item)
    with pytest.raises(animation.AnimationError, match="there is already a key at this frame"):
        animation.edit.keys.make_key(item, animation.find_track(item, "location"), 10.005)
    assert differences(before, snapshot(item)) == []


def test_make_key_refuses_a_baked_track_that_plays_at_other_frames(animation) -> None:
    item = new_object("Ball")
    key(item, "location", [(frame, row[:3]) for frame, row in KEYS])
    animation.enable(item, keep_look=False)
    animation.retime(item, "REVERSE", track="location")
    animation.bake(item)
    before = snapshot(item)
    with pytest.raises(animation.AnimationError, match="a frame function"):
        animation.edit.keys.make_key(item, animation.find_track(item, "location"), 17.0)
    assert differences(before, snapshot(item)) == []
