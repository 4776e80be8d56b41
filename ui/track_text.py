# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts about tracks: labels, states, and reasons why tracks cannot be edited, read or used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy

from ..animation import AnimationError
from ..animation.checks.parameters_played import Obstacle, PlayedParameters
from ..animation.checks.track_state import state
from ..animation.fcurves.editable import check_editable
from ..animation.number_text import size_text
from ..animation.records import record
from ..animation.store.paths import BONES, split
from ..animation.store.track_refusals import blocking_reason
from ..animation.store.tracks import Track
from ..animation.translation import iface_, n_
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
"""Blender's component letters by property subtype."""


def track_label(datablock: bpy.types.ID, track: Track) -> str:
    """Return Blender's name of the property, with the name of the owner in the datablock, such as a bone."""
    label = property_label(datablock, track)
    bone = getattr(_owner(datablock, track), "name", "") if split(track.path)[0].startswith(BONES) else ""
    return f"{label}, {bone}" if bone and label != track.path else label


def property_label(datablock: bpy.types.ID, track: Track) -> str:
    """Return the label without the name of the bone, for lists of a single bone."""
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
    """Return Blender's name of a component of the property."""
    owner = _owner(datablock, track)
    prop = owner and owner.bl_rna.properties.get(split(track.path)[1])
    letters = _COMPONENT_LETTERS.get(prop.subtype, "") if prop else ""
    if index < len(letters):
        return letters[index]
    return str(index) if len(track.rest) > 1 else iface_("Value")


def _owner(datablock: bpy.types.ID, track: Track) -> Any:
    """Return the owner of the animated property."""
    owner_path = split(track.path)[0].removesuffix(".")
    try:
        return datablock.path_resolve(owner_path) if owner_path else datablock
    except ValueError:
        return None


def editing_blocked_by(datablock: bpy.types.ID, track: Track) -> str:
    """Return the reason why the track cannot be changed, or an empty string."""
    try:
        check_editable(datablock)
    except AnimationError as error:
        return error.message
    reason = blocking_reason(track)
    return reason.message if reason else ""


def settings_error(track: Track) -> str:
    """Return the reason why the saved settings of the track cannot be read, or an empty string."""
    try:
        _ = track.settings
    except AnimationError as error:
        return error.message
    return ""


def parameters_text(played: PlayedParameters, tracks: Sequence[Track]) -> str:
    """Return the reason why key sliders are gray, or the effect of the sliders, or an empty string."""
    if played.obstacles:
        return _obstacle_text(played.obstacles[0])
    return "" if any(track.enabled for track in tracks) else iface_("Moving a slider enables TCB")


def _obstacle_text(obstacle: Obstacle) -> str:
    if obstacle.cause == "END":
        return iface_(_ENDS[obstacle.names[0]])
    if obstacle.cause == "METHOD":
        labels = ", ".join(iface_(METHODS[name].label) for name in obstacle.names)
        return iface_("Method: {:s}", labels)
    is_handle = obstacle.cause == "HANDLES"
    prop: Any = bpy.types.Keyframe.bl_rna.properties["handle_left_type" if is_handle else "interpolation"]
    names = ", ".join(iface_(prop.enum_items[name].name) for name in obstacle.names)
    return iface_("Handles: {:s}", names) if is_handle else iface_("Keys: {:s}", names)


_ENDS = {
    "FIRST": n_("First key: nothing before it"),
    "LAST": n_("Last key: nothing after it"),
    "": n_("The curve ends at these keys"),
}


@record()
class ShownState:
    """Displayed state of a track."""

    name: str
    """A key of `track_state.STATES`, or "APPROXIMATE" or "BLOCKED"."""
    icon: str
    label: str
    """Translated title such as "Up to Date", or the maximum error of approximate handles."""
    tooltip: str
    """Translated tooltip with the reason or a solution."""

    @property
    def rank(self) -> int:
        """Return the rank of the state. The most important state comes first."""
        return list(_SHOWN).index(self.name)


_SHOWN = {
    "EDITED_OUTSIDE": ("ERROR", n_("Edited Outside"), n_("Changed since the bake. Apply or discard the edits")),
    "BLOCKED": ("CANCEL", n_("Blocked"), ""),
    "OUT_OF_DATE": ("FILE_REFRESH", n_("Out of Date"), n_("Changed since the last update. Bake again")),
    "OTHER_MODE": ("ORIENTATION_GIMBAL", n_("Other Rotation Mode"), n_("Up to date for another rotation mode")),
    "APPROXIMATE": (
        "FORCE_HARMONIC",
        n_("≈ {:s}"),
        n_("Maximum error {:s} at frame {:g}. Bake for an exact render"),
    ),
    "PLAIN": ("BLANK1", n_("Not TCB"), n_("Blender plays these keys. Enable TCB")),
    "TCB": ("KEYFRAME", n_("Off"), n_("Your own curves play. Bake, or switch on Live")),
    "BAKED": ("LOCKED", n_("Baked"), n_("Exact and locked. Free the bake to edit")),
    "HANDLES": ("CHECKMARK", n_("Up to Date"), n_("Handles play the motion")),
}
"""Icon, label and tooltip of states, with the most important state first."""


def _error_text(track: Track, size: float) -> str:
    """Format a maximum error with two digits, in degrees for rotations."""
    return f"{math.degrees(size):.2g}°" if track.is_rotation else size_text(size)


def shown_state(datablock: bpy.types.ID, track: Track) -> ShownState:
    """Return the displayed state of a track."""
    error = track.state.error if track.enabled and track.state is not None else None
    reason = settings_error(track)
    name = "BLOCKED" if reason else state(track)
    if name in {"PLAIN", "TCB", "HANDLES", "OUT_OF_DATE"} and not reason:
        reason = editing_blocked_by(datablock, track)
        name = "BLOCKED" if reason else name
    if name == "HANDLES" and error is not None and error.is_approximate and math.isfinite(error.frame):
        name = "APPROXIMATE"
    icon, label, tooltip = _SHOWN[name]
    label, tooltip = iface_(label), iface_(tooltip)
    if name == "BLOCKED":
        tooltip = reason
    elif name == "APPROXIMATE" and error is not None:
        size = _error_text(track, error.size)
        label, tooltip = label.format(size), tooltip.format(size, round(error.frame, 1))
    elif name == "HANDLES" and error is not None and math.isfinite(error.frame):
        size = _error_text(track, error.size)
        tooltip = iface_("Handles play the motion: maximum error {:s} at frame {:g}", size, round(error.frame, 1))
    elif name == "BAKED" and track.settings.options is not None and track.settings.options.in_world:
        tooltip = iface_("Exact and locked, baked in world space. Free the bake to edit")
    return ShownState(name, icon, label, iface_("{:s}: {:s}", label, tooltip) if name != "APPROXIMATE" else tooltip)
