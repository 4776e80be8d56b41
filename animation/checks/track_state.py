# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a track: whether it is TCB, how it is played, and whether the playback is up to date."""

from __future__ import annotations

from typing import Literal

from ..fcurves.channels import channels_of, users_of_channels
from ..store.find_tracks import tracks_among
from ..store.tracks import Track, is_of_another_mode
from ..store.up_to_date import edited_outside, is_up_to_date
from ..text import n_

State = Literal["PLAIN", "TCB", "HANDLES", "BAKED", "OUT_OF_DATE", "EDITED_OUTSIDE", "OTHER_MODE"]
STATES: dict[State, str] = {
    "PLAIN": n_("not TCB"),
    "TCB": n_("TCB"),
    "HANDLES": n_("handles"),
    "BAKED": n_("baked"),
    "OUT_OF_DATE": n_("out of date"),
    "EDITED_OUTSIDE": n_("edited outside"),
    "OTHER_MODE": n_("another rotation mode"),
}
"""The names of the states in the output of the command line."""


def state(track: Track) -> State:
    """Return the state of a track.

    PLAIN: not TCB. TCB: off, so the animator's curves play. HANDLES: played by handles. BAKED: baked. OUT_OF_DATE:
    keys, settings or timing have changed since the last update. EDITED_OUTSIDE: the baked curves have been changed
    outside TCB. OTHER_MODE: the rotation mode of the object or bone does not use the F-curves, or the F-curves are up
    to date for another user of the action that has another rotation mode.
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
        return "OTHER_MODE" if _is_up_to_date_for_another_user(track) else "OUT_OF_DATE"
    return "BAKED" if track.is_baked else "HANDLES"


def _is_up_to_date_for_another_user(track: Track) -> bool:
    """Return whether the action plays a rotation for another datablock, which has a different rotation mode."""
    if not track.is_rotation or track.datablock is None:
        return False
    channels = channels_of(track.datablock)
    if channels.action.users < 2:
        return False
    # A bake for the mode XYZ leaves the track out of date for a user in the mode ZYX. Another bake would not help.
    (users,) = users_of_channels([channels])
    others = [
        other
        for user in users
        if user != track.datablock
        for other in tracks_among(user, channels_of(user), track.channels.values())
    ]
    return any(is_of_another_mode(other, track) and other.in_use and is_up_to_date(other) for other in others)
