# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the handles of the animator's keys, and record the handles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ..fcurves.cycles_modifier import repeat
from ..fcurves.joined import Joined
from ..fcurves.keyframes import SIDES
from ..fcurves.read_keys import read_joined
from ..fcurves.write_keys import Write, extrapolate, write_some
from ..store.digest import digest
from ..store.own_keys import own_end_to_end
from ..store.record_rows import as_written
from ..store.table.track_records import Channel, Error, TrackState, Written
from .key_groups import alike, with_identities
from .keyframes_to_write import differing, played_keys
from .plans.protocol import HandleKeys, TrackBake
from .plans.protocol import joined as joined_keys

_ROUNDED = 1e-6
"""Relative rounding error of handles placed by Blender."""


def write_handles(members: Sequence[TrackBake], write: Write) -> Iterator[TrackState]:
    """Write the animator's keys on each track, with the handles that play the track.

    Yield the table entry of each track.
    """
    for member in members:
        track = member.track
        for index in sorted(member.own.keys() - track.channels.keys()):
            track.channels[index] = member.channels.new(track.path, index, track.group)
    keys_by_layout = []
    for member in members:
        for keys in member.baked.handles:
            own = member.own[keys.components[0]]
            keys_by_layout.append(((own.timing, own.as_read is None, *keys.layout), member, keys))
    for group in alike(keys_by_layout):
        _write_group(group, write)
    for member in members:
        track, state, baked = member.track, member.state, member.baked
        settings = replace(member.settings, digest=digest(track, member.settings, member.own, member.function))
        error = Error(baked.error, baked.error_frame, baked.is_approximate)
        # Use the order of the animator's keys, so that repeating the bake creates the same table.
        placed = {index: member.placed[index] for index in member.own}
        yield TrackState(state.identity, track.slot, track.path, settings, placed, error)


def _write_group(members: Sequence[tuple[TrackBake, HandleKeys]], write: Write) -> None:
    """Write the keys of channels with the same layout, and record their handles."""
    keys = joined_keys([handle_keys for _, handle_keys in members])
    channels = [(member, index) for member, handle_keys in members for index in handle_keys.components]
    own = [member.own[index] for member, index in channels]
    own_keys, count = own_end_to_end(own), own[0].count
    extrapolations = [member.track.extrapolation(index) for member, index in channels]
    goes_on = np.array([extrapolation == "LINEAR" for extrapolation in extrapolations])
    ends = own_keys.ends_spline[count - 1 :: count]
    identified = Joined(with_identities(own_keys, keys.plays), [count] * len(own))
    composed, placed = played_keys(identified, keys, ends, goes_on)
    curves = [member.track.channels[index] for member, index in channels]
    updated = [extrapolate(*pair) for pair in zip(curves, extrapolations, strict=True)]
    before = own_keys.as_read
    if before is not None:
        # When the extrapolation changes, Blender updates the curve, which may move its handles. Unchanged attributes
        # other than handles are not written, and some of them may not have been read.
        to_write, moved = differing(composed, before, len(curves)), np.array(updated)
        for name in ("co", *SIDES) if moved.any() else ():
            to_write[name] = to_write.get(name, moved) | moved
        write_some(curves, composed, to_write)
    else:
        write(curves, Joined(composed, [count] * len(curves)))
    records = as_written(composed, own_keys, placed)
    for (member, index), channel_keys, fcurve, extrapolation, written in zip(
        channels, own, curves, extrapolations, records, strict=True
    ):
        recorded = member.state.channels.get(index)
        repeat(fcurve, keys.repeats)
        if keys.chosen is not None:
            _let_blender_place(fcurve, written)
        # After a change of extrapolation, Blender updates automatic handles at the ends.
        is_edited = recorded is not None and (recorded.edited or recorded.extrapolation != extrapolation)
        member.placed[index] = Channel(extrapolation, channel_keys.edited or is_edited, written)


def _let_blender_place(fcurve: bpy.types.FCurve, written: Written) -> None:
    """Make Blender place the handles whose type the animator chose, and record their positions."""
    fcurve.update()
    keys = read_joined([fcurve], SIDES).keys
    for side in SIDES:
        places, before = getattr(keys, side), written[side]
        # Aligning handles again would round them, but repeated bakes must produce the same bits.
        moved = (np.abs(places - before) > _ROUNDED * (1.0 + np.abs(before))).any(axis=1)
        written[side][moved] = places[moved]
        fcurve.keyframe_points.foreach_set(side, written[side].ravel())
