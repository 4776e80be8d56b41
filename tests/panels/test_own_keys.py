# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's own keys on baked curves, as marked in the Graph Editor."""

from __future__ import annotations

import math

import bpy
import pytest

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


def test_where_handles_play_there_is_nothing_to_tell_apart(places):
    bpy.ops.tcb.bake(output="HANDLES")
    assert places() == []
