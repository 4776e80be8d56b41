# SPDX-License-Identifier: GPL-3.0-or-later
"""Set, reset, copy and paste the parameters of keys, and set their interpolation.

Parameters are written as new rows of the table. Each key has the identity of its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain, islice

import bpy
import numpy as np

from ..arguments import checked
from ..bake.drags import end_drag, rebake_step
from ..bake.pipeline import rebake
from ..fcurves.channels import Channels, check_editable, evaluate_anew, users_of_channels
from ..fcurves.keyframes import INTERPOLATION, SAME_FRAME, BoolArray, Float32Array, is_among, matching_rows, union
from ..fcurves.read_and_write import KeyBlock
from ..live.meaning_of_edits import are_implied
from ..many import on_each
from ..records import record
from ..report import AnimationError, Report
from ..store.identities_in_keys import write_identities
from ..store.own_keys import OwnKeys
from ..store.parameters import Numbers, check_parameter, velocity_size
from ..store.read_own_keys import count_key_frames, read_own_keys
from ..store.record_keys import NumbersByName, OwnChannel, enable_tracks, record_rows
from ..store.table.custom_property import update
from ..store.table.rows import (
    CHOSEN_INTERPOLATION,
    CHOSEN_LEFT,
    CHOSEN_RIGHT,
    NUMBERS,
    PARAMETERS,
    VELOCITY,
    column_of,
    velocity_of,
)
from ..store.table.track_records import Channel, Options, TrackState
from ..store.tracks import Track
from ..text import rpt_
from .keys import bake_again, with_own_keys
from .track_keys import TrackKeys, find_track, key_at, read_again, uses_velocities, writable

NAMES = (*PARAMETERS, *map(velocity_of, range(NUMBERS - len(PARAMETERS))))
"""Names of the parameters and velocity components, in the order of their columns."""


def set_parameters(
    keys: TrackKeys,
    given: Mapping[str, Numbers | float],
    defaults: Mapping[str, float] | None = None,
    interpolation: str | None = None,
) -> None:
    """Set the parameters and the interpolation of keys. Each parameter has one value for all keys, or one per key.

    A plain track becomes TCB. `defaults` contains the parameters of keys that have none of their own. If `defaults` is
    given, a value of 0 is not written for keys whose default is 0. Raises AnimationError if the track can't be changed
    or a value is out of range, and ValueError if Blender has no such interpolation. In both cases, nothing is changed.
    """
    for error in set_parameters_of_each(zip(read_again([keys]), [given], strict=True), defaults, interpolation):
        raise error


def set_parameters_of_each(
    keys_and_values: Iterable[tuple[TrackKeys, Mapping[str, Numbers | float]]],
    defaults: Mapping[str, float] | None = None,
    interpolation: str | None = None,
    is_drag_step: bool = False,
) -> list[AnimationError]:
    """Set parameters of keys on different tracks (see `set_parameters`). The keys must just have been read.

    If `is_drag_step` is true, live tracks are updated immediately. Otherwise, the action is not evaluated.
    """
    if interpolation is not None and interpolation not in INTERPOLATION:
        known = ", ".join(INTERPOLATION)
        raise ValueError(rpt_("interpolation {!r} is not one of {:s}", interpolation, known))
    errors = []
    changes: dict[int, list[Change]] = {}
    for keys, given in keys_and_values:
        if not len(keys):
            continue
        try:
            change = _change(keys, given, defaults)
            changes.setdefault(change.channels.action.session_uid, []).append(change)
        except AnimationError as error:
            errors.append(error)
    for changes_of_action in changes.values():
        write_numbers(changes_of_action, interpolation, is_drag_step)
    return errors


def _change(keys: TrackKeys, given: Mapping[str, Numbers | float], defaults: Mapping[str, float] | None) -> Change:
    """Return the change that sets these parameters, after making a plain track TCB."""
    numbers = {name: np.broadcast_to(np.asarray(value, dtype=np.float64), len(keys)) for name, value in given.items()}
    for name, values in numbers.items():
        check_parameter(keys.track, name, values, keys.frames)
    channels, track, keys = _up_to_date(keys)
    if not track.enabled:
        enable_tracks(channels, [track])
        keys = replace(keys, own=read_own_keys(track))
    new_numbers: dict[int, dict[str, Numbers]] = {index: {} for index in keys.own}
    for index, own in keys.own.items():
        own_rows, rows = matching_rows(own.keys.frames, keys.frames)
        for name, values in numbers.items():
            name_in_channel = name
            if name.startswith(VELOCITY) and not track.is_rotation:
                # A value channel has only its own component of the velocity.
                if name != velocity_of(index):
                    continue
                name_in_channel = velocity_of(0)
            is_needed = defaults is None or defaults.get(name, 0.0) != 0.0
            current = own.numbers[own_rows, column_of(name_in_channel)]
            is_written = ~np.isnan(current) | (values[rows] != 0.0) | is_needed
            new_numbers[index][name_in_channel] = np.where(is_written, values[rows], np.nan)
    return Change(channels, track, keys.own, keys.frames, new_numbers)


def _up_to_date(keys: TrackKeys) -> tuple[Channels, Track, TrackKeys]:
    """Set parameters implied by earlier edits, and return the editable channels, the track and the keys, read again."""
    channels, track = writable(keys.datablock, keys.track)
    if are_implied(track, keys.own):
        # The implied parameters would otherwise replace the new ones later.
        (users,) = users_of_channels([channels])
        rebake(users, channels, [track], Options())
        (keys,) = read_again([keys])
        channels, track = writable(keys.datablock, keys.track)
    return channels, track, keys


def reset(keys: TrackKeys) -> None:
    """Remove the parameters of the keys. Raise AnimationError if the track can't be changed."""
    (keys,) = read_again([keys])
    channels, track, keys = _up_to_date(keys)
    if track.enabled:
        unset = dict.fromkeys(keys.own, dict.fromkeys(NAMES, np.array(np.nan)))
        write_numbers([Change(channels, track, keys.own, keys.frames, unset)])


