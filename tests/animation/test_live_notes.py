# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes from Live appear immediately, and stay while they apply or until another note replaces them."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from tests.animation.action_users import share
from tests.animation.curves import curve, key, new_object, new_rig, set_selected
from tests.animation.live import let_time_pass, live_object, results_of, said, set_value

TURNS = [(0, (0.0, 0.1, 0.2)), (10, (1.2, 0.7, -0.4)), (30, (-0.3, 1.1, 0.9))]
BONE = 'pose.bones["Bone"].rotation_euler'
UNUSED = "the track is not used in the current rotation mode"


def synced(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Return the notes that Sync prints."""
    capfd.readouterr()
    bpy.ops.tcb.sync()
    printed = "".join(capfd.readouterr()).splitlines()
    return [line.removeprefix("Info: ") for line in printed if line.startswith("Info: ")]


def turned(animation, of_bone: bool, output: str) -> tuple[bpy.types.Object, Any, str]:
    """Return a live object, the part of it that rotates, and the path of its rotation."""
    item = new_rig("Bone") if of_bone else new_object("Turned")
    owner = item.pose.bones["Bone"] if of_bone else item
    owner.rotation_mode = "XYZ"
    path = BONE if of_bone else "rotation_euler"
    key(item, path, TURNS)
    animation.bake(item, output=output, keep_look=False)
    item.animation_data.action.tcb_live = True
    let_time_pass(animation)
    return item, owner, path


@pytest.mark.parametrize("output", ["SAMPLES", "HANDLES"])
@pytest.mark.parametrize("of_bone", [False, True])
def test_that_a_track_is_of_another_rotation_mode_by_now_is_said_at_once(
    animation, capfd, of_bone: bool, output: str
) -> None:
    item, owner, path = turned(animation, of_bone, output)
    assert said(animation, item) == []
    line = f'"{item.name}", {animation.track_paths.track_name(path)}: {UNUSED}'
    capfd.readouterr()
    owner.rotation_mode = "QUATERNION"
    bpy.context.view_layer.update()
    assert f"TCB: {line}" in "".join(capfd.readouterr()).splitlines()
    assert said(animation, item) == [line]
    for _ in range(2):
        assert line in synced(capfd)
        let_time_pass(animation)
        assert said(animation, item) == [line]
    # Dismiss the notes of Sync.
    results_of(animation).keep_result_notes(())
    assert said(animation, item) == [line]
    owner.rotation_mode = "XYZ"
    let_time_pass(animation)
    assert said(animation, item) == []
    assert line not in synced(capfd)


def test_what_was_restored_plays_nothing_that_a_rotation_mode_could_change(animation) -> None:
    item, owner, path = turned(animation, False, "HANDLES")
    key(item, "location", TURNS)
    animation.enable(item, keep_look=False)
    animation.restore(item, [path])
    owner.rotation_mode = "QUATERNION"
    let_time_pass(animation)
    assert said(animation, item) == []


def second_user(item: bpy.types.Object, mode: str) -> bpy.types.Object:
    other = new_object("Zwei", mode)
    key(other, "scale", [(0, (1, 1, 1)), (10, (2, 2, 2))])
    bpy.context.view_layer.update()
    share(item.animation_data.action, other)
    return other


OTHER_MODE = '"Zwei", Euler Rotation: the action is shared, but the rotation modes differ. The mode of "Turned" is used'


@pytest.mark.parametrize("mode", ["ZYX", "QUATERNION"])
def test_that_another_object_plays_the_action_in_another_rotation_mode_is_said_at_once(animation, mode: str) -> None:
    item, _, _ = turned(animation, False, "HANDLES")
    other = second_user(item, mode)
    let_time_pass(animation)
    assert said(animation, item) == [OTHER_MODE]
    other.rotation_mode = "XYZ"
    let_time_pass(animation)
    assert said(animation, item) == []
    other.rotation_mode = mode
    let_time_pass(animation)
    assert said(animation, item) == [OTHER_MODE]
    other.animation_data.action = bpy.data.actions["ZweiAction"]
    let_time_pass(animation)
    assert said(animation, item) == []


@pytest.mark.parametrize("of_bone", [False, True])
def test_a_bake_of_one_object_says_that_another_plays_the_action_in_another_rotation_mode(
    animation, scene, of_bone: bool
) -> None:
    items = [new_rig("Bone", name=name) if of_bone else new_object(name) for name in ("Turned", "Zwei")]
    path = BONE if of_bone else "rotation_euler"
    for item, mode in zip(items, ("XYZ", "ZYX"), strict=True):
        (item.pose.bones["Bone"] if of_bone else item).rotation_mode = mode
    key(items[0], path, TURNS)
    share(items[0].animation_data.action, items[1])
    notes = animation.bake(items[0], keep_look=False).notes
    line = OTHER_MODE.replace("Euler Rotation", animation.track_paths.track_name(path))
    assert [str(note) for note in notes if "rotation mode" in str(note)] == [line]


# Notes on an edit

BACK = '"Ball", Location, frame 10: keys and parameters determine this handle, so it was reset'


def drag_handle(item: bpy.types.Object) -> None:
    """Drag a handle that no parameters of the method can place."""
    for index in range(3):
        for point in curve(item, "location", index).keyframe_points:
            set_selected(point, False)
    point = curve(item, "location").keyframe_points[1]
    point.select_right_handle = True
    point.handle_right.y += 1.0


@pytest.fixture
def ball(animation, scene) -> bpy.types.Object:
    item = live_object(animation, "Ball")
    animation.choose(item, "location", method="CATMULL_ROM")
    key(item, "scale", [(0, (1, 1, 1)), (40, (2, 2, 2))])
    animation.enable(item, keep_look=False)
    let_time_pass(animation)
    return item


def test_a_note_stays_until_another_note_replaces_it(animation, ball) -> None:
    drag_handle(ball)
    let_time_pass(animation)
    assert said(animation, ball) == [BACK]
    set_value(ball, 3.0)
    let_time_pass(animation)
    assert said(animation, ball) == [BACK]
    newer = animation.Finding("TIMING_STAYS", "Ball")
    results_of(animation).keep_update_notes([newer])
    assert said(animation, ball) == [str(newer)]


def test_the_note_on_a_modifier_ends_when_the_modifier_is_muted(animation, ball) -> None:
    modifier = curve(ball, "scale").modifiers.new("NOISE")
    curve(ball, "scale").keyframe_points[0].co_ui.y = 3.0
    let_time_pass(animation)
    assert len(said(animation, ball)) == 1
    modifier.mute = True
    let_time_pass(animation)
    assert said(animation, ball) == []
