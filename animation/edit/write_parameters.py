# SPDX-License-Identifier: GPL-3.0-or-later
"""Write parameters, velocities and interpolations of keys of TCB tracks: new table rows, and identities in the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from ..bake.drags import end_drag, rebake_step
from ..fcurves.channels import Channels, evaluate_anew, users_of_channels
from ..fcurves.frames import is_among
from ..fcurves.keyframes import INTERPOLATION, BoolArray, Float32Array
from ..fcurves.read_keys import KeyBlock
from ..records import record
from ..store.identities_in_keys import write_identities
from ..store.own_arrays import OwnKeys
from ..store.record_rows import NumbersByName, OwnChannel, record_rows
from ..store.table.custom_property import update
from ..store.table.rows import (
    CHOSEN_INTERPOLATION,
    CHOSEN_LEFT,
    CHOSEN_RIGHT,
    NUMBERS,
    PARAMETERS,
    ROW,
    joined,
    velocity_of,
)
from ..store.table.track_records import Channel, TrackState
from ..store.tracks import Track
from .own_curves import bake_again, with_own_keys

NAMES = (*PARAMETERS, *map(velocity_of, range(NUMBERS - len(PARAMETERS))))
"""Names of the parameters and velocity components, in the order of their columns."""


@record()
class Change:
    """New parameters and velocities for the keys of a TCB track at the given frames."""

    channels: Channels
    track: Track
    own: Mapping[int, OwnKeys]
    """All of the animator's keys of the track's channels, as they are now."""
    frames: Float32Array
    numbers: Mapping[int, NumbersByName] = field(default_factory=dict)
    """New parameters and velocities of each channel's keys at the frames, with NaN to unset."""


def write_numbers(changes: Sequence[Change], interpolation: str | None = None, is_drag_step: bool = False) -> None:
    """Write new parameters and velocities of keys on different tracks of one action.

    An `interpolation` is recorded as chosen by the animator. If `is_drag_step` is true, live tracks are updated
    immediately, because a step of a drag has no undo step.
    """
    channels, tracks = changes[0].channels, [change.track for change in changes]
    edited = [
        (change, _edited_channel(change, index, own, interpolation))
        for change in changes
        for index, own in change.own.items()
    ]
    named, rows = record_rows(
        [channel for _, channel in edited],
        [change.numbers.get(channel.component, {}) for change, channel in edited],
        [is_among(channel.own.keys.frames, change.frames) for change, channel in edited],
    )
    write_identities(
        [
            (change.track.channels[channel.component], keys)
            for (change, channel), keys in zip(edited, named, strict=True)
            if not change.track.is_baked and (keys.identities != channel.own.identities).any()
        ]
    )
    states_before_bake = [track.state for track in tracks if track.state is not None and track.is_baked]
    channels_after = iter([(channel, keys) for (_, channel), keys in zip(edited, named, strict=True)])
    changed_states = []
    for change, track in zip(changes, tracks, strict=True):
        state = _state_after(track, [next(channels_after) for _ in change.own])
        if state is not track.state:
            changed_states.append(state)
            track.state = state
    update(channels.action, joined(rows, ROW), changed_states)
    channels.action.update_tag()
    _play(channels, tracks, is_drag_step, states_before_bake)


def _edited_channel(change: Change, index: int, own: OwnKeys, interpolation: str | None) -> OwnChannel:
    """Return a channel of the changed track. If there is a new interpolation, set it on the channel's keys."""
    state = change.track.state
    assert state is not None
    if interpolation is not None:
        to_change = is_among(own.keys.frames, change.frames)
        if not change.track.is_baked:
            points = change.track.channels[index].keyframe_points
            kinds = KeyBlock([points]).read("interpolation")
            kinds[own.rows[to_change]] = INTERPOLATION[interpolation]
            points.foreach_set("interpolation", kinds)
        own = _interpolated(own, to_change, interpolation)
    return OwnChannel(state.identity, index, own, index in state.channels)


def _interpolated(own: OwnKeys, to_change: BoolArray, interpolation: str) -> OwnKeys:
    """Return the keys, with this interpolation recorded as chosen by the animator on some of them."""
    kinds = np.where(to_change, np.uint8(INTERPOLATION[interpolation]), own.keys.interpolation)
    is_bezier = interpolation == "BEZIER"
    cleared = own.chosen & ~np.uint8(CHOSEN_INTERPOLATION)
    flag = np.uint8(0 if is_bezier else CHOSEN_INTERPOLATION)
    chosen = np.where(to_change, cleared | flag, own.chosen)
    if is_bezier:
        # The spline places the handles of the segments that Blender played before.
        was_bezier = to_change & own.begins_segment & (own.keys.interpolation == INTERPOLATION["BEZIER"])
        chosen[was_bezier] &= ~np.uint8(CHOSEN_RIGHT)
        chosen[1:][was_bezier[:-1]] &= ~np.uint8(CHOSEN_LEFT)
    return own.with_(keys=own.keys.with_(interpolation=kinds), chosen=chosen)


def _state_after(track: Track, edited: Sequence[tuple[OwnChannel, OwnKeys]]) -> TrackState:
    """Return the new table entry of a track, with the keys of its channels before and after the edit."""
    state = track.state
    assert state is not None
    if track.is_baked:
        return with_own_keys(track, {channel.component: after.keys for channel, after in edited})
    records: dict[int, Channel] = {}
    for (_, index, before, has_placed_handles), after in edited:
        is_new = before.identities != after.identities
        if has_placed_handles and is_new.any():
            kinds = KeyBlock([track.channels[index].keyframe_points]).read("interpolation")[before.rows]
            new_rows = dict(zip(before.identities[is_new].tolist(), np.flatnonzero(is_new).tolist(), strict=True))
            written = state.channels[index].own.copy()
            for place, identity in enumerate(written["identity"].tolist()):
                if identity in new_rows:
                    row = new_rows[identity]
                    # Only a later change of the interpolation counts as an edit.
                    written["identity"][place], written["interpolation"][place] = after.identities[row], kinds[row]
            records[index] = replace(state.channels[index], own=written)
    return replace(state, channels={**state.channels, **records}) if records else state


def _play(channels: Channels, tracks: Sequence[Track], is_drag_step: bool, baked_states: Sequence[TrackState]) -> None:
    """Play the tracks with their new parameters. If a bake fails, the entries `baked_states` are restored."""
    if is_drag_step:
        (users,) = users_of_channels([channels])
        rebake_step(users, channels, tracks)
        return
    baked = [track for track in tracks if track.is_baked]
    if baked:
        bake_again(channels, baked, baked_states)
    # Live will evaluate the tracks with the new parameters. However, undo reevaluates only data that were evaluated
    # during the undo step.
    evaluate_anew(channels.action)
    end_drag()
