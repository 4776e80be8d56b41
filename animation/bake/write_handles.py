# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the animator's keys with the handles that play tracks, and record the handles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.cycles_modifier import repeat
from ..fcurves.joined_keys import Joined
from ..fcurves.keyframes import NAMES, PAIRS, SIDES, BoolArray, Keyframes
from ..fcurves.read_keys import read_joined
from ..fcurves.write_keys import extrapolate, write_joined, write_some
from ..store.own_arrays import own_end_to_end
from ..store.table.track_records import Channel, Error, Extrapolation, TrackState, Written
from ..store.up_to_date import digest
from ..store.written_keys import as_written
from .keyframes_to_write import played_keys, with_identities
from .plans.composed_keys import HandleKeys, by_layout, stacked
from .track_bake import TrackBake

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
    keys_by_layout = []
    for bake in bakes:
        for handle_keys in bake.baked.handle_keys:
            own = bake.own[handle_keys.components[0]]
            # The channels of a group are stacked, so they need keys at the same frames, and all have been read from
            # F-curves or none.
            layout = own.frame_bytes, own.as_read is None, *handle_keys.layout
            keys_by_layout.append((layout, bake, handle_keys))
    for group in by_layout(keys_by_layout):
        _write_handles_group(group)
    return [_handles_table_entry(bake) for bake in bakes]


def _handles_table_entry(bake: TrackBake) -> TrackState:
    """Return the table entry of a track whose handles have been written."""
    track, state, baked = bake.track, bake.state, bake.baked
    settings = replace(bake.settings, digest=digest(track, bake.settings, bake.own, bake.function))
    error = Error(baked.error, baked.error_frame, baked.is_approximate)
    # Use the order of the animator's keys, so that repeating the bake creates the same table.
    records = {index: bake.handle_records[index] for index in bake.own}
    return TrackState(state.identity, track.slot, track.path, settings, records, error)


def _write_handles_group(group: Sequence[tuple[TrackBake, HandleKeys]]) -> None:
    """Write the keys of channels with the same layout, and record their handles."""
    keys = stacked([handle_keys for _, handle_keys in group])
    channels = [(bake, index) for bake, handle_keys in group for index in handle_keys.components]
    own_by_channel = [bake.own[index] for bake, index in channels]
    own_keys, count = own_end_to_end(own_by_channel), own_by_channel[0].count
    curves = [bake.track.channels[index] for bake, index in channels]
    extrapolations = [bake.track.extrapolation(index) for bake, index in channels]
    is_linear = np.array([extrapolation == "LINEAR" for extrapolation in extrapolations])
    keeps_last_interpolation = own_keys.begins_segment[count - 1 :: count]
    identified = Joined(with_identities(own_keys, keys.plays), [count] * len(channels))
    composed, placed = played_keys(identified, keys, keeps_last_interpolation, is_linear)
    is_updated = np.array(
        [extrapolate(fcurve, extrapolation) for fcurve, extrapolation in zip(curves, extrapolations, strict=True)]
    )
    if own_keys.as_read is None:
        write_joined(curves, Joined(composed, [count] * len(channels)))
    else:
        _write_changes(curves, composed, own_keys.as_read, is_updated)
    for fcurve in curves:
        repeat(fcurve, keys.repeats)
    records = as_written(composed, own_keys, placed)
    if keys.chosen is not None:
        for fcurve, written in zip(curves, records, strict=True):
            _let_blender_place(fcurve, written)
    for (bake, index), extrapolation, written in zip(channels, extrapolations, records, strict=True):
        bake.handle_records[index] = _channel_record(bake, index, extrapolation, written)


def _write_changes(
    curves: Sequence[bpy.types.FCurve], composed: Keyframes, as_read: Keyframes, is_updated: BoolArray
) -> None:
    """Write the attributes that differ from the keys as read, because others may not have been read.

    `is_updated` is a mask of the curves whose extrapolation has changed.
    """
    to_write = _differing(composed, as_read, len(curves))
    if is_updated.any():
        # When the extrapolation changes, Blender updates the curve, which may move its handles.
        for name in PAIRS:
            to_write[name] = to_write.get(name, is_updated) | is_updated
    write_some(curves, composed, to_write)


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


def _channel_record(bake: TrackBake, index: int, extrapolation: Extrapolation, written: Written) -> Channel:
    """Return the record of a channel's written keys."""
    before = bake.state.channels.get(index)
    # If `edited` is true, a restore updates automatic handles, as Blender does when the extrapolation changes.
    is_edited = before is not None and (before.edited or before.extrapolation != extrapolation)
    return Channel(extrapolation, bake.own[index].edited or is_edited, written)


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