def make_bezier(keys: TrackKeys) -> None:
    """Set keys, and the keys before them, to Bezier, so that TCB plays the segments on both sides.

    Raises AnimationError if the track can't be changed.
    """
    frames = [keys.frames]
    for own in keys.own.values():
        previous_rows = np.searchsorted(own.keys.frames, keys.frames - np.float32(SAME_FRAME)) - 1
        frames.append(own.keys.frames[previous_rows[previous_rows >= 0]])
    set_parameters(replace(keys, frames=union(frames)), {}, interpolation="BEZIER")


@checked
def key_set(
    datablock: bpy.types.ID,
    track: str,
    frame: float,
    *,
    velocity: float | Sequence[float] | None = None,
    interpolation: str | None = None,
    **parameters: float,
) -> Report:
    """Set parameters of the key of `track` at `frame`. A plain track becomes TCB.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the track.
    track : str
        Path of the track, as for `find_track`.
    frame : float
        Frame of the key.
    velocity : float or sequence of float, optional
        Velocity per frame for methods that use it: one number, or one per component. For rotations, the angular
        velocity about the parent's x, y and z axes, in radians.
    interpolation : str, optional
        The interpolation after the key in each channel, named as in `bpy.types.Keyframe`. With "BEZIER", TCB plays the
        segment. With any other interpolation, Blender plays the segment, and the spline ends at the key.
    **parameters : float
        `tension`, `continuity` and `bias` from -1 to 1, `ease_to` and `ease_from` from 0 to 1. Parameters that are not
        given remain unchanged.

    Returns
    -------
    Report
        Counts of the track and its keys. `changed_keys` is 0 if the key already had these parameters and this
        interpolation.

    Raises
    ------
    AnimationError
        The track or key does not exist, or a parameter is out of range. Nothing was changed.
    ValueError
        An interpolation or parameter does not exist, or a number is not finite. Nothing was changed.

    Examples
    --------
    >>> report = animation.key_set(ball, "location", 20, tension=1.0)
    >>> report = animation.key_set(ball, "rotation", 20, interpolation="CONSTANT")
    >>> animation.key_set(ball, "location", 21, tension=1.0)
    Traceback (most recent call last):
    AnimationError: "Ball", Location, frame 21: no key at this frame
    """
    for name in parameters:
        if name not in PARAMETERS:
            raise ValueError(rpt_("{!r} is not one of {:s}", name, ", ".join((*PARAMETERS, VELOCITY))))
    check_editable(datablock)
    keys = key_at(datablock, find_track(datablock, track), frame)
    given = dict(parameters) if velocity is None else {**parameters, **_velocity_given(keys.track, velocity, frame)}
    set_parameters(keys, given, interpolation=interpolation)
    report = Report.on([datablock], tracks=1)
    report.keys = count_key_frames(keys.own)
    is_unchanged = keys.track.enabled and _have_equal_settings(keys.own, read_own_keys(find_track(datablock, track)))
    report.changed_keys = 0 if is_unchanged else 1
    return report


def _have_equal_settings(before: Mapping[int, OwnKeys], after: Mapping[int, OwnKeys]) -> bool:
    """Return whether the keys of each channel have the same parameters, velocities and interpolation."""
    return all(
        np.array_equal(before[index].numbers, own.numbers, equal_nan=True)
        and np.array_equal(before[index].keys.interpolation, own.keys.interpolation)
        for index, own in after.items()
    )


# Type checkers assume that the keyword arguments may contain `datablock`.
key_set_many = on_each(key_set, '[ball], "location", 20, tension=1.0')  # type: ignore[arg-type]


