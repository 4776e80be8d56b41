# SPDX-License-Identifier: GPL-3.0-or-later
"""Selection: objects, bones, the active track, and the key at the current frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import bpy

from ..animation import AnimationError, find_track, of_object
from ..animation.checks.key_info import ShownKey, key_near
from ..animation.checks.track_state import has_plain_tracks, lost_tracks_of, tracks_of
from ..animation.datablocks import animation_data, name_of
from ..animation.fcurves.channels import Channels, channels_of
from ..animation.scene_time import action_time
from ..animation.store.action_and_strips import editable_sets
from ..animation.store.edited_outside import edited_outside
from ..animation.store.paths import bone_path, track_of
from ..animation.store.table.custom_property import Table, has_baked_tracks, read_table
from ..animation.store.table.rows import PARAMETERS
from ..animation.store.tracks import Track
from ..animation.translation import rpt_
from . import redraw

_KEYS_TO_CHECK = 8
"""Number of first keys that are read to detect a baked curve."""


def selected_datablocks(context: bpy.types.Context, use_data: bool) -> dict[bpy.types.ID, list[str] | None]:
    """Return the datablocks to use, each with the path prefixes of its tracks, or None for all tracks.

    These are the selected objects or, in Pose Mode, the armatures with their selected bones. With `use_data`, the
    animated data of the objects is included.
    """
    if context.mode == "POSE":
        bone_paths: dict[bpy.types.ID, list[str]] = {}
        for bone in context.selected_pose_bones or ():
            armature: Any = bone.id_data
            bone_paths.setdefault(armature, []).append(bone_path(bone))
        return dict(bone_paths)
    datablocks: dict[bpy.types.ID, list[str] | None] = {}
    for obj in context.selected_objects:
        animated = list(of_object(obj)) if use_data else []
        # An operator reports that an object is not animated.
        datablocks |= dict.fromkeys(animated or [obj])
    return datablocks


def path_starts(prefixes: list[str] | None) -> str | tuple[str, ...]:
    """Return the argument of `str.startswith` for the path prefixes of a datablock, or for all tracks if None."""
    return "" if prefixes is None else tuple(prefixes)


def select_only(context: bpy.types.Context, objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Select only these objects, and return the objects that are in the view layer."""
    for obj in context.selected_objects:
        obj.select_set(False)
    selected = []
    for obj in objects:
        # Blender raises an error for objects that are not in the view layer.
        with suppress(RuntimeError):
            obj.select_set(True)
            selected.append(obj)
    return selected


def owners_of(context: bpy.types.Context, track: str) -> dict[bpy.types.ID, list[str] | None]:
    """Return the selected datablocks as in `selected_datablocks`, or for an object the datablock with the track.

    This datablock is the object itself or part of its data.
    """
    if context.mode == "POSE":
        return selected_datablocks(context, use_data=False)
    return {_owner(obj, track): None for obj in context.selected_objects}


def _owner(obj: bpy.types.Object, track: str) -> bpy.types.ID:
    for datablock in of_object(obj):
        try:
            find_track(datablock, track)
        except AnimationError:
            continue
        return datablock
    return obj


def reason_nothing_is_selected(context: bpy.types.Context) -> str:
    """Return the reason why the selection cannot be used, or an empty string."""
    if context.mode == "POSE":
        return "" if context.selected_pose_bones else rpt_("Select a bone with keyframes")
    if not context.selected_objects:
        return rpt_("Select an object with keyframes")
    if not any(True for obj in context.selected_objects for _ in of_object(obj)):
        return rpt_("No selected object has keyframes")
    return ""


def has_tracks(context: bpy.types.Context, kind: str) -> bool:
    """Return whether the selection has tracks of this kind.

    "TCB" means TCB tracks, remains of a bake whose table is missing, or a frame function. "PLAYED" means played with
    handles or baked. An empty string means any track.
    The result is also true if the state is unknown, due to a damaged table or an action with several layers.
    """
    if not kind:
        return True
    for datablock, prefixes in selected_datablocks(context, use_data=True).items():
        try:
            channel_sets = editable_sets(datablock).sets
        except AnimationError as refusal:
            if refusal.has("LAYERED"):
                # The operator reports the reason.
                return True
            continue
        if any(_has_tracks(channels, path_starts(prefixes), kind) for channels in channel_sets):
            return True
    return False


