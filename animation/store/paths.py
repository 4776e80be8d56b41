# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of animated properties and their owners."""

from __future__ import annotations

import re

import bpy

BONES = 'pose.bones["'
_BONE = re.compile(rf'{re.escape(BONES)}(?:[^"\\]|\\.)*"\]\.')
_CUSTOM_PROPERTY = re.compile(r'^(?P<owner>.*?)\.?\["(?P<name>(?:[^"\\]|\\.)*)"\]$')


def bone_path(bone: bpy.types.PoseBone) -> str:
    """Return the common path prefix of the bone's tracks."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]'


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
