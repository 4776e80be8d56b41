# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of two rigs with ten bones in a graphical Blender: a rig played by handles, and a twin without TCB.

This module runs inside the graphical Blender, with the extension installed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from tests.animation.curves import Bone, action_bits, bags_in, copy_with_action, new_rig, select_bone, set_selected

LIVE, PLAIN = "Live", "Plain"
"""The names of the rigs and of their actions."""
FRAMES = (1, 13, 25, 41)
BONES = (
    Bone("Root", (0, 0, 0), (0, 0, 1)),
    Bone("Spine", (0, 0, 1), (0, 0, 2), "Root"),
    Bone("Chest", (0, 0, 2), (0, 0, 3), "Spine"),
    Bone("Head", (0, 0, 3), (0, 0, 4), "Chest"),
    Bone("Arm.L", (0.4, 0, 3), (1.6, 0, 3), "Chest"),
    Bone("Hand.L", (1.6, 0, 3), (2.4, 0, 3), "Arm.L"),
    Bone("Arm.R", (-0.4, 0, 3), (-1.6, 0, 3), "Chest"),
    Bone("Hand.R", (-1.6, 0, 3), (-2.4, 0, 3), "Arm.R"),
    Bone("Leg.L", (0.4, 0, 1), (0.4, 0, -0.5), "Root"),
    Bone("Leg.R", (-0.4, 0, 1), (-0.4, 0, -0.5), "Root"),
)
EULER = ("Head", "Leg.L", "Leg.R")
"""Bones that rotate about one axis with Euler angles."""
SAME_VALUE = 2e-5
"""Tolerance, relative and in units. Keying over a key adds a difference to its value, which is rounded."""
SAME_FRAME, SAME_HANDLE_FRAME = 1e-4, 1e-5
"""Tolerances for frames of keys, and for frames of handles, which strips' editors round."""

saved: dict[str, dict[str, Any]] = {}
"""Saved states of both rigs by name."""


def extension() -> Any:
    """Return the installed extension's `animation`."""
    from bl_ext.user_default.tcb_animation import animation

    return animation


def rigs() -> list[Any]:
    return [bpy.data.objects[name] for name in (LIVE, PLAIN)]


def key_rig(rig: Any) -> None:
    """Key all bones at the four frames, with rotations up to half a radian, and the root's location."""
    dice = np.random.default_rng(7)
    for frame in FRAMES:
        for bone in rig.pose.bones:
            angle, *axis = dice.uniform(-0.5, 0.5, 4)
            if bone.name in EULER:
                bone.rotation_mode = "XYZ"
                bone.rotation_euler = (angle, 0, 0)
                bone.keyframe_insert("rotation_euler", frame=frame)
                continue
            sine = math.sin(angle) / math.hypot(*axis)
            bone.rotation_quaternion = (math.cos(angle), axis[0] * sine, axis[1] * sine, axis[2] * sine)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        root = rig.pose.bones["Root"]
        root.location = dice.uniform(-1, 1, 3)
        root.keyframe_insert("location", frame=frame)


def stage() -> None:
    """Fill an empty scene with both rigs, all selected in Pose Mode, with auto keying and simple preferences."""
    for each in list(bpy.data.objects):
        bpy.data.objects.remove(each)
    rig: Any = new_rig(*BONES, name=LIVE)
    key_rig(rig)
    pose_mode(LIVE)
    operators: Any = bpy.ops
    operators.tcb.enable(live=True)
    animation = extension()
    for path in ('pose.bones["Root"].location', 'pose.bones["Arm.L"].rotation_quaternion'):
        animation.key_set(rig, path, 25, tension=0.4, continuity=-0.3, bias=0.25)
    animation.key_set(rig, 'pose.bones["Head"].rotation_euler', 13, ease_to=0.5)
    # Otherwise, Live would do this when the window comes to rest, after the twin is created.
    animation.bake(rig, output="HANDLES")
    bpy.ops.object.mode_set(mode="OBJECT")
    twin: Any = copy_with_action(rig)
    twin.name, twin.data = PLAIN, rig.data.copy()
    for each in (rig, twin):
        each.animation_data.action.name = each.name
    twin.animation_data.action.tcb_live = False
    animation.apply(twin)
    pose_mode(LIVE, PLAIN)
    scene: Any = bpy.context.scene
    scene.frame_end = 50
    scene.tool_settings.use_keyframe_insert_auto = True
    preferences: Any = bpy.context.preferences
    preferences.edit.use_auto_keyframe_insert_needed = False
    scene.frame_set(FRAMES[1])


