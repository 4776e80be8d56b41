# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as in a user's scene: keyed and selected, with one active object."""

from __future__ import annotations

import contextlib

import pytest


@pytest.fixture
def keyed(scene):
    """keyed(name): create a selected, active object with location and rotation keys at 1, 11 and 31."""
    import bpy

    from tests.animation.curves import insert, new_object

    keys = ((1, 0.0), (11, 5.0), (31, 2.0))

    def make(name, data=None):
        item = new_object(name, "QUATERNION", data)
        insert(item, "location", [(frame, (value, 2 * value, -value)) for frame, value in keys])
        insert(item, "rotation_quaternion", [(frame, (1.0, value / 9, 0.0, 0.1)) for frame, value in keys])
        item.select_set(True)
        bpy.context.view_layer.objects.active = item
        return item

    return make


@pytest.fixture
def posed(scene):
    """A selected armature in Pose Mode. The bones "left" and "right" have rotation keys, and "right" is selected."""
    import bpy

    from tests.animation.curves import Bone, insert, new_rig

    item = new_rig(*(Bone(name, (x, 0, 0), (x, 1, 0)) for x, name in enumerate(("left", "right"))))
    bpy.ops.object.mode_set(mode="POSE")
    for bone in item.pose.bones:
        bone.rotation_mode = "XYZ"
        turns = ((1, 0.0), (21, 1.0), (41, 0.5))
        insert(bone, "rotation_euler", [(frame, (angle, 0.0, angle / 2)) for frame, angle in turns])
    for bone in item.pose.bones:
        chosen = bone if bpy.app.version >= (5, 0, 0) else bone.bone
        chosen.select = bone.name == "right"
    item.data.bones.active = item.data.bones["right"]
    return item


@pytest.fixture
def editor():
    """with editor("DOPESHEET"): use the context of an animation editor, also "FCURVES", "ACTION" or "TIMELINE"."""
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
    """choose(datablock, path, *frames): select only these keys of the datablock."""
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
    """curve(datablock, path, index): the F-curve, or None."""

    def find(datablock, path, index=0):
        channels = tcb_animation.animation.fcurves.channels.channels_of(datablock)
        return next((c for c in channels if c.data_path == path and c.array_index == index), None)

    return find
