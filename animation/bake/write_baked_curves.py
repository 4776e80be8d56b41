# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the keys of SAMPLES and CURVES bakes to F-curves, lock the channels, and record them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...interp.fitting.curves import handles
from ..fcurves.channels import channels_in
from ..fcurves.cycles_modifier import repeat
from ..fcurves.keyframes import (
    FLAGS,
    HANDLE,
    INTERPOLATION,
    KEY_TYPE,
    NAMES,
    SIDES,
    BoolArray,
    Float32Array,
    IndexArray,
    Joined,
    KeyArrays,
    Keyframes,
    flat,
    matching_rows,
)
from ..fcurves.read_and_write import extrapolate, read_joined, write_joined, write_some
from ..store.identities_in_keys import IDENTIFYING, with_identities_in_unused
from ..store.own_keys import NO_OWN_KEYS, OwnKeys, own_end_to_end
from ..store.read_own_keys import saved_keys
from ..store.table.track_records import Bake, BakedChannel, Extrapolation, Fingerprint, SavedKeys, TrackState
from ..store.up_to_date import fingerprints
from .bake_job import TrackBake
from .locked_channels import lock, remove_made
from .plans.plan import ChannelKeys, by_layout, stacked

_PLAYED = ("co", *SIDES, "interpolation", "type", "back", "amplitude", "period")
"""Attributes to write if curves already have as many samples as the bake."""
_WRITTEN = tuple(name for name in NAMES if name not in FLAGS)
"""Attributes to write to new keys, before they are selected."""
_REPLACE = {"REPLACE", "FAST"}
"""Options of `keyframe_points.insert` with which Blender changes only an existing key, and moves no handles."""
_KEYS_IN_BULK = 10
"""Number of keys that can be selected in bulk in the time that Blender needs to select a single key."""


def write_bakes(bakes: Sequence[TrackBake]) -> list[TrackState]:
    """Write the baked keys of tracks and lock their channels. Return the table entries of the tracks."""
    for bake in bakes:
        _make_curves(bake)
    records: dict[TrackBake, dict[int, BakedChannel]] = {bake: {} for bake in bakes}
    keys_of_bakes = [(bake, keys) for bake in bakes for keys in bake.baked.channel_keys]
    selections: list[_Selection] = []
    for group in by_layout(keys_of_bakes, lambda _, keys: keys.layout):
        channels = [_Channel(bake, index) for bake, channel_keys in group for index in channel_keys.components]
        written = _write_channels(channels, stacked([channel_keys for _, channel_keys in group]), selections)
        for (bake, index), record in zip(channels, written, strict=True):
            records[bake][index] = record
    _select(selections)
    return [_table_entry(bake, records[bake]) for bake in bakes]


def _table_entry(bake: TrackBake, records: dict[int, BakedChannel]) -> TrackState:
    """Return the table entry of a track whose keys have been written."""
    track, state = bake.track, bake.state
    # Free Bake must return to the state before the first bake.
    before = state.bake or state.settings
    baked = Bake(dict(sorted(records.items())), before.digest, before.options)
    handle_records = state.channels if bake.may_keep_records else {}
    return TrackState(state.identity, track.slot, track.path, bake.settings_after(), handle_records, state.error, baked)


def _make_curves(bake: TrackBake) -> None:
    """Create the F-curves that the bake needs, and remove unused F-curves created by an earlier bake."""
    track, channels = bake.track, bake.channels
    needed = {index for keys in bake.baked.channel_keys for index in keys.components}
    for index in (track.created_by_bake.keys() - needed) & track.channels.keys():
        remove_made(channels, track, index)
    for index in sorted(needed - track.channels.keys()):
        track.channels[index] = channels.new(track.path, index, track.group)