def _velocity_given(track: Track, velocity: float | Sequence[float], frame: float) -> dict[str, float]:
    """Return a velocity as parameters. Raise AnimationError if the number of components does not fit the track."""
    size, numbers = velocity_size(track), np.atleast_1d(velocity)
    if numbers.shape != (size,):
        raise track.error("VELOCITY_SIZE", size, numbers.size, frame=frame)
    return {velocity_of(component): number for component, number in enumerate(numbers.tolist())}


# Writing rows and identities


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
    named, rows, _ = record_rows(
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
    baked = [track for track in tracks if track.is_baked]
    states_before_bake = [track.state for track in baked if track.state is not None]
    channels_after = iter([(channel, keys) for (_, channel), keys in zip(edited, named, strict=True)])
    changed_states = []
    for change, track in zip(changes, tracks, strict=True):
        state = _state_after(track, [next(channels_after) for _ in change.own])
        if state is not track.state:
            changed_states.append(state)
            track.state = state
    update(channels.action, rows, changed_states)
    channels.action.update_tag()
    if is_drag_step:
        (users,) = users_of_channels([channels])
        rebake_step(users, channels, tracks)
        return
    if baked:
        bake_again(channels, baked, states_before_bake)
    # Live will evaluate the tracks with the new parameters. However, undo reevaluates only data that were evaluated
    # during the undo step.
    evaluate_anew(channels.action)
    end_drag()


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


# Copying and pasting, with velocities if the methods of both tracks use velocities


@record()
class CopiedKey:
    """The copied parameters and velocity of one key."""

    parameters: tuple[float, ...]
    velocity: tuple[float, ...] = ()
    """One number per component. Empty if the method of the track does not use velocities."""
    is_angular: bool = False


def copied_keys(keys: TrackKeys, defaults: Mapping[str, float]) -> list[CopiedKey]:
    """Return copies of a track's keys, ordered by frame. Raises AnimationError."""
    own = keys.parameters(defaults)
    parameters = list(zip(*(own[name].tolist() for name in PARAMETERS), strict=True))
    if not uses_velocities(keys.track):
        return [CopiedKey(numbers) for numbers in parameters]
    velocities = map(tuple, keys.velocities().tolist())
    return [CopiedKey(*numbers, keys.track.is_rotation) for numbers in zip(parameters, velocities, strict=True)]


def assign_to_keys(
    copied: Sequence[tuple[str, Sequence[CopiedKey]]], chosen: Sequence[TrackKeys]
) -> list[list[CopiedKey]] | None:
    """Return the copied key to paste onto each chosen key, by track, or None if no rule applies.

    `copied` contains the path of each track and its copied keys. The rules, in order:

    1. If there are as many chosen keys as copied keys, each chosen key gets its counterpart.
    2. If all copied keys are equal, every chosen key gets their common values.
    3. If exactly one key was copied from the path of each chosen track, that key is pasted onto all of the track's
    chosen keys.
    """
    counts = [len(keys) for keys in chosen]
    all_copied = list(chain.from_iterable(keys for _, keys in copied))
    if sum(counts) == len(all_copied):
        in_order = iter(all_copied)
        return [list(islice(in_order, n)) for n in counts]
    if len(set(all_copied)) == 1:
        return [all_copied[:1] * n for n in counts]
    single = {path: list(keys) for path, keys in copied if len(keys) == 1}
    if all(keys.track.path in single for keys in chosen):
        return [single[keys.track.path] * len(keys) for keys in chosen]
    return None


def paste(keys: TrackKeys, copied: Sequence[CopiedKey], defaults: Mapping[str, float]) -> str:
    """Paste parameters and velocities onto keys. Return the code of a note on omitted velocities, or an empty string.

    Velocities that do not fit the track are omitted. Raises AnimationError if the track can't be changed.
    """
    parameters = dict(zip(PARAMETERS, np.array([key.parameters for key in copied]).T, strict=True))
    velocities, note = _velocities(keys, copied)
    set_parameters(keys, {**parameters, **velocities}, defaults)
    return note


def _velocities(keys: TrackKeys, copied: Sequence[CopiedKey]) -> tuple[dict[str, Numbers], str]:
    """Return the velocities to paste, and the code of a note on omitted velocities, or an empty string."""
    is_rotation = keys.track.is_rotation
    moving = [key for key in copied if any(key.velocity)]
    if not uses_velocities(keys.track):
        return {}, "PASTED_NO_VELOCITIES" if moving else ""
    velocities = keys.velocities()
    size = velocities.shape[1]
    fitting = [row for row, key in enumerate(copied) if key.velocity and key.is_angular == is_rotation]
    for row in fitting:
        copied_components = copied[row].velocity[:size]
        velocities[row, : len(copied_components)] = copied_components
    note = ""
    if any(key.is_angular != is_rotation for key in moving):
        note = "PASTED_OTHER_VELOCITIES"
    elif any(any(key.velocity[size:]) for key in moving):
        note = "PASTED_FIRST_COMPONENTS"
    return {velocity_of(component): velocities[:, component] for component in range(size if fitting else 0)}, note
