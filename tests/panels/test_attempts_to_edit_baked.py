# SPDX-License-Identifier: GPL-3.0-or-later
"""Attempts to edit baked tracks, and the messages that explain them, without a window."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from tests.animation.curves import insert, new_object, new_rig, select_bone

KEYS = [(1, (0, 0, 0)), (11, (1, 2, 3)), (31, (2, 0, 0))]


@pytest.fixture
def live(tcb_animation, scene):
    module = tcb_animation.ui.live
    module.attempts_to_edit_baked.clear()
    yield module
    module.attempts_to_edit_baked.clear()


@pytest.fixture
def cube(scene):
    item = new_object("Cube", data=bpy.data.meshes.new("Cube"))
    insert(item, "location", KEYS)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    return item


@pytest.fixture
def results(tcb_animation):
    module = tcb_animation.ui.operator_results
    module.keep_result_notes(())
    return module


def explained(live, results):
    """Return the notes after Blender has reported an edit of objects."""
    bpy.context.view_layer.update()
    live.attempts_to_edit_baked.note_update(SimpleNamespace(id_type_updated=lambda kind: kind == "OBJECT"))
    live.attempts_to_edit_baked.explain_attempts()
    return list(map(str, results.result_notes()))


def test_a_moved_baked_object_is_explained_once(live, cube, results):
    bpy.ops.tcb.bake()
    assert explained(live, results) == []
    cube.location.x += 1.0
    [note] = explained(live, results)
    assert "Cube" in note
    assert live.attempts_to_edit_baked.is_pending() is False
    results.keep_result_notes(())
    assert explained(live, results) == []
    cube.location.x += 1.0
    assert explained(live, results) == [note]


def test_a_number_named_like_a_pose_is_no_pose(live, cube, results):
    cube.modifiers.new("Remesh", "REMESH")
    for owner, path in ((cube, "instance_faces_scale"), (cube.modifiers[0], "scale")):
        for frame, value in ((1, 0.25), (11, 0.5), (31, 0.75)):
            setattr(owner, path, value)
            owner.keyframe_insert(path, frame=frame)
    bpy.ops.tcb.bake()
    cube.location.x += 1.0
    cube.instance_faces_scale = cube.modifiers[0].scale = 0.3
    [note] = explained(live, results)
    assert "Cube" in note


def test_the_message_names_two_bones_of_one_name_once(live, scene, results):
    rigs = [new_rig("hand", name=name) for name in ("Left", "Right")]
    for rig in rigs:
        insert(rig.pose.bones["hand"], "location", KEYS)
        rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    for rig in rigs:
        select_bone(rig, "hand", True)
    bpy.ops.tcb.bake()
    for rig in rigs:
        rig.pose.bones["hand"].location.x += 1.0
    [note] = explained(live, results)
    assert note.count("hand") == 1


def test_editors_show_the_message_for_some_seconds(live, cube):
    bpy.ops.tcb.bake()
    live.attempts_to_edit_baked.explain_keying(bpy.context)
    assert "Cube" in live.attempts_to_edit_baked.text()
    live.attempts_to_edit_baked._hide()
    assert live.attempts_to_edit_baked.text() == ""


def test_a_note_on_other_tracks_does_not_replace_the_note_on_an_attempt(results, tcb_animation):
    finding = tcb_animation.animation.Finding
    attempt, other = finding("DID_NOT_MOVE", arguments=(2,)), finding("TIMING_STAYS", "Cube")
    results.keep_result_notes([attempt])
    results.keep_update_notes([other])
    assert results.result_notes() == [other, attempt]
    results.keep_update_notes([])
    assert results.result_notes() == [other, attempt]
    newer = finding("DID_NOT_MOVE", arguments=(3,))
    results.keep_result_notes([newer])
    assert results.result_notes() == [newer]
