# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels of tracks, and reasons why tracks cannot be edited or read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ..animation import AnimationError
from ..animation.datablocks import name_of
from ..animation.fcurves.linked_data import check_editable
from ..animation.store.paths import split
from ..animation.store.track_refusals import blocking_reason
from ..animation.store.tracks import Track
from ..animation.track_names import letters_of, track_name
from ..animation.translation import iface_, listed


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
    owner, prop = owner_and_property(datablock, track)
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
