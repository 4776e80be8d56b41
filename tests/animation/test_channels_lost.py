# SPDX-License-Identifier: GPL-3.0-or-later
"""If Blender's own tools delete, key or move channels, parameters stay with exactly their keys."""

from __future__ import annotations

import bpy
import pytest

from tests.animation.curves import differences, given, has_table, key, new_object, snapshot
from tests.animation.editors import editor

LOCATION = [(0, (0, 0, 0)), (10, (5, 2, 3)), (20, (-1, 0, 2)), (30, (0, 4, -2))]


@pytest.fixture
def ball(animation):
    item = new_object("Ball", "XYZ")
    key(item, "location", LOCATION, group="Object Transforms")
    return item


@pytest.mark.parametrize("frame", [10, 15])
def test_keying_all_channels_in_the_dope_sheet_takes_no_parameter_away(animation, ball, frame) -> None:
    """Remove leaves nothing of the keys that were keyed anew."""
    before = snapshot(ball)
    ball.select_set(True)
    bpy.context.view_layer.objects.active = ball
    animation.key_set(ball, "location", 10, tension=0.5)
    animation.bake(ball, output="HANDLES")
    bpy.context.scene.frame_set(frame)
    with editor("DOPESHEET"):
        bpy.ops.action.keyframe_insert(type="ALL")
    animation.bake(ball, output="HANDLES")
    assert (10.0, 0.5) in given(animation, ball, "location", "tension")
    animation.remove(ball)
    assert not has_table(ball)
    ignored = {"select_control_point", "select_left_handle", "select_right_handle"}
    changes = [change for change in differences(before, snapshot(ball)) if change[1] not in ignored]
    assert frame == 15 or changes == []
