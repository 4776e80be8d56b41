# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts on tracks: their labels, their state, how far off handles are, and why they can't be edited, read or used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy

from ..animation import AnimationError
from ..animation.bake.notes import rounding_of
from ..animation.checks.parameters_played import Obstacle, PlayedParameters
from ..animation.checks.track_state import STATES
from ..animation.fcurves.editable import check_editable
from ..animation.number_text import size_text
from ..animation.store.own_keys import read_own_keys
from ..animation.store.paths import BONES, split
from ..animation.store.tracks import Track, blocking_reason
from ..animation.translation import iface_, n_, rpt_
from ..interp.splines import METHODS

_COMPONENT_LETTERS = {
    "TRANSLATION": "XYZ",
    "XYZ": "XYZ",
    "XYZ_LENGTH": "XYZ",
    "DIRECTION": "XYZ",
    "VELOCITY": "XYZ",
    "ACCELERATION": "XYZ",
    "EULER": "XYZ",
    "QUATERNION": "WXYZ",
    "AXISANGLE": "WXYZ",
    "COLOR": "RGBA",
    "COLOR_GAMMA": "RGBA",
}
"""Blender's letters of the components of properties, by their subtypes."""


def track_label(datablock: bpy.types.ID, track: Track) -> str:
    """Return the property's name as Blender shows it, with the name of the datablock's part that has it, as a bone."""
    label = property_label(datablock, track)
    bone = getattr(_owner(datablock, track), "name", "") if split(track.path)[0].startswith(BONES) else ""
    return f"{label}, {bone}" if bone and label != track.path else label


def property_label(datablock: bpy.types.ID, track: Track) -> str:
    """Return the same without the name of a bone, where a list is a bone's."""
    owner_path, name = split(track.path)
    if name.startswith("["):
        return name[1:-1]
    owner = _owner(datablock, track)
    prop = owner and owner.bl_rna.properties.get(name)
    if not prop:
        return track.path
    label = iface_(prop.name)
    part = "" if isinstance(owner, bpy.types.PoseBone) else getattr(owner, "name", "")
    return f"{label}, {part}" if owner_path and part else label


def component_label(datablock: bpy.types.ID, track: Track, index: int) -> str:
    """Return Blender's name of that component of the property."""
    owner = _owner(datablock, track)
    prop = owner and owner.bl_rna.properties.get(split(track.path)[1])
    letters = _COMPONENT_LETTERS.get(prop.subtype, "") if prop else ""
    if index < len(letters):
        return letters[index]
    return str(index) if len(track.rest) > 1 else iface_("Value")


def _owner(datablock: bpy.types.ID, track: Track) -> Any:
    """Return what has the animated property."""
    owner_path = split(track.path)[0].removesuffix(".")
    try:
        return datablock.path_resolve(owner_path) if owner_path else datablock
    except ValueError:
        return None


def editing_blocked_by(datablock: bpy.types.ID, track: Track) -> str:
    """Return why nothing of the track can be changed; empty where it can."""
    try:
        check_editable(datablock)
    except AnimationError as error:
        return error.reason
    return blocking_reason(track)


def settings_error(track: Track) -> str:
    """Return why the track's saved settings can't be read; empty where they can."""
    try:
        _ = track.settings
    except AnimationError as error:
        return error.reason
    return ""


def parameters_text(played: PlayedParameters, tracks: Sequence[Track]) -> str:
    """Return what keeps parameters of keys from acting, in a line; else how the keys are played."""
    if played.obstacles:
        return _obstacle_text(played.obstacles[0])
    if not any(track.enabled for track in tracks):
        return iface_("Not TCB: a slider enables it")
    return iface_("Handles: Free") if any(track.is_played_by_handles for track in tracks) else iface_("All sliders act")


def _obstacle_text(obstacle: Obstacle) -> str:
    if obstacle.cause == "END":
        return iface_(_ENDS[obstacle.names[0]])
    if obstacle.cause == "METHOD":
        labels = ", ".join(iface_(METHODS[name].label) for name in obstacle.names)
        return iface_("Method: {:s}", labels)
    is_handle = obstacle.cause == "HANDLES"
    prop: Any = bpy.types.Keyframe.bl_rna.properties["handle_left_type" if is_handle else "interpolation"]
    names = ", ".join(iface_(prop.enum_items[name].name) for name in obstacle.names)
    return iface_(n_("Handles: {:s}") if is_handle else n_("Interpolation: {:s}"), names)


_ENDS = {
    "FIRST": n_("First key of the track"),
    "LAST": n_("Last key of the track"),
    "": n_("The curve ends at these keys"),
}


def _largest_value(track: Track) -> float:
    """Return the largest absolute value of the track's own keys."""
    return max((abs(value) for own in read_own_keys(track).values() for value in own.values.tolist()), default=0.0)


def state_text(track: Track, current: str) -> str:
    """Return the state as text, for handles with their maximum error and its frame.

    An error above the tolerance is marked.
    """
    if current == "BAKED" and track.settings.options is not None and track.settings.options.in_world:
        return iface_("baked in world space")
    error = track.state.error if track.state is not None else None
    if current != "HANDLES" or error is None or not math.isfinite(error.frame):
        return iface_(STATES[current])
    if not error.is_approximate and error.size <= rounding_of(track, _largest_value(track)):
        return rpt_("handles, exact")
    size = size_text(error.size, is_angle=track.is_rotation)
    text = n_("≈ {:s} off at {:g}") if error.is_approximate else n_("handles, {:s} at {:g}")
    return rpt_(text, size, round(error.frame, 1))
