# SPDX-License-Identifier: GPL-3.0-or-later
"""Lock the channels and groups of baked tracks, unlock them, and recreate or remove channels.

Blender's editors show a padlock on locked channels, and do not change these channels. Groups are locked too, because
their padlocks would otherwise appear open. However, *Insert Keyframe* adds empty channels to a locked group. A group of
transforms is therefore locked only if location, rotation and scale are all baked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import attrgetter

import bpy
import numpy as np

from ..fcurves.channels import Channels
from ..fcurves.keyframes import ONE_KEY, Float32Array
from ..store.paths import split
from ..store.table.custom_property import Table
from ..store.tracks import Track, is_locked_by_bake

is_locked = attrgetter("lock")
"""Return whether a channel is locked."""
_TRANSFORMS = {"location", "rotation", "scale"}


def lock(fcurves: Iterable[bpy.types.FCurve]) -> None:
    """Lock channels."""
    for fcurve in fcurves:
        if not fcurve.lock:
            fcurve.lock = True


def lock_groups(channels: Channels, table: Table) -> None:
    """Lock each group whose channels are all locked and recorded as baked in the table.

    Channels that the animator unlocked and edited outside TCB stay unlocked. A locked group that now contains other
    channels is unlocked, so that these channels can be edited.
    """
    baked_paths = {path for slot, path in table.baked if slot == channels.slot_handle}
    for group in channels.bag.groups:
        curves = list(group.channels)
        paths = [fcurve.data_path for fcurve in curves]
        others = [fcurve for fcurve, path in zip(curves, paths, strict=True) if path not in baked_paths]
        if group.lock:
            if others and is_locked_by_bake(curves, others):
                group.lock = False
        elif curves and not others and all(map(is_locked, curves)) and _is_complete(set(paths)):
            group.lock = True


def baked_curves(track: Track) -> list[bpy.types.FCurve]:
    """Return the baked channels of a track."""
    bake = track.bake
    return [track.channels[index] for index in bake.channels if index in track.channels] if bake is not None else []


def unlock(fcurves: Iterable[bpy.types.FCurve]) -> None:
    """Unlock channels that were baked, and their groups. Groups are locked only by bakes."""
    for fcurve in fcurves:
        fcurve.lock = False
        group = fcurve.group
        if group is not None and group.lock:
            group.lock = False


def _is_complete(paths: Iterable[str]) -> bool:
    """Return whether each object or bone in a group has all transforms that *Insert Keyframe* adds, or none of them."""
    transforms: dict[str, set[str]] = {}
    for path in paths:
        owner, _, name = path.rpartition(".")
        kind = name.partition("_")[0]
        if kind in _TRANSFORMS:
            transforms.setdefault(owner, set()).add(kind)
    return all(kinds == _TRANSFORMS for kinds in transforms.values())


# Channels that a bake created, or that were lost since the bake


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
