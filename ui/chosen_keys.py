# SPDX-License-Identifier: GPL-3.0-or-later
"""Chosen keys: the keys selected in an animation editor, or else the sidebar's key, with their values and sides."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ..animation import AnimationError, of_object
from ..animation.checks.shown_key import (
    PlayedParameters,
    Sides,
    interpolations_beside,
    interpolations_in_common,
    played_parameters,
)
from ..animation.edit.track_keys import (
    TrackKeys,
    any_selected,
    baked_among,
    keys_among,
    keys_of,
    keys_on_paths,
    selected_keys,
    uses_velocities,
)
from ..animation.fcurves.channels import Channels, channels_of, check_editable, layered_refusals
from ..animation.fcurves.keyframes import SAME_FRAME, IndexArray, is_among, union
from ..animation.scene_time import action_time, scene_frame
from ..animation.store.editable import blocking_reason
from ..animation.store.parameters import Numbers, means_of_keys
from ..animation.store.paths import bone_path, split
from ..animation.store.table.rows import PARAMETERS
from ..animation.store.tracks import Track, rotation_property
from ..animation.text import rpt_
from ..animation.track_paths import WholePath
from . import redraw
from .scene import defaults_of
from .selection import active_bone, path_starts, selected_datablocks
from .sidebar_tracks import active_key, active_track, reason_for_no_track
from .sliders.slider_drag import component_parameters_or_nan, once_a_drag, shown_in

ANIMATION_EDITORS = ("DOPESHEET_EDITOR", "GRAPH_EDITOR")


def in_animation_editor(context: bpy.types.Context) -> bool:
    return context.area is not None and context.area.type in ANIMATION_EDITORS


@redraw.once
def chosen_keys(context: bpy.types.Context) -> list[TrackKeys]:
    """Return the selected keys in an animation editor, or else the sidebar's key and related keys.

    Related keys are keys of the same property at the same frame in the rest of the selection.
    """
    drag = shown_in(context)
    if drag is not None:
        return drag.chosen
    return selected_keys(editable_fcurves(context)) if in_animation_editor(context) else _sidebar_keys(context)


def chosen_tracks(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track]]:
    """Return the tracks of the chosen keys."""
    return [(keys.datablock, keys.track) for keys in chosen_keys(context)]


def shown_keys(context: bpy.types.Context) -> list[TrackKeys]:
    """Return all keys in an animation editor, or else the keys of the active track."""
    if in_animation_editor(context):
        return list(keys_among(editable_fcurves(context)))
    active = active_track(context)
    return [] if active is None else [keys_of(*active)]


def editable_fcurves(context: bpy.types.Context) -> list[bpy.types.FCurve]:
    """Return the editable F-curves in the context's animation editor.

    Blender's list lacks curves that a bake has locked. TCB tools edit the saved keys of these curves.
    """
    editable = list(context.editable_fcurves or ())
    visible = list(context.visible_fcurves or ())
    if len(editable) == len(visible):
        return editable
    unlocked = {fcurve.as_pointer() for fcurve in editable}
    baked = baked_among(fcurve for fcurve in visible if fcurve.as_pointer() not in unlocked)
    return [fcurve for fcurve in visible if fcurve.as_pointer() in unlocked | baked]


def reason_no_key_is_chosen(context: bpy.types.Context) -> str:
    """Return the reason why no key is selected or shown, or an empty string."""
    if in_animation_editor(context):
        fcurves = editable_fcurves(context)
        if any_selected(fcurves):
            return _reason_for_layers(fcurves)
        if fcurves or active_track(context):
            return rpt_("Select keys")
    return "" if active_track(context) else reason_for_no_track(context)


def _reason_for_layers(fcurves: Iterable[bpy.types.FCurve]) -> str:
    """Return the reason why keys cannot be used if all selected keys are in actions with several layers, or ""."""
    actions = dict.fromkeys(fcurve.id_data for fcurve in fcurves if any_selected([fcurve]))
    refusals = [layered_refusals(action) if isinstance(action, bpy.types.Action) else [] for action in actions]
    return str(refusals[0][0]) if refusals and all(refusals) else ""


def _sidebar_keys(context: bpy.types.Context) -> list[TrackKeys]:
    active = active_key(context)
    if active is None:
        return []
    datablock, track, key = active
    keys_of_track = keys_of(datablock, track)
    shown = keys_of_track.take(keys_of_track.frames == key.frame)
    return _with_keys_at_frame([shown], _same_property(context, datablock, track), lambda keys: keys.track.in_use)


def _same_property(context: bpy.types.Context, datablock: bpy.types.ID, track: Track) -> dict[bpy.types.ID, set[str]]:
    """Return the paths of the track's property, or of the used rotation, for all selected bones or objects."""
    paths: dict[bpy.types.ID, set[str]] = {}
    active = active_bone(context)
    if active is not None:
        property_suffix = track.path.removeprefix(bone_path(active))
        for bone in context.selected_pose_bones or ():
            armature: Any = bone.id_data
            suffix = f".{rotation_property(bone.rotation_mode)}" if track.is_rotation else property_suffix
            paths.setdefault(armature, set()).add(bone_path(bone) + suffix)
    elif isinstance(datablock, bpy.types.Object):
        delta = "delta_" if split(track.path)[1].startswith("delta_") else ""
        for obj in context.selected_objects:
            paths[obj] = {delta + rotation_property(obj.rotation_mode) if track.is_rotation else track.path}
    else:
        owners = (owner for obj in context.selected_objects for owner in of_object(obj))
        paths = {owner: {track.path} for owner in owners if type(owner) is type(datablock)}
    return paths


