# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a track: whether it is TCB, what plays it, and whether that is up to date."""

from __future__ import annotations

import bpy

from ..errors import AnimationError
from ..fcurves.channels import channels_of
from ..store.paths import BONES
from ..store.tracks import Track, tracks_shown
from ..store.up_to_date import is_up_to_date
from ..translation import n_

STATES = {
    "PLAIN": n_("not TCB"),
    "TCB": n_("TCB"),
    "HANDLES": n_("handles"),
    "BAKED": n_("baked"),
    "OUT_OF_DATE": n_("out of date"),
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
    """Return PLAIN, TCB, BAKED, HANDLES where these play it, or OUT_OF_DATE where keys or settings changed since."""
    if not track.enabled:
        return "PLAIN"
    if not track.baked:
        return "TCB"
    if not is_up_to_date(track):
        return "OUT_OF_DATE"
    options = track.settings.options
    return "HANDLES" if options is not None and options.output == "HANDLES" else "BAKED"
