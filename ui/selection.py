# SPDX-License-Identifier: GPL-3.0-or-later
"""Selection: objects, bones, the active track, the key at the current frame, and keys in animation editors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..animation import AnimationError, find_track, of_object
from ..animation.checks.key_info import ShownKey, Sides, key_near, segments_beside, sides_in_common
from ..animation.checks.parameters_played import PlayedParameters, played_parameters
from ..animation.checks.track_state import has_plain_tracks, lost_tracks_of, tracks_of
from ..animation.datablocks import action_time, animation_data, bone_path, name_of
from ..animation.edit.selected_keys import any_selected, baked_among, keys_among, selected_keys
from ..animation.edit.track_keys import TrackKeys, goes_by_velocities, keys_of, keys_on_paths
from ..animation.fcurves.action_refusals import layered_refusals
from ..animation.fcurves.channels import Channels, channels_of
from ..animation.fcurves.frames import SAME_FRAME, is_among, union
from ..animation.fcurves.linked_data import check_editable
from ..animation.store.editable_sets import editable_sets
from ..animation.store.fingerprints import edited_outside
from ..animation.store.parameters import Numbers
from ..animation.store.paths import split, track_of
from ..animation.store.table.custom_property import Table, has_baked_tracks, read_table
from ..animation.store.table.rows import PARAMETERS, velocity_of
from ..animation.store.track_refusals import blocking_reason
from ..animation.store.tracks import Track, rotation_property
from ..animation.translation import rpt_
from . import redraw
from .sliders.slider_drag import once_a_drag, shown_in

ANIMATION_EDITORS = ("DOPESHEET_EDITOR", "GRAPH_EDITOR")
_FIRST_KEYS = 8


def selected_datablocks(context: bpy.types.Context, use_data: bool) -> dict[bpy.types.ID, list[str] | None]:
    """Return the datablocks to use, each with the path prefixes of its tracks, or None for all tracks.

    These are the selected objects or, in Pose Mode, the armatures with their selected bones. With `use_data`, the
    animated data of the objects is included.
    """
    if context.mode == "POSE":
        bones: dict[bpy.types.ID, list[str] | None] = {}
        for bone in context.selected_pose_bones or ():
            armature: Any = bone.id_data
            paths = bones.setdefault(armature, [])
            assert paths is not None
            paths.append(bone_path(bone))
        return bones
    chosen: dict[bpy.types.ID, list[str] | None] = {}
    for obj in context.selected_objects:
        parts = list(of_object(obj)) if use_data else []
        chosen |= dict.fromkeys(parts or [obj])
    return chosen


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
    if not any(any(True for _ in of_object(obj)) for obj in context.selected_objects):
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
        starts = "" if prefixes is None else tuple(prefixes)
        try:
            sets = editable_sets(datablock).sets
        except AnimationError as refusal:
            if refusal.has("LAYERED"):
                # The operator reports the reason.
                return True
            continue
        for channels in sets:
            table = read_table(channels.action)
            if table.error or table.has_tracks(channels.slot_handle, starts, kind.removeprefix("TCB")):
                return True
            if kind == "TCB" and any(track_of(fcurve.data_path) or _looks_baked(fcurve) for fcurve in channels):
                return True
    return False


@redraw.once
def is_all_tcb(context: bpy.types.Context) -> bool:
    """Return whether all tracks in use in the selection are TCB."""
    selected = selected_datablocks(context, use_data=True)
    return not any(has_plain_tracks(*each) for each in selected.items())


def _looks_baked(fcurve: bpy.types.FCurve) -> bool:
    """Return whether a curve is locked and has generated keys.

    Only the first keys are read, because each redraw of a button calls this function.
    """
    return fcurve.lock and any(point.type == "GENERATED" for point in fcurve.keyframe_points[:_FIRST_KEYS])


def active_bone(context: bpy.types.Context) -> Any:
    """Return the active bone in Pose Mode, or the first selected bone if none is active. Return None without a bone."""
    if context.mode != "POSE":
        return None
    return context.active_pose_bone or next(iter(context.selected_pose_bones or ()), None)


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
    chosen = selected_datablocks(context, use_data=True)
    for datablock, track in active_tracks(context):
        prefixes = chosen.setdefault(datablock, [])
        if prefixes is not None:
            prefixes.append(track.path)
    baked = tcb = 0
    for datablock, prefixes in chosen.items():
        try:
            channels = channels_of(datablock)
        except AnimationError:
            continue
        table, starts = read_table(channels.action), "" if prefixes is None else tuple(prefixes)
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


def active_actions(context: bpy.types.Context) -> list[bpy.types.Action]:
    """Return the actions of the active object and its data, each once."""
    if context.object is None:
        return []
    animations = [getattr(datablock, "animation_data", None) for datablock in of_object(context.object)]
    return list(dict.fromkeys(animation.action for animation in animations if animation and animation.action))


def in_strips_only(context: bpy.types.Context) -> list[bpy.types.AnimData]:
    """Return the animation data of the active object that has NLA strips but no action."""
    if context.object is None:
        return []
    every = [animation_data(datablock) for datablock in of_object(context.object)]
    return [each for each in every if each and each.action is None and any(track.strips for track in each.nla_tracks)]


def unused_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    """Return the tracks of unused rotation modes of the active bone or object."""
    return [(datablock, track) for datablock, track in _active_tracks(context) if not track.in_use]


@redraw.once
def _active_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    return _listed(context, tracks_of)


def _listed(
    context: bpy.types.Context, tracks_in: Callable[[bpy.types.ID, str], list[Track]]
) -> list[tuple[bpy.types.ID, Track]]:
    obj = context.object
    if obj is None:
        return []
    if context.mode == "POSE":
        bone = active_bone(context)
        return [(bone.id_data, track) for track in tracks_in(bone.id_data, bone_path(bone))] if bone else []
    return [(datablock, track) for datablock in of_object(obj) for track in tracks_in(datablock, "")]


def track_identifier(datablock: bpy.types.ID, path: str) -> str:
    return f"{type(datablock).__name__}/{name_of(datablock)}/{path}"


@redraw.once
def active_track(context: bpy.types.Context) -> tuple[bpy.types.ID, Track] | None:
    """Return the track chosen in the list. The default is the first track or, for a bone, its rotation."""
    tracks = active_tracks(context)
    wanted = getattr(context.window_manager, "tcb_track", "")
    found = next((pair for pair in tracks if track_identifier(pair[0], pair[1].path) == wanted), None)
    if found is None and context.mode == "POSE":
        found = next((pair for pair in tracks if pair[1].is_rotation), None)
    return found or next(iter(tracks), None)


def action_frame(context: bpy.types.Context, datablock: bpy.types.ID) -> float:
    """Return the current frame in the time of the datablock's action, which an NLA strip in tweak mode may change."""
    scene: Any = context.scene
    return action_time(datablock, float(scene.frame_current_final))