def column_of(context: bpy.types.Context, chosen: list[TrackKeys]) -> list[TrackKeys]:
    """Return the chosen keys and all keys of the selection at their frame, like a column of the Dope Sheet.

    Tracks that cannot be edited are skipped, as when Blender moves a column.
    """
    paths: dict[bpy.types.ID, set[str]] = {}
    for datablock, prefixes in selected_datablocks(context, use_data=True).items():
        with suppress(AnimationError):
            starts = path_starts(prefixes)
            all_paths = {fcurve.data_path for fcurve in check_editable(datablock)}
            paths[datablock] = {path for path in all_paths if path.startswith(starts)}
    return _with_keys_at_frame(chosen, paths, lambda keys: not blocking_reason(keys.track))


_TrackIdentity = tuple[Hashable, str]
"""Identity of an F-curve container, which several objects may share, and a path."""


def _identity(channels: Channels, track: Track) -> _TrackIdentity:
    return channels.identity, track.path


def _with_keys_at_frame(
    chosen: Sequence[TrackKeys], paths: Mapping[bpy.types.ID, set[str]], is_wanted: Callable[[TrackKeys], bool]
) -> list[TrackKeys]:
    """Return the chosen keys, and the wanted keys at their scene frame on other tracks with the given paths."""
    keys_at_frame = list(chosen)
    frame = scene_frame(chosen[0].datablock, float(chosen[0].frames[0]))
    seen = {_identity(channels_of(keys.datablock), keys.track) for keys in chosen}
    for datablock, paths_of_datablock in paths.items():
        try:
            channels = channels_of(datablock)
        except AnimationError:
            continue
        new_paths = {path for path in paths_of_datablock if (channels.identity, path) not in seen}
        action_frame = np.float32(action_time(datablock, frame))
        for keys_of_track in keys_on_paths(datablock, channels, new_paths) if new_paths else ():
            keys = keys_of_track.take(np.abs(keys_of_track.frames - action_frame) <= SAME_FRAME)
            if len(keys) and is_wanted(keys):
                seen.add(_identity(channels, keys.track))
                keys_at_frame.append(keys)
    return keys_at_frame


def selected_paths(
    context: bpy.types.Context, use_data: bool
) -> tuple[dict[bpy.types.ID, list[str] | None], dict[bpy.types.ID, tuple[float, float]]]:
    """Return, by datablock, the paths of tracks with selected keys, and the first and last frames of these keys.

    The keys are from an animation editor, or else from the selected objects or bones.
    """
    if in_animation_editor(context):
        selected = chosen_keys(context)
    else:
        selected = _selected_keys_of(selected_datablocks(context, use_data))
    paths: dict[bpy.types.ID, list[str] | None] = {}
    ranges: dict[bpy.types.ID, tuple[float, float]] = {}
    for keys in selected:
        datablock = keys.datablock
        first, last = ranges.get(datablock, (math.inf, -math.inf))
        ranges[datablock] = min(first, float(keys.frames[0])), max(last, float(keys.frames[-1]))
        paths[datablock] = [*(paths.get(datablock) or ()), WholePath(keys.track.path)]
    return paths, ranges


