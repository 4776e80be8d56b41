# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a track: whether it is TCB, how it is played, and whether the playback is up to date."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..errors import AnimationError
from ..fcurves.channels import channels_of, users_of_channels
from ..store.action_and_strips import editable_sets
from ..store.edited_outside import edited_outside
from ..store.find_tracks import find_tracks, lost_tracks, tracks_among, tracks_shown
from ..store.paths import BONES
from ..store.table.custom_property import read_table
from ..store.tracks import Track, is_of_another_mode
from ..store.up_to_date import is_up_to_date
from ..translation import n_

STATES = {
    "PLAIN": n_("not TCB"),
    "TCB": n_("TCB"),
    "HANDLES": n_("handles"),
    "BAKED": n_("baked"),
    "OUT_OF_DATE": n_("out of date"),
    "EDITED_OUTSIDE": n_("edited outside"),
    "OTHER_MODE": n_("another rotation mode"),
}


def tracks_of(datablock: bpy.types.ID, bone: str = "") -> list[Track]:
    """Return the tracks of the bone with this path or, if the path is empty, the datablock's tracks outside bones.

    The list is empty if there is no animation.
    """
    try:
        return tracks_shown(datablock, channels_of(datablock), bone)
    except AnimationError:
        return []


def lost_tracks_of(datablock: bpy.types.ID, bone: str = "") -> list[Track]:
    """Return the baked tracks, selected as in `tracks_of`, whose F-curves were deleted outside TCB."""
    try:
        channels = channels_of(datablock)
    except AnimationError:
        return []
    baked = {path for slot, path in read_table(channels.action).baked if slot == channels.slot_handle}
    # Search for renamed tracks only if a track is missing, because this reads all tracks.
    if not baked or baked <= {fcurve.data_path for fcurve in channels}:
        return []
    lost = lost_tracks(datablock, channels, find_tracks(datablock, channels))
    return [track for track in lost if (track.path.startswith(bone) if bone else not track.path.startswith(BONES))]


def has_animated_bones(datablock: bpy.types.ID) -> bool:
    """Return whether any bone of the datablock has F-curves."""
    try:
        return any(fcurve.data_path.startswith(BONES) for fcurve in channels_of(datablock))
    except AnimationError:
        return False


def has_plain_tracks(datablock: bpy.types.ID, prefixes: Iterable[str] | None = None) -> bool:
    """Return whether any track in use with one of the path prefixes is not TCB.

    If `prefixes` is None, all tracks are checked.
    """
    try:
        sets = editable_sets(datablock).sets
    except AnimationError:
        return False
    starts = "" if prefixes is None else tuple(prefixes)
    for channels in sets:
        known = read_table(channels.action).identity_of
        others = [
            fcurve
            for fcurve in channels
            if (channels.slot_handle, fcurve.data_path) not in known and fcurve.data_path.startswith(starts)
        ]
        if any(track.in_use and not track.enabled for track in tracks_among(datablock, channels, others)):
            return True
    return False


def state(track: Track) -> str:
    """Return the state of a track as a key of `STATES`.

    PLAIN: not TCB. TCB: off, so the animator's curves play. HANDLES: played by handles. BAKED: baked. OUT_OF_DATE:
    keys, settings or timing have changed since the last update. EDITED_OUTSIDE: the baked curves have been changed
    outside TCB. OTHER_MODE: up to date, but in a rotation mode that differs from the object's or bone's mode.
    """
    if not track.enabled:
        return "PLAIN"
    if not track.is_played:
        return "TCB"
    if track.is_baked and edited_outside([track])[0]:
        return "EDITED_OUTSIDE"
    if not track.in_use:
        return "OTHER_MODE"
    if not is_up_to_date(track):
        return "OTHER_MODE" if _is_for_another(track) else "OUT_OF_DATE"
    return "BAKED" if track.is_baked else "HANDLES"


def _is_for_another(track: Track) -> bool:
    """Return whether a rotation is up to date for another datablock that uses the action in another rotation mode."""
    if not track.is_rotation or track.datablock is None:
        return False
    channels = channels_of(track.datablock)
    if channels.action.users < 2:
        return False
    (users,) = users_of_channels([channels])
    others = [
        other
        for user in users
        if user != track.datablock
        for other in tracks_among(user, channels_of(user), track.channels.values())
    ]
    return any(is_of_another_mode(other, track) and other.in_use and is_up_to_date(other) for other in others)
