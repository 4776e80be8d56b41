# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the animator's keys with the handles that play tracks, and record the handles."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ..fcurves.cycles_modifier import repeat
from ..fcurves.keyframes import (
    AUTOMATIC,
    FLAGS,
    HANDLE,
    INTERPOLATION,
    NAMES,
    SIDES,
    BoolArray,
    EnumArray,
    Joined,
    KeyArrays,
    Keyframes,
    flat,
)
from ..fcurves.read_and_write import read_joined, write_joined, write_some
from ..store.identities_in_keys import IDENTIFYING, with_identities_in_unused
from ..store.own_keys import own_end_to_end
from ..store.restored_keys import as_written
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT
from ..store.table.track_records import (
    BEYOND,
    LEFT_PLACED,
    RIGHT_PLACED,
    Channel,
    Error,
    Extrapolation,
    TrackState,
    Written,
)
from .bake_job import TrackBake
from .plans.plan import HandleKeys, by_layout, stacked

_TYPES = ("handle_left_type", "handle_right_type")
_BITS = (LEFT_PLACED, RIGHT_PLACED)
_FREE, _BEZIER = np.uint8(HANDLE["FREE"]), np.uint8(INTERPOLATION["BEZIER"])
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
    identified = Joined(with_identities_in_unused(own, keys.plays), [count] * len(channels))
    # No segment begins at the last key, but if the animator chose its interpolation, the choice is kept.
    keeps_last_interpolation = own.begins_segment[count - 1 :: count]
    is_linear = np.array([extrapolation == "LINEAR" for extrapolation in extrapolations])
    composed, placed = _played_keys(identified, keys, keeps_last_interpolation, is_linear)
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


def _played_keys(
    own: Joined, keys: HandleKeys, keeps_last_interpolation: BoolArray, is_linear: BoolArray
) -> tuple[Keyframes, EnumArray]:
    """Return the animator's keys in all channels, concatenated, with the handles that play the spline.

    The keys of all channels are at the same frames. The second array, shape (channels, n), flags the handles placed by
    the bake, in the same form as in the table.

    `keeps_last_interpolation` is a mask of the channels whose last key keeps the interpolation chosen by the animator.
    `is_linear` is a mask of the channels that Blender extrapolates linearly.
    """
    co = own.by_channel("co").copy()
    if keys.values_on_curves is not None:
        co[..., 1] = keys.values_on_curves
    arrays: KeyArrays = {name: own.by_channel(name) for name in ("easing", "type", *FLAGS, *IDENTIFYING)}
    arrays |= {"co": co, "interpolation": _interpolation(own, keys.plays, keeps_last_interpolation)}
    arrays |= _played_handles(own, keys)
    types, placed = _handle_types(own, keys)
    placed = _align_outer_handles(arrays, own, keys, placed, is_linear)
    return flat(arrays | types), _with_equivalent_flags(own, keys, types, placed)


def _interpolation(own: Joined, plays: BoolArray, keeps_last_interpolation: BoolArray) -> EnumArray:
    """Return the interpolation, which is Bezier where handles play the spline, shape (channels, n)."""
    interpolation = own.by_channel("interpolation").copy()
    interpolation[:, plays] = _BEZIER
    if len(plays) > 1 and plays[-2]:
        # No segment begins at the last key, but exporters read its interpolation.
        interpolation[~keeps_last_interpolation, -1] = _BEZIER
    return interpolation


def _played_handles(own: Joined, keys: HandleKeys) -> KeyArrays:
    """Return the positions of both handles. Handles that the spline does not place move with their keys."""
    handles_by_side = {}
    for side, placed in zip(SIDES, (keys.left, keys.right), strict=True):
        own_handles = own.by_channel(side)
        if keys.values_on_curves is not None:
            own_handles = own_handles.copy()
            own_handles[..., 1] += keys.values_on_curves - own.by_channel("values")
        handles_by_side[side] = np.where(np.isnan(placed), own_handles, placed)
    return handles_by_side


def _handle_types(own: Joined, keys: HandleKeys) -> tuple[KeyArrays, EnumArray]:
    """Return the types of both handles, and flags of the handles placed by the bake, shape (channels, n).

    Handles are free unless the animator chose their type.
    """
    shape = len(own.counts), own.counts[0]
    plays_before = np.concatenate(([False], keys.plays[:-1]))
    placed = np.broadcast_to((plays_before * LEFT_PLACED + keys.plays * RIGHT_PLACED).astype(np.uint8), shape)
    types: KeyArrays = dict.fromkeys(_TYPES, np.full(shape, _FREE, dtype=np.uint8))
    if keys.chosen is None:
        return types, placed
    for name, chosen_bit, bit in zip(_TYPES, (CHOSEN_LEFT, CHOSEN_RIGHT), _BITS, strict=True):
        is_chosen = (keys.chosen & chosen_bit) != 0
        types[name] = np.where(is_chosen, own.by_channel(name), _FREE)
        placed = placed & ~(is_chosen * np.uint8(bit))
    return types, placed


def _with_equivalent_flags(own: Joined, keys: HandleKeys, types: KeyArrays, placed: EnumArray) -> EnumArray:
    """Add the flags of keys whose values on the curves differ from the animator's values."""
    if keys.values_on_curves is None or keys.equivalent_flags is None:
        return placed
    # Unmoved handles of shifted angles are read from the row, because adding the shift at each bake would accumulate
    # rounding.
    is_shifted = np.abs(keys.values_on_curves) != np.abs(own.by_channel("values"))
    for name, bit in zip(_TYPES, _BITS, strict=True):
        is_unmoved = is_shifted & (placed & bit == 0) & (types[name] == _FREE)
        placed = np.where(is_unmoved, placed | np.uint8(bit << BEYOND), placed)
    return placed | keys.equivalent_flags


def _align_outer_handles(
    arrays: KeyArrays, own: Joined, keys: HandleKeys, placed: EnumArray, is_linear: BoolArray
) -> EnumArray:
    """Align the outer handles of the first and last keys with the inner handles, and return flags of the moved handles.

    Blender extrapolates linearly along these handles in the channels marked in `is_linear`. If an ease brings the
    motion to rest at the key, the outer handle is horizontal. Only automatic handles are changed, and only if the
    animator did not choose their type.
    """
    if not is_linear.any():
        return placed
    placed = placed.copy()
    plays = bool(keys.plays[0]), bool(len(keys.plays) > 1 and keys.plays[-2])
    for side, other, end, bit, is_played in zip(SIDES, SIDES[::-1], (0, -1), _BITS, plays, strict=True):
        own_types = own.by_channel(f"{side}_type")[:, end]
        channels = is_linear & is_played & AUTOMATIC[own_types]
        if keys.chosen is not None:
            channels &= keys.chosen[:, end] == 0
        arrays[side][channels, end] = 2.0 * arrays["co"][channels, end] - arrays[other][channels, end]
        if keys.rests_at_ends[end]:
            arrays[side][channels, end, 1] = arrays["co"][channels, end, 1]
        placed[channels, end] |= bit << BEYOND
    return placed
