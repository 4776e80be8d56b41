# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts about tracks: labels, states, and reasons why tracks cannot be edited, read or used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy

from ..animation import AnimationError
from ..animation.checks.track_state import state
from ..animation.datablocks import name_of
from ..animation.fcurves.linked_data import check_editable
from ..animation.number_text import size_text
from ..animation.records import record
from ..animation.store.paths import split
from ..animation.store.track_refusals import blocking_reason
from ..animation.store.tracks import Track
from ..animation.track_names import letters_of, track_name
from ..animation.translation import iface_, listed, n_


def track_label(datablock: bpy.types.ID, track: Track) -> str:
    """Return Blender's name of the property, with the name of the owner in the datablock, such as a bone."""
    label, bone = property_label(datablock, track), _bone_name(datablock, track)
    return f"{label}, {bone}" if bone else label


def labels_of(tracks: Sequence[tuple[bpy.types.ID, Track]]) -> str:
    """Return the names of the bones or datablocks, and the names of their animated properties."""
    owners = dict.fromkeys(_bone_name(datablock, track) or name_of(datablock) for datablock, track in tracks)
    properties = dict.fromkeys(property_label(datablock, track) for datablock, track in tracks)
    return f"{listed(list(owners))}: {listed(list(properties))}"


def property_label(datablock: bpy.types.ID, track: Track) -> str:
    """Return Blender's name of the property without the name of the bone, for lists of a single bone."""
    owner_path, name = split(track.path)
    # Paths of custom properties are in brackets.
    if name.startswith("["):
        return str(bpy.utils.unescape_identifier(name[1:-1]))
    owner, prop = _owner_and_property(datablock, track)
    if not prop:
        return track_name(track.path)
    label = iface_(prop.name)
    owner_name = "" if isinstance(owner, bpy.types.PoseBone) else getattr(owner, "name", "")
    return f"{label}, {owner_name}" if owner_path and owner_name else label


def component_label(datablock: bpy.types.ID, track: Track, index: int) -> str:
    """Return Blender's name of a component of the property."""
    letters = letters_of(_owner_and_property(datablock, track)[1])
    if index < len(letters):
        return letters[index]
    return str(index) if len(track.rest) > 1 else iface_("Value")


def _bone_name(datablock: bpy.types.ID, track: Track) -> str:
    owner, _ = _owner_and_property(datablock, track)
    return owner.name if isinstance(owner, bpy.types.PoseBone) else ""


def _owner_and_property(datablock: bpy.types.ID, track: Track) -> tuple[Any, Any]:
    """Return the owner of the animated property, and the declaration of the property, or None if they do not exist."""
    owner_path, name = split(track.path)
    try:
        owner: Any = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
    except ValueError:
        return None, None
    return owner, owner.bl_rna.properties.get(name)


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
        return list(_STATE_TEXTS).index(self.name)


_STATE_TEXTS = {
    "EDITED_OUTSIDE": ("ERROR", n_("Edited Outside TCB"), n_("Changed since the bake. Apply or discard the edits")),
    "BLOCKED": ("CANCEL", n_("Blocked"), ""),
    "OUT_OF_DATE": ("FILE_REFRESH", n_("Out of Date"), n_("Changed since the last update. Bake again")),
    "OTHER_MODE": (
        "ORIENTATION_GIMBAL",
        n_("Other Rotation Mode"),
        n_("Computed for another user of the action. Use its rotation mode, or separate actions"),
    ),
    "APPROXIMATE": (
        "FORCE_HARMONIC",
        n_("Off by {:s}"),
        n_("Handles approximate the motion. Maximum error: {:s} at frame {:g}. Bake for an exact render"),
    ),
    "PLAIN": ("BLANK1", n_("Not TCB"), n_("Blender plays these keys. Enable TCB")),
    "TCB": ("KEYFRAME", n_("Off"), n_("Your own curves play. Bake, or turn on Live")),
    "BAKED": ("LOCKED", n_("Baked"), n_("Exact and locked. Free the bake to edit")),
    "HANDLES": ("CHECKMARK", n_("Up to Date"), n_("Handles play the motion")),
}
"""Icon, label and tooltip of states, with the most important state first."""
_STATES_TO_EDIT = {"PLAIN", "TCB", "HANDLES", "OUT_OF_DATE"}
"""States in which a track is shown as blocked if it cannot be edited."""


def shown_state(datablock: bpy.types.ID, track: Track) -> ShownState:
    """Return the displayed state of a track."""
    reason = settings_error(track)
    name = "BLOCKED" if reason else state(track)
    if name in _STATES_TO_EDIT and (reason := editing_blocked_by(datablock, track)):
        name = "BLOCKED"
    error = _measured_error(track)
    if name == "HANDLES" and error is not None and error.is_approximate:
        name = "APPROXIMATE"
    icon, label, tooltip = _STATE_TEXTS[name]
    label, tooltip = iface_(label), iface_(tooltip)
    if name == "APPROXIMATE" and error is not None:
        size = _size_text(datablock, track, error.size)
        return ShownState(name, icon, label.format(size), tooltip.format(size, round(error.frame, 1)))
    if name == "BLOCKED":
        tooltip = reason
    elif name == "HANDLES" and error is not None:
        size = _size_text(datablock, track, error.size)
        tooltip = iface_("Handles play the motion. Maximum error: {:s} at frame {:g}", size, round(error.frame, 1))
    elif name == "BAKED" and track.settings.options is not None and track.settings.options.in_world:
        tooltip = iface_("Exact and locked, baked in world space. Free the bake to edit")
    return ShownState(name, icon, label, iface_("{:s}: {:s}", label, tooltip))


def _measured_error(track: Track) -> Any:
    """Return the maximum error of the track's handles, or None if it was not measured."""
    error = track.state.error if track.enabled and track.state is not None else None
    return error if error is not None and math.isfinite(error.frame) else None


def _size_text(datablock: bpy.types.ID, track: Track, size: float) -> str:
    """Format a maximum error with two digits, in degrees for rotations and in the scene's unit for lengths."""
    if track.is_rotation:
        return f"{math.degrees(size):.2g}°"
    _, prop = _owner_and_property(datablock, track)
    scene: Any = bpy.context.scene
    units = scene.unit_settings
    if not prop or prop.unit != "LENGTH" or units.system == "NONE":
        return size_text(size)
    return bpy.utils.units.to_string(units.system, "LENGTH", size * units.scale_length, precision=2)
