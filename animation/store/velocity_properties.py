# SPDX-License-Identifier: GPL-3.0-or-later
"""Create and recognize the names of custom properties that describe the motion of tracks."""

from __future__ import annotations

import re
import zlib

from .paths import BONES, split

_LONGEST_NAME = 63
"""Maximum number of bytes in the name of a custom property."""

DERIVED = ("velocity", "acceleration", "angular_velocity", "angular_acceleration", "speed")
"""Kinds of custom properties that describe the motion of a track."""
_DERIVED = re.compile(rf'\["tcb_(?:[^"\\]|\\.)*_(?:{"|".join(DERIVED)})"\]$')


def is_derived(path: str) -> bool:
    """Return whether the path is a custom property that describes a track's motion. Such a property is not baked.

    The property is recognized only by its name, for example "tcb_location_velocity".
    """
    return _DERIVED.search(path) is not None


def property_name(path: str, kind: str) -> str:
    """Return the name of the custom property, on the bone or datablock, for the track with this path."""
    owner, name = split(path)
    path = path.removeprefix(owner) if is_bones(owner) else path
    path = name[1:-1] if name.startswith("[") and (not owner or is_bones(owner)) else path
    path = re.sub(r"rotation_(quaternion|axis_angle|euler)$", "rotation", path)
    plain = re.sub(r"\W+", "_", path, flags=re.ASCII).strip("_")
    if plain != path or len(f"tcb_{plain}_{kind}") > _LONGEST_NAME:
        # Otherwise, two tracks could have the same shortened path.
        plain = f"{plain[: _LONGEST_NAME - len(f'tcb__{kind}') - 9]}_{zlib.crc32(path.encode()):08x}"
    return f"tcb_{plain}_{kind}"


def is_bones(owner: str) -> bool:
    """Return whether the path, including its dot, belongs to a bone."""
    return owner.startswith(BONES) and owner.endswith('"].') and owner.count('"].') == 1
