# SPDX-License-Identifier: GPL-3.0-or-later
"""The selected objects, or the selected bones in Pose Mode, as datablocks with path prefixes of their tracks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import bpy

from ..animation import AnimationError, find_track, of_object
from ..animation.datablocks import animation_data
from ..animation.fcurves.channels import Channels, channels_of
from ..animation.store.editable import editable_sets
from ..animation.store.find_tracks import tracks_among
from ..animation.store.paths import bone_path, track_of
from ..animation.store.table.custom_property import Table, has_baked_tracks, read_table
from ..animation.text import rpt_
from . import redraw


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


def actions_of(datablocks: Iterable[bpy.types.ID]) -> list[bpy.types.Action]:
    """Return the actions of the datablocks, each once."""
    animations = filter(None, map(animation_data, datablocks))
    return list(dict.fromkeys(animation.action for animation in animations if animation.action is not None))


def active_bone(context: bpy.types.Context) -> Any:
    """Return the active bone in Pose Mode, or the first selected bone if none is active. Return None without a bone."""
    if context.mode != "POSE":
        return None
    return context.active_pose_bone or next(iter(context.selected_pose_bones or ()), None)


def active_object_and_bone(context: bpy.types.Context) -> tuple[Any, str]:
    """Return the active object and "" or, in Pose Mode, the object and the name of the bone in the tab."""
    bone = active_bone(context)
    return (bone.id_data, bone.name) if bone else (context.object, "")


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
    handles or baked. "BAKED" means baked. An empty string means any track. The result is also true if the state is
    unknown, due to a damaged table or an action with several layers.
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
    # All tracks of a table are TCB.
    kind_in_table = "" if kind == "TCB" else kind
    if table.error or table.has_tracks(channels.slot_handle, starts, kind_in_table):
        return True
    return kind == "TCB" and any(track_of(fcurve.data_path) or _looks_baked(fcurve) for fcurve in channels)


_KEYS_TO_CHECK = 8
"""Number of first keys that are read to detect a baked curve, because each redraw of a button reads them."""


def _looks_baked(fcurve: bpy.types.FCurve) -> bool:
    return fcurve.lock and any(point.type == "GENERATED" for point in fcurve.keyframe_points[:_KEYS_TO_CHECK])


@redraw.once
def is_all_tcb(context: bpy.types.Context) -> bool:
    """Return whether all tracks in use in the selection are TCB."""
    selected = selected_datablocks(context, use_data=True)
    return not any(_has_plain_tracks(datablock, path_starts(prefixes)) for datablock, prefixes in selected.items())


def _has_plain_tracks(datablock: bpy.types.ID, starts: str | tuple[str, ...]) -> bool:
    """Return whether any track in use whose path starts with one of the given strings is not TCB."""
    try:
        channel_sets = editable_sets(datablock).sets
    except AnimationError:
        # The operator that makes tracks TCB reports the reason.
        return False
    for channels in channel_sets:
        known = read_table(channels.action).identity_of
        others = [
            fcurve
            for fcurve in channels
            if (channels.slot_handle, fcurve.data_path) not in known and fcurve.data_path.startswith(starts)
        ]
        if any(track.in_use and not track.enabled for track in tracks_among(datablock, channels, others)):
            return True
    return False


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
