# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the tracks whose F-curves do not play the exact motion.

Handles only approximate some tracks, and nothing plays the motion of a track that is off until it is baked. Restored
tracks are not included, because they play the animator's curves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy

from ..fcurves.channels import Channels
from ..fcurves.cycles_modifier import can_repeat
from ..store.find_tracks import find_tracks, tracks_among
from ..store.frame_function_paths import FRAME_FUNCTION, frame_function_path
from ..store.table.custom_property import read_table
from ..store.tracks import Track
from ..store.up_to_date import RESTORED
from .transforms import plays

CurvesByOwner = Mapping[str, Sequence[bpy.types.FCurve]]
"""The F-curves of a datablock by their paths up to the last dot."""


class InexactTracks:
    """The inexact tracks of a datablock, found for one object or bone at a time."""

    def __init__(self, datablock: bpy.types.ID, channels: Channels, curves: CurvesByOwner) -> None:
        self._datablock, self._channels, self._curves = datablock, channels, curves
        table, slot = read_table(channels.action), channels.slot_handle
        self._paths = {path for track_slot, path in table.inexact if track_slot == slot}
        # The state of a renamed track must be found by the identities of its keys.
        has_renamed = not all(self._curves_at(path) for path in self._paths)
        self._tracks = find_tracks(datablock, channels) if has_renamed else None

    def of(self, owner: str) -> list[Track]:
        """Return the tracks of the object, or of the bone with this path."""
        if self._tracks is not None:
            return [each for each in self._tracks if each.path.rpartition(".")[0] == owner and is_inexact(each)]
        curves = [fcurve for fcurve in self._curves.get(owner, ()) if fcurve.data_path in self._paths]
        if not curves:
            return []
        timing = {FRAME_FUNCTION, *(frame_function_path(fcurve.data_path) for fcurve in curves)}
        curves += [fcurve for path in timing for fcurve in self._curves_at(path)]
        return [track for track in tracks_among(self._datablock, self._channels, curves) if is_inexact(track)]

    def _curves_at(self, path: str) -> list[bpy.types.FCurve]:
        return [fcurve for fcurve in self._curves.get(path.rpartition(".")[0], ()) if fcurve.data_path == path]


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
