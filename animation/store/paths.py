# SPDX-License-Identifier: GPL-3.0-or-later
"""Data paths of tracks, and of the frame functions that tracks have of their own.

A frame function is a curve that an animator shapes, so it has a property to be named after: that of the track
`pose.bones["Arm"].location` has the path `pose.bones["Arm"].tcb_tracks["location"].frame`.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import bpy

from ..fcurves.channels import Channels

BONES = 'pose.bones["'
FRAME_FUNCTION = "tcb_frame"
"""The path of a datablock's frame function, which is no track."""
SET_ASIDE = '["tcb_original"]'
"""The path of a curve that plays nothing: see original_actions.py."""

_OWN_FRAME_FUNCTION = re.compile(r'^(?P<owner>.*\.)?tcb_tracks\["(?P<name>(?:[^"\\]|\\.)*)"\]\.frame$')
_STRAY = re.compile(r"(^|\.)tcb_tracks\[\d+\]\.")
_CUSTOM_PROPERTY = re.compile(r'^(?P<owner>.*?)\.?\["(?P<name>(?:[^"\\]|\\.)*)"\]$')


def split(track: str) -> tuple[str, str]:
    """Split a path into that of what owns the animated property, ending in a dot where there is one, and its name.

    A custom property's name stands in square brackets: `pose.bones["Arm"]["grip"]` is named `[grip]`.
    """
    custom = _CUSTOM_PROPERTY.match(track)
    if custom:
        owner = custom["owner"]
        return (owner + "." if owner else ""), f"[{custom['name']}]"
    owner, dot, name = track.rpartition(".")
    return owner + dot, name


def frame_function_path(track: str) -> str:
    """Name the path of a track's own frame function."""
    owner, name = split(track)
    return f'{owner}tcb_tracks["{name}"].frame'


def track_of(data_path: str) -> str:
    """Name the track whose own frame function has this path; empty where it is another path."""
    match = _OWN_FRAME_FUNCTION.match(data_path)
    if match is None:
        return ""
    owner, name = match["owner"] or "", match["name"]
    return f'{owner.removesuffix(".")}["{name[1:-1]}"]' if name.startswith("[") else owner + name


def is_stray(data_path: str) -> bool:
    """Tell whether the curve plays nothing in an action that is used: where keying what is Available made it, for a
    frame function by number instead of by name, or the action was set aside."""
    return data_path == SET_ASIDE or _STRAY.search(data_path) is not None


def remove_strays(channels: Channels) -> None:
    for fcurve in [fcurve for fcurve in channels if is_stray(fcurve.data_path)]:
        channels.remove(fcurve)


def give_name(datablock: bpy.types.ID, track: str) -> None:
    """Give the track's frame function a property to name, so that its row in the Dope Sheet reads "Frame Function".

    Only an ID and a pose bone can have these; the frame functions of nodes and shape keys show their paths.
    """
    _owner, items, name = _named_items(datablock, track)
    if items is not None and name not in items:
        items.add().name = name


def take_name(datablock: bpy.types.ID, track: str) -> None:
    owner, items, name = _named_items(datablock, track)
    if items is not None and name in items:
        # A library override keeps what the library has.
        with suppress(TypeError):
            items.remove(items.find(name))
            if not len(items):
                # An empty collection would be exported as a custom property.
                owner.property_unset("tcb_tracks")


def _named_items(datablock: bpy.types.ID, track: str) -> tuple[Any, Any, str]:
    """What has the property, its frame functions by name, and the name of the track's."""
    owner_path, name = split(track)
    try:
        owner = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
    except ValueError:
        # The property is gone, and its items with it; the F-curves are still there.
        owner = None
    return owner, getattr(owner, "tcb_tracks", None), name
