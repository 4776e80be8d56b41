# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a track: whether it is TCB, what plays it, and whether that is up to date and of its rotation mode."""

from __future__ import annotations

import bpy

from ..errors import AnimationError
from ..fcurves.channels import channels_of, users_of_channels
from ..store.paths import BONES
from ..store.tracks import Track, is_of_another_mode, tracks_among, tracks_shown
from ..store.up_to_date import is_up_to_date
from ..translation import n_

STATES = {
    "PLAIN": n_("not TCB"),
    "TCB": n_("TCB"),
    "HANDLES": n_("handles"),
    "BAKED": n_("baked"),
    "OUT_OF_DATE": n_("out of date"),
    "OTHER_MODE": n_("another rotation mode"),
}


def tracks_of(datablock: bpy.types.ID, bone: str = "") -> list[Track]:
    """Return the tracks of one bone (its path), or of the datablock without its bones; [] where it has no animation."""
    try:
        return tracks_shown(datablock, channels_of(datablock), bone)
    except AnimationError:
        return []


def has_animated_bones(datablock: bpy.types.ID) -> bool:
    """Return whether any bone of the datablock has F-curves."""
    try:
        return any(fcurve.data_path.startswith(BONES) for fcurve in channels_of(datablock))
    except AnimationError:
        return False


def state(track: Track) -> str:
    """Return the key of `STATES` that says how far a track is.

    PLAIN, TCB, BAKED, HANDLES where these play it, OUT_OF_DATE where keys or settings changed since, or OTHER_MODE
    where nothing did, but the bake was for another rotation mode than that of the object or bone.
    """
    if not track.enabled:
        return "PLAIN"
    if not track.baked:
        return "TCB"
    if not track.in_use:
        return "OTHER_MODE"
    if not is_up_to_date(track):
        return "OTHER_MODE" if _is_baked_for_another(track) else "OUT_OF_DATE"
    options = track.settings.options
    return "HANDLES" if options is not None and options.output == "HANDLES" else "BAKED"


def _is_baked_for_another(track: Track) -> bool:
    """Return whether a rotation is up to date for another datablock that has the action and another rotation mode."""
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
