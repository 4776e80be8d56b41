# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as a person has them: keyed, selected, one of them active."""

from __future__ import annotations

import contextlib

import pytest


@pytest.fixture
def keyed(scene):
    """Make a selected, active object with location and rotation keys at 1, 11 and 31: keyed(name)."""
    import bpy

    def make(name, data=None):
        item = bpy.data.objects.new(name, data)
        scene.collection.objects.link(item)
        item.rotation_mode = "QUATERNION"
        for frame, value in ((1, 0.0), (11, 5.0), (31, 2.0)):
            item.location = (value, 2 * value, -value)
            item.keyframe_insert("location", frame=frame)
            item.rotation_quaternion = (1.0, value / 9, 0.0, 0.1)
            item.keyframe_insert("rotation_quaternion", frame=frame)
        item.select_set(True)
        bpy.context.view_layer.objects.active = item
        return item

    return make


@pytest.fixture
def posed(scene):
    """A selected armature in Pose mode whose bones "left" and "right" have rotation keys; "right" is selected."""
    import bpy

    armature = bpy.data.armatures.new("Rig")
    item = bpy.data.objects.new("Rig", armature)
    scene.collection.objects.link(item)
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode="EDIT")
    for x, name in enumerate(("left", "right")):
        bone = armature.edit_bones.new(name)
        bone.head, bone.tail = (x, 0, 0), (x, 1, 0)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in item.pose.bones:
        bone.rotation_mode = "XYZ"
        for frame, angle in ((1, 0.0), (21, 1.0), (41, 0.5)):
            bone.rotation_euler = (angle, 0.0, angle / 2)
            bone.keyframe_insert("rotation_euler", frame=frame)
    for bone in item.pose.bones:
        chosen = bone if bpy.app.version >= (5, 0, 0) else bone.bone
        chosen.select = bone.name == "right"
    armature.bones.active = armature.bones["right"]
    return item


@pytest.fixture
def editor():
    """with editor("DOPESHEET"): in that animation editor; also "FCURVES", "ACTION", "TIMELINE"."""
    import bpy

    @contextlib.contextmanager
    def inside(ui_type):
        window = bpy.context.window_manager.windows[0]
        area = max(window.screen.areas, key=lambda area: area.width * area.height)
        area.ui_type = "DOPESHEET" if ui_type == "ACTION" else ui_type
        if ui_type == "ACTION":
            area.spaces.active.mode = "ACTION"
        region = next(region for region in area.regions if region.type == "WINDOW")
        with bpy.context.temp_override(window=window, screen=window.screen, area=area, region=region):
            yield bpy.context

    return inside


@pytest.fixture
def choose(tcb_animation):
    """choose(datablock, path, *frames): select the keys there, and no others of the datablock."""
    import bpy

    def select(datablock, path, *frames):
        for fcurve in tcb_animation.animation.fcurves.channels.channels_of(datablock):
            for point in fcurve.keyframe_points:
                there = fcurve.data_path == path and any(abs(point.co.x - frame) < 1e-3 for frame in frames)
                point.select_control_point = point.select_left_handle = point.select_right_handle = there
        bpy.context.view_layer.update()

    return select


@pytest.fixture
def curve(tcb_animation):
    """curve(datablock, path, index): that F-curve, or None."""

    def find(datablock, path, index=0):
        channels = tcb_animation.animation.fcurves.channels.channels_of(datablock)
        return next((c for c in channels if c.data_path == path and c.array_index == index), None)

    return find
