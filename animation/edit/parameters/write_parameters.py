# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing of new values for keys of TCB tracks: table rows, identities in the keys, and interpolation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...bake.replay import end_drag, replay
from ...fcurves.channels import Channels, evaluate_anew, users_of_channels
from ...fcurves.frames import is_among
from ...fcurves.keyframes import INTERPOLATION, BoolArray, Float32Array, IndexArray, KeyBlock
from ...records import record
from ...store.own_curves import with_saved
from ...store.own_keys import OwnKeys, read_keys_to_write, read_own_keys
from ...store.parameters import Numbers
from ...store.record_rows import OwnChannel, recorded, write_identities
from ...store.table.custom_property import Channel, TrackState, update
from ...store.table.identity import Identities
from ...store.table.rows import (
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
from ...store.tracks import Track
from ..change_own_curves import bake_again

NAMES = (*PARAMETERS, *map(velocity_of, range(NUMBERS - len(PARAMETERS))))
"""Names of the numbers in a row."""
NumbersOfKeys = Callable[[int, OwnKeys, BoolArray], Mapping[str, Numbers]]
"""Function that returns numbers for the chosen keys of a channel from its index, its own keys and a mask."""


@record()
class Change:
    """New numbers for the keys of a TCB track at some frames."""

    channels: Channels
    track: Track
    frames: Float32Array
    changed: NumbersOfKeys


def column_in_channel(track: Track, index: int, name: str) -> int | None:
    """Return the column of a number in a channel's rows, or None if they do not contain it.

    Rows of a value channel contain only this channel's component of a velocity.
    """
    if track.is_rotation or not name.startswith(VELOCITY):
        return column_of(name)
    return column_of(velocity_of(0)) if name == velocity_of(index) else None


def write_numbers(changes: Sequence[Change], interpolation: str | None = None, held: bool = False) -> None:
    """Write new rows for keys of different tracks of one action, with the numbers from each change's `changed`.

    An `interpolation` is recorded as chosen by the animator. `held` is true for a step of a drag, which has no undo
    step. Live tracks are then baked again immediately.
    """
    parts, numbers, chosen = [], [], []
    for change, own in zip(changes, read_keys_to_write([change.track for change in changes]), strict=True):
        state = change.track.state
        assert state is not None
        for index, each in own.items():
            there, keys = is_among(each.keys.frames, change.frames), each
            if interpolation is not None:
                if not change.track.is_baked:
                    _write_interpolation(change.track.channels[index], each.rows[there], interpolation)
                keys = _interpolated(each, there, interpolation)
            parts.append(OwnChannel(state.identity, index, keys, index in state.channels))
            numbers.append(change.changed(index, keys, there))
            chosen.append(there)
    named, rows = recorded(parts, numbers, chosen)
    after: dict[int, dict[int, tuple[OwnKeys, OwnKeys]]] = {}
    for part, own_named in zip(parts, named, strict=True):
        after.setdefault(part.track, {})[part.component] = (part.own, own_named)
    written = [(change.track, after.get(_identity(change.track), {})) for change in changes]
    channels = changes[0].channels
    before = [change.track.state for change in changes if change.track.state is not None and change.track.is_baked]
    write_rows(channels, written, joined(rows))
    _play(channels, [change.track for change in changes], held, before)


def _play(channels: Channels, tracks: Sequence[Track], held: bool, before: Sequence[TrackState]) -> None:
    """Play the tracks with their new numbers: bake baked tracks again, and during a drag the others too.

    `before` has the table entries of the baked tracks, which are restored if the bake fails.
    """
    baked = [track for track in tracks if track.is_baked]
    if held:
        (users,) = users_of_channels([channels])
        replay(users, channels, tracks)
    else:
        if baked:
            bake_again(channels, baked, before)
        # Live will evaluate the tracks with the new numbers, but undo reevaluates only data evaluated in its step.
        evaluate_anew(channels.action)
        end_drag()


def _identity(track: Track) -> int:
    assert track.state is not None
    return track.state.identity


def _write_interpolation(fcurve: bpy.types.FCurve, rows: IndexArray, interpolation: str) -> None:
    """Set the interpolation of the curve's keys in the given rows."""
    points = fcurve.keyframe_points
    kinds = KeyBlock([points]).read("interpolation")
    kinds[rows] = INTERPOLATION[interpolation]
    points.foreach_set("interpolation", kinds)


def _interpolated(own: OwnKeys, there: BoolArray, interpolation: str) -> OwnKeys:
    """Return own keys with an interpolation chosen by the animator for the keys in the mask `there`.

    With Bezier, TCB plays the keys. If Blender played a Bezier segment before, the spline then places its handles.
    """
    kinds = np.where(there, np.uint8(INTERPOLATION[interpolation]), own.keys.interpolation)
    bit = CHOSEN_INTERPOLATION if interpolation != "BEZIER" else 0
    chosen = np.where(there, own.chosen & ~np.uint8(CHOSEN_INTERPOLATION) | np.uint8(bit), own.chosen)
    if not bit:
        blenders = there & own.ends_spline & (own.keys.interpolation == INTERPOLATION["BEZIER"])
        chosen[blenders] &= ~np.uint8(CHOSEN_RIGHT)
        chosen[1:][blenders[:-1]] &= ~np.uint8(CHOSEN_LEFT)
    return own.with_(keys=own.keys.with_(interpolation=kinds), chosen=chosen)


def _renamed(noted: Identities, before: Identities, after: Identities) -> Identities:
    """Return the identities with each one in `before` replaced by its counterpart in `after`."""
    if noted.tobytes() == before.tobytes():
        return after
    names = dict(zip(before.tolist(), after.tolist(), strict=True))
    return np.array([names.get(each, each) for each in noted.tolist()], dtype=np.uint32)


def write_rows(
    channels: Channels, every: Sequence[tuple[Track, Mapping[int, tuple[OwnKeys, OwnKeys]]]], rows: Rows
) -> None:
    """Write new rows, and the identities of the tracks' own keys. Each channel has its keys before and after.

    For a baked track, the saved keys are changed.
    """
    states, named = [], []
    for track, keys in every:
        state = track.state
        assert state is not None
        if track.is_baked:
            states.append(_with_saved(track, {index: after for index, (_, after) in keys.items()}))
            continue
        written: dict[int, Channel] = dict(state.channels)
        for index, (before, after) in keys.items():
            if before.identities.tobytes() == after.identities.tobytes():
                continue
            named.append((track.channels[index], after))
            if index in written:
                noted = written[index].own.copy()
                noted["identity"] = _renamed(noted["identity"], before.identities, after.identities)
                written[index] = replace(written[index], own=noted)
        track.state = replace(state, channels=written)
        if written != dict(state.channels):
            states.append(track.state)
    write_identities(named)
    update(channels.action, rows, states)
    channels.action.update_tag()


def _with_saved(track: Track, keys: Mapping[int, OwnKeys]) -> TrackState:
    """Replace the saved keys of a baked track, and return its table entry."""
    assert track.state is not None
    every = read_own_keys(track) | dict(keys)
    track.state = with_saved(track.state, {index: own.keys for index, own in every.items()})
    return track.state
