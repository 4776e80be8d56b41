# SPDX-License-Identifier: GPL-3.0-or-later
"""Other stages for Blender's tools, in the window's Blender: cameras, shared actions, overrides, a rig of Rigify."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tools import hands_scene as scene_of

LIVE, PLAIN = scene_of.LIVE, scene_of.PLAIN
CONTROLS = (
    "torso",
    "chest",
    "hips",
    "head",
    "hand_ik.L",
    "hand_ik.R",
    "foot_ik.L",
    "foot_ik.R",
    "upper_arm_fk.L",
    "forearm_fk.L",
    "hand_fk.L",
)
PLACED = ("torso", "hand_ik.L", "hand_ik.R", "foot_ik.L", "foot_ik.R")
"""Controls of Rigify that are keyed, and those of them that are moved too."""


def cameras() -> None:
    """Fill the scene with a camera that handles play, its twin, and another camera."""
    scene: Any = bpy.context.scene
    for each in list(bpy.data.objects):
        bpy.data.objects.remove(each)
    dice = np.random.default_rng(3)
    made = []
    for name in (LIVE, "Other"):
        camera: Any = bpy.data.objects.new(name, bpy.data.cameras.new(name))
        scene.collection.objects.link(camera)
        made.append(camera)
    for frame in scene_of.FRAMES:
        made[0].location = dice.uniform(-3, 3, 3)
        made[0].rotation_euler = (1.2, 0, float(dice.uniform(-1, 1)))
        made[0].keyframe_insert("location", frame=frame)
        made[0].keyframe_insert("rotation_euler", frame=frame)
    scene_of.only(made[0])
    operators: Any = bpy.ops
    operators.tcb.enable(live=True)
    scene_of.twin_of(made[0], PLAIN)
    scene.camera = made[0]
    scene.frame_set(1)
    scene_of.push()


def bind(name: str, frame: int) -> None:
    """Make a marker at the frame that binds the camera."""
    scene: Any = bpy.context.scene
    scene_of.only(bpy.data.objects[name])
    scene.frame_set(frame)


def shared_actions() -> None:
    """Let a second rig play the live action by another slot, TCB too; and twins of both a copy of it."""
    rig, twin = scene_of.rigs()
    action: Any = rig.animation_data.action
    second, second_twin = (scene_of.new_rig(f"{name} 2") for name in (LIVE, PLAIN))
    data = second.animation_data_create()
    data.action = action
    data.action_slot = action.slots.new(id_type="OBJECT", name=second.name)
    scene_of.key_rig(second, 11)
    scene_of.make_live(second)
    scene_of.copy_modes(second, second_twin)
    copy = action.copy()
    copy.tcb_live = False
    for copied, original in ((twin, rig), (second_twin, second)):
        data = copied.animation_data_create()
        data.action = copy
        wanted = original.animation_data.action_slot.identifier
        data.action_slot = next(slot for slot in copy.slots if slot.identifier == wanted)
        scene_of.extension().apply(copied)
    assert second.animation_data.action == action
    scene_of.push("slots")


def library(path: str, animated: bool) -> None:
    """Save both rigs in a collection as a library, with their animation or without."""
    scene: Any = bpy.context.scene
    scene_of.only(bpy.data.objects[LIVE])
    rigs = bpy.data.collections.new("Rigs")
    scene.collection.children.link(rigs)
    for rig in scene_of.rigs():
        rigs.objects.link(rig)
        scene.collection.objects.unlink(rig)
        if not animated:
            rig.animation_data_clear()
    Path(path).unlink(missing_ok=True)
    bpy.data.libraries.write(path, {rigs}, fake_user=True)
    for rig in scene_of.rigs():
        bpy.data.objects.remove(rig)
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    bpy.data.collections.remove(rigs)


def overridden(path: str, animated: bool) -> str:
    """Link the rigs and override them; where they have no animation yet, key them here. Return what they are."""
    context: Any = bpy.context
    libraries: Any = bpy.data.libraries
    with libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Rigs"]
    linked: Any = wanted.collections[0]
    linked.override_hierarchy_create(context.scene, context.view_layer, do_fully_editable=True)
    objects: Any = bpy.data.objects
    live, plain = (objects[name, None] for name in (LIVE, PLAIN))
    if not animated:
        scene_of.key_rig(live)
        scene_of.make_live(live)
        scene_of.copy_modes(live, plain)
        scene_of.twin_of(live, PLAIN, plain)
    scene_of.pose_mode(LIVE, PLAIN)
    context.scene.tool_settings.use_keyframe_insert_auto = True
    scene_of.push("overrides")
    action = live.animation_data.action
    kind = "an override" if live.override_library else "not an override"
    return f"the rig is {kind}, and the action is {'linked' if action.library else 'local'}"


def localized() -> str:
    """Bake the overridden rig by its button, which gives it an action of this file; give its twin one without TCB."""
    operators: Any = bpy.ops
    live, plain = scene_of.rigs()
    linked = live.animation_data.action
    scene_of.pose_mode(LIVE)
    operators.tcb.bake(output="HANDLES")
    action = live.animation_data.action
    action.tcb_live = True
    plain.animation_data.action = None
    scene_of.twin_of(live, PLAIN, plain)
    scene_of.pose_mode(LIVE, PLAIN)
    scene_of.push("local action")
    kind = "linked" if action.library else "local"
    return f"after Bake TCB the action is {kind}, the library's is {'kept' if linked.library else 'changed'}"


def rigify() -> str:
    """Fill the scene with a basic human of Rigify that handles play, and its twin; return how large it is."""
    context: Any = bpy.context
    operators: Any = bpy.ops
    if "rigify" not in context.preferences.addons:
        operators.preferences.addon_enable(module="rigify")
    for each in list(bpy.data.objects):
        bpy.data.objects.remove(each)
    operators.object.armature_basic_human_metarig_add()
    meta = context.object
    operators.pose.rigify_generate()
    rig: Any = next(each for each in bpy.data.objects if each.type == "ARMATURE" and each != meta)
    bpy.data.objects.remove(meta)
    rig.name = LIVE
    scene_of.only(rig)
    _key_controls(rig)
    operators.object.mode_set(mode="POSE")
    scene_of.select_bones(rig, *CONTROLS)
    operators.tcb.enable(live=True)
    operators.object.mode_set(mode="OBJECT")
    twin = scene_of.twin_of(rig, PLAIN)
    _retarget(twin, rig)
    context.scene.tool_settings.use_keyframe_insert_auto = True
    context.preferences.edit.use_auto_keyframe_insert_needed = False
    context.scene.frame_end = scene_of.LAST
    scene_of.pose_mode(LIVE, PLAIN, bones=CONTROLS)
    scene_of.push("rigify")
    return f"{len(rig.pose.bones)} bones, {len(scene_of.channels(rig))} F-curves"


def _key_controls(rig: Any) -> None:
    dice = np.random.default_rng(5)
    arm = rig.pose.bones["upper_arm_parent.L"]
    for frame in scene_of.FRAMES:
        for name in CONTROLS:
            bone = rig.pose.bones[name]
            angle = float(dice.uniform(-0.4, 0.4))
            if bone.rotation_mode == "QUATERNION":
                bone.rotation_quaternion = (math.cos(angle / 2), 0, math.sin(angle / 2), 0)
                bone.keyframe_insert("rotation_quaternion", frame=frame)
            else:
                bone.rotation_euler = (angle, 0, 0)
                bone.keyframe_insert("rotation_euler", frame=frame)
            if name in PLACED:
                bone.location = dice.uniform(-0.1, 0.1, 3)
                bone.keyframe_insert("location", frame=frame)
        arm["IK_FK"] = float(frame > 20)
        arm.keyframe_insert('["IK_FK"]', frame=frame)
    for curve in scene_of.channels(rig):
        if "IK_FK" in curve.data_path:
            for key in curve.keyframe_points:
                key.interpolation = "CONSTANT"


def _retarget(twin: Any, rig: Any) -> None:
    """Let constraints and drivers of the twin read the twin."""
    for bone in twin.pose.bones:
        for constraint in bone.constraints:
            for target in (constraint, *getattr(constraint, "targets", ())):
                if getattr(target, "target", None) == rig:
                    target.target = twin
    for owner in (twin, twin.data):
        for curve in owner.animation_data.drivers if owner.animation_data else ():
            for variable in curve.driver.variables:
                for target in variable.targets:
                    if target.id == rig:
                        target.id = twin
                    elif target.id == rig.data:
                        target.id = twin.data


def rigify_call(part: str, arm: str = "upper_arm_fk.L") -> str:
    """Return the Python call of the button of Rigify's panel whose operator contains `part`, for the left arm."""
    script = next(text for text in bpy.data.texts if "rigify" in text.as_string()).as_string()
    for match in re.finditer(r"operator\('(pose\.\w+)'[^\n]*\n((?:\s+props\.[^\n]*\n)+)", script):
        name, lines = match.groups()
        if part in name and arm in lines:
            values = dict(re.findall(r"props\.(\w+) = ('.*?'|\".*?\"|\w+)\n", lines))
            return f"{name}({', '.join(f'{key}={value}' for key, value in values.items())})"
    raise RuntimeError(f"Rigify's panel has no button {part}: {json.dumps(script[:200])}")
