# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of animated properties and their owners, and the paths of frame functions and written velocities.

Animators edit the F-curve of a frame function, so the property needs a readable name. For the track
`pose.bones["Arm"].location`, the path is `pose.bones["Arm"].tcb_tracks["location"].frame`.

Custom properties with the velocities of a track, such as `tcb_location_velocity`, are recognized only by their names.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from typing import Any

import bpy

from ..fcurves.channels import Channels

BONES = 'pose.bones["'
_BONE = re.compile(rf'{re.escape(BONES)}(?:[^"\\]|\\.)*"\]\.')
_CUSTOM_PROPERTY = re.compile(r'^(?P<owner>.*?)\.?\["(?P<name>(?:[^"\\]|\\.)*)"\]$')


def bone_path(bone: bpy.types.PoseBone) -> str:
    """Return the common path prefix of the bone's tracks."""
    return f'{BONES}{bpy.utils.escape_identifier(bone.name)}"]'


def is_bone(owner: str) -> bool:
    """Return whether the path of an owner, including its dot, is the path of a bone."""
    return _BONE.fullmatch(owner) is not None


def split(path: str) -> tuple[str, str]:
    """Split a path into the owner's path, which ends in a dot unless it is empty, and the name of the property.

    The name of a custom property includes square brackets. For example, `pose.bones["Arm"]["grip"]` has the name
    `[grip]`.
    """
    custom = _CUSTOM_PROPERTY.match(path) if path.endswith('"]') else None
    if custom:
        owner = custom["owner"]
        return (owner + "." if owner else ""), f"[{custom['name']}]"
    owner, dot, name = path.rpartition(".")
    return owner + dot, name


# Frame functions


FRAME_FUNCTION = "tcb_frame"
"""Path of a datablock's frame function, which is not a track."""
_OF_TRACK = re.compile(r'^(?P<owner>.*\.)?tcb_tracks\["(?P<name>(?:[^"\\]|\\.)*)"\]\.frame$')
_STRAY = re.compile(r"(^|\.)tcb_tracks\[\d+\]\.")


def frame_function_path(track: str) -> str:
    """Return the path of a track's own frame function."""
    owner, name = split(track)
    return f'{owner}tcb_tracks["{name}"].frame'


def track_of(path: str) -> str:
    """Return the path of the track whose own frame function has this path, or an empty string for other paths."""
    # Most paths are rejected by the search for a substring, which is faster than the pattern.
    match = _OF_TRACK.match(path) if "tcb_tracks" in path else None
    if match is None:
        return ""
    owner, name = match["owner"] or "", match["name"]
    return f'{owner.removesuffix(".")}["{name[1:-1]}"]' if name.startswith("[") else owner + name


def is_stray(path: str) -> bool:
    """Return whether the path addresses a frame function by index. Such a path has no effect.

    Keying with *Available* creates such paths.
    """
    return "tcb_tracks[" in path and _STRAY.search(path) is not None


def remove_strays(channels: Channels) -> None:
    """Remove F-curves of frame functions that have no effect."""
    for fcurve in [fcurve for fcurve in channels if is_stray(fcurve.data_path)]:
        channels.remove(fcurve)


def give_name(datablock: bpy.types.ID, track: str) -> None:
    """Add a named property for the track's frame function, so that the Dope Sheet shows the name "Frame Function".

    Only an ID or a pose bone can have this property. Frame functions of nodes and shape keys are shown by their paths.
    """
    _owner, items, name = _named_items(datablock, track)
    if items is not None and name not in items:
        items.add().name = name


def take_name(datablock: bpy.types.ID, track: str) -> None:
    """Remove the named property of the track's frame function."""
    owner, items, name = _named_items(datablock, track)
    if items is not None and name in items:
        # A library override can't remove items that come from the library.
        with suppress(TypeError):
            items.remove(items.find(name))
            if not len(items):
                # An empty collection would be exported as a custom property.
                owner.property_unset("tcb_tracks")


def _named_items(datablock: bpy.types.ID, track: str) -> tuple[Any, Any, str]:
    """Return the owner of the track's property, its named frame functions, and the name of the track's item."""
    owner_path, name = split(track)
    try:
        owner = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
    except ValueError:
        # The owner and its items are missing, but the F-curves still exist.
        owner = None
    return owner, getattr(owner, "tcb_tracks", None), name


# Velocities


_LONGEST_NAME = 63
"""Maximum number of bytes in the name of a custom property."""
_ROTATION = re.compile(r"rotation_(quaternion|axis_angle|euler)$")
_VELOCITY = re.compile(r'\["tcb_(?:[^"\\]|\\.)*?_(?:velocity|acceleration)"\]$')


def velocity_path(datablock: bpy.types.ID, track: str, kind: str) -> str:
    """Return the path of a track's custom property, which belongs to the pose bone or else to the datablock.

    `kind` is velocity or acceleration, after angular_ for rotations.
    """
    owner = split(track)[0]
    prefix = owner.removesuffix(".") if is_bone(owner) else ""
    return f'{prefix}["{_name(datablock, track, kind)}"]'


def _name(datablock: bpy.types.ID, path: str, kind: str) -> str:
    owner, name = split(path)
    own_path = path.removeprefix(owner) if is_bone(owner) else path
    if name.startswith("[") and (not owner or is_bone(owner)):
        # A custom property can have the name of a property of its owner, which may be a track too.
        properties = bpy.types.PoseBone.bl_rna.properties if owner else datablock.bl_rna.properties
        is_unique = name[1:-1] not in {_ROTATION.sub("rotation", prop.identifier) for prop in properties}
        own_path = name[1:-1] if is_unique else name
    own_path = _ROTATION.sub("rotation", own_path)
    word = re.sub(r"\W+", "_", own_path, flags=re.ASCII).strip("_")
    if word != own_path or len(f"tcb_{word}_{kind}") > _LONGEST_NAME:
        # Otherwise, two tracks could have the same shortened path.
        checksum = f"_{zlib.crc32(own_path.encode()):08x}"
        word = word[: _LONGEST_NAME - len(f"tcb__{kind}") - len(checksum)] + checksum
    return f"tcb_{word}_{kind}"


def is_velocity(path: str) -> bool:
    """Return whether the path is a custom property that describes a track's motion. Such a property is not baked."""
    return '"tcb_' in path and _VELOCITY.search(path) is not None
