# SPDX-License-Identifier: GPL-3.0-or-later
"""The Smoothness panel, drawn into a real layout, with the measured continuity and jumps of the shown track."""

from __future__ import annotations

import math

import bpy
import pytest
from scipy.interpolate import CubicHermiteSpline

from tests.animation.curves import curve, key, new_object
from tests.panels.layouts import drawn, is_there

PANEL = "TCB_PT_motion"
pytestmark = pytest.mark.usefixtures("advanced")


def active(path, rows, mode="QUATERNION"):
    thing = new_object(mode=mode)
    key(thing, path, rows)
    thing.select_set(True)
    bpy.context.view_layer.objects.active = thing
    bpy.context.window_manager.tcb_track = ""
    return thing


def test_without_a_track_it_is_not_there(scene):
    assert not is_there(PANEL)


def test_a_plain_track_is_c1_and_its_acceleration_jumps(scene):
    frames, places = [0, 10, 20, 30], [0, 1, -1, 0.5]
    active("location", [(frame, (place, 0, 0)) for frame, place in zip(frames, places, strict=True)])
    # docs/formulas, "TCB tangents": inner tangents are half the difference between the neighbors.
    tangents = [1.5 * 1 + 0.5 * 0.5, -0.5, -0.25, 1.5 * 1.5 + 0.5 * 0.25]
    change = CubicHermiteSpline(frames, places, [tangent / 10 for tangent in tangents]).derivative(2)
    jumps = {abs(change(frame) - change(frame - 1e-9)): frame for frame in (10, 20)}
    shown = drawn(PANEL)
    assert "Measured with C1. Largest jumps:" in shown
    assert "Velocity: none" in shown
    assert f"Acceleration: {max(jumps):.3g} at frame {jumps[max(jumps)]}" in shown


def test_a_corner_is_c0_and_says_by_how_much_and_where(scene, tcb_animation):
    thing = active("location", [(0, (0, 0, 0)), (10, (1, 0, 0)), (20, (-1, 0, 0))])
    tcb_animation.animation.enable(thing, keep_look=False)
    tcb_animation.animation.key_set(thing, "location", 10, continuity=-1.0)
    shown = drawn(PANEL)
    assert "Measured with C0. Largest jumps:" in shown
    # With continuity -1, both sides are straight, with slopes 0.1 and -0.2.
    assert "Velocity: 0.3 at frame 10" in shown


def test_a_rotation_is_told_in_degrees(scene, tcb_animation):
    turns = [(math.cos(math.radians(a) / 2), 0, 0, math.sin(math.radians(a) / 2)) for a in (0, 20, -20)]
    thing = active("rotation_quaternion", list(zip((0, 10, 20), turns, strict=True)))
    tcb_animation.animation.enable(thing, keep_look=False)
    tcb_animation.animation.key_set(thing, "rotation_quaternion", 10, continuity=-1.0)
    assert "Velocity: 6.0° at frame 10" in drawn(PANEL)


def test_the_seam_of_a_cycle_may_jump(scene, tcb_animation):
    thing = active("location", [(0, (0, 0, 0)), (10, (1, 0, 0))])
    tcb_animation.animation.enable(thing, keep_look=False)
    tcb_animation.animation.choose(thing, "location", cycle="REPEAT")
    shown = drawn(PANEL)
    assert "The values jump. Largest jumps:" in shown
    assert "Value: 1 at frame 10" in shown


def test_what_makes_no_spline_is_told_instead(scene):
    thing = active("location", [(0, (0, 0, 0)), (10, (1, 0, 0))])
    curve(thing, "location").keyframe_points[1].co.y = math.nan
    assert any("finite" in text for text in drawn(PANEL))


def test_it_offers_to_write_velocities(scene):
    active("location", [(0, (0, 0, 0)), (10, (1, 0, 0))])
    shown = "\n".join(drawn(PANEL))
    assert "velocities_write" in shown


def test_what_can_not_be_found_while_drawing_is_told(scene, tcb_animation):
    thing = active("rotation_euler", [(0, (0, 0, 0)), (20, (1, 0, 0))], mode="XYZ")
    key(thing, "rotation_euler", [(10, (0.2, 0, 0))], channels=[0])
    assert any("Measured with" in text for text in drawn(PANEL))
    tcb_animation.animation.bake(thing, keep_look=False)
    assert any("keyed at different frames" in text for text in drawn(PANEL))
