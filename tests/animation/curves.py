# SPDX-License-Identifier: GPL-3.0-or-later
"""Helpers that create objects, rigs and keys, and that compare F-curves bit for bit, in all versions of Blender."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
ALL_MODES = ("QUATERNION", "AXIS_ANGLE", *ORDERS)
MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY")
"""The rotation modes that are handled differently, and a second order of Euler angles."""
Place = tuple[float, float, float]
PARAMETERS = ("tension", "continuity", "bias", "ease_to", "ease_from")

_FLOATS = ("co", "handle_left", "handle_right", "back", "amplitude", "period")
_IDENTIFYING = ("back", "amplitude", "period")
_REST = (
    "handle_left_type",
    "handle_right_type",
    "interpolation",
    "easing",
    "type",
    "select_control_point",
    "select_left_handle",
    "select_right_handle",
)


def rotation_path(mode: str) -> str:
    return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")


def new_object(name: str = "Thing", mode: str = "XYZ", data: bpy.types.ID | None = None) -> bpy.types.Object:
    """Add an object to the scene: an empty, or an object with the data."""
    thing = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(thing)
    thing.rotation_mode = mode
    return thing


def copy_with_action(item: bpy.types.Object) -> bpy.types.Object:
    """Add a copy of the object to the scene, with a copy of its action."""
    other = item.copy()
    bpy.context.scene.collection.objects.link(other)
    action = other.animation_data.action = item.animation_data.action.copy()
    if HAS_SLOTS:
        other.animation_data.action_slot = action.slots[0]
    return other


class Bone(NamedTuple):
    """A bone for `new_rig`. Positions are in armature space, even if the bone has a parent."""

    name: str
    head: Place
    tail: Place
    parent: str = ""
    connected: bool = False


def new_rig(*bones: str | Bone, name: str = "Rig", tail: Place = (0, 0, 1)) -> bpy.types.Object:
    """Add an active armature with these bones to the scene. Bones given only by name have the tail `tail`."""
    rig = new_object(name, data=bpy.data.armatures.new(name))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in (Bone(each, (0, 0, 0), tail) if isinstance(each, str) else each for each in bones):
        made = rig.data.edit_bones.new(bone.name)
        made.head, made.tail = bone.head, bone.tail
        made.parent, made.use_connect = rig.data.edit_bones.get(bone.parent), bone.connected
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def select_bone(rig: bpy.types.Object, name: str, selected: bool) -> None:
    """Select or deselect a bone in Pose Mode."""
    bone = rig.pose.bones[name]
    # Since Blender 5.0, the selection is a property of the pose.
    owner = bone if bpy.app.version >= (5, 0, 0) else bone.bone
    owner.select = selected


def choose_alone(item: bpy.types.Object) -> None:
    """Select only this object, and make it active."""
    for each in bpy.context.selected_objects:
        each.select_set(False)
    item.select_set(True)
    bpy.context.view_layer.objects.active = item


def bag_of(datablock: bpy.types.ID) -> Any:
    """Return the container of the F-curves that animate the datablock. If it is missing, create it."""
    animation = datablock.animation_data or datablock.animation_data_create()
    if animation.action is None:
        animation.action = bpy.data.actions.new(f"{datablock.name}Action")
    action = animation.action
    if not HAS_SLOTS:
        return action
    if animation.action_slot is None:
        animation.action_slot = action.slots.new(datablock.id_type, datablock.name)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(animation.action_slot, ensure=True)


def fcurves(datablock: bpy.types.ID) -> list[bpy.types.FCurve]:
    return list(bag_of(datablock).fcurves)


def bags_in(action: bpy.types.Action) -> list[Any]:
    if not HAS_SLOTS:
        return [action]
    return [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]


def channels(datablock: bpy.types.ID) -> dict[tuple[str, int], bpy.types.FCurve]:
    """Return the F-curves that animate the datablock, by path and index."""
    return {(fcurve.data_path, fcurve.array_index): fcurve for fcurve in fcurves(datablock)}


def curve(datablock: bpy.types.ID, path: str, index: int = 0) -> bpy.types.FCurve:
    found = bag_of(datablock).fcurves.find(path, index=index)
    assert found is not None, f"{path}[{index}]"
    return found


def track_keys(animation: Any, datablock: bpy.types.ID, path: str) -> Any:
    """Return all of the animator's keys on a track."""
    return animation.edit.track_keys.keys_of(datablock, animation.find_track(datablock, path))


