# SPDX-License-Identifier: GPL-3.0-or-later
"""Write new values for keys of TCB tracks: table rows, identities in the keys, and interpolation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np
import numpy.typing as npt

from ..bake.drags import end_drag, rebake_step
from ..fcurves.channels import Channels, evaluate_anew, users_of_channels
from ..fcurves.frames import is_among
from ..fcurves.keyframes import INTERPOLATION, BoolArray, Float32Array, IndexArray
from ..fcurves.read_keys import KeyBlock
from ..records import record
from ..store.own_keys import OwnKeys, read_all_own_keys
from ..store.parameters import Numbers
from ..store.record_rows import OwnChannel, recorded, write_identities
from ..store.table.custom_property import update
from ..store.table.key_identity import Identities
from ..store.table.rows import (
    CHOSEN_INTERPOLATION,
    CHOSEN_LEFT,
    CHOSEN_RIGHT,
    NUMBERS,
    PARAMETERS,
    VELOCITY,
    Rows,
    column_of,
    joined,
    velocity_of,
)
from ..store.table.track_records import Channel, TrackState, Written
from ..store.tracks import Track
from .change_own_curves import bake_again, with_saved_keys

NAMES = (*PARAMETERS, *map(velocity_of, range(NUMBERS - len(PARAMETERS))))
"""Names of the parameters and velocity components in a row."""
NumbersOfKeys = Callable[[int, OwnKeys, BoolArray], Mapping[str, Numbers]]
"""Function that returns parameters and velocities for the chosen keys of a channel. The arguments are the index of the
channel, the animator's keys and a mask."""
KeysBeforeAfter = tuple[OwnKeys, OwnKeys]
"""The animator's keys of a channel, before and after an edit."""


@record()
class Change:
    """New parameters and velocities for the keys of a TCB track at the given frames."""

    channels: Channels
    track: Track
    frames: Float32Array
    changed: NumbersOfKeys


def column_in_channel(track: Track, index: int, name: str) -> int | None:
    """Return the column of a parameter or velocity component in a channel's rows, or None if there is none.

    The rows of a value channel contain only the velocity component of this channel.
    """
    if track.is_rotation or not name.startswith(VELOCITY):
        return column_of(name)
    return column_of(velocity_of(0)) if name == velocity_of(index) else None


def write_numbers(changes: Sequence[Change], interpolation: str | None = None, is_drag_step: bool = False) -> None:
    """Write new rows for keys on different tracks of one action, with the values that each change's `changed` returns.

    An `interpolation` is recorded as chosen by the animator. If `is_drag_step` is true, live tracks are updated
    immediately, because a step of a drag has no undo step.
    """
    edited: list[OwnChannel] = []
    owners: list[int] = []
    """Index of the change for each edited channel."""
    numbers: list[Mapping[str, Numbers]] = []
    masks: list[BoolArray] = []
    keys_of_changes = read_all_own_keys([change.track for change in changes])
    for owner, (change, keys_of_track) in enumerate(zip(changes, keys_of_changes, strict=True)):
        state = change.track.state
        assert state is not None
        for index, own in keys_of_track.items():
            is_chosen, keys = is_among(own.keys.frames, change.frames), own
            if interpolation is not None:
                if not change.track.is_baked:
                    _write_interpolation(change.track.channels[index], own.rows[is_chosen], interpolation)
                keys = _interpolated(own, is_chosen, interpolation)
            edited.append(OwnChannel(state.identity, index, keys, index in state.channels))
            owners.append(owner)
            numbers.append(change.changed(index, keys, is_chosen))
            masks.append(is_chosen)
    named, rows = recorded(edited, numbers, masks)
    keys_to_write: list[tuple[Track, dict[int, KeysBeforeAfter]]] = [(change.track, {}) for change in changes]
    for owner, channel, keys in zip(owners, edited, named, strict=True):
        keys_to_write[owner][1][channel.component] = (channel.own, keys)
    channels, tracks = changes[0].channels, [change.track for change in changes]
    states_before_bake = [track.state for track in tracks if track.state is not None and track.is_baked]
    _write_rows(channels, keys_to_write, joined(rows))
    _play(channels, tracks, is_drag_step, states_before_bake)


