# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels of tracks, their states with icons and tooltips, and reasons why tracks cannot be edited or read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy

from ..animation import AnimationError
from ..animation.checks.track_state import state
from ..animation.datablocks import name_of
from ..animation.fcurves.channels import check_editable
from ..animation.records import record
from ..animation.store.editable import blocking_reason
from ..animation.store.paths import split
from ..animation.store.tracks import Track
from ..animation.text import iface_, listed, n_, size_text
from ..animation.track_paths import letters_of, track_name
from . import redraw
from .scene import length_text
from .sidebar_tracks import active_tracks, in_strips_only, track_counts


def track_label(datablock: bpy.types.ID, track: Track) -> str:
    """Return Blender's name of the property, with the name of the owner in the datablock, such as a bone."""
    label, bone = property_label(datablock, track), _bone_name(datablock, track)
    return f"{label}, {bone}" if bone else label


def labels_of(tracks: Sequence[tuple[bpy.types.ID, Track]]) -> str:
    """Return the names of the bones or datablocks, and the names of their animated properties."""
    owners = dict.fromkeys(_bone_name(datablock, track) or owner_label(datablock) for datablock, track in tracks)
    properties = dict.fromkeys(property_label(datablock, track) for datablock, track in tracks)
    return f"{listed(list(owners))}: {listed(list(properties))}"


def owner_label(datablock: bpy.types.ID) -> str:
    """Return the name of the datablock. Shape keys are named by their kind, because Blender hides their datablock."""
    return iface_("Shape Keys") if isinstance(datablock, bpy.types.Key) else name_of(datablock)


def property_label(datablock: bpy.types.ID, track: Track) -> str:
    """Return Blender's name of the property without the name of the bone, for lists of a single bone."""
    owner_path, name = split(track.path)
    # Paths of custom properties are in brackets.
    if name.startswith("["):
        return str(bpy.utils.unescape_identifier(name[1:-1]))
    owner, prop = owner_and_property(datablock, track)
    if isinstance(owner, bpy.types.ShapeKey) and name == "value":
        return iface_("{:s} (shape key)", owner.name)
    if not prop:
        return track_name(track.path)
    label = iface_(prop.name)
    owner_name = "" if isinstance(owner, bpy.types.PoseBone) else getattr(owner, "name", "")
    return f"{label}, {owner_name}" if owner_path and owner_name else label


def component_label(datablock: bpy.types.ID, track: Track, index: int) -> str:
    """Return Blender's name of a component of the property."""
    letters = letters_of(owner_and_property(datablock, track)[1])
    if index < len(letters):
        return letters[index]
    return str(index) if len(track.rest) > 1 else iface_("Value")


def _bone_name(datablock: bpy.types.ID, track: Track) -> str:
    owner, _ = owner_and_property(datablock, track)
    return owner.name if isinstance(owner, bpy.types.PoseBone) else ""


def owner_and_property(datablock: bpy.types.ID, track: Track) -> tuple[Any, Any]:
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
        n_("Error {:s}"),
        n_("Handles approximate the motion. Maximum error: {:s} at frame {:g}. Bake for an exact render"),
    ),
    "PLAIN": ("BLANK1", n_("Not TCB"), n_("Blender plays these keys. Enable TCB")),
    "TCB": ("KEYFRAME", n_("Off"), n_("Your own curves play. Bake, or turn on Live")),
    "BAKED": ("LOCKED", n_("Baked"), n_("Locked. Free the bake to edit")),
    "HANDLES": ("CHECKMARK", n_("Up to Date"), n_("Handles play the motion")),
}
"""Icon, label and tooltip of states, with the most important state first."""


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


@redraw.once
def shown_states(context: bpy.types.Context) -> list[tuple[bpy.types.ID, Track, ShownState]]:
    """Return the tracks listed in the tab, with their states."""
    return [(datablock, track, shown_state(datablock, track)) for datablock, track in active_tracks(context)]


def shown_state(datablock: bpy.types.ID, track: Track) -> ShownState:
    """Return the displayed state of a track."""
    name, reason = _name_and_reason(datablock, track)
    icon, label, tooltip = _STATE_TEXTS[name]
    label, tooltip = iface_(label), iface_(tooltip)
    error = _measured_error(track) if name in ("APPROXIMATE", "HANDLES") else None
    if error is not None:
        size, frame = _size_text(datablock, track, error.size), round(error.frame, 1)
        if name == "APPROXIMATE":
            return ShownState(name, icon, label.format(size), tooltip.format(size, frame))
        tooltip = iface_("Handles play the motion. Maximum error: {:s} at frame {:g}", size, frame)
    elif name == "BLOCKED":
        tooltip = reason
    elif name == "BAKED" and track.settings.options is not None and track.settings.options.in_world:
        tooltip = iface_("Locked, baked in world space. Free the bake to edit")
    return ShownState(name, icon, label, iface_("{:s}: {:s}", label, tooltip))


def states_in_strips(context: bpy.types.Context) -> str:
    """Return the numbers of TCB tracks by state if all animation is in NLA strips, or an empty string."""
    if not in_strips_only(context):
        return ""
    counts = track_counts(context)
    count_by_state = {
        "TCB": counts[""] - counts["PLAYED"],
        "HANDLES": counts["PLAYED"] - counts["BAKED"],
        "BAKED": counts["BAKED"],
    }
    return " · ".join(f"{iface_(_STATE_TEXTS[name][1])}: {count}" for name, count in count_by_state.items() if count)


_STATES_TO_EDIT = {"PLAIN", "TCB", "HANDLES", "OUT_OF_DATE"}
"""States in which a track is shown as blocked if it cannot be edited."""


def _name_and_reason(datablock: bpy.types.ID, track: Track) -> tuple[str, str]:
    name = state(track)
    reason = editing_blocked_by(datablock, track) if name in _STATES_TO_EDIT else ""
    if reason:
        return "BLOCKED", reason
    error = _measured_error(track) if name == "HANDLES" else None
    return "APPROXIMATE" if error is not None and error.is_approximate else name, ""


def _measured_error(track: Track) -> Any:
    """Return the maximum error of the track's handles, or None if it was not measured."""
    error = track.state.error if track.enabled and track.state is not None else None
    return error if error is not None and math.isfinite(error.frame) else None


def _size_text(datablock: bpy.types.ID, track: Track, size: float) -> str:
    """Format a maximum error with two digits, in degrees for rotations and in the scene's unit for lengths."""
    if track.is_rotation:
        return f"{math.degrees(size):.2g}°"
    _, prop = owner_and_property(datablock, track)
    scene: Any = bpy.context.scene
    if not prop or prop.unit != "LENGTH" or scene.unit_settings.system == "NONE":
        return size_text(size)
    return length_text(scene, size)
