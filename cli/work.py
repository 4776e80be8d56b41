# SPDX-License-Identifier: GPL-3.0-or-later
"""The choice of datablocks that need processing by a verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ..animation.datablocks import HAS_SLOTS
from ..animation.fcurves.action_refusals import layered_reason
from ..animation.store.table.custom_property import read_table
from ..animation.store.tracks import Track, looks_baked
from ..animation.store.velocity_properties import is_velocity
from .tracks import has_keys, sets_of, tracks_of


def has_work(datablock: bpy.types.ID, work: str) -> bool:
    """Return whether the datablock needs processing."""
    data: Any = datablock.animation_data  # type: ignore[attr-defined]
    if is_layered(datablock):
        # This is an error for verbs that would change other actions. Only the table describes the tracks.
        table = read_table(data.action)
        return work in ("enable-and-bake", "enable") or bool(table.error or table.tracks)
    if HAS_SLOTS and data.action is not None and data.action_slot is None:
        # The generated curves are unknown, so baking is an error and there is nothing to remove.
        return work in ("bake", "enable-and-bake", "enable")
    if work == "no-velocities":
        return any(is_velocity(fcurve.data_path) for channels in sets_of(datablock) for fcurve in channels)
    if any(map(_HAS_WORK[work], tracks_of(datablock))):
        return True
    return work in _KINDS and _has_entries(datablock, _KINDS[work])


def _has_entries(datablock: bpy.types.ID, kind: str) -> bool:
    """Check whether the action's table is damaged or has entries of this kind for the datablock's slot."""
    for channels in sets_of(datablock):
        table = read_table(channels.action)
        if table.error or table.has_tracks(channels.slot_handle, "", kind):
            return True
    return False


def is_layered(datablock: bpy.types.ID) -> bool:
    """Return whether an action with several layers or strips animates the datablock."""
    data: Any = datablock.animation_data  # type: ignore[attr-defined]
    return data.action is not None and bool(layered_reason(data.action))


def _has_tcb_data(track: Track) -> bool:
    return track.enabled or track.frame_curve is not None or looks_baked(track)


_HAS_WORK: dict[str, Callable[[Track], bool]] = {
    "bake": lambda track: track.enabled or bool(track.table.error),
    "enable-and-bake": has_keys,
    "enable": lambda track: has_keys(track) and not track.enabled,
    "reduce": lambda track: has_keys(track) and not track.enabled,
    "velocities": lambda track: track.enabled and track.in_use,
    "free": lambda track: track.is_baked or looks_baked(track),
    "restore": lambda track: track.is_played or looks_baked(track),
    "apply": _has_tcb_data,
    "remove": _has_tcb_data,
}
"""Functions that check whether a verb has work on a track, by `Job.work`."""
_KINDS = {"free": "BAKED", "restore": "PLAYED", "apply": "", "remove": ""}
"""The kinds of tracks for verbs that also process damaged tables and tracks whose F-curves were deleted."""
