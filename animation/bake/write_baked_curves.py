# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the keys of SAMPLES and CURVES bakes to F-curves, lock the channels, and record them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ..fcurves.cycles_modifier import repeat
from ..fcurves.frames import matching_rows
from ..fcurves.joined_keys import Joined
from ..fcurves.keyframes import FLAGS, SIDES, IndexArray
from ..fcurves.read_keys import read_joined
from ..fcurves.write_keys import extrapolate, write_joined, write_some
from ..store.edited_outside import fingerprints
from ..store.own_arrays import NO_OWN_KEYS, OwnKeys, own_end_to_end
from ..store.own_curves import saved_keys
from ..store.table.track_records import Bake, BakedChannel, Extrapolation, Fingerprint, SavedKeys, TrackState
from .keyframes_to_write import baked_keys, with_identities
from .locks import lock
from .plans.composed_keys import ChannelKeys, by_layout, stacked
from .recreated_channels import remove_made
from .track_bake import TrackBake

_PLAYED = ("co", *SIDES, "interpolation", "type", "back", "amplitude", "period")
"""Attributes to write if curves already have as many samples as the bake."""


def write_bakes(bakes: Sequence[TrackBake]) -> list[TrackState]:
    """Write the baked keys of tracks and lock their channels. Return the table entries of the tracks."""
    for bake in bakes:
        _make_curves(bake)
    records: dict[TrackBake, dict[int, BakedChannel]] = {bake: {} for bake in bakes}
    keys_of_bakes = [(bake, keys) for bake in bakes for keys in bake.baked.channel_keys]
    for group in by_layout(keys_of_bakes, lambda _, keys: keys.layout):
        channels = [_Channel(bake, index) for bake, channel_keys in group for index in channel_keys.components]
        written = _write_channels(channels, stacked([channel_keys for _, channel_keys in group]))
        for (bake, index), record in zip(channels, written, strict=True):
            records[bake][index] = record
    for bake in bakes:
        for keys in bake.baked.channel_keys:
            for index in keys.components:
                # Otherwise, an update in Blender would move the handles, and Live would bake the track again.
                bake.track.channels[index].keyframe_points.handles_recalc()
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
    for index in track.created_by_bake.keys() - needed:
        if index in track.channels:
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


def _write_channels(channels: Sequence[_Channel], keys: ChannelKeys) -> list[BakedChannel]:
    """Write the keys of channels, and lock the channels. Return their records."""
    curves = [channel.fcurve for channel in channels]
    own_keys = own_end_to_end([bake.own.get(index, NO_OWN_KEYS) for bake, index in channels])
    composed = _composed(own_keys, keys, len(channels))
    own_extrapolations = [bake.track.extrapolation(index) for bake, index in channels]
    extrapolations: list[Extrapolation] = ["CONSTANT" if keys.holds_outside else own for own in own_extrapolations]
    were_repeated = [repeat(fcurve, wanted=False) for fcurve in curves]
    for fcurve, extrapolation in zip(curves, extrapolations, strict=True):
        extrapolate(fcurve, extrapolation)
    if _can_overwrite_samples(curves, keys):
        every_curve = np.ones(len(curves), dtype=np.bool_)
        write_some(curves, composed.keys, dict.fromkeys(_PLAYED, every_curve))
    else:
        _keep_selection(channels, composed, keys.rows)
        write_joined(curves, composed)
    lock(curves)
    saved, written = _saved(channels, own_keys), fingerprints(composed, extrapolations)
    contents = zip(saved, own_extrapolations, were_repeated, written, strict=True)
    return [channel.record(*content) for channel, content in zip(channels, contents, strict=True)]


def _composed(own_keys: OwnKeys, keys: ChannelKeys, channel_count: int) -> Joined:
    """Return the keys to write: the animator's keys of all channels with their identities, and the generated keys."""
    identified = with_identities(own_keys, ~keys.begins_segment) if len(keys.rows) else own_keys.keys
    written_keys = baked_keys(Joined(identified, [len(keys.rows)] * channel_count), keys)
    return Joined(written_keys, [len(keys.frames)] * channel_count)


def _can_overwrite_samples(curves: Sequence[bpy.types.FCurve], keys: ChannelKeys) -> bool:
    """Return whether the bake consists of samples only, and the curves already have as many keys."""
    if keys.incoming is not None or keys.begins_segment.any():
        return False
    return all(len(curve.keyframe_points) == len(keys.frames) for curve in curves)


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


def _keep_selection(channels: Sequence[_Channel], composed: Joined, rows: IndexArray) -> None:
    """Copy the curves' current selection to the animator's keys, because the saved selection is from the first bake."""
    baked = [number for number, channel in enumerate(channels) if channel.bake.state.bake is not None]
    if not baked or not len(rows):
        return
    shown = read_joined([channels[number].fcurve for number in baked], ("co", *FLAGS))
    for number, keys_before in zip(baked, shown.channels, strict=True):
        own_rows = composed.spans[number].start + rows
        rows_kept, rows_before = matching_rows(composed.keys.frames[own_rows], keys_before.frames)
        for name in FLAGS:
            getattr(composed.keys, name)[own_rows[rows_kept]] = getattr(keys_before, name)[rows_before]