def _has_tracks(channels: Channels, starts: str | tuple[str, ...], kind: str) -> bool:
    table = read_table(channels.action)
    # The table counts all of its tracks for an empty kind, and all of its tracks are TCB.
    if table.error or table.has_tracks(channels.slot_handle, starts, kind.removeprefix("TCB")):
        return True
    return kind == "TCB" and any(track_of(fcurve.data_path) or _looks_baked(fcurve) for fcurve in channels)


@redraw.once
def is_all_tcb(context: bpy.types.Context) -> bool:
    """Return whether all tracks in use in the selection are TCB."""
    selected = selected_datablocks(context, use_data=True)
    return not any(has_plain_tracks(datablock, prefixes) for datablock, prefixes in selected.items())


def _looks_baked(fcurve: bpy.types.FCurve) -> bool:
    """Return whether a curve is locked and has generated keys.

    Only the first keys are read, because each redraw of a button calls this function.
    """
    return fcurve.lock and any(point.type == "GENERATED" for point in fcurve.keyframe_points[:_KEYS_TO_CHECK])


def active_bone(context: bpy.types.Context) -> Any:
    """Return the active bone in Pose Mode, or the first selected bone if none is active. Return None without a bone."""
    if context.mode != "POSE":
        return None
    return context.active_pose_bone or next(iter(context.selected_pose_bones or ()), None)


def active_object_and_bone(context: bpy.types.Context) -> tuple[Any, str]:
    """Return the active object and "" or, in Pose Mode, the object and the name of the bone in the tab."""
    bone = active_bone(context)
    return (bone.id_data, bone.name) if bone else (context.object, "")


def active_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    """Return the sidebar's tracks, from the active bone in Pose Mode, or from the active object and its data."""
    return [(datablock, track) for datablock, track in _active_tracks(context) if track.in_use]


class BakedSelection(NamedTuple):
    """A selected datablock whose action has baked tracks."""

    datablock: bpy.types.ID
    channels: Channels
    table: Table
    starts: tuple[str, ...]
    """Path prefixes of the selected bones, or an empty string for all tracks."""

    def is_baked(self, starts: str | tuple[str, ...]) -> bool:
        """Return whether any track whose path starts with one of the given strings is baked."""
        return self.table.has_tracks(self.channels.slot_handle, starts, "BAKED")


def baked_selection(context: bpy.types.Context) -> Iterator[BakedSelection]:
    """Yield the selected datablocks whose actions have baked tracks."""
    for datablock, prefixes in selected_datablocks(context, use_data=False).items():
        animation = animation_data(datablock)
        if animation is None or animation.action is None or not has_baked_tracks(animation.action):
            continue
        try:
            channels = channels_of(datablock)
        except AnimationError:
            continue
        starts = ("",) if prefixes is None else tuple(prefixes)
        yield BakedSelection(datablock, channels, read_table(channels.action), starts)


def any_baked(context: bpy.types.Context) -> bool:
    """Return whether a selected object or bone is baked.

    This function is fast enough to run in each viewport redraw.
    """
    return any(item.is_baked(item.starts) for item in baked_selection(context))


@redraw.once
def baked_of_tcb(context: bpy.types.Context) -> tuple[int, int]:
    """Count the baked tracks and all TCB tracks of the selection and of the tab."""
    prefixes_by_datablock = selected_datablocks(context, use_data=True)
    for datablock, track in active_tracks(context):
        prefixes = prefixes_by_datablock.setdefault(datablock, [])
        if prefixes is not None:
            prefixes.append(track.path)
    baked = tcb = 0
    for datablock, prefixes in prefixes_by_datablock.items():
        try:
            channels = channels_of(datablock)
        except AnimationError:
            continue
        table, starts = read_table(channels.action), path_starts(prefixes)
        baked += table.count_tracks(channels.slot_handle, starts, "BAKED")
        tcb += table.count_tracks(channels.slot_handle, starts)
    return baked, tcb


@redraw.once
def count_edited_outside(context: bpy.types.Context) -> int:
    """Count the tracks in the sidebar whose baked curves have changed since the bake."""
    baked = [track for _, track in active_tracks(context) if track.is_baked]
    return sum(edited_outside(baked)) + len(lost_tracks(context))


