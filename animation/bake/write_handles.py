# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the animator's keys with the handles that play tracks, and record the handles."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.cycles_modifier import repeat
from ..fcurves.keyframes import NAMES, SIDES, BoolArray, Joined, Keyframes
from ..fcurves.read_and_write import read_joined, write_joined, write_some
from ..store.own_keys import own_end_to_end
from ..store.restored_keys import as_written
from ..store.table.track_records import Channel, Error, Extrapolation, TrackState, Written
from .bake_job import TrackBake
from .keyframes_to_write import played_keys, with_identities
from .plans.plan import HandleKeys, by_layout, stacked

_ROUNDED = 1e-6
"""Relative rounding error of handles placed by Blender."""


def write_handles(bakes: Sequence[TrackBake]) -> list[TrackState]:
    """Write the animator's keys on each track, with the handles that play the track.

    Return the table entries of the tracks.
    """
    for bake in bakes:
        track = bake.track
        for index in sorted(bake.own.keys() - track.channels.keys()):
            track.channels[index] = bake.channels.new(track.path, index, track.group)
    records: dict[TrackBake, dict[int, Channel]] = {bake: {} for bake in bakes}
    keys_of_bakes = [(bake, handle_keys) for bake in bakes for handle_keys in bake.baked.handle_keys]
    for group in by_layout(keys_of_bakes, _layout):
        channels = [(bake, index) for bake, handle_keys in group for index in handle_keys.components]
        written = _write_channels(channels, stacked([handle_keys for _, handle_keys in group]))
        for (bake, index), record in zip(channels, written, strict=True):
            records[bake][index] = record
    return [_table_entry(bake, records[bake]) for bake in bakes]


def _layout(bake: TrackBake, keys: HandleKeys) -> Hashable:
    """Return a value that is equal for channels that `_write_channels` can write together."""
    own = bake.own[keys.components[0]]
    # Keys are stacked in rectangular arrays, and compared with the keys as read from F-curves if there are any.
    return own.frame_bytes, own.as_read is None, *keys.layout


def _table_entry(bake: TrackBake, records: Mapping[int, Channel]) -> TrackState:
    """Return the table entry of a track whose handles have been written."""
    track, baked = bake.track, bake.baked
    error = Error(baked.error, baked.error_frame, baked.is_approximate)
    # Use the order of the animator's keys, so that repeating the bake creates the same table.
    in_order = {index: records[index] for index in bake.own}
    return TrackState(bake.state.identity, track.slot, track.path, bake.settings_after(), in_order, error)


def _write_channels(channels: Sequence[tuple[TrackBake, int]], keys: HandleKeys) -> list[Channel]:
    """Write the keys of channels with the same layout, given by track and component. Return a record of each channel.

    If the animator's keys were read from F-curves, write only attributes that differ, as some may not be read.
    """
    curves = [bake.track.channels[index] for bake, index in channels]
    extrapolations = [bake.track.extrapolation(index) for bake, index in channels]
    own = own_end_to_end([bake.own[index] for bake, index in channels])
    count = own.count // len(channels)
    identified = Joined(with_identities(own, keys.plays), [count] * len(channels))
    # No segment begins at the last key, but if the animator chose its interpolation, the choice is kept.
    keeps_last_interpolation = own.begins_segment[count - 1 :: count]
    is_linear = np.array([extrapolation == "LINEAR" for extrapolation in extrapolations])
    composed, placed = played_keys(identified, keys, keeps_last_interpolation, is_linear)
    if own.as_read is None:
        write_joined(curves, Joined(composed, identified.counts))
    else:
        write_some(curves, composed, _differing(composed, own.as_read, len(curves)))
    for fcurve in curves:
        repeat(fcurve, keys.repeats)
    records = as_written(composed, own, placed)
    if keys.chosen is not None:
        for fcurve, written in zip(curves, records, strict=True):
            _let_blender_place(fcurve, written)
    return [
        Channel(extrapolation, bake.own[index].edited or _is_edited(bake, index, extrapolation), written)
        for (bake, index), extrapolation, written in zip(channels, extrapolations, records, strict=True)
    ]


def _is_edited(bake: TrackBake, index: int, extrapolation: Extrapolation) -> bool:
    """Return whether a restore must update automatic handles, as Blender does when the extrapolation changes."""
    before = bake.state.channels.get(index)
    return before is not None and (before.edited or before.extrapolation != extrapolation)


def _differing(keys: Keyframes, before: Keyframes, channels: int) -> dict[str, BoolArray]:
    """Return the key attributes that differ between two sets of channels, each with a mask of the differing channels.

    All channels have the same number of keys.
    """
    masks = {}
    for name in NAMES:
        differs = _bits(getattr(keys, name)) != _bits(getattr(before, name))
        if differs.any():
            masks[name] = differs.reshape(channels, -1).any(axis=1)
    return masks


def _bits(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return float32 numbers as integers, so that comparisons detect any differing bit, even in zeros and NaN."""
    return array.view(np.uint32) if array.dtype == np.float32 else array


def _let_blender_place(fcurve: bpy.types.FCurve, written: Written) -> None:
    """Make Blender place the handles whose type the animator chose, and record their positions."""
    fcurve.update()
    keys = read_joined([fcurve], SIDES).keys
    for side in SIDES:
        placed, before = getattr(keys, side), written[side]
        # Aligning handles again would round them, but repeated bakes must produce the same bits.
        is_moved = (np.abs(placed - before) > _ROUNDED * (1.0 + np.abs(before))).any(axis=1)
        written[side][is_moved] = placed[is_moved]
        # Also write the bits of the handles that Blender only rounded.
        fcurve.keyframe_points.foreach_set(side, written[side].ravel())