class _Channel(NamedTuple):
    """A channel to bake, given by its track and component."""

    bake: TrackBake
    component: int

    @property
    def fcurve(self) -> bpy.types.FCurve:
        return self.bake.track.channels[self.component]

    def record(
        self, saved: SavedKeys, extrapolation: Extrapolation, was_repeated: bool, written: Fingerprint
    ) -> BakedChannel:
        track, index, before = self.bake.track, self.component, self.bake.baked_before(self.component)
        # The value that remains when Free Bake removes a channel that the bake has created.
        rest = None if index in self.bake.own else track.created_by_bake.get(index, track.rest[index])
        repeats, is_edited = (was_repeated, False) if before is None else (before.repeats, before.edited)
        return BakedChannel(saved, extrapolation, rest, repeats, written, is_edited)


class _Selection(NamedTuple):
    """The selection of the animator's keys on channels that were written together."""

    bakes: Sequence[TrackBake]
    """The track of each channel."""
    points: Sequence[Any]
    """The keys of each channel, as Blender collections."""
    key_count: int
    """Number of keys per channel."""
    rows: IndexArray
    """Rows of the animator's keys, shape (k,)."""
    co: Float32Array
    """Frames and values of these keys, shape (channels, k, 2)."""
    flags: BoolArray
    """Selection flags of these keys, in the order of FLAGS, shape (channels, k, 3)."""


def _write_channels(
    channels: Sequence[_Channel], keys: ChannelKeys, selections: list[_Selection]
) -> list[BakedChannel]:
    """Write the keys of channels, and lock the channels. Return their records.

    The selection of new keys is not written, but added to `selections`.
    """
    curves = [channel.fcurve for channel in channels]
    own_keys = own_end_to_end([bake.own.get(index, NO_OWN_KEYS) for bake, index in channels])
    composed = _composed(own_keys, keys, len(channels))
    own_extrapolations = [bake.track.extrapolation(index) for bake, index in channels]
    extrapolations: list[Extrapolation] = ["CONSTANT"] * len(channels) if keys.holds_outside else own_extrapolations
    were_repeated = [repeat(fcurve, wanted=False) for fcurve in curves]
    for fcurve, extrapolation in zip(curves, extrapolations, strict=True):
        extrapolate(fcurve, extrapolation)
    if _can_overwrite_samples(curves, keys):
        every_curve = np.ones(len(curves), dtype=np.bool_)
        write_some(curves, composed.keys, dict.fromkeys(_PLAYED, every_curve))
    else:
        own_co = composed.keys.co.reshape(len(channels), -1, 2)[:, keys.rows]
        own_flags = _own_flags(channels, own_keys, keys)
        bakes, points = [bake for bake, _ in channels], [fcurve.keyframe_points for fcurve in curves]
        selections.append(_Selection(bakes, points, len(keys.frames), keys.rows, own_co, own_flags))
        write_joined(curves, composed, _WRITTEN)
    for fcurve in curves:
        # Otherwise, an update in Blender would move the handles, and Live would bake the track again.
        fcurve.keyframe_points.handles_recalc()
    lock(curves)
    saved, written = _saved(channels, own_keys), fingerprints(composed, extrapolations)
    contents = zip(saved, own_extrapolations, were_repeated, written, strict=True)
    return [channel.record(*content) for channel, content in zip(channels, contents, strict=True)]


def _composed(own_keys: OwnKeys, keys: ChannelKeys, channel_count: int) -> Joined:
    """Return the keys to write: the animator's keys of all channels with their identities, and the generated keys."""
    identified = with_identities_in_unused(own_keys, ~keys.begins_segment) if len(keys.rows) else own_keys.keys
    written_keys = _baked_keys(Joined(identified, [len(keys.rows)] * channel_count), keys)
    return Joined(written_keys, [len(keys.frames)] * channel_count)


