# SPDX-License-Identifier: GPL-3.0-or-later
"""Enable in a window turns on Live, so that handles play the motion at once. In scripts, it does not."""

from __future__ import annotations

import importlib
from typing import Any

import bpy
import numpy as np
import pytest

from tests.animation.curves import co, curve, differences, key, new_object, snapshot

KEYS = [(0, (0, 1, 2)), (10, (5, -1, 2)), (25, (1, 1, 2.5))]


@pytest.fixture
def animation(tcb_animation) -> Any:
    return importlib.import_module(f"{tcb_animation.__name__}.animation")


@pytest.fixture
def ball(scene) -> bpy.types.Object:
    obj = new_object("Ball")
    key(obj, "location", KEYS)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    return obj


def press(**options: object) -> None:
    """Do the same as the button, because Blender does not call `invoke` without a window."""
    bpy.ops.tcb.enable(live=True, **options)


def test_a_press_lets_handles_play_and_goes_on_with_edits(ball, animation) -> None:
    press(keep_look=False)
    action = ball.animation_data.action
    assert action.tcb_live
    assert animation.find_track(ball, "location").settings.options.output == "HANDLES"
    assert co(curve(ball, "location"))[:, 0].tolist() == [0, 10, 25]
    # With all parameters 0, the spline leaves key 10 along the chord between its neighbors.
    point = curve(ball, "location").keyframe_points[1]
    before = point.handle_right.y
    bpy.ops.tcb.key_set(track="location", frame=10, tension=1.0)
    bpy.context.view_layer.update()
    point = curve(ball, "location").keyframe_points[1]
    assert point.handle_right.y != before
    assert point.handle_right.y == pytest.approx(5, abs=1e-5)


def test_a_press_keeps_the_look(ball, animation) -> None:
    points = curve(ball, "location").keyframe_points
    frames = np.linspace(0, 25, 101)
    seen = [curve(ball, "location").evaluate(frame) for frame in frames]
    press()
    fcurve = curve(ball, "location")
    assert len(points) == len(fcurve.keyframe_points)
    assert np.abs(np.array(seen) - [fcurve.evaluate(frame) for frame in frames]).max() < 0.15


def test_turning_live_on_reports_what_handles_play_on_bones(posed, animation) -> None:
    bpy.ops.tcb.enable()
    switch = importlib.import_module(f"{animation.__name__.removesuffix('.animation')}.ui.live.switch")
    report = switch.go_live([posed.animation_data.action])
    assert (report.tracks, report.keys, len(report.handles)) == (1, 3, 1)


def test_a_script_leaves_the_curves_as_they_are(ball, animation) -> None:
    before = snapshot(ball, identities=False)
    bpy.ops.tcb.enable()
    assert not ball.animation_data.action.tcb_live
    assert differences(before, snapshot(ball, identities=False)) == []
    assert not animation.find_track(ball, "location").is_played


def test_a_press_leaves_live_as_it_is_where_something_was_tcb(ball, animation) -> None:
    bpy.ops.tcb.enable()
    key(ball, "scale", KEYS)
    press()
    assert animation.find_track(ball, "scale").enabled
    assert not ball.animation_data.action.tcb_live
    assert not animation.find_track(ball, "scale").is_played


def test_a_rotation_keyed_in_some_channels_gets_keys_in_the_others(ball, animation, capfd) -> None:
    key(ball, "rotation_euler", KEYS)
    points = curve(ball, "rotation_euler", 1).keyframe_points
    points.remove(points[1])
    press()
    assert {len(curve(ball, "rotation_euler", index).keyframe_points) for index in range(3)} == {len(KEYS)}
    assert animation.find_track(ball, "rotation_euler").is_played
    assert "all rotation channels were keyed" in capfd.readouterr().out


def test_restore_after_a_press_gives_the_curves_back(ball, animation) -> None:
    before = snapshot(ball, identities=False)
    press()
    bpy.ops.tcb.restore()
    bpy.context.view_layer.update()
    assert differences(before, snapshot(ball, identities=False)) == []
    assert not ball.animation_data.action.tcb_live