def key(
    datablock: bpy.types.ID, path: str, keys: Sequence[tuple[float, Any]], group: str = "", channels: Iterable[int] = ()
) -> None:
    """Key the property at `path` with pairs of frame and value or values. `channels` limits the components."""
    bag = bag_of(datablock)
    rows = [(frame, value if isinstance(value, (tuple, list, np.ndarray)) else (value,)) for frame, value in keys]
    for index in list(channels) or range(len(rows[0][1])):
        fcurve = bag.fcurves.find(path, index=index)
        if fcurve is None:
            fcurve = bag.fcurves.new(path, index=index)
            if group:
                fcurve.group = bag.groups.get(group) or bag.groups.new(group)
        for frame, values in rows:
            fcurve.keyframe_points.insert(frame, values[index], options={"FAST"})
        fcurve.update()


def insert(owner: bpy.types.bpy_struct, path: str, keys: Iterable[tuple[float, Any]], index: int = -1) -> None:
    """Set the property, or one of its components, and insert keys in the same way as the I key."""
    for frame, value in keys:
        if index < 0:
            setattr(owner, path, value)
        else:
            getattr(owner, path)[index] = value
        owner.keyframe_insert(path, index=index, frame=frame)


def key_densely(owner: bpy.types.bpy_struct, path: str, values: np.ndarray) -> None:
    """Key the property on every frame from 1 on."""
    insert(owner, path, list(enumerate(values.tolist(), start=1)))


def set_selected(point: bpy.types.Keyframe, selected: bool) -> None:
    """Select a key and its handles, or deselect all three."""
    point.select_control_point = point.select_left_handle = point.select_right_handle = selected


def bits(fcurve: bpy.types.FCurve, identities: bool = True) -> dict[str, Any]:
    """Return all data of an F-curve, with floats as bytes.

    Without `identities`, floats that hold them lose their low halves.
    """
    points = fcurve.keyframe_points
    state: dict[str, Any] = {"path": (fcurve.data_path, fcurve.array_index), "keys": len(points)}
    for name in _FLOATS:
        values = np.empty(len(points) * (1 if name in ("back", "amplitude", "period") else 2), dtype=np.float32)
        points.foreach_get(name, values)
        if not identities and name in _IDENTIFYING:
            values = (values.view(np.uint32) & 0xFFFF0000).view(np.float32)
        state[name] = values.tobytes()
    for name in _REST:
        state[name] = [getattr(point, name) for point in points]
    state["extrapolation"] = fcurve.extrapolation
    state["flags"] = (fcurve.mute, fcurve.hide, fcurve.lock, fcurve.select, fcurve.color_mode, fcurve.auto_smoothing)
    state["group"] = fcurve.group.name if fcurve.group is not None else None
    state["modifiers"] = [_modifier(modifier) for modifier in fcurve.modifiers]
    return state


def _modifier(modifier: bpy.types.FModifier) -> dict[str, str]:
    """Return settings as strings, so that NaN equals NaN."""
    properties = [prop for prop in modifier.bl_rna.properties if prop.identifier not in ("rna_type", "control_points")]
    return {prop.identifier: repr(_plain(getattr(modifier, prop.identifier))) for prop in properties}


def _plain(value: Any) -> Any:
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def snapshot(datablock: bpy.types.ID, identities: bool = True) -> list[dict[str, Any]]:
    """Return the bits of the datablock's F-curves in order, with or without the keys' identities."""
    return [bits(fcurve, identities) for fcurve in fcurves(datablock)]


def action_bits(action: bpy.types.Action) -> list[dict[str, Any]]:
    return [bits(fcurve) for bag in bags_in(action) for fcurve in bag.fcurves]


def differences(before: list[dict[str, Any]], after: list[dict[str, Any]], identities: bool = True) -> list[Any]:
    """Return the differences: the path, the field, and the first differing number before and after."""
    if [state["path"] for state in before] != [state["path"] for state in after]:
        return [[state["path"] for state in before], [state["path"] for state in after]]
    if not identities:
        before, after = without_identities(before), without_identities(after)
    return [
        (old["path"], name, *_first_difference(name, old[name], new[name]))
        for old, new in zip(before, after, strict=True)
        for name in old
        if old[name] != new[name]
    ]


