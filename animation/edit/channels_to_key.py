# SPDX-License-Identifier: GPL-3.0-or-later
"""Channels for new keys that replace a property's keys, and the reasons why a property can't get new keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import bpy

from ..errors import AnimationError
from ..fcurves.channels import Channels, ensured_channels, is_without_curves
from ..fcurves.linked_data import check_editable, editable_channels
from ..report import Report
from ..sampling.properties import driven_components
from ..store.edited_outside import edited_outside
from ..store.track_refusals import blocking_reason
from ..store.tracks import Track
from .apply_and_remove import remove_tracks

_BONE_PROPERTY = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\](?:\.\w+|\["(?:[^"\\]|\\.)*"\])')
_TRANSFORM = re.compile(r"(?:delta_)?(?:location|rotation_\w+|scale)")


def check_can_have_keys(datablock: bpy.types.ID) -> None:
    """Raise AnimationError if the datablock's animation can't be edited.

    A datablock without F-curves passes the check.
    """
    if datablock.library is not None or not is_without_curves(datablock):
        check_editable(datablock)


def check_can_be_keyed(datablock: bpy.types.ID, track: Track, components: Iterable[int]) -> None:
    """Raise AnimationError if the keys of these components can't be replaced, or if a driver sets a component."""
    driven = driven_components(datablock)
    for index in components:
        if (track.path, index) in driven:
            raise track.error("COMPONENT_DRIVEN", index)
    reason = blocking_reason(track, without_keys=True)
    if reason is None and edited_outside([track])[0]:
        reason = track.finding("EDITED_OUTSIDE")
    if reason is not None:
        raise AnimationError(reason)


def channels_to_key(datablock: bpy.types.ID, tcb_paths: Collection[str], report: Report) -> Channels:
    """Return the channels for writing new keys, after removing TCB from the tracks with these paths."""
    if tcb_paths:
        report.notes += remove_tracks(datablock, tcb_paths).notes
    ensured_channels(datablock)
    return editable_channels(datablock, report.notes)


def group_of(path: str) -> str:
    """Return the name of the channel group that Blender would use for the property."""
    bone = _BONE_PROPERTY.fullmatch(path)
    if bone:
        return str(bpy.utils.unescape_identifier(bone[1]))
    return "Object Transforms" if _TRANSFORM.fullmatch(path) else ""
