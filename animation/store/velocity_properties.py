# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of the custom properties that describe the motion of a track, such as `tcb_location_velocity`.

These properties are recognized only by their names.
"""

from __future__ import annotations

import re
import zlib

import bpy

from .paths import is_bone, split

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
