# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that select tracks, and the names of tracks and channels as shown in Blender's animation editors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import bpy

from .text import iface_


class WholePath(str):
    """The path of one track, given in place of a path prefix. As a prefix, the path `size` would match `size_y` too."""


def path_filter(prefixes: Iterable[str] | None) -> Callable[[str], bool]:
    """Return a function that checks whether a path starts with one of the prefixes, or equals a whole path among them.

    If `prefixes` is None, all paths pass the check.
    """
    chosen = ("",) if prefixes is None else tuple(prefixes)
    whole_paths = {path for path in chosen if isinstance(path, WholePath)}
    starts = tuple(prefix for prefix in chosen if not isinstance(prefix, WholePath))
    return lambda path: path in whole_paths or path.startswith(starts)


# Names of tracks and channels


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
_PATH = re.compile(
    r'(?:pose\.bones\["(?P<bone>(?:[^"\\]|\\.)*)"\])?\.?(?:(?P<name>\w+)|\["(?P<custom>(?:[^"\\]|\\.)*)"\])'
)


def letters_of(prop: Any) -> str:
    """Return the letters of a property's components, or an empty string if Blender numbers the components."""
    return _COMPONENT_LETTERS.get(prop.subtype, "") if prop else ""


def track_name(path: str) -> str:
    """Return the name of a track of an object or bone, such as "Hand, Location", or the path of another track."""
    bone, identifier, prop = _parts(path)
    return ", ".join(filter(None, (bone, iface_(prop.name) if prop else identifier)))


def owner_name(path: str) -> str:
    """Return the name of the bone that owns the track, or the name of the track if it does not belong to a bone."""
    return _parts(path)[0] or track_name(path)


def channel_name(path: str, index: int) -> str:
    """Return the name of a channel without the bone, such as "X Location"."""
    _, identifier, prop = _parts(path)
    letters = letters_of(prop)
    return f"{letters[index]} {iface_(prop.name)}" if index < len(letters) else f"{identifier}[{index}]"


def _parts(path: str) -> tuple[str, str, Any]:
    """Return the name of the bone, the name of the property and, if known, the property's declaration."""
    match = _PATH.fullmatch(path)
    if match is None:
        return "", path, None
    bone, name, custom = (bpy.utils.unescape_identifier(match[part] or "") for part in ("bone", "name", "custom"))
    owner = bpy.types.PoseBone if bone else bpy.types.Object
    return bone, name or custom, owner.bl_rna.properties.get(name)
