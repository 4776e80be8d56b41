# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of two rigs with ten bones in a graphical Blender: a rig played by handles, and a twin without TCB.

This module runs inside the graphical Blender, with the extension installed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

LIVE, PLAIN = "Live", "Plain"
FRAMES = (1, 13, 25, 41)
LAST = 50
HEAD = "Head"
BONES = {
    "Root": ("", (0, 0, 0), (0, 0, 1)),
    "Spine": ("Root", (0, 0, 1), (0, 0, 2)),
    "Chest": ("Spine", (0, 0, 2), (0, 0, 3)),
    HEAD: ("Chest", (0, 0, 3), (0, 0, 4)),
    "Arm.L": ("Chest", (0.4, 0, 3), (1.6, 0, 3)),
    "Hand.L": ("Arm.L", (1.6, 0, 3), (2.4, 0, 3)),
    "Arm.R": ("Chest", (-0.4, 0, 3), (-1.6, 0, 3)),
    "Hand.R": ("Arm.R", (-1.6, 0, 3), (-2.4, 0, 3)),
    "Leg.L": ("Root", (0.4, 0, 1), (0.4, 0, -0.5)),
    "Leg.R": ("Root", (-0.4, 0, 1), (-0.4, 0, -0.5)),
}
"""The parent, head and tail of each bone, by name."""
EULER = (HEAD, "Leg.L", "Leg.R")
"""Bones that rotate about one axis with Euler angles."""
SAME_VALUE = 2e-5
"""Tolerance, relative and in units. Keying over a key adds a difference to its value, which is rounded."""
SAME_FRAME = 1e-4
SAME_HANDLE_FRAME = 1e-5
POINT = tuple(
    name for name in (p.identifier for p in bpy.types.Keyframe.bl_rna.properties) if name not in ("rna_type", "co_ui")
)

Key = tuple[float, float, str, str, str]
"""Frame, value, interpolation, easing and type of each key."""
saved: dict[str, dict[str, Any]] = {}
"""Saved states by name, with all key data of each object."""


def extension() -> Any:
    """Return the installed extension's `animation`."""
    from bl_ext.user_default.tcb_animation import animation

    return animation


def _scene() -> Any:
    return bpy.context.scene


