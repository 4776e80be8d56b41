# SPDX-License-Identifier: GPL-3.0-or-later
"""The text in the viewport about baked tracks."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from tests.animation.curves import insert, new_object, new_rig, select_bone

TEXT = "Baked: edit in the TCB tab, or Free Bake"


@pytest.fixture
def written(tcb_animation, monkeypatch):
    """written(): the texts drawn into a viewport."""
    module = tcb_animation.panels.pictures.baked_marks
    texts = []
    others = dict.fromkeys(("size", "enable", "disable", "shadow", "color", "position"), lambda *_: None)
    stand_in = SimpleNamespace(SHADOW=0, draw=lambda _font, text: texts.append(text), **others)
    monkeypatch.setattr(module, "blf", stand_in)

    def draw():
        texts.clear()
        window = bpy.context.window_manager.windows[0]
        area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
        region = next(region for region in area.regions if region.type == "WINDOW")
        with bpy.context.temp_override(window=window, area=area, region=region):
            module.draw_text()
        return texts[:]

    return draw


@pytest.fixture
def cube(scene):
    item = new_object("Cube")
    insert(item, "location", [(1, (0, 0, 0)), (11, (1, 2, 3)), (31, (2, 0, 0))])
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    return item


def test_it_is_there_while_a_baked_object_is_selected(cube, written):
    bpy.ops.tcb.bake(output="HANDLES")
    assert written() == []
    bpy.ops.tcb.bake()
    assert written() == [TEXT]
    cube.select_set(False)
    assert written() == []
    cube.select_set(True)
    bpy.ops.tcb.free()
    assert written() == []


@pytest.mark.parametrize("switch", ["show_overlays", "show_text"])
def test_it_goes_with_the_text_of_the_overlays(cube, written, switch):
    bpy.ops.tcb.bake()
    area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
    setattr(area.spaces.active.overlay, switch, False)
    assert written() == []


def test_in_pose_mode_it_is_about_the_selected_bones(scene, written, tcb_animation):
    rig = new_rig("Arm", "Leg", tail=(0, 1, 0))
    for bone in rig.pose.bones:
        insert(bone, "location", [(1, (0, 0, 0)), (11, (1, 2, 3)), (31, (2, 0, 0))])
    tcb_animation.animation.bake(rig, prefixes=['pose.bones["Arm"]'], keep_look=False)
    bpy.ops.object.mode_set(mode="POSE")

    def choose(name):
        for bone in rig.pose.bones:
            select_bone(rig, bone.name, bone.name == name)

    choose("Leg")
    assert written() == []
    choose("Arm")
    assert written() == [TEXT]