def _baked_keys(own: Joined, keys: ChannelKeys) -> Keyframes:
    """Return the keys of all baked curves, one channel after another, unselected.

    Generated keys have the type GENERATED. The animator's keys keep their type and identity. If Blender plays the
    segment after an animator's key, the key also keeps all attributes that affect the segment.
    """
    shape, rows = keys.values.shape, keys.rows
    co = np.empty((*shape, 2), dtype=np.float32)
    co[..., 0], co[..., 1] = keys.frames, keys.values
    arrays: KeyArrays = {name: np.zeros(shape, dtype=np.float32) for name in IDENTIFYING}
    arrays["easing"] = np.zeros(shape, dtype=np.uint8)
    arrays["type"] = np.full(shape, KEY_TYPE["GENERATED"], dtype=np.uint8)
    kind = INTERPOLATION["LINEAR" if keys.incoming is None else "BEZIER"]
    arrays["interpolation"] = np.full(shape, kind, dtype=np.uint8)
    if len(rows):
        for name in ("easing", "type", *IDENTIFYING):
            arrays[name][:, rows] = own.by_channel(name)
    arrays |= {"co": co} | dict.fromkeys(
        ("handle_left_type", "handle_right_type"), np.full(shape, HANDLE["FREE"], dtype=np.uint8)
    )
    arrays |= dict.fromkeys(FLAGS, np.zeros(shape, dtype=np.bool_))
    sides = _thirds(keys, co)
    if np.count_nonzero(keys.begins_segment):
        sides = [handles_of_side.copy() for handles_of_side in sides]
        _copy_blender_segments(arrays, sides, co[..., 1], own, keys)
    return flat(arrays | dict(zip(SIDES, sides, strict=True)))


def _thirds(keys: ChannelKeys, co: Float32Array) -> list[Float32Array]:
    """Return left and right handles, each one third of the segment away from its key.

    The handles of linear keys coincide with the keys.
    """
    if keys.incoming is None or keys.outgoing is None:
        return [co, co]
    return list(handles(keys.frames, co[..., 1], keys.incoming, keys.outgoing))


def _copy_blender_segments(
    arrays: KeyArrays, sides: list[Float32Array], values_on_curves: Float32Array, own: Joined, keys: ChannelKeys
) -> None:
    """Copy the interpolation and handles of the animator's keys to the segments that Blender plays."""
    shape = len(keys.components), len(keys.rows)
    begins_segment = keys.begins_segment
    ends_segment = np.concatenate(([False], begins_segment[:-1]))
    rows = keys.rows[begins_segment]
    arrays["interpolation"][:, rows] = own.by_channel("interpolation")[:, begins_segment]
    factors, terms = keys.maps if keys.maps is not None else (np.ones(shape), np.zeros(shape))
    own_values = own.by_channel("values")
    for side, handles_of_side, mask in zip(SIDES, sides, (ends_segment, begins_segment), strict=True):
        own_handles = own.by_channel(side)[:, mask]
        rows, values = keys.rows[mask], values_on_curves[:, keys.rows[mask]]
        # The handle keeps its offset from the key, because the key's value on the curve may differ.
        offset = (own_handles[..., 1] - own_values[:, mask]) * factors[:, mask]
        moved = (values + offset).astype(np.float32)
        is_unmapped = (factors[:, mask] == 1.0) & (terms[:, mask] == 0.0)
        is_unmoved = (values == own_values[:, mask]) & is_unmapped
        handles_of_side[:, rows, 0] = own_handles[..., 0]
        handles_of_side[:, rows, 1] = np.where(is_unmoved, own_handles[..., 1], moved)


def _can_overwrite_samples(curves: Sequence[bpy.types.FCurve], keys: ChannelKeys) -> bool:
    """Return whether the bake consists of samples only, and the curves already have as many keys."""
    return keys.are_linear and all(len(curve.keyframe_points) == len(keys.frames) for curve in curves)