def new_rig(name: str) -> Any:
    """Create the rig without keys."""
    data = bpy.data.armatures.new(name)
    rig: Any = bpy.data.objects.new(name, data)
    _scene().collection.objects.link(rig)
    only(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, (parent, head, tail) in BONES.items():
        bone: Any = data.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        if parent:
            bone.parent = data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def only(*objects: Any) -> None:
    """Select only these objects. The first becomes active."""
    context: Any = bpy.context
    active = context.view_layer.objects.active
    if active is not None and active.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for each in context.view_layer.objects:
        each.select_set(each in objects)
    context.view_layer.objects.active = objects[0]


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
            length = math.hypot(*axis)
            sine = math.sin(angle) / length
            bone.rotation_quaternion = (math.cos(angle), axis[0] * sine, axis[1] * sine, axis[2] * sine)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
        root = rig.pose.bones["Root"]
        root.location = dice.uniform(-1, 1, 3)
        root.keyframe_insert("location", frame=frame)


def make_live(rig: Any) -> None:
    """Enable TCB on the rig with its button, and set parameters on two tracks. Blender's handles play other motion."""
    only(rig)
    bpy.ops.object.mode_set(mode="POSE")
    select_bones(rig)
    operators: Any = bpy.ops
    operators.tcb.enable(live=True)
    animation = extension()
    for path in ('pose.bones["Root"].location', 'pose.bones["Arm.L"].rotation_quaternion'):
        animation.key_set(rig, path, 25, tension=0.4, continuity=-0.3, bias=0.25)
    animation.key_set(rig, 'pose.bones["Head"].rotation_euler', 13, ease_to=0.5)
    # Otherwise, Live would do this when the window comes to rest, after the twin is created.
    animation.bake(rig, output="HANDLES")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert rig.animation_data.action.tcb_live


def twin_of(rig: Any, name: str) -> None:
    """Create a rig with the same keys and the same motion, but without TCB."""
    twin = rig.copy()
    twin.data = rig.data.copy()
    _scene().collection.objects.link(twin)
    twin.name = name
    assign(twin, rig.animation_data.action.copy())
    twin.animation_data.action.name = name
    twin.animation_data.action.tcb_live = False
    extension().apply(twin)


def assign(owner: Any, action: Any) -> None:
    """Assign the action, with its only slot if Blender has slots."""
    data = owner.animation_data_create() if owner.animation_data is None else owner.animation_data
    data.action = action
    if bpy.app.version >= (4, 4) and action is not None and data.action_slot is None:
        data.action_slot = action.slots[0]


def select_bones(rig: Any, *names: str) -> None:
    """Select these bones of the rig, or all bones."""
    for bone in rig.pose.bones:
        # Blender 5.0 and later store the selection with the pose.
        holder = bone if bpy.app.version >= (5, 0) else bone.bone
        holder.select = not names or bone.name in names
    rig.data.bones.active = rig.data.bones[names[0] if names else 0]


def stage() -> None:
    """Fill an empty scene with both rigs, all selected in Pose Mode, with auto keying and simple preferences."""
    scene = _scene()
    for each in list(bpy.data.objects):
        bpy.data.objects.remove(each)
    rig = new_rig(LIVE)
    key_rig(rig)
    make_live(rig)
    twin_of(rig, PLAIN)
    pose_mode(LIVE, PLAIN)
    scene.frame_end = LAST
    scene.tool_settings.use_keyframe_insert_auto = True
    preferences: Any = bpy.context.preferences
    preferences.edit.use_auto_keyframe_insert_needed = False
    scene.frame_set(FRAMES[1])


def pose_mode(*names: str, bones: Sequence[str] = ()) -> None:
    """Switch both rigs to Pose Mode, and select these bones, or all bones, of each."""
    rigs = [bpy.data.objects[name] for name in names]
    only(*rigs)
    bpy.ops.object.mode_set(mode="POSE")
    for rig in rigs:
        select_bones(rig, *bones)


def channels(owner: Any) -> list[Any]:
    """Return the F-curves that play the datablock."""
    action, slot = playing(owner)
    if action is None:
        return []
    if bpy.app.version < (4, 4):
        return list(action.fcurves)
    if slot is None or not action.layers:
        return []
    bag = action.layers[0].strips[0].channelbag(slot)
    return list(bag.fcurves) if bag else []


def playing(owner: Any) -> tuple[Any, Any]:
    """Return the datablock's action, or its first strip's action, and the slot if Blender has slots."""
    data = owner.animation_data
    strips = [strip for track in (data.nla_tracks if data else ()) for strip in track.strips]
    holder = data if data is None or data.action is not None or not strips else strips[0]
    return (None, None) if holder is None else (holder.action, getattr(holder, "action_slot", None))


def keys(owner: Any) -> dict[tuple[str, int], list[Key]]:
    """Return the keys of each channel, with the data that edits change, except handles."""
    return {
        (curve.data_path, curve.array_index): [
            (key.co.x, key.co.y, key.interpolation, key.easing, key.type) for key in curve.keyframe_points
        ]
        for curve in channels(owner)
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, float, int, bool)) else tuple(value)


def _settings(modifier: Any) -> Any:
    names = [p.identifier for p in modifier.bl_rna.properties if p.identifier not in ("rna_type", "control_points")]
    return tuple((name, _plain(getattr(modifier, name))) for name in names)


def everything(owner: Any) -> Any:
    """Return all data of a datablock's F-curves, bit for bit, by channel, and the other data that affects playback."""
    data = owner.animation_data
    result: dict[Any, Any] = {
        (curve.data_path, curve.array_index): (
            curve.extrapolation,
            curve.mute,
            tuple(map(_settings, curve.modifiers)),
            tuple(
                tuple(_plain(getattr(key, name)) for name in POINT if "select" not in name)
                for key in curve.keyframe_points
            ),
        )
        for curve in channels(owner)
    }
    action, _ = playing(owner)
    result["action"] = action and (action.name, action.tcb_live)
    strips = [strip for track in (data.nla_tracks if data else ()) for strip in track.strips]
    result["strips"] = [
        (
            s.name,
            s.action and s.action.name,
            s.frame_start,
            s.frame_end,
            s.action_frame_start,
            s.action_frame_end,
            s.scale,
        )
        for s in strips
    ]
    return result


