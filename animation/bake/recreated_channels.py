# SPDX-License-Identifier: GPL-3.0-or-later
"""Channels that a bake created or that were lost since the bake, and their automatic handles."""

from __future__ import annotations

import re

import bpy
import numpy as np

from ..fcurves.channels import Channels
from ..fcurves.keyframes import ONE_KEY, Float32Array
from ..store.paths import split
from ..store.tracks import Track

_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
"""Path of a bone, with its escaped name as the group."""


def recreate_channels(channels: Channels, track: Track) -> None:
    """Recreate a baked track's F-curves that are missing or were converted to samples."""
    if track.bake is None:
        return
    group = track.group_name or _bone_of(track.path)
    for index, channel in track.bake.channels.items():
        # Channels with a rest value were created by the bake.
        if channel.rest is not None:
            continue
        fcurve = track.channels.get(index)
        if fcurve is not None:
            if not len(fcurve.sampled_points):
                continue
            channels.remove(fcurve)
        track.channels[index] = channels.new(track.path, index, group)


def _bone_of(path: str) -> str:
    """Return the bone name in a path, which Blender uses for the channel group, or an empty string."""
    match = _BONE.match(path)
    return bpy.utils.unescape_identifier(match[1]) if match else ""


def remove_made(channels: Channels, track: Track, index: int) -> None:
    """Remove a channel that a bake created, and restore the value of the property."""
    rest = track.created_by_bake[index]
    channels.remove(track.channels.pop(index))
    owner_path, name = split(track.path)
    datablock = track.datablock
    assert datablock is not None
    owner = datablock.path_resolve(owner_path.removesuffix(".")) if owner_path else datablock
    getattr(owner, name)[index] = rest


def place_automatic(fcurve: bpy.types.FCurve, frames: Float32Array) -> None:
    """Update automatic handles, unless Blender would then merge keys that mirroring has left at the same frame."""
    if (np.diff(frames) > ONE_KEY).all():
        fcurve.update()
