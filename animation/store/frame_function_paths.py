# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths and names of the properties whose F-curves are frame functions.

Animators edit the F-curve of a frame function, so the property needs a readable name. For the track
`pose.bones["Arm"].location`, the path is `pose.bones["Arm"].tcb_tracks["location"].frame`.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import bpy

from ..fcurves.channels import Channels
from .paths import split

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
    for fcurve in [fcurve for fcurve in channels if "tcb_tracks[" in fcurve.data_path]:
        if is_stray(fcurve.data_path):
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