def _play(channels: Channels, tracks: Sequence[Track], is_drag_step: bool, baked_states: Sequence[TrackState]) -> None:
    """Play the tracks with their new parameters and velocities.

    Bake baked tracks again and, during a drag, update all other tracks. `baked_states` contains the previous table
    entries of the baked tracks, which are restored if the bake fails.
    """
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


def _write_interpolation(fcurve: bpy.types.FCurve, rows: IndexArray, interpolation: str) -> None:
    """Set the interpolation of the curve's keys in the given rows."""
    points = fcurve.keyframe_points
    kinds = KeyBlock([points]).read("interpolation")
    kinds[rows] = INTERPOLATION[interpolation]
    points.foreach_set("interpolation", kinds)


def _interpolated(own: OwnKeys, is_chosen: BoolArray, interpolation: str) -> OwnKeys:
    """Return the animator's keys, with this interpolation recorded as chosen by the animator on some keys.

    Bezier keys are played by TCB. If Blender played a Bezier segment before the change, the spline now places the
    segment's handles.
    """
    kinds = np.where(is_chosen, np.uint8(INTERPOLATION[interpolation]), own.keys.interpolation)
    is_bezier = interpolation == "BEZIER"
    cleared = own.chosen & ~np.uint8(CHOSEN_INTERPOLATION)
    flag = np.uint8(0 if is_bezier else CHOSEN_INTERPOLATION)
    chosen = np.where(is_chosen, cleared | flag, own.chosen)
    if is_bezier:
        was_bezier = is_chosen & own.ends_spline & (own.keys.interpolation == INTERPOLATION["BEZIER"])
        chosen[was_bezier] &= ~np.uint8(CHOSEN_RIGHT)
        chosen[1:][was_bezier[:-1]] &= ~np.uint8(CHOSEN_LEFT)
    return own.with_(keys=own.keys.with_(interpolation=kinds), chosen=chosen)


def _renamed(identities: Identities, before: Identities, after: Identities) -> Identities:
    """Return the identities, with each identity in `before` replaced by its counterpart in `after`."""
    if identities.tobytes() == before.tobytes():
        return after
    names = dict(zip(before.tolist(), after.tolist(), strict=True))
    return np.array([names.get(name, name) for name in identities.tolist()], dtype=np.uint32)


def _update_interpolation(written: Written, names: Identities, kinds: npt.NDArray[np.uint8]) -> None:
    """Record the interpolation of keys with new rows, so that only a later change counts as an edit."""
    places = {name: place for place, name in enumerate(written["identity"].tolist())}
    for name, kind in zip(names.tolist(), kinds.tolist(), strict=True):
        if name in places:
            written["interpolation"][places[name]] = kind


def _write_rows(
    channels: Channels, keys_to_write: Sequence[tuple[Track, Mapping[int, KeysBeforeAfter]]], rows: Rows
) -> None:
    """Write new rows, and write identities into the animator's keys.

    On a baked track, the saved keys are changed.
    """
    states: list[TrackState] = []
    named: list[tuple[bpy.types.FCurve, OwnKeys]] = []
    for track, keys_of_track in keys_to_write:
        state = track.state
        assert state is not None
        if track.is_baked:
            states.append(with_saved_keys(track, {index: after.keys for index, (_, after) in keys_of_track.items()}))
            continue
        changed_records: dict[int, Channel] = {}
        for index, (before, after) in keys_of_track.items():
            if before.identities.tobytes() == after.identities.tobytes():
                continue
            named.append((track.channels[index], after))
            if index in state.channels:
                own = state.channels[index].own.copy()
                is_new = before.identities != after.identities
                kinds = KeyBlock([track.channels[index].keyframe_points]).read("interpolation")[before.rows]
                _update_interpolation(own, before.identities[is_new], kinds[is_new])
                own["identity"] = _renamed(own["identity"], before.identities, after.identities)
                changed_records[index] = replace(state.channels[index], own=own)
        if changed_records:
            track.state = replace(state, channels={**state.channels, **changed_records})
            states.append(track.state)
    write_identities(named)
    update(channels.action, rows, states)
    channels.action.update_tag()