def save(name: str) -> None:
    """Save the state of both rigs under a name."""
    saved[name] = {rig.name: everything(rig) for rig in rigs()}


def rigs() -> list[Any]:
    return [bpy.data.objects[name] for name in (LIVE, PLAIN)]


def changes_since(name: str, owner: str) -> list[str]:
    """Return the object's differences from its saved state."""
    before, now = saved[name][owner], everything(bpy.data.objects[owner])
    return [str(each) for each in {**before, **now} if before.get(each) != now.get(each)]


def differences() -> list[str]:
    """Return the differences between the keys of the rig and its twin."""
    mine, theirs = map(keys, rigs())
    found = [f"{name[0]}[{name[1]}]: only of one" for name in mine.keys() ^ theirs.keys()]
    for name in mine.keys() & theirs.keys():
        found += [f"{name[0]}[{name[1]}]: {text}" for text in _unlike(mine[name], theirs[name])]
    return sorted(found)


def _unlike(mine: list[Key], theirs: list[Key]) -> Iterator[str]:
    if len(mine) != len(theirs):
        yield f"keys at {[round(key[0], 3) for key in mine]}, twin's at {[round(key[0], 3) for key in theirs]}"
        return
    for a, b in zip(mine, theirs, strict=True):
        if abs(a[0] - b[0]) > SAME_FRAME:
            yield f"at {a[0]:g}, twin's at {b[0]:g}"
        elif abs(a[1] - b[1]) > SAME_VALUE * (1 + abs(b[1])):
            yield f"{a[1]:g} at {a[0]:g}, twin's {b[1]:g}"
        elif a[2:] != b[2:]:
            yield f"{a[2:]} at {a[0]:g}, twin's {b[2:]}"


@contextmanager
def _copied(owner: Any) -> Iterator[Any]:
    """Return a copy of the object with a separate action that is not live."""
    copy = owner.copy()
    playing_one, slot = playing(owner)
    action = playing_one.copy()
    try:
        action.tcb_live = False
        if copy.animation_data.use_tweak_mode:
            copy.animation_data.use_tweak_mode = False
        for track in list(copy.animation_data.nla_tracks):
            copy.animation_data.nla_tracks.remove(track)
        copy.animation_data.action = action
        if slot is not None:
            copy.animation_data.action_slot = next(each for each in action.slots if each.identifier == slot.identifier)
        yield copy
    finally:
        bpy.data.objects.remove(copy)
        bpy.data.actions.remove(action)


def stale_channels() -> list[str]:
    """Return the channels of the live rig with handles that differ from a new bake of the same keys."""
    obj = bpy.data.objects[LIVE]
    now = {name: state for name, state in everything(obj).items() if isinstance(name, tuple)}
    with _copied(obj) as copy:
        extension().bake(copy, output="HANDLES")
        fresh = everything(copy)
    return [f"{name[0]}[{name[1]}]" for name, state in now.items() if not _same(fresh.get(name), state)]


def _same(one: Any, other: Any) -> bool:
    """Compare results of `everything` for a curve, with a tolerance for handle frames, which strips' editors round."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        if len(one) == 2 and all(isinstance(value, float) for value in (*one, *other)):
            return bool(abs(one[0] - other[0]) <= SAME_HANDLE_FRAME and one[1] == other[1])
        return all(map(_same, one, other))
    return bool(one == other)


def push(message: str = "set up") -> None:
    bpy.ops.ed.undo_push(message=message)


def select_keys(frame: int) -> None:
    """Select only the keys at the frame on both rigs, with their handles."""
    for rig in rigs():
        for curve in channels(rig):
            curve.select = True
            for key in curve.keyframe_points:
                chosen = abs(key.co.x - frame) < 0.01
                key.select_control_point = key.select_left_handle = key.select_right_handle = chosen