def _saved(channels: Sequence[_Channel], own: OwnKeys) -> Iterator[SavedKeys]:
    """Yield the animator's keys of each channel in the form that Free Bake restores.

    `own` contains the keys of all channels, the same number for each.
    """
    # If handles play the track, the records refer to the keys as read from the curves.
    as_read = own.as_read if any(bake.may_keep_records for bake, _ in channels) else None
    saved_as_own = saved_keys(own.keys)
    saved_as_read = saved_as_own if as_read is None else saved_keys(as_read)
    count = own.count // len(channels)
    for number, (bake, index) in enumerate(channels):
        before = bake.baked_before(index)
        if before is not None and bake.keeps_identities:
            yield before.keys
        else:
            saved = saved_as_read if bake.may_keep_records else saved_as_own
            yield saved[number * count : (number + 1) * count]


def _own_flags(channels: Sequence[_Channel], own_keys: OwnKeys, keys: ChannelKeys) -> BoolArray:
    """Return the selection flags of the animator's keys, shape (channels, k, 3).

    On baked curves, the current selection counts, because the saved selection is from the first bake.
    """
    flags = _flags_of(own_keys.keys).reshape(len(channels), -1, len(FLAGS))
    baked = [number for number, channel in enumerate(channels) if channel.bake.state.bake is not None]
    if baked and len(keys.rows):
        shown = read_joined([channels[number].fcurve for number in baked], ("co", *FLAGS))
        for number, keys_before in zip(baked, shown.channels, strict=True):
            rows, rows_before = matching_rows(keys.frames[keys.rows], keys_before.frames)
            flags[number, rows] = _flags_of(keys_before)[rows_before]
    return flags


def _flags_of(keys: Keyframes) -> BoolArray:
    """Return the selection flags of keys, shape (n, 3)."""
    return np.stack([getattr(keys, name) for name in FLAGS], axis=1)


def _select(selections: Sequence[_Selection]) -> None:
    """Select the animator's keys as before, and deselect the generated keys. Blender selects added keys."""
    deselected = _deselected(Counter(bake for selection in selections for bake in selection.bakes))
    for bakes, points, key_count, rows, co, flags in selections:
        is_selected, values = flags.all(axis=2), co[..., 1]
        # Blender selects a key that is inserted again, and moves it by the difference in value, which changes -0.0.
        can_insert = (is_selected == flags.any(axis=2)) & ~(is_selected & (values == 0.0) & np.signbit(values))
        is_few = _KEYS_IN_BULK * np.count_nonzero(is_selected, axis=1) < key_count
        is_by_key = can_insert.all(axis=1) & is_few & np.array([bake in deselected for bake in bakes])
        is_selected &= is_by_key[:, np.newaxis]
        inserts = [points_of_channel.insert for points_of_channel in points]
        for number, (frame, value) in zip(np.nonzero(is_selected)[0].tolist(), co[is_selected].tolist(), strict=True):
            inserts[number](frame, value, options=_REPLACE)
        buffers = np.zeros((len(FLAGS), key_count), dtype=np.bool_)
        for number in np.flatnonzero(~is_by_key).tolist():
            buffers[:, rows] = flags[number].T
            for name, buffer in zip(FLAGS, buffers, strict=True):
                points[number].foreach_set(name, buffer.data)


def _deselected(channel_counts: Mapping[TrackBake, int]) -> set[TrackBake]:
    """Deselect all keys of actions whose F-curves have all been written. Return the bakes in these actions.

    `channel_counts` contains the number of written channels.
    """
    bakes_by_action: dict[Any, list[TrackBake]] = {}
    for bake in channel_counts:
        bakes_by_action.setdefault(bake.channels.action, []).append(bake)
    deselected: set[TrackBake] = set()
    for action, bakes in bakes_by_action.items():
        fcurve_count = sum(len(channels.bag.fcurves) for channels in channels_in(action))
        # Blender 4.2 can't deselect the keys of an action.
        if hasattr(action, "deselect_keys") and sum(channel_counts[bake] for bake in bakes) == fcurve_count:
            action.deselect_keys()
            deselected.update(bakes)
    return deselected