def shown_and_selected_keys(context: bpy.types.Context) -> list[TrackKeys]:
    """Return the chosen keys and, in the viewport, also the selected keys of all TCB tracks of the selection."""
    chosen = chosen_keys(context)
    if in_animation_editor(context):
        return chosen
    selected = [
        keys
        for keys in _selected_keys_of(selected_datablocks(context, use_data=True))
        if keys.track.enabled and keys.track.in_use
    ]
    keys_by_track: dict[_TrackIdentity, list[TrackKeys]] = {}
    for keys in (*chosen, *selected):
        keys_by_track.setdefault(_identity(channels_of(keys.datablock), keys.track), []).append(keys)
    return [_united(keys_of_track) for keys_of_track in keys_by_track.values()]


def _united(keys_of_track: Sequence[TrackKeys]) -> TrackKeys:
    all_keys = keys_of(keys_of_track[0].datablock, keys_of_track[0].track)
    return all_keys.take(is_among(all_keys.frames, union([keys.frames for keys in keys_of_track])))


def _selected_keys_of(datablocks: dict[bpy.types.ID, list[str] | None]) -> list[TrackKeys]:
    """Return the keys that are selected in animation editors, for all tracks of these datablocks and prefixes."""
    selected = []
    for datablock, prefixes in datablocks.items():
        with suppress(AnimationError):
            starts = path_starts(prefixes)
            fcurves = [fcurve for fcurve in channels_of(datablock) if fcurve.data_path.startswith(starts)]
            selected += [replace(keys, datablock=datablock) for keys in selected_keys(fcurves)]
    return selected


_MAX_CURVES = 12
"""Maximum number of overlaid curves."""


@redraw.once
def chosen_parameters(context: bpy.types.Context) -> dict[str, Numbers]:
    """Return the values of each parameter for all components of the chosen keys, with NaN for unreadable values."""
    key_rows, values_by_name = _parameters_before_drag(context)
    return values_by_name | {name: values[key_rows] for name, values in _dragged_parameters(context).items()}


@redraw.once
def parameters_of_keys(context: bpy.types.Context) -> dict[str, Numbers]:
    """Return one value of each parameter for each chosen key in order, with NaN for unreadable values.

    If the components of a key have different values, the value is their mean.
    """
    key_count = sum(map(len, chosen_keys(context)))
    return means_of_keys(*_parameters_before_drag(context), key_count) | _dragged_parameters(context)


def _dragged_parameters(context: bpy.types.Context) -> dict[str, Numbers]:
    drag = shown_in(context)
    return {} if drag is None else {name: drag.numbers[name] for name in PARAMETERS if name in drag.numbers}


def different_parameters(context: bpy.types.Context) -> list[dict[str, float]]:
    """Return the distinct parameters of the chosen keys' components, up to a dozen, for overlaid curves."""
    numbers_by_name = chosen_parameters(context)
    all_parameters = np.stack([numbers_by_name[name] for name in PARAMETERS], axis=1)
    different = np.unique(all_parameters.round(3), axis=0)
    return [dict(zip(PARAMETERS, row, strict=True)) for row in different[:_MAX_CURVES].tolist()]


@once_a_drag
def _parameters_before_drag(context: bpy.types.Context) -> tuple[IndexArray, dict[str, Numbers]]:
    return component_parameters_or_nan(chosen_keys(context), defaults_of(context.scene))


@once_a_drag
def chosen_velocities(context: bpy.types.Context) -> list[tuple[TrackKeys, Numbers]]:
    """Return the chosen keys whose method uses velocities, with one row of velocity components per key.

    A drag does not change these velocities until it ends.
    """
    return [(keys, keys.velocities()) for keys in chosen_keys(context) if uses_velocities(keys.track)]


@once_a_drag
def chosen_played(context: bpy.types.Context) -> PlayedParameters:
    """Return the parameters that affect the motion at the chosen keys, and a reason why others do not."""
    return played_parameters(chosen_keys(context))


@once_a_drag
def chosen_sides(context: bpy.types.Context) -> Sides | None:
    """Return the interpolation on both sides of the chosen keys, or None if they differ or none is chosen."""
    sides_by_track = [interpolations_beside(keys.track, keys.own, keys.frames) for keys in chosen_keys(context)]
    return interpolations_in_common(np.concatenate(sides_by_track)) if sides_by_track else None
