# SPDX-License-Identifier: GPL-3.0-or-later
"""Float properties of a datablock as tracks, before their F-curves are known."""

from __future__ import annotations

from typing import Any

import bpy

from .paths import split
from .tracks import EULER_ORDERS, KIND_BY_PROPERTY, Track


def property_track(datablock: bpy.types.ID, name: str, path: str) -> Track | None:
    """Create the track of a property, without F-curves. Return None if the path is not a float property.

    `name` is the name of the datablock.
    """
    owner_path, prop = split(path)
    try:
        owner: Any = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
        rest = _components(owner, prop)
    except (ValueError, KeyError, TypeError, AttributeError):
        # The path may not resolve to a property (for example, a path through a missing parent), or only to a number.
        return None
    if rest is None:
        return None
    kind = KIND_BY_PROPERTY.get(prop, "VECTOR") if hasattr(owner, "rotation_mode") else "VECTOR"
    track = Track(name, path, kind, rest=rest)
    if track.is_rotation:
        mode = owner.rotation_mode
        track.order = mode if mode in EULER_ORDERS else "XYZ"
        track.in_use = kind == ("EULER" if mode in EULER_ORDERS else mode)
    return track


def _components(owner: bpy.types.ID, name: str) -> tuple[float, ...] | None:
    """Return the components of a float property, or None for another property."""
    if name.startswith("["):
        return _custom_components(owner[bpy.utils.unescape_identifier(name[1:-1])])
    prop = owner.bl_rna.properties.get(name)
    if prop is None or prop.type != "FLOAT":
        return None
    value = getattr(owner, name)
    return tuple(value) if prop.is_array else (value,)


def _custom_components(value: Any) -> tuple[float, ...] | None:
    if isinstance(value, float):
        return (value,)
    if getattr(value, "typecode", "") in ("f", "d"):
        return tuple(value)
    return None