def pose_mode(*names: str, bones: Sequence[str] = ()) -> None:
    """Select these rigs in Pose Mode, and select these bones, or all bones, of each."""
    context: Any = bpy.context
    active = context.view_layer.objects.active
    if active is not None and active.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for each in context.view_layer.objects:
        each.select_set(each.name in names)
    context.view_layer.objects.active = bpy.data.objects[names[0]]
    bpy.ops.object.mode_set(mode="POSE")
    for rig in (bpy.data.objects[name] for name in names):
        for bone in rig.pose.bones:
            select_bone(rig, bone.name, not bones or bone.name in bones)
        rig.data.bones.active = rig.data.bones[bones[0] if bones else 0]


def state(name: str) -> dict[Any, Any]:
    """Return all data of a rig's action, bit for bit, and of its strips, without the selection."""
    action, data = bpy.data.actions[name], bpy.data.objects[name].animation_data
    found: dict[Any, Any] = {}
    for bits in action_bits(action):
        # The flags contain the selection and the locks of channels.
        found[bits["path"]] = {key: bit for key, bit in bits.items() if "select" not in key and key != "flags"}
    found["action"] = data.action and (data.action.name, action.tcb_live)
    names = ("name", "frame_start", "frame_end", "action_frame_start", "action_frame_end", "scale")
    strips = [strip for track in data.nla_tracks for strip in track.strips]
    found["strips"] = [[strip.action.name, *(getattr(strip, name) for name in names)] for strip in strips]
    return found


def save(name: str) -> None:
    """Save the state of both rigs under a name."""
    saved[name] = {rig: state(rig) for rig in (LIVE, PLAIN)}


def changes_since(name: str, owner: str) -> list[str]:
    """Return the rig's differences from its saved state."""
    before, now = saved[name][owner], state(owner)
    return [str(each) for each in {**before, **now} if before.get(each) != now.get(each)]


def curves(action: Any) -> dict[tuple[str, int], Any]:
    return {(curve.data_path, curve.array_index): curve for bag in bags_in(action) for curve in bag.fcurves}


def differences() -> list[str]:
    """Return the differences between the keys of the rig and its twin, except handles."""
    mine, theirs = (curves(bpy.data.actions[name]) for name in (LIVE, PLAIN))
    found = [f"{path}: only of one" for path in mine.keys() ^ theirs.keys()]
    for path in mine.keys() & theirs.keys():
        found += [f"{path}: {text}" for text in _unlike(mine[path].keyframe_points, theirs[path].keyframe_points)]
    return sorted(found)


def _unlike(mine: Any, theirs: Any) -> Iterator[str]:
    if len(mine) != len(theirs):
        yield f"{len(mine)} keys, twin has {len(theirs)}"
        return
    for a, b in zip(mine, theirs, strict=True):
        kinds = [(key.interpolation, key.easing, key.type) for key in (a, b)]
        is_far = abs(a.co.x - b.co.x) > SAME_FRAME or abs(a.co.y - b.co.y) > SAME_VALUE * (1 + abs(b.co.y))
        if is_far or kinds[0] != kinds[1]:
            yield f"{a.co[:]} {kinds[0]}, twin's {b.co[:]} {kinds[1]}"


def stale_channels() -> list[str]:
    """Return the channels of the live rig with keys or handles that differ from a new bake of the same keys."""
    copy: Any = bpy.data.objects[LIVE].copy()
    if copy.animation_data.use_tweak_mode:
        copy.animation_data.use_tweak_mode = False
    for track in list(copy.animation_data.nla_tracks):
        copy.animation_data.nla_tracks.remove(track)
    action = copy.animation_data.action = bpy.data.actions[LIVE].copy()
    if bpy.app.version >= (4, 4):
        copy.animation_data.action_slot = action.slots[0]
    action.tcb_live = False
    extension().bake(copy, output="HANDLES")
    now, fresh = (curves(each) for each in (bpy.data.actions[LIVE], action))
    stale = [str(path) for path in now if path not in fresh or not _is_same(now[path], fresh[path])]
    bpy.data.objects.remove(copy)
    bpy.data.actions.remove(action)
    return stale


def _is_same(one: Any, other: Any) -> bool:
    if len(one.keyframe_points) != len(other.keyframe_points):
        return False
    places = np.array(
        [[(*key.co, *key.handle_left, *key.handle_right) for key in curve.keyframe_points] for curve in (one, other)]
    )
    types = [[(key.handle_left_type, key.handle_right_type) for key in c.keyframe_points] for c in (one, other)]
    off = np.abs(places[0] - places[1])
    return bool(off[:, ::2].max() <= SAME_HANDLE_FRAME and off[:, 1::2].max() == 0.0 and types[0] == types[1])


def push(message: str = "set up") -> None:
    bpy.ops.ed.undo_push(message=message)


def select_keys(frame: int) -> None:
    """Select only the keys at the frame on both rigs, with their handles."""
    for rig in (LIVE, PLAIN):
        for curve in curves(bpy.data.actions[rig]).values():
            curve.select = True
            for key in curve.keyframe_points:
                set_selected(key, abs(key.co.x - frame) < 0.01)
