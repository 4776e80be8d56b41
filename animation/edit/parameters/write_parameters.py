# SPDX-License-Identifier: GPL-3.0-or-later
"""New numbers for keys of TCB tracks, written: rows in the table, identities in the keys, interpolation."""

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
"""Names of the numbers of a row."""
NumbersOfKeys = Callable[[int, OwnKeys, BoolArray], Mapping[str, Numbers]]
"""Returns numbers for the chosen keys of a channel, from its index, its own keys, and which are chosen."""


@record()
class Change:
    """New numbers for the keys of a TCB track at some frames."""

    channels: Channels
    track: Track
    frames: Float32Array
    changed: NumbersOfKeys


def column_in_channel(track: Track, index: int, name: str) -> int | None:
    """Return the column of a number in a channel's rows; None where it is not in them.

    Rows of a value's channel have only this channel's component of a velocity.
    """
    if track.is_rotation or not name.startswith(VELOCITY):
        return column_of(name)
    return column_of(velocity_of(0)) if name == velocity_of(index) else None


def write_numbers(changes: Sequence[Change], interpolation: str | None = None, held: bool = False) -> None:
    """Give keys of different tracks of one action new rows, with the numbers that `changed` of each returns.

    An `interpolation` counts as chosen by the animator. `held`: a step of a drag, of which undo knows nothing; what is
    live is baked again at once.
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
    """Play the tracks by their new numbers: baked ones, and others at a step of a drag, else evaluate them as they are.

    `before`: the entries of the baked tracks in the table, which they get back where they can't be baked.
    """
    baked = [track for track in tracks if track.is_baked]
    if held:
        (users,) = users_of_channels([channels])
        replay(users, channels, tracks)
    else:
        if baked:
            bake_again(channels, baked, before)
        # Live evaluates what it plays by the new numbers, but undo evaluates only what was evaluated in its step.
        evaluate_anew(channels.action)
        end_drag()


def _identity(track: Track) -> int:
    assert track.state is not None
    return track.state.identity


def _write_interpolation(fcurve: bpy.types.FCurve, rows: IndexArray, interpolation: str) -> None:
    """Set the interpolation of the curve's keys in those rows."""
    points = fcurve.keyframe_points
    kinds = KeyBlock([points]).read("interpolation")
    kinds[rows] = INTERPOLATION[interpolation]
    points.foreach_set("interpolation", kinds)


def _interpolated(own: OwnKeys, there: BoolArray, interpolation: str) -> OwnKeys:
    """Return own keys with an interpolation that the animator chose for those that are `there`.

    With Bezier, keys play TCB; where Blender played a Bezier segment, its handles are the spline's from then on.
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
    """Return the identities with each of `before` replaced with its counterpart in `after`."""
    if noted.tobytes() == before.tobytes():
        return after
    names = dict(zip(before.tolist(), after.tolist(), strict=True))
    return np.array([names.get(each, each) for each in noted.tolist()], dtype=np.uint32)


def write_rows(
    channels: Channels, every: Sequence[tuple[Track, Mapping[int, tuple[OwnKeys, OwnKeys]]]], rows: Rows
) -> None:
    """Write new rows, and the identities of the tracks' own keys, by channel before and after.

    Of a baked track the keys that are saved.
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
    """Give a baked track other saved keys, and return its entry in the table."""
    assert track.state is not None
    every = read_own_keys(track) | dict(keys)
    track.state = with_saved(track.state, {index: own.keys for index, own in every.items()})
    return track.state
