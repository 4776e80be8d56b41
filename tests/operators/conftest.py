# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as in a user's scene: keyed and selected, with one active object."""

from __future__ import annotations

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

    from tests.animation.curves import Bone, insert, new_rig, select_bone

    item = new_rig(*(Bone(name, (x, 0, 0), (x, 1, 0)) for x, name in enumerate(("left", "right"))))
    bpy.ops.object.mode_set(mode="POSE")
    for bone in item.pose.bones:
        bone.rotation_mode = "XYZ"
        turns = ((1, 0.0), (21, 1.0), (41, 0.5))
        insert(bone, "rotation_euler", [(frame, (angle, 0.0, angle / 2)) for frame, angle in turns])
    for bone in item.pose.bones:
        select_bone(item, bone.name, bone.name == "right")
    item.data.bones.active = item.data.bones["right"]
    return item


@pytest.fixture
def other_posed(scene):
    """The second of two selected armatures in Pose Mode. No bone is active, and only its bone "Hand" is selected."""
    import bpy

    from tests.animation.curves import Bone, new_rig, select_bone

    bones = Bone("Arm", (0, 0, 0), (0, 1, 0)), Bone("Hand", (0, 1, 0), (0, 2, 0), "Arm")
    active, other = (new_rig(*bones, name=name) for name in ("Active", "Other"))
    for rig in (active, other):
        rig.select_set(True)
    bpy.context.view_layer.objects.active = active
    bpy.ops.object.mode_set(mode="POSE")
    for rig in (active, other):
        for bone in rig.pose.bones:
            select_bone(rig, bone.name, rig == other and bone.name == "Hand")
    active.data.bones.active = None
    return other


@pytest.fixture
def editor():
    """with editor("DOPESHEET") as space: run operators in an editor, also "FCURVES", "ACTION" or "TIMELINE"."""
    from tests.animation.editors import editor

    return editor


@pytest.fixture
def choose(tcb_animation):
    """choose(datablock, path, *frames): select only these keys of the datablock."""
    import bpy

    from tests.animation.curves import set_selected

    def select(datablock, path, *frames):
        for fcurve in tcb_animation.animation.fcurves.channels.channels_of(datablock):
            for point in fcurve.keyframe_points:
                is_chosen = fcurve.data_path == path and any(abs(point.co.x - frame) < 1e-3 for frame in frames)
                set_selected(point, is_chosen)
        bpy.context.view_layer.update()

    return select


@pytest.fixture
def curve(tcb_animation):
    """curve(datablock, path, index): the F-curve, or None."""

    def find(datablock, path, index=0):
        channels = tcb_animation.animation.fcurves.channels.channels_of(datablock)
        return next((c for c in channels if c.data_path == path and c.array_index == index), None)

    return find
