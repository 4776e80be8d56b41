# SPDX-License-Identifier: GPL-3.0-or-later
"""The warning in the options of Blender's glTF exporter, and the button next to it."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from tests.animation.curves import key, new_object
from tests.animation.exports import BONES, FRAMES, PLACES, rig


@pytest.fixture
def played(scene, tcb_animation):
    """An armature whose location and bone rotations are played by handles, and an object with only a location."""
    turned, moved = rig(), new_object("Box")
    for item in (turned, moved):
        key(item, "location", list(zip(FRAMES, PLACES, strict=True)))
    for item in (turned, moved):
        tcb_animation.animation.bake(item, output="HANDLES", keep_look=False)
    return turned, moved


def dialog(**options):
    """Return a context as in Blender's file browser during an export with these options."""
    chosen = {"export_animations": True, "export_force_sampling": False, "export_animation_mode": "ACTIONS"}
    exporter = SimpleNamespace(**{"bl_idname": "EXPORT_SCENE_OT_gltf", **chosen, **options})
    return SimpleNamespace(space_data=SimpleNamespace(active_operator=exporter), scene=bpy.context.scene)


def is_shown(**options) -> bool:
    return bpy.types.TCB_PT_gltf_export.poll(dialog(**options))


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, True),
        ({"export_animation_mode": "ACTIVE_ACTIONS"}, True),
        ({"export_force_sampling": True}, False),
        ({"export_animations": False}, False),
        ({"export_animation_mode": "NLA_TRACKS"}, False),
        ({"export_animation_mode": "SCENE"}, False),
        ({"bl_idname": "EXPORT_SCENE_OT_fbx"}, False),
    ],
)
def test_a_warning_is_shown_where_the_exporter_does_not_sample(played, options, shown) -> None:
    assert is_shown(**options) == shown


def test_a_file_browser_without_an_operator_has_no_warning(played) -> None:
    context = SimpleNamespace(space_data=SimpleNamespace(active_operator=None), scene=bpy.context.scene)
    assert not bpy.types.TCB_PT_gltf_export.poll(context)


def test_what_handles_only_move_needs_a_warning_once_it_has_an_ease(scene, tcb_animation) -> None:
    item = new_object()
    key(item, "location", list(zip(FRAMES, PLACES, strict=True)))
    tcb_animation.animation.bake(item, output="HANDLES", keep_look=False)
    assert not is_shown()
    tcb_animation.animation.key_set(item, "location", FRAMES[1], tension=0.5)
    assert not is_shown()
    tcb_animation.animation.key_set(item, "location", FRAMES[1], ease_to=0.5)
    assert is_shown()
    assert bpy.ops.tcb.bake_for_gltf() == {"FINISHED"}
    assert tcb_animation.animation.find_track(item, "location").is_baked
    assert not is_shown()


def test_the_button_bakes_the_rotations_alone_and_the_warning_goes(played, tcb_animation) -> None:
    turned, moved = played
    find_track = tcb_animation.animation.find_track
    assert bpy.ops.tcb.bake_for_gltf() == {"FINISHED"}
    tracks = [find_track(turned, f'pose.bones["{bone}"].rotation_quaternion') for bone in BONES]
    assert [(track.is_baked, track.settings.options.output) for track in tracks] == [(True, "CURVES")] * len(BONES)
    assert all(find_track(item, "location").is_played_by_handles for item in (turned, moved))
    assert not is_shown()
    assert bpy.ops.tcb.bake_for_gltf() == {"CANCELLED"}
