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


@pytest.mark.parametrize("has_plain_track", [True, False])
def test_a_press_also_plays_tracks_that_were_off(ball, animation, has_plain_track, capfd) -> None:
    bpy.ops.tcb.enable()
    if has_plain_track:
        key(ball, "scale", KEYS)
    press()
    assert ball.animation_data.action.tcb_live
    paths = ["location", "scale"] if has_plain_track else ["location"]
    assert all(animation.find_track(ball, path).is_played_by_handles for path in paths)
    assert "Enabled 1 object, 1 track, 3 keys" in capfd.readouterr().out.splitlines()[-1]


def test_the_first_slider_move_on_a_plain_track_enables_it_like_a_press(ball, animation, scene, numbers) -> None:
    frames = np.linspace(10, 25, 61)
    before = [curve(ball, "location").evaluate(frame) for frame in frames]
    scene.frame_set(0)
    scene.tcb.tension = 1.0
    action, track = ball.animation_data.action, animation.find_track(ball, "location")
    assert action.tcb_live
    assert track.is_played_by_handles
    # Other segments move as before, and the first key has the new tension.
    assert np.abs(np.array(before) - [curve(ball, "location").evaluate(frame) for frame in frames]).max() < 0.15
    assert numbers(ball, "location", "tension")[0] == 1.0


def test_escape_from_the_first_slider_move_makes_the_track_plain_again(ball, animation, scene, event) -> None:
    before, shown = snapshot(ball), scene.tcb.tension
    event(presses=True)
    scene.tcb.tension = 0.25
    scene.tcb.bias = 0.5
    assert ball.animation_data.action.tcb_live
    event(takes_back=True)
    scene.tcb.tension = shown
    scene.tcb.bias = 0.0
    assert differences(before, snapshot(ball)) == []
    assert not ball.animation_data.action.tcb_live
    assert not ball.animation_data.action.keys()
    # The next drag starts anew.
    event(presses=True)
    scene.tcb.tension = 0.5
    event(releases=True)
    assert animation.find_track(ball, "location").is_played_by_handles


@pytest.fixture
def fitted(scene, numbers) -> dict[bpy.types.Object, float]:
    """Two selected plain objects with the tension of their Bezier handles at key 10, the chosen key."""
    tensions = {}
    for name, tension in (("First", 0.5), ("Second", -0.25)):
        obj = new_object(name)
        key(obj, "location", [(0, (0, 1, 2)), (10, (5, -1, 2)), (20, (1, 2, 2.5))])
        for index in range(3):
            first, middle, last = curve(obj, "location", index).keyframe_points
            middle.handle_left_type = middle.handle_right_type = "FREE"
            change = (1 - tension) * (last.co.y - first.co.y) / 2 / 3
            middle.handle_left = middle.co.x - 10 / 3, middle.co.y - change
            middle.handle_right = middle.co.x + 10 / 3, middle.co.y + change
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj
        tensions[obj] = tension
    bpy.context.window_manager.tcb_track = "Object/Second/location"
    scene.frame_set(10)
    return tensions


def test_a_relative_change_of_plain_tracks_starts_from_their_fitted_parameters(fitted, scene, numbers, event) -> None:
    before = {obj: snapshot(obj) for obj in fitted}
    scene.tcb.relative = True
    event(presses=True)
    for shift in (0.1, 0.2):
        scene.tcb.tension = shift
    event(takes_back=True)
    scene.tcb.tension = 0.0
    assert all(differences(before[obj], snapshot(obj)) == [] for obj in fitted)
    event(presses=True)
    for shift in (0.1, 0.2):
        scene.tcb.tension = shift
    event(releases=True)
    scene.tcb.tension = 0.2
    for obj, tension in fitted.items():
        assert numbers(obj, "location", "tension")[10] == pytest.approx(tension + 0.2, abs=1e-4)


def test_a_slider_dragged_back_beside_another_leaves_plain_tracks_their_fitted_parameters(
    fitted, scene, numbers, event
) -> None:
    event(presses=True)
    for tension, bias in ((0.3, 0.2), (0.0, 0.25)):
        scene.tcb.tension = tension
        scene.tcb.bias = bias
    event(releases=True)
    scene.tcb.bias = 0.25
    for obj, tension in fitted.items():
        assert numbers(obj, "location", "tension")[10] == pytest.approx(tension, abs=1e-4)
        assert numbers(obj, "location", "bias")[10] == 0.25


def test_a_typed_number_on_plain_tracks_replaces_their_fitted_parameters(fitted, scene, numbers) -> None:
    scene.tcb.tension = 0.0
    assert all(numbers(obj, "location", "tension")[10] == 0.0 for obj in fitted)