def without_identities(states: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the same data as `snapshot` without identities."""
    return [{**state, **{name: _high_halves(state[name]) for name in _IDENTIFYING}} for state in states]


def _high_halves(floats: bytes) -> bytes:
    return (np.frombuffer(floats, dtype=np.uint32) & np.uint32(0xFFFF0000)).tobytes()


def _first_difference(name: str, old: Any, new: Any) -> tuple[Any, ...]:
    if name in _FLOATS:
        old, new = (np.frombuffer(value, dtype=np.float32).tolist() for value in (old, new))
    if not isinstance(old, list) or len(old) != len(new):
        return old, new
    return next((n, a, b) for n, (a, b) in enumerate(zip(old, new, strict=True)) if a != b or str(a) != str(b))


def given(animation: Any, datablock: bpy.types.ID, path: str, name: str) -> list[tuple[float, float]]:
    """Return the values of a parameter that were set on the track's keys, as pairs (frame, number)."""
    keys = animation.edit.track_keys.keys_of(datablock, animation.find_track(datablock, path))
    column = animation.store.table.rows.column_of(name)
    numbers = animation.store.parameters.given_numbers(keys.own, keys.frames)[:, column]
    rows = zip(keys.frames.tolist(), numbers.tolist(), strict=True)
    return [(frame, number) for frame, number in rows if number == number]


def has_table(datablock: bpy.types.ID) -> bool:
    """True if the datablock's action has a table."""
    return "tcb_animation" in datablock.animation_data.action


def states(animation: Any, datablock: bpy.types.ID) -> dict[str, str]:
    """Return the states of the datablock's tracks, by path."""
    tracks = animation.store.find_tracks.find_tracks(datablock, animation.fcurves.channels.channels_of(datablock))
    return {track.path: animation.checks.track_state.state(track) for track in tracks}


def co(fcurve: bpy.types.FCurve) -> np.ndarray:
    """Return the frames and values of the keys, float32, shape (n, 2)."""
    values = np.empty(2 * len(fcurve.keyframe_points), dtype=np.float32)
    fcurve.keyframe_points.foreach_get("co", values)
    return values.reshape(-1, 2)


def play(frame: float) -> None:
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=frame - whole)


def save_and_load(folder: Path) -> None:
    """Save the scene in the folder, and open the file, which replaces all datablocks."""
    path = str(folder / "file.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)


def seen(frame: float, datablock: bpy.types.ID) -> bpy.types.ID:
    """Return the datablock as evaluated at `frame`."""
    play(frame)
    return datablock.evaluated_get(bpy.context.evaluated_depsgraph_get())


def orientations(item: bpy.types.Object, frames: Iterable[float]) -> np.ndarray:
    """Return the orientations of an object in world space as evaluated at the frames, shape (n, 3, 3)."""
    matrices = []
    for frame in frames:
        play(float(frame))
        matrices.append(np.array(item.matrix_world.to_3x3()))
    return np.array(matrices)


def bone_places(rig: bpy.types.Object, frames: Iterable[int]) -> np.ndarray:
    """Return the positions of all bone heads and tails as evaluated at the frames, shape (frames, points, 3)."""
    places = []
    for frame in frames:
        play(frame)
        matrix = np.array(rig.matrix_world)
        points = [tuple(point) for bone in rig.pose.bones for point in (bone.head, bone.tail)]
        places.append(np.array(points) @ matrix[:3, :3].T + matrix[:3, 3])
    return np.array(places)


def function(datablock, keys, path: str = "tcb_frame", interpolation: str = "LINEAR", extrapolation: str = "CONSTANT"):
    """Return a frame function's F-curve, created as by an animator."""
    key(datablock, path, keys)
    fcurve = curve(datablock, path)
    fcurve.extrapolation = extrapolation
    for point in fcurve.keyframe_points:
        point.interpolation = interpolation
    fcurve.update()
    return fcurve


def generated(fcurve) -> list[float]:
    return [point.co.x for point in fcurve.keyframe_points if point.type == "GENERATED"]


KEYS = [(0, (0, 0, 0)), (10, (5, 2, 3)), (25, (-1, 0, 2)), (40, (0, 4, -2))]


def keyed(
    name: str = "Ball",
    path: str = "location",
    keys: Sequence[tuple[float, Any]] = KEYS,
    mode: str = "XYZ",
    group: str = "",
) -> bpy.types.Object:
    """Add an object with keys on one property to the scene."""
    item = new_object(name, mode)
    key(item, path, keys, group)
    return item