def go_to(scene: Any, frame: float) -> None:
    """Set the current frame of the scene, with its subframe."""
    if scene.frame_current_final != frame:
        scene.frame_set(int(frame // 1), subframe=frame % 1)


def scene_frame(datablock: bpy.types.ID, frame: float) -> float:
    """Convert a frame of the datablock's action to scene time."""
    animation = animation_data(datablock)
    if animation is None or not animation.use_tweak_mode:
        return frame
    return float(animation.nla_tweak_strip_time_to_scene(frame))


@redraw.once
def active_key(context: bpy.types.Context) -> tuple[bpy.types.ID, Track, ShownKey] | None:
    """Return the active track's key at, before or after the current frame."""
    found = active_track(context)
    if found is None:
        return None
    datablock, track = found
    key = key_near(track, action_frame(context, datablock), default_parameters(context))
    return None if key is None else (datablock, track, key)


def default_parameters(context: bpy.types.Context) -> dict[str, float]:
    """Return the scene's nonzero default parameters, for keys that have none of their own."""
    return defaults_of(context.scene)


def defaults_of(scene: Any) -> dict[str, float]:
    """Return the nonzero default parameters of a scene."""
    numbers = {name: float(getattr(scene.tcb.defaults, name)) for name in PARAMETERS}
    return {name: number for name, number in numbers.items() if number}


def in_animation_editor(context: bpy.types.Context) -> bool:
    return context.area is not None and context.area.type in ANIMATION_EDITORS


@redraw.once
def chosen_keys(context: bpy.types.Context) -> list[TrackKeys]:
    """Return the selected keys in an animation editor, or else the sidebar's key and related keys.

    Related keys are keys of the same property at the same frame in the rest of the selection.
    """
    dragged = shown_in(context)
    if dragged is not None:
        return dragged.chosen
    return selected_keys(editable_fcurves(context)) if in_animation_editor(context) else _keys_shown(context)


def selected_paths(
    context: bpy.types.Context, use_data: bool
) -> tuple[dict[bpy.types.ID, list[str] | None], dict[bpy.types.ID, tuple[float, float]]]:
    """Return, by datablock, the paths of tracks with selected keys, and the first and last frames of these keys.

    The keys are from an animation editor, or else from the selected objects or bones.
    """
    in_editor = in_animation_editor(context)
    paths: dict[bpy.types.ID, list[str] | None] = {}
    ranges: dict[bpy.types.ID, tuple[float, float]] = {}
    for keys in chosen_keys(context) if in_editor else _selected_on(selected_datablocks(context, use_data)):
        datablock = keys.datablock
        first, last = ranges.get(datablock, (math.inf, -math.inf))
        ranges[datablock] = min(first, float(keys.frames[0])), max(last, float(keys.frames[-1]))
        paths[datablock] = [*(paths.get(datablock) or ()), keys.track.path]
    return paths, ranges


def _selected_on(datablocks: dict[bpy.types.ID, list[str] | None]) -> list[TrackKeys]:
    """Return the keys that are selected in animation editors, for all tracks of these datablocks and prefixes."""
    found = []
    for datablock, prefixes in datablocks.items():
        with suppress(AnimationError):
            starts = "" if prefixes is None else tuple(prefixes)
            shown = [fcurve for fcurve in channels_of(datablock) if fcurve.data_path.startswith(starts)]
            found += [replace(keys, datablock=datablock) for keys in selected_keys(shown)]
    return found


def shown_and_selected_keys(context: bpy.types.Context) -> list[TrackKeys]:
    """Return the chosen keys and, in the viewport, also the selected keys of all TCB tracks of the selection."""
    chosen = chosen_keys(context)
    if in_animation_editor(context):
        return chosen
    selected = [
        keys
        for keys in _selected_on(selected_datablocks(context, use_data=True))
        if keys.track.enabled and keys.track.in_use
    ]
    by_track: dict[Any, list[TrackKeys]] = {}
    for keys in (*chosen, *selected):
        by_track.setdefault((channels_of(keys.datablock).identity, keys.track.path), []).append(keys)
    found = []
    for parts in by_track.values():
        every = keys_of(parts[0].datablock, parts[0].track)
        found.append(every.take(is_among(every.frames, union([keys.frames for keys in parts]))))
    return found


def chosen_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    """Return the tracks of the selected keys in an animation editor, or else the active track."""
    if in_animation_editor(context):
        return [(keys.datablock, keys.track) for keys in chosen_keys(context)]
    found = active_track(context)
    return [] if found is None else [found]


def _keys_shown(context: bpy.types.Context) -> list[TrackKeys]:
    found = active_key(context)
    if found is None:
        return []
    datablock, track, key = found
    keys = keys_of(datablock, track)
    frame = scene_frame(datablock, key.frame)
    seen = {(channels_of(datablock).identity, track.path)}
    shown = [keys.take(keys.frames == key.frame)]
    for owner, paths in _same_property(context, datablock, track).items():
        try:
            channels = channels_of(owner)
        except AnimationError:
            continue
        there = np.float32(action_time(owner, frame))
        # Several objects may share an action.
        others = {path for path in paths if (channels.identity, path) not in seen}
        for each in keys_on_paths(owner, channels, others) if others else ():
            chosen = each.take(np.abs(each.frames - there) <= SAME_FRAME)
            if len(chosen) and each.track.in_use:
                seen.add((channels.identity, each.track.path))
                shown.append(chosen)
    return shown


def column_of(context: bpy.types.Context, chosen: list[TrackKeys]) -> list[TrackKeys]:
    """Return the chosen keys and all keys of the selection at their frame, like a column of the Dope Sheet.

    Tracks that cannot be edited are skipped, as when Blender moves a column.
    """
    column = list(chosen)
    frame = scene_frame(chosen[0].datablock, float(chosen[0].frames[0]))
    seen = {(channels_of(keys.datablock).identity, keys.track.path) for keys in chosen}
    for owner, prefixes in selected_datablocks(context, use_data=True).items():
        try:
            channels = check_editable(owner)
        except AnimationError:
            continue
        starts = "" if prefixes is None else tuple(prefixes)
        paths = {fcurve.data_path for fcurve in channels if fcurve.data_path.startswith(starts)}
        others = {path for path in paths if (channels.identity, path) not in seen}
        for each in keys_on_paths(owner, channels, others) if others else ():
            there = each.take(np.abs(each.frames - np.float32(action_time(owner, frame))) <= SAME_FRAME)
            if len(there) and not blocking_reason(each.track):
                seen.add((channels.identity, each.track.path))
                column.append(there)
    return column


def _same_property(
    context: bpy.types.Context, datablock: bpy.types.ID, track: Track
) -> dict[bpy.types.ID, frozenset[str]]:
    """Return the paths of the track's property, or of the used rotation, for all selected bones or objects."""
    bone = active_bone(context)
    delta = "delta_" if split(track.path)[1].startswith("delta_") else ""
    if bone is not None:
        rest = track.path.removeprefix(bone_path(bone))
        paths: dict[bpy.types.ID, set[str]] = {}
        for each in context.selected_pose_bones or ():
            own = f".{rotation_property(each.rotation_mode)}" if track.is_rotation else rest
            armature: Any = each.id_data
            paths.setdefault(armature, set()).add(bone_path(each) + own)
        return {owner: frozenset(own) for owner, own in paths.items()}
    if isinstance(datablock, bpy.types.Object):
        objects = context.selected_objects
        turns = track.is_rotation
        return {
            each: frozenset([delta + rotation_property(each.rotation_mode) if turns else track.path])
            for each in objects
        }
    parts = (part for each in context.selected_objects for part in of_object(each))
    return {part: frozenset([track.path]) for part in parts if type(part) is type(datablock)}


@redraw.once
def chosen_parameters(context: bpy.types.Context) -> dict[str, Numbers]:
    """Return the values of each parameter for all chosen keys in order, with NaN for unreadable values."""
    numbers, dragged = dict(_parameters_before(context)), shown_in(context)
    if dragged is not None:
        numbers |= {name: own for name, (_, own) in dragged.numbers.items() if name in numbers}
    return numbers


@once_a_drag
def _parameters_before(context: bpy.types.Context) -> dict[str, Numbers]:
    """Return the values of each parameter, without changes by a slider's current drag."""
    defaults = default_parameters(context)
    read = [_readable(keys, defaults) for keys in chosen_keys(context)]
    return {name: np.concatenate([np.empty(0), *(numbers[name] for numbers in read)]) for name in PARAMETERS}


@redraw.once
@once_a_drag
def chosen_sides(context: bpy.types.Context) -> Sides | None:
    """Return Blender's interpolation on both sides of the chosen keys.

    Return None if the keys differ or none is chosen.
    """
    beside = [segments_beside(keys.track, keys.own, keys.frames) for keys in chosen_keys(context)]
    return sides_in_common(np.concatenate(beside)) if beside else None


@redraw.once
@once_a_drag
def is_valley(context: bpy.types.Context) -> bool:
    """Return whether the first chosen key is below its neighbors, in the component that bends most."""
    chosen = chosen_keys(context)
    keys = chosen[0] if chosen else None
    if keys is None or (keys.track.is_rotation and keys.track.kind != "EULER"):
        return False
    below, above = [], [0.0]
    for own in keys.own.values():
        frames, values = own.keys.frames, own.values
        row = int(np.searchsorted(frames, keys.frames[0] - np.float32(SAME_FRAME)))
        if 0 < row < len(frames) - 1 and abs(frames[row] - keys.frames[0]) <= SAME_FRAME:
            neighbors = values[row - 1], values[row + 1]
            below.append(float(min(neighbors) - values[row]))
            above.append(float(values[row] - max(neighbors)))
    return max(below, default=0.0) > max(above)


@redraw.once
@once_a_drag
def chosen_played(context: bpy.types.Context) -> PlayedParameters:
    """Return the parameters that affect the motion at the chosen keys, and the reasons why other parameters do not."""
    return played_parameters(chosen_keys(context))


@redraw.once
def chosen_velocities(context: bpy.types.Context) -> list[tuple[TrackKeys, Numbers]]:
    """Return the chosen keys whose method uses velocities, with one row of velocity components per key."""
    before, dragged = _velocities_before(context), shown_in(context)
    if dragged is None:
        return before
    found = [(keys, numbers.copy()) for keys, numbers in before]
    for keys, numbers in found:
        for component in range(numbers.shape[1]):
            own = dragged.numbers_of(keys, velocity_of(component))
            if own is not None:
                numbers[:, component] = own
    return found


@once_a_drag
def _velocities_before(context: bpy.types.Context) -> list[tuple[TrackKeys, Numbers]]:
    """Return the keys and velocities, without changes by a slider's current drag."""
    return [(keys, keys.velocities()) for keys in chosen_keys(context) if goes_by_velocities(keys.track)]


def _readable(keys: TrackKeys, defaults: dict[str, float]) -> dict[str, Numbers]:
    try:
        return keys.parameters(defaults)
    except AnimationError:
        return {name: np.full(len(keys), np.nan) for name in PARAMETERS}


def shown_keys(context: bpy.types.Context) -> list[TrackKeys]:
    """Return all keys in an animation editor, or else the keys of the active track."""
    if in_animation_editor(context):
        return list(keys_among(editable_fcurves(context)))
    found = active_track(context)
    return [] if found is None else [keys_of(*found)]


def editable_fcurves(context: bpy.types.Context) -> list[bpy.types.FCurve]:
    """Return the editable F-curves in the context's animation editor.

    Blender's list lacks curves that a bake has locked. TCB tools edit the saved keys of these curves.
    """
    editable = list(context.editable_fcurves or ())
    shown = list(context.visible_fcurves or ())
    if len(editable) == len(shown):
        return editable
    unlocked = {fcurve.as_pointer() for fcurve in editable}
    baked = baked_among(fcurve for fcurve in shown if fcurve.as_pointer() not in unlocked)
    return [fcurve for fcurve in shown if fcurve.as_pointer() in unlocked | baked]


def reason_no_key_is_chosen(context: bpy.types.Context) -> str:
    """Return the reason why no key is selected or shown, or an empty string."""
    if in_animation_editor(context):
        shown = editable_fcurves(context)
        return reason_for_layered_keys(shown) if any_selected(shown) else rpt_("Select keys of animated properties")
    return "" if active_track(context) else reason_for_no_track(context)


def reason_for_layered_keys(shown: Iterable[bpy.types.FCurve]) -> str:
    """Return the reason why keys cannot be used if all selected keys are in actions with several layers."""
    actions = dict.fromkeys(fcurve.id_data for fcurve in shown if any_selected([fcurve]))
    refused = [layered_refusals(action) if isinstance(action, bpy.types.Action) else [] for action in actions]
    return str(refused[0][0]) if refused and all(refused) else ""


def reason_for_no_track(context: bpy.types.Context) -> str:
    """Return the reason why there is no active track, or an empty string."""
    for datablock in of_object(context.object) if context.object is not None else ():
        try:
            channels_of(datablock)
        except AnimationError as refusal:
            return str(refusal)
    return rpt_("The active object has no tracks")
