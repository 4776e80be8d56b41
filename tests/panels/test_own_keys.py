# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's own keys on baked curves, as marked in the Graph Editor."""

from __future__ import annotations

import math

import bpy
import pytest

from tests.animation.action_users import push_down, tweak
from tests.animation.curves import fcurves, key, new_object

ANGLES = (0.0, 0.5, -0.25)
FRAMES = (1.0, 11.0, 21.0)


@pytest.fixture
def turning(scene):
    thing = new_object(mode="XYZ")
    key(thing, "rotation_euler", [(frame, (angle, 0, 0)) for frame, angle in zip(FRAMES, ANGLES, strict=True)])
    thing.select_set(True)
    bpy.context.view_layer.objects.active = thing
    return thing


@pytest.fixture
def places(tcb_animation, turning):
    """places(): the frames and values of the marks on the first channel."""
    own_keys = tcb_animation.panels.pictures.baked_marks
    return lambda: own_keys.own_positions(list(fcurves(turning))[:1], bpy.context).tolist()


def test_own_keys_are_marked_in_degrees_while_they_are_baked(places):
    assert places() == []
    bpy.ops.tcb.bake()
    expected = [[frame, math.degrees(angle)] for frame, angle in zip(FRAMES, ANGLES, strict=True)]
    assert places() == [pytest.approx(place) for place in expected]
    bpy.ops.tcb.free()
    assert places() == []


def test_marks_follow_the_unit_of_angles(places, scene):
    bpy.ops.tcb.bake()
    scene.unit_settings.system_rotation = "RADIANS"
    assert [value for _, value in places()] == pytest.approx(ANGLES)


def test_marks_of_a_strip_in_tweak_mode_are_where_it_plays_the_keys(places, turning):
    bpy.ops.tcb.bake()
    strip = push_down(turning)
    strip.frame_start, strip.scale = 5.0, 1.5
    tweak(turning)
    # The strip plays frame 1 of its action at frame 5.
    assert [frame for frame, _ in places()] == pytest.approx([5.0, 20.0, 35.0])


def test_where_handles_play_there_is_nothing_to_tell_apart(places):
    bpy.ops.tcb.bake(output="HANDLES")
    assert places() == []
