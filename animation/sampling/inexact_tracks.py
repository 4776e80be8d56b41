# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the tracks whose F-curves do not play the exact motion.

Handles only approximate some tracks, and nothing plays the motion of a track that is off until it is baked. Restored
tracks are not included, because they play the animator's curves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy

from ..fcurves.channels import channels_of
from ..fcurves.cycles_modifier import can_repeat
from ..store.find_tracks import find_tracks, tracks_among
from ..store.table.custom_property import read_table
from ..store.tracks import Track
from ..store.up_to_date import RESTORED
from .transforms import plays


def inexact_tracks(
    datablock: bpy.types.ID, owner: str, curves: Mapping[str, Sequence[bpy.types.FCurve]]
) -> list[Track]:
    """Return the inexact tracks of the object, or of the bone whose path is `owner`.

    `curves` contains the F-curves of the datablock by their paths up to the last dot.
    """
    if not curves.get(owner):
        return []
    channels = channels_of(datablock)
    if not read_table(channels.action).inexact:
        return []
    paths = [path for path in curves if path in ("", owner) or "tcb_tracks" in path]
    tracks = tracks_among(datablock, channels, [fcurve for path in paths for fcurve in curves[path]])
    if any(track.enabled and not track.is_at_home for track in tracks):
        # A track of another owner may have more of the keys, and would then get the state.
        tracks = find_tracks(datablock, channels)
    return [track for track in tracks if track.path.rpartition(".")[0] == owner and is_inexact(track)]


def is_inexact(track: Track) -> bool:
    """Return whether the F-curves of the track do not play its exact motion."""
    state = track.state
    if state is None or track.is_baked or state.settings.digest == RESTORED or not track.in_use or track.driven:
        return False
    if track.is_played and (state.error is None or not state.error.is_approximate):
        return False
    # Only Blender can evaluate the animator's modifiers.
    return all(
        plays(fcurve) and len(fcurve.keyframe_points) and can_repeat(fcurve) for fcurve in track.channels.values()
    )