@redraw.once
def lost_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    """Return the baked tracks of the active bone or object whose F-curves were deleted."""
    return _listed(context, lost_tracks_of)


def actions_of(datablocks: Iterable[bpy.types.ID]) -> list[bpy.types.Action]:
    """Return the actions of the datablocks, each once."""
    animations = filter(None, map(animation_data, datablocks))
    return list(dict.fromkeys(animation.action for animation in animations if animation.action is not None))


def active_actions(context: bpy.types.Context) -> list[bpy.types.Action]:
    """Return the actions of the active object and its data, each once."""
    return [] if context.object is None else actions_of(of_object(context.object))


def in_strips_only(context: bpy.types.Context) -> list[bpy.types.AnimData]:
    """Return the animation data of the active object and its data that have NLA strips but no action."""
    datablocks = [] if context.object is None else of_object(context.object)
    return [
        animation
        for animation in filter(None, map(animation_data, datablocks))
        if animation.action is None and any(track.strips for track in animation.nla_tracks)
    ]


def unused_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    """Return the tracks of unused rotation modes of the active bone or object."""
    return [(datablock, track) for datablock, track in _active_tracks(context) if not track.in_use]


@redraw.once
def _active_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    return _listed(context, tracks_of)


def _listed(
    context: bpy.types.Context, tracks_in: Callable[[bpy.types.ID, str], list[Track]]
) -> list[tuple[bpy.types.ID, Track]]:
    """Return the tracks that the function returns for the active bone, or for the active object and its data.

    `tracks_in`: function of a datablock and a path prefix.
    """
    obj = context.object
    if obj is None:
        return []
    if context.mode == "POSE":
        bone = active_bone(context)
        return [(bone.id_data, track) for track in tracks_in(bone.id_data, bone_path(bone))] if bone else []
    return [(datablock, track) for datablock in of_object(obj) for track in tracks_in(datablock, "")]


def track_identifier(datablock: bpy.types.ID, path: str) -> str:
    """Return the identifier of a track in `WindowManager.tcb_track`."""
    return f"{type(datablock).__name__}/{name_of(datablock)}/{path}"


@redraw.once
def active_track(context: bpy.types.Context) -> tuple[bpy.types.ID, Track] | None:
    """Return the track chosen in the list. The default is the first track or, for a bone, its rotation."""
    tracks = active_tracks(context)
    identifier = getattr(context.window_manager, "tcb_track", "")
    for datablock, track in tracks:
        if track_identifier(datablock, track.path) == identifier:
            return datablock, track
    rotations = [(datablock, track) for datablock, track in tracks if track.is_rotation]
    defaults = rotations if context.mode == "POSE" and rotations else tracks
    return next(iter(defaults), None)


def action_frame(context: bpy.types.Context, datablock: bpy.types.ID) -> float:
    """Return the current frame in the time of the datablock's action, which an NLA strip in tweak mode may change."""
    scene: Any = context.scene
    return action_time(datablock, float(scene.frame_current_final))


def go_to(scene: Any, frame: float) -> None:
    """Set the current frame of the scene, with its subframe."""
    if scene.frame_current_final != frame:
        scene.frame_set(int(frame // 1), subframe=frame % 1)


@redraw.once
def active_key(context: bpy.types.Context) -> tuple[bpy.types.ID, Track, ShownKey] | None:
    """Return the active track's key at, before or after the current frame."""
    active = active_track(context)
    if active is None:
        return None
    datablock, track = active
    key = key_near(track, action_frame(context, datablock))
    return None if key is None else (datablock, track, key)


def defaults_of(scene: Any) -> dict[str, float]:
    """Return the scene's nonzero default parameters, for keys that have none of their own."""
    numbers = {name: float(getattr(scene.tcb.defaults, name)) for name in PARAMETERS}
    return {name: number for name, number in numbers.items() if number}


def reason_for_no_track(context: bpy.types.Context) -> str:
    """Return the reason why there is no active track."""
    for datablock in of_object(context.object) if context.object is not None else ():
        try:
            channels_of(datablock)
        except AnimationError as refusal:
            return str(refusal)
    return rpt_("The active object has no tracks")