@pytest.fixture
def dialog(tcb_animation, monkeypatch):
    """dialog(work): a dialog with the chosen keys, in which work(operator, context) returns whether it is confirmed.

    Without a window, Blender does not call `invoke` and `check`.
    """
    module = tcb_animation.operators.parameters
    operator = module.TCB_OT_key_set
    execute = operator.execute

    def confirmed(work: Any) -> None:
        def open_and_close(self: Any, context: bpy.types.Context) -> set[str]:
            chosen = module.chosen_keys(context)
            self._drag, self._is_by_hand = module.ParameterDrag(chosen, {}), True
            self._show_values_of_keys(context, chosen)
            is_confirmed = work(self, context)
            self.check(context)
            if is_confirmed:
                return execute(self, context)
            self.cancel(context)
            return {"CANCELLED"}

        monkeypatch.setattr(operator, "execute", open_and_close)
        bpy.ops.tcb.key_set()

    return confirmed


def test_a_dialog_whose_values_are_refused_makes_the_track_plain_again(
    ball, dialog, tcb_animation, monkeypatch
) -> None:
    before = snapshot(ball)

    def refuse(keys: Any, *_values: object) -> None:
        raise keys.track.error("VELOCITY_SIZE", 3, 1)

    def change(operator: Any, context: Any) -> bool:
        operator.tension = 0.5
        operator.check(context)
        assert ball.animation_data.action.tcb_live
        monkeypatch.setattr(tcb_animation.operators.parameters, "set_parameters", refuse)
        return True

    with pytest.raises(RuntimeError, match="velocity"):
        dialog(change)
    assert differences(before, snapshot(ball)) == []
    assert not ball.animation_data.action.tcb_live


def test_a_dialog_that_is_canceled_makes_the_track_plain_again(ball, dialog) -> None:
    before = snapshot(ball)

    def change(operator: Any, context: Any) -> bool:
        operator.tension = 0.25
        operator.check(context)
        assert ball.animation_data.action.tcb_live
        assert differences(before, snapshot(ball)) != []
        return False

    dialog(change)
    assert differences(before, snapshot(ball)) == []
    assert not ball.animation_data.action.tcb_live


def test_a_dialog_keeps_mixed_values_that_are_not_changed(fitted, numbers, dialog) -> None:
    bpy.ops.tcb.enable(live=True)

    def change(operator: Any, _context: Any) -> bool:
        operator.bias = 0.25
        return True

    dialog(change)
    for obj, tension in fitted.items():
        assert numbers(obj, "location", "tension")[10] == pytest.approx(tension, abs=1e-4)
        assert numbers(obj, "location", "bias")[10] == 0.25


def test_a_preset_enables_a_plain_track_and_a_script_that_sets_keys_leaves_it_off(ball, animation, scene) -> None:
    key(ball, "scale", KEYS)
    bpy.ops.tcb.key_set(track="scale", frame=10, tension=0.5)
    assert not ball.animation_data.action.tcb_live
    assert not animation.find_track(ball, "scale").is_played
    bpy.context.window_manager.tcb_track = "Object/Ball/location"
    bpy.ops.tcb.preset_apply(preset="stop")
    assert ball.animation_data.action.tcb_live
    assert animation.find_track(ball, "location").is_played_by_handles


def test_a_locked_track_stays_plain_and_starts_no_other(ball, animation, scene) -> None:
    key(ball, "scale", KEYS)
    animation.enable(ball, ["scale"])
    for index in range(3):
        curve(ball, "location", index).lock = True
    before = snapshot(ball)
    bpy.context.window_manager.tcb_track = "Object/Ball/location"
    assert bpy.ops.tcb.preset_apply.poll()
    scene.tcb.tension = 0.5
    assert differences(before, snapshot(ball)) == []
    assert not ball.animation_data.action.tcb_live


def test_objects_that_share_a_plain_action_are_enabled_once(ball, animation, scene) -> None:
    other = new_object("Other")
    other.animation_data_create().action = ball.animation_data.action
    if hasattr(other.animation_data, "action_slot"):
        other.animation_data.action_slot = ball.animation_data.action_slot
    other.select_set(True)
    scene.frame_set(0)
    bpy.context.window_manager.tcb_track = "Object/Ball/location"
    scene.tcb.tension = 0.5
    assert animation.find_track(other, "location").is_played_by_handles
    assert len(animation.find_track(ball, "location").table.tracks) == 1


def test_a_rotation_keyed_in_some_channels_gets_keys_in_the_others(ball, animation, capfd) -> None:
    key(ball, "rotation_euler", KEYS)
    points = curve(ball, "rotation_euler", 1).keyframe_points
    points.remove(points[1])
    press()
    assert {len(curve(ball, "rotation_euler", index).keyframe_points) for index in range(3)} == {len(KEYS)}
    assert animation.find_track(ball, "rotation_euler").is_played
    assert "all rotation channels were keyed" in capfd.readouterr().out
