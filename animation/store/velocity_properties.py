# SPDX-License-Identifier: GPL-3.0-or-later
"""Create and recognize the names of custom properties that describe the motion of tracks."""

from __future__ import annotations

import re
import zlib

import bpy

from .paths import BONES, split

_LONGEST_NAME = 63
"""Maximum number of bytes in the name of a custom property."""

DERIVED = ("velocity", "acceleration", "angular_velocity", "angular_acceleration", "speed")
"""Kinds of custom properties that describe the motion of a track."""
_DERIVED = re.compile(rf'\["tcb_(?:[^"\\]|\\.)*_(?:{"|".join(DERIVED)})"\]$')
_BONE = re.compile(rf'{re.escape(BONES)}(?:[^"\\]|\\.)*"\]\.')
_ROTATION = re.compile(r"rotation_(quaternion|axis_angle|euler)$")


def is_derived(path: str) -> bool:
    """Return whether the path is a custom property that describes a track's motion. Such a property is not baked.

    The property is recognized only by its name, for example "tcb_location_velocity".
    """
    return _DERIVED.search(path) is not None


def property_name(datablock: bpy.types.ID, path: str, kind: str) -> str:
    """Return the name of the custom property, on the bone or datablock, for the track with this path."""
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


def is_bone(owner: str) -> bool:
    """Return whether the path of an owner, including its dot, is the path of a bone."""
    return _BONE.fullmatch(owner) is not None
