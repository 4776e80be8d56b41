# SPDX-License-Identifier: GPL-3.0-or-later
"""The tracks that the sidebar lists for the active object or bone, with labels and states, and the shown key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import bpy

from ..animation import AnimationError, of_object
from ..animation.checks.shown_key import ShownKey, key_near
from ..animation.checks.track_state import state
from ..animation.datablocks import animation_data, name_of
from ..animation.fcurves.channels import Channels, channels_of, check_editable
from ..animation.records import record
from ..animation.store.editable import blocking_reason, editable_sets
from ..animation.store.find_tracks import find_tracks, tracks_shown
from ..animation.store.find_tracks import lost_tracks as find_lost_tracks
from ..animation.store.paths import BONES, bone_path, split
from ..animation.store.table.custom_property import read_table
from ..animation.store.tracks import Track
from ..animation.store.up_to_date import edited_outside
from ..animation.text import iface_, listed, n_, rpt_, size_text
from ..animation.track_paths import letters_of, track_name
from . import redraw
from .scene import action_frame, length_text
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


# Labels of tracks, and their states with icons and tooltips


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
    """Return the name of the datablock. A node tree has the name of its material, world or scene.

    Shape keys are named by their kind, because Blender hides their datablock.
    """
    if isinstance(datablock, bpy.types.Key):
        return iface_("Shape Keys")
    name = name_of(datablock)
    return name.removesuffix(" (nodes)") if datablock.is_embedded_data else name


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
    if isinstance(owner, bpy.types.NodeSocket):
        return str(owner.name)
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
    """Format a maximum error in degrees for rotations and in the scene's unit for lengths."""
    if track.is_rotation:
        return size_text(size, is_angle=True)
    _, prop = owner_and_property(datablock, track)
    scene: Any = bpy.context.scene
    if not prop or prop.unit != "LENGTH" or scene.unit_settings.system == "NONE":
        return size_text(size)
    return length_text(scene, size)
