# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig of many bones, with keys, played by handles."""

from __future__ import annotations

from .cube import CURVES

RIG_CURVES = CURVES.replace("'Cube'", "'Rig'")
FRAMES = (1, 13, 25, 49)


def make_rig(bones: int, frames: tuple[int, ...] = FRAMES) -> str:
    """Return code that replaces the cube with a live rig in Pose Mode. All bones are selected."""
    return f"""
from mathutils import Euler
bpy.data.objects.remove(bpy.data.objects['Cube'])
data = bpy.data.armatures.new('Rig')
rig = bpy.data.objects.new('Rig', data)
bpy.context.collection.objects.link(rig)
bpy.context.view_layer.objects.active = rig
rig.select_set(True)
bpy.ops.object.mode_set(mode='EDIT')
for n in range({bones}):
    bone = data.edit_bones.new(f'Bone {{n}}')
    bone.head, bone.tail = (n, 0, 0), (n, 0, 1)
bpy.ops.object.mode_set(mode='POSE')
for n, bone in enumerate(rig.pose.bones):
    for frame in {frames}:
        bone.location = (frame * 0.01 * n, 0, frame % 7)
        bone.rotation_quaternion = Euler((frame * 0.02, n * 0.1, 0)).to_quaternion()
        bone.scale = (1, 1 + 0.01 * frame, 1)
        for path in ('location', 'rotation_quaternion', 'scale'):
            bone.keyframe_insert(path, frame=frame, group=bone.name)
bpy.ops.pose.select_all(action='SELECT')
data.bones.active = data.bones[0]
bpy.ops.tcb.enable(live=True)
bpy.context.scene.frame_end = 60
"""
