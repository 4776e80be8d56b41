# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig of many bones, with keys."""

from __future__ import annotations

from .cube import CURVES

RIG_CURVES = CURVES.replace("'Cube'", "'Rig'")
BONES = 10
FRAMES = (1, 13, 25, 49)
RIG = f"""
from mathutils import Euler
data = bpy.data.armatures.new('Rig')
rig = bpy.data.objects.new('Rig', data)
bpy.context.collection.objects.link(rig)
for each in bpy.context.selected_objects:
    each.select_set(False)
bpy.context.view_layer.objects.active = rig
rig.select_set(True)
bpy.ops.object.mode_set(mode='EDIT')
for n in range({BONES}):
    bone = data.edit_bones.new(f'Bone {{n}}')
    bone.head, bone.tail = (n, 0, 0), (n, 0, 1)
bpy.ops.object.mode_set(mode='POSE')
for n, bone in enumerate(rig.pose.bones):
    for frame in {FRAMES}:
        bone.location = (frame * 0.01 * n, 0, frame % 7)
        bone.rotation_quaternion = Euler((frame * 0.02, n * 0.1, 0)).to_quaternion()
        bone.scale = (1, 1 + 0.01 * frame, 1)
        for path in ('location', 'rotation_quaternion', 'scale'):
            bone.keyframe_insert(path, frame=frame, group=bone.name)
bpy.ops.pose.select_all(action='SELECT')
bpy.ops.tcb.enable()
bpy.context.scene.frame_end = 60
next(a for a in win().screen.areas if a.type == 'DOPESHEET_EDITOR').type = 'INFO'
area('VIEW_3D').ui_type = 'DOPESHEET'
"""
SHOW = """
def steps():
    a = area('DOPESHEET_EDITOR')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.anim.channels_expand(all=True)
        bpy.ops.action.view_all()
    bpy.ops.ed.undo_push(message='view')
    yield from drawn()
"""
