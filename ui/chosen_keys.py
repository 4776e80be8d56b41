# SPDX-License-Identifier: GPL-3.0-or-later
"""Chosen keys: the keys selected in an animation editor, or else the sidebar's key, with their parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ..animation import AnimationError, of_object
from ..animation.checks.key_info import Sides, kinds_beside, sides_in_common
from ..animation.checks.parameters_played import PlayedParameters, played_parameters
from ..animation.edit.selected_keys import any_selected, baked_among, keys_among, selected_keys
from ..animation.edit.track_keys import TrackKeys, goes_by_velocities, keys_of, keys_on_paths
from ..animation.fcurves.action_refusals import layered_refusals
from ..animation.fcurves.channels import channels_of
from ..animation.fcurves.frames import SAME_FRAME, is_among, union
from ..animation.fcurves.linked_data import check_editable
from ..animation.scene_time import action_time
from ..animation.store.parameters import Numbers
from ..animation.store.paths import bone_path, split
from ..animation.store.table.rows import PARAMETERS, velocity_of
from ..animation.store.track_refusals import blocking_reason
from ..animation.store.tracks import Track, rotation_property
from ..animation.translation import rpt_
from . import redraw
from .selection import (
    active_bone,
    active_key,
    active_track,
    default_parameters,
    reason_for_no_track,
    scene_frame,
    selected_datablocks,
)
from .sliders.slider_drag import once_a_drag, shown_in

ANIMATION_EDITORS = ("DOPESHEET_EDITOR", "GRAPH_EDITOR")


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
    """Return the interpolation on both sides of the chosen keys, or None if they differ or none is chosen."""
    beside = [kinds_beside(keys.track, keys.own, keys.frames) for keys in chosen_keys(context)]
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
