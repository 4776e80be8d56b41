# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys made on baked frames without changing the pose: by Make Key, and by keying while live."""

from __future__ import annotations

import bpy
import pytest

from tests.animation.curves import co, curve, fcurves, key, new_object, rotation_path
from tests.animation.walks import mark_selected

KEYS = [(0, (0, 1, 2, 0)), (10, (5, -1, 2, 1)), (25, (1, 1, 2.5, 0.5)), (40, (-3, 0, 2, 1))]
OUTPUTS = ({"step": 1.0}, {"step": 0.5}, {"output": "CURVES"})


@pytest.fixture(params=OUTPUTS, ids=["samples", "half samples", "curves"])
def options(request) -> dict:
    return request.param


@pytest.fixture
def thing(animation, options) -> bpy.types.Object:
    item = new_object("Ball", "QUATERNION")
    key(item, "location", [(frame, row[:3]) for frame, row in KEYS], group="Transform")
    key(item, rotation_path("QUATERNION"), [(frame, (1, *row[:3])) for frame, row in KEYS], group="Transform")
    animation.enable(item)
    animation.key_set(item, "location", 10, ease_from=0.5, bias=0.3)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    animation.bake(item, **options)
    return item


def own_frames(animation, thing, path: str) -> list[float]:
    return [float(frame) for frame in animation.store.own_keys.key_frames(animation.find_track(thing, path))]


@pytest.mark.parametrize("frame", [15, 15.25])
@pytest.mark.parametrize("path", ["location", "rotation_quaternion"])
def test_make_key_makes_a_key_of_the_motion(animation, thing, path: str, frame: float) -> None:
    value = [curve(thing, path, index).evaluate(frame) for index in range(3)]
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    assert bpy.ops.tcb.make_key() == {"FINISHED"}
    animation.bake(thing, step=1.0)
    assert own_frames(animation, thing, path) == [0, 10, frame, 25, 40]
    for index in range(3):
        places = co(curve(thing, path, index))
        assert places[places[:, 0] == frame, 1] == pytest.approx([value[index]], abs=1e-6)


def test_make_key_refuses_where_there_is_one(thing) -> None:
    bpy.context.scene.frame_set(10)
    with pytest.raises(RuntimeError, match="it has a key there"):
        bpy.ops.tcb.make_key()


def test_keying_an_unchanged_pose_while_live_makes_a_key(animation, tcb_animation, thing, options) -> None:
    """As keying leaves it, which changes what is selected and nothing else."""
    thing.animation_data.action.tcb_live = True
    bpy.ops.tcb.sync()
    frame = 15.0
    for index in range(3):
        fcurve = curve(thing, "location", index)
        value = fcurve.evaluate(frame)
        for point in fcurve.keyframe_points:
            mark_selected(point, False)
        # With its value as it is: one that is replaced would be off by Blender's rounding.
        point = next((point for point in fcurve.keyframe_points if abs(point.co.x - frame) < 0.01), None)
        mark_selected(point or fcurve.keyframe_points.insert(frame, value), True)
    live = tcb_animation.animation.live.update
    report = live.refresh_all({}, thing.animation_data.action, keyed=[frame])
    assert report.tracks
    assert own_frames(animation, thing, "location") == [0, 10, frame, 25, 40]
    assert own_frames(animation, thing, "rotation_quaternion") == [0, 10, 25, 40]


def test_a_column_that_is_selected_on_a_keyed_frame_of_another_track_makes_no_key(animation, thing) -> None:
    """Keying rotation leaves location as it is: not all of its channels are selected."""
    thing.animation_data.action.tcb_live = True
    bpy.ops.tcb.sync()
    for fcurve in fcurves(thing):
        for point in fcurve.keyframe_points:
            mark_selected(point, fcurve.array_index == 0 and abs(point.co.x - 15) < 0.01)
    animation.live.update.refresh_all({}, thing.animation_data.action, keyed=[15.0])
    assert own_frames(animation, thing, "location") == [0, 10, 25, 40]
