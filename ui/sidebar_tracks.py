# SPDX-License-Identifier: GPL-3.0-or-later
"""The tracks that the sidebar lists for the active object or bone, and the track and key that it shows."""

from __future__ import annotations

from contextlib import suppress

import bpy

from ..animation import AnimationError, of_object
from ..animation.checks.shown_key import ShownKey, key_near
from ..animation.datablocks import animation_data, name_of
from ..animation.fcurves.channels import Channels, channels_of
from ..animation.store.editable import editable_sets
from ..animation.store.find_tracks import find_tracks, tracks_shown
from ..animation.store.find_tracks import lost_tracks as find_lost_tracks
from ..animation.store.paths import BONES, bone_path
from ..animation.store.table.custom_property import read_table
from ..animation.store.tracks import Track
from ..animation.store.up_to_date import edited_outside
from ..animation.text import rpt_
from . import redraw
from .scene import action_frame
from .selection import actions_of, active_bone, path_starts, selected_datablocks


@redraw.once
def active_key(context: bpy.types.Context) -> tuple[bpy.types.ID, Track, ShownKey] | None:
    """Return the active track's key at, before or after the current frame."""
    active = active_track(context)
    if active is None:
        return None
    datablock, track = active
    key = key_near(track, action_frame(context, datablock))
    return None if key is None else (datablock, track, key)


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


def track_identifier(datablock: bpy.types.ID, path: str) -> str:
    """Return the identifier of a track in `WindowManager.tcb_track`."""
    return f"{type(datablock).__name__}/{name_of(datablock)}/{path}"


def reason_for_no_track(context: bpy.types.Context) -> str:
    """Return the reason why there is no active track."""
    for datablock in _active_datablocks(context):
        try:
            channels_of(datablock)
        except AnimationError as refusal:
            return str(refusal)
    return rpt_("The active object has no tracks")


def active_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    """Return the listed tracks of the active bone in Pose Mode, or of the active object and its data."""
    return [(datablock, track) for datablock, track in _all_tracks(context) if track.in_use]


def unused_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    """Return the tracks of unused rotation modes of the active bone or object."""
    return [(datablock, track) for datablock, track in _all_tracks(context) if not track.in_use]


@redraw.once
def _all_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    return [
        (datablock, track)
        for datablock, channels, bone in _active_channels(context)
        for track in tracks_shown(datablock, channels, bone)
    ]


@redraw.once
def lost_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    """Return the baked tracks of the active bone or object whose F-curves were deleted."""
    lost_here = []
    for datablock, channels, bone in _active_channels(context):
        baked = {path for slot, path in read_table(channels.action).baked if slot == channels.slot_handle}
        # Search for renamed tracks only if a track is missing, because this reads all tracks.
        if not baked or baked <= {fcurve.data_path for fcurve in channels}:
            continue
        for track in find_lost_tracks(datablock, channels, find_tracks(datablock, channels)):
            if track.path.startswith(bone) if bone else not track.path.startswith(BONES):
                lost_here.append((datablock, track))
    return lost_here


def _active_channels(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Channels, str]]:
    """Return the active bone's datablock, its F-curves and the path of the bone.

    Without Pose Mode, the path is empty, and the datablocks are the active object and its data.
    """
    owners = dict.fromkeys(_active_datablocks(context), "")
    if context.mode == "POSE":
        bone = active_bone(context)
        owners = {bone.id_data: bone_path(bone)} if bone else {}
    active = []
    for datablock, path in owners.items():
        # The tab shows the reason, see `reason_for_no_track`.
        with suppress(AnimationError):
            active.append((datablock, channels_of(datablock), path))
    return active


@redraw.once
def count_edited_outside(context: bpy.types.Context) -> int:
    """Count the listed tracks whose baked curves have changed since the bake."""
    baked = [track for _, track in active_tracks(context) if track.is_baked]
    return sum(edited_outside(baked)) + len(lost_tracks(context))


def baked_and_tcb_counts(context: bpy.types.Context) -> tuple[int, int]:
    """Return the number of baked tracks, and of all TCB tracks, in the selection and in the list."""
    counts = track_counts(context)
    return counts["BAKED"], counts[""]


@redraw.once
def track_counts(context: bpy.types.Context) -> dict[str, int]:
    """Count the tracks of each kind (see `selection.has_tracks`) in the selection and in the list.

    Kinds are "BAKED", "PLAYED" and, for all TCB tracks, "". Tracks in NLA strips count if their object has no action.
    """
    prefixes_by_datablock = selected_datablocks(context, use_data=True)
    for datablock, track in active_tracks(context):
        prefixes = prefixes_by_datablock.setdefault(datablock, [])
        if prefixes is not None:
            prefixes.append(track.path)
    counts = dict.fromkeys(("BAKED", "PLAYED", ""), 0)
    for datablock, prefixes in prefixes_by_datablock.items():
        for channels in _channels_or_strips(datablock):
            table, starts = read_table(channels.action), path_starts(prefixes)
            for kind in counts:
                counts[kind] += table.count_tracks(channels.slot_handle, starts, kind)
    return counts


def _channels_or_strips(datablock: bpy.types.ID) -> list[Channels]:
    """Return the F-curves of the datablock's action or, if it has none, the sets in NLA strips with TCB tracks."""
    animation = animation_data(datablock)
    try:
        if animation is not None and animation.action is None:
            return editable_sets(datablock, takes_plain=False).sets
        return [channels_of(datablock)]
    except AnimationError:
        return []


def active_actions(context: bpy.types.Context) -> dict[bpy.types.Action, bpy.types.ID]:
    """Return the actions of the active object and its data, each with the first datablock that it animates."""
    owners: dict[bpy.types.Action, bpy.types.ID] = {}
    for datablock in _active_datablocks(context):
        for action in actions_of([datablock]):
            owners.setdefault(action, datablock)
    return owners


def active_action_names(context: bpy.types.Context) -> str:
    """Return the names of the actions of the active object and its data, to show results only for these actions."""
    return "\n".join(action.name for action in active_actions(context))


def in_strips_only(context: bpy.types.Context) -> list[bpy.types.AnimData]:
    """Return the animation data of the active object and its data that have NLA strips but no action."""
    return [
        animation
        for animation in filter(None, map(animation_data, _active_datablocks(context)))
        if animation.action is None and any(track.strips for track in animation.nla_tracks)
    ]


def _active_datablocks(context: bpy.types.Context) -> list[bpy.types.ID]:
    """Return the animated datablocks of the active object: the object itself, and its data."""
    return [] if context.object is None else list(of_object(context.object))
