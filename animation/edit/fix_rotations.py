# SPDX-License-Identifier: GPL-3.0-or-later
"""Fix Rotations: find and repair keys at which rotations flip, jump or turn far, on plain and TCB tracks.

The pose at every key is preserved. Actions that are not played can be repaired too. For the mathematics, see
`interp/rotations/equivalent.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import bpy
import numpy as np

from ...interp.rotations.equivalent import UNKNOWN_ORDER, KeyFaults, Maps, find_faults
from ..arguments import checked
from ..bake.locked_channels import place_automatic
from ..bake.pipeline import rebake
from ..datablocks import HAS_SLOTS, animation_data, name_of, strips_of, users_of_each
from ..fcurves.channels import (
    Channels,
    channels_in,
    channels_of,
    check_editable,
    editable_channels,
    evaluate_anew,
    layered_reason,
)
from ..fcurves.keyframes import PAIRS, SAME_FRAME, BoolArray, Float32Array, Float64Array, Keyframes, union
from ..fcurves.read_and_write import read, write
from ..many import on_each
from ..options import FIX_ROTATIONS
from ..records import record
from ..report import AnimationError, Finding, JsonResult, Report
from ..store.editable import blocking_reasons, error_of_numbers
from ..store.find_tracks import find_tracks, rotations_without_owner
from ..store.own_keys import OwnKeys
from ..store.read_own_keys import read_all_own_keys
from ..store.tracks import Track, is_of_another_mode
from ..track_paths import path_filter
from .free_restore_apply_remove import restore_if_played

Turns = Literal["KEEP", "SHORTEST"]
Kind = Literal["FLIP", "JUMP", "TURN", "GIMBAL"]


@dataclass(frozen=True)
class RotationFault(JsonResult):
    """The keys of one track that have the same fault. `str()` returns a message that lists the keys."""

    datablock: str
    """Name of the datablock, or of the action if it has no users."""
    action: str
    track: str
    """Path of the track."""
    kind: Kind
    """FLIP is opposite quaternions or axes, or the other Euler solution. JUMP is whole turns within one frame. TURN is
    more than 180 degrees over a longer time, which may be intended. GIMBAL is within 2 degrees of gimbal lock."""
    frames: tuple[float, ...]
    """Frames of the keys, in action time. For a flip, jump or turn, the frame of the second key."""
    repairable: bool
    """True if `fix_rotations` repairs the fault with the same options."""
    reason: Finding | None
    """The reason why the fault can't be repaired, or None."""
    finding: Finding
    """The fault as a finding, with the names of the datablock and the track."""

    def __str__(self) -> str:
        return str(self.finding)


@checked
def find_rotation_faults(
    datablock: bpy.types.ID, prefixes: Iterable[str] | None = None, turns: Turns = FIX_ROTATIONS["turns"].default
) -> list[RotationFault]:
    """Find keys that are close to gimbal lock, or at which rotations flip, jump or turn by more than 180 degrees.

    Parameters
    ----------
    datablock : bpy.types.ID
        A datablock with animation, or an action. All rotations in all slots of an action are checked, even if they are
        not played.
    prefixes : iterable of str, optional
        Check only tracks whose paths start with one of the prefixes.
    turns : {"KEEP", "SHORTEST"}
        See `fix_rotations`.

    Returns
    -------
    list of RotationFault
        The faults, in the order of the F-curves. Nothing is changed.

    Raises
    ------
    AnimationError
        There is no animation to read.

    Examples
    --------
    >>> animation.find_rotation_faults(ball)
    []
    """
    faults: list[RotationFault] = []
    for channels, owners in _channels_and_owners(datablock, channels_of):
        for examined in _examine(channels, owners, prefixes, turns):
            faults += examined.faults
    return faults


@checked
def fix_rotations(
    datablock: bpy.types.ID, prefixes: Iterable[str] | None = None, turns: Turns = FIX_ROTATIONS["turns"].default
) -> Report:
    """Replace the values of keys at which a rotation flips or jumps, so that the motion takes the shortest path.

    The pose at every key is preserved, except for float32 rounding. Handles move with their keys. F-curves without a
    fault are unchanged, bit for bit. The handles of TCB tracks are updated. Baked tracks are not repaired.

    Parameters
    ----------
    datablock : bpy.types.ID
        A datablock with animation, or an action. All rotations in all slots of an action are repaired, even if they are
        not played. For an action without users, the Euler order is unknown, so only signs and whole turns are repaired.
    prefixes : iterable of str, optional
        Repair only tracks whose paths start with one of the prefixes.
    turns : {"KEEP", "SHORTEST"}
        The rule for Euler or axis-angle rotations that turn by more than 180 degrees between two keys. Such a turn may
        be an intended spin or an unwanted jump by a whole turn. The keys are the same in both cases, and a lost spin
        can't be recovered. KEEP therefore repairs only jumps within one frame. SHORTEST makes all rotations take the
        shortest path.

    Returns
    -------
    Report
        Counts of repaired tracks and their keys. `changed_keys` is the number of changed keys. `notes` lists the
        repaired faults and the faults that were left unchanged. `errors` lists the faults that could not be repaired.

    Raises
    ------
    AnimationError
        No track can be edited. Nothing was changed.

    Examples
    --------
    >>> for fcurve in animation.find_track(ball, "rotation").channels.values():
    ...     fcurve.keyframe_points[1].co.y += 6.283185
    >>> [fault.kind for fault in animation.find_rotation_faults(ball)]
    ['TURN']
    >>> animation.fix_rotations(ball, turns="SHORTEST").changed_keys
    1
    """
    report = Report()
    for channels, owners in _channels_and_owners(datablock, check_editable):
        examined_tracks = list(_examine(channels, owners, prefixes, turns))
        if channels.action.library is not None and any(examined.to_repair.any() for examined in examined_tracks):
            # A library override gets a local copy of its linked action.
            channels, owners = editable_channels(datablock, report.notes), [datablock]
            examined_tracks = list(_examine(channels, owners, prefixes, turns))
        tracks_before = report.tracks
        for examined in examined_tracks:
            report.errors += [fault.reason for fault in examined.faults if fault.reason][:1]
            report.notes += [
                examined.track.finding("REPAIRED", fault.finding.on("")) if fault.repairable else fault.finding
                for fault in examined.faults
                if not fault.reason
            ]
            if examined.to_repair.any():
                report.add(_repair(channels, owners, examined))
                report.tracks += 1
                report.keys += len(examined.to_repair)
                report.changed_keys += int(examined.to_repair.sum())
        if report.tracks > tracks_before:
            report.add(Report.on(owners))
            evaluate_anew(channels.action)
    return report


fix_rotations_many = on_each(fix_rotations)


def _repair(channels: Channels, owners: Sequence[bpy.types.ID], examined: _ExaminedTrack) -> Report:
    """Write equivalent values into keys and handles. Update the track if it is played by handles."""
    track, changed = examined.track, examined.maps.changed
    bake_options = track.settings.options
    restore_if_played(channels, track)
    for column, index in enumerate(examined.indices):
        fcurve, rows = track.channels[index], changed[:, column]
        if not rows.any():
            continue
        factors, terms = examined.maps.factors[rows, column], examined.maps.terms[rows, column]
        keys = read(fcurve)
        write(fcurve, _mapped(keys, rows, factors, terms))
        place_automatic(fcurve, keys.frames)
    if bake_options is None:
        return Report()
    report = rebake(owners, channels, [track], bake_options)
    return Report(errors=report.errors, notes=report.notes)


def _mapped(keys: Keyframes, rows: BoolArray, factors: Float64Array, terms: Float64Array) -> Keyframes:
    """Return the keys, with the values and handles of the given rows scaled and shifted."""
    coordinates = {name: getattr(keys, name).copy() for name in PAIRS}
    for array in coordinates.values():
        array[rows, 1] = factors * array[rows, 1] + terms
    return keys.with_(**coordinates)


# Examining tracks


_SampledKeys = tuple[Float32Array, Mapping[int, Float64Array | Float32Array], BoolArray]
"""Frames, values by component, and a mask of the keys followed by motion."""


def _channels_and_owners(
    datablock: bpy.types.ID, channels_for: Callable[[bpy.types.ID], Channels]
) -> Iterator[tuple[Channels, list[bpy.types.ID]]]:
    """Yield each set of F-curves, with the datablocks that it animates directly or through NLA strips."""
    if not isinstance(datablock, bpy.types.Action):
        channels = channels_for(datablock)
        owners = users_of_each([channels.action], in_strips=True)[channels.action]
        yield channels, [datablock, *(owner for owner in _in_slot(channels, owners) if owner != datablock)]
        return
    reason = layered_reason(datablock)
    if not reason and not datablock.is_editable and channels_for is not channels_of:
        reason = Finding("LINKED")
    if reason:
        raise AnimationError(reason.on(name_of(datablock)))
    owners = users_of_each([datablock], in_strips=True)[datablock]
    for channels in channels_in(datablock):
        yield channels, _in_slot(channels, owners)


def _in_slot(channels: Channels, owners: Iterable[bpy.types.ID]) -> list[bpy.types.ID]:
    """Return the owners that use the action's slot in `channels`."""
    return [owner for owner in owners if any(slot == channels.slot_handle for slot, _ in _uses(channels, owner))]


def _uses(channels: Channels, owner: bpy.types.ID) -> Iterator[tuple[int, str]]:
    """Yield the slot and the blend mode of each use of the action by this owner."""
    data: Any = animation_data(owner)
    uses = [(data, data.action_blend_type)] if data.action == channels.action else []
    for use, blending in [*uses, *((strip, strip.blend_type) for strip in strips_of(owner, channels.action))]:
        slot = use.action_slot if HAS_SLOTS else None
        yield (slot.handle if slot is not None else 0), blending


@record(eq=False)
class _ExaminedTrack:
    """A track with its faults, and the changes that repair the faults."""

    track: Track
    faults: list[RotationFault]
    indices: list[int]
    """Components with keys, in the same order as the columns of the maps."""
    maps: Maps
    to_repair: BoolArray
    """Mask of the keys to repair. All false if the track can't be edited."""


def _examine(
    channels: Channels, owners: Sequence[bpy.types.ID], prefixes: Iterable[str] | None, turns: Turns
) -> Iterator[_ExaminedTrack]:
    """Yield the rotations that have faults."""
    is_chosen = path_filter(prefixes)
    owned = find_tracks(owners[0], channels, prefixes) if owners else []
    tracks = [*owned, *rotations_without_owner(channels, owned)]
    rotations = [track for track in tracks if track.is_rotation and is_chosen(track.path)]
    modes = {track.path: _mode_of(track) for track in rotations}
    for owner in owners[1:]:
        others = {track.path: track for track in find_tracks(owner, channels, prefixes)}
        for track in rotations:
            if track.kind == "EULER" and track.path in others and is_of_another_mode(others[track.path], track):
                modes[track.path] = UNKNOWN_ORDER
    for track, own_keys in zip(rotations, read_all_own_keys(rotations), strict=True):
        examined = _examine_track(channels, owners, track, own_keys, modes[track.path], turns)
        if examined is not None:
            yield examined


def _mode_of(track: Track) -> str:
    """Return the name of the rotation representation that the track uses."""
    if track.kind != "EULER":
        return track.kind
    return track.order if track.in_use else UNKNOWN_ORDER


def _examine_track(
    channels: Channels,
    owners: Sequence[bpy.types.ID],
    track: Track,
    own_keys: Mapping[int, OwnKeys],
    mode: str,
    turns: Turns,
) -> _ExaminedTrack | None:
    """Find the faults of a track. Return None if the track has no faults."""
    own_keys = {index: own_keys[index] for index in sorted(own_keys) if own_keys[index].count}
    if not own_keys or error_of_numbers(track, own_keys) is not None:
        return None
    reason, indices = None, list(own_keys)
    sampled = _keys_at_same_frames(own_keys)
    if sampled is None:
        reason, sampled = track.finding("KEYED_APART"), _evaluated_keys(track, own_keys)
    if len(own_keys) < len(track.rest):
        if track.kind == "EULER":
            mode = UNKNOWN_ORDER  # Whole turns in one angle do not depend on the other angles.
        else:
            reason, indices = track.finding("NOT_REPAIRED_PARTLY"), list(range(len(track.rest)))
    frames, columns, moves = sampled
    values = np.stack([columns.get(i, np.full(len(frames), track.component(i))) for i in indices], axis=1)
    key_faults = find_faults(mode, frames, values, moves)
    repairs_turns = turns == "SHORTEST"
    maps = key_faults.repaired(repairs_turns)
    changed: BoolArray = np.logical_or.reduce(maps.changed, axis=1)
    if changed.any():
        reason = reason or _reason_against(channels, owners, track)
    faults = list(_list_faults(channels, track, key_faults, frames, key_faults.to_repair(repairs_turns), reason))
    if not faults:
        return None
    return _ExaminedTrack(track, faults, indices, maps, changed & (reason is None))


def _keys_at_same_frames(own_keys: Mapping[int, OwnKeys]) -> _SampledKeys | None:
    """Return the keys of channels with keys at the same frames, or None if the frames differ."""
    frames = next(iter(own_keys.values())).frames
    for own in own_keys.values():
        if len(own.frames) != len(frames) or np.abs(frames - own.frames).max(initial=0.0) > SAME_FRAME:
            return None
    is_stepped = np.logical_and.reduce([own.keys.stepped for own in own_keys.values()], axis=0)
    return frames, {index: own.values for index, own in own_keys.items()}, ~is_stepped


def _evaluated_keys(track: Track, own_keys: Mapping[int, OwnKeys]) -> _SampledKeys:
    """Return the values of all channels at each frame at which any channel has a key."""
    frames = union([own.frames for own in own_keys.values()])
    columns = {
        index: np.array([track.channels[index].evaluate(frame) for frame in frames.tolist()]) for index in own_keys
    }
    return frames, columns, np.ones(len(frames), dtype=np.bool_)


def _reason_against(channels: Channels, owners: Sequence[bpy.types.ID], track: Track) -> Finding | None:
    """Return the reason why the track's keys can't be changed, or None if they can."""
    if track.is_baked:
        return track.finding("NOT_REPAIRED_BAKED")
    # The channels of an unused rotation mode can be repaired as well.
    (reason,) = blocking_reasons([replace(track, in_use=True)])
    if reason:
        return reason
    if any(_changes_values(modifier) for fcurve in track.channels.values() for modifier in fcurve.modifiers):
        return track.finding("NOT_REPAIRED_MODIFIED")
    if any(blending != "REPLACE" for owner in owners for _, blending in _uses(channels, owner)):
        return track.finding("NOT_REPAIRED_ADDED")
    return track.finding("NOT_REPAIRED_UNUSED") if track.is_played and not owners else None


def _changes_values(modifier: Any) -> bool:
    """Return whether a modifier can change the pose if keys get equivalent values. Only cycles without offset can't."""
    is_offset_possible = modifier.type != "CYCLES" or "REPEAT_OFFSET" in (modifier.mode_before, modifier.mode_after)
    return is_offset_possible and not modifier.mute


def _list_faults(
    channels: Channels,
    track: Track,
    key_faults: KeyFaults,
    frames: Float32Array,
    to_repair: BoolArray,
    reason: Finding | None,
) -> Iterator[RotationFault]:
    """Yield the faults of a track, one per kind. `to_repair` is a mask of the keys that the options repair."""
    masks: dict[Kind, BoolArray] = {
        "FLIP": key_faults.flips,
        "JUMP": key_faults.jumps,
        "TURN": key_faults.turns & ~key_faults.jumps,
        "GIMBAL": key_faults.gimbal,
    }
    keeps_turns = track.enabled and track.settings.path != "SHORTEST"
    for kind, mask in masks.items():
        if not mask.any():
            continue
        fault_frames = tuple(frames[mask].tolist())
        # Gimbal lock remains, even at a key with another fault.
        is_requested = kind != "GIMBAL" and bool((mask & to_repair).any())
        finding = track.finding("FLIP_EULER" if kind == "FLIP" and track.kind == "EULER" else kind, fault_frames)
        obstacle = reason if is_requested else None
        if obstacle:
            finding = track.finding("NOT_REPAIRED", finding.on(""), obstacle.on(""))
        elif kind == "TURN" and not is_requested:
            finding = track.finding("TURN_KEPT_TCB" if keeps_turns else "TURN_KEPT", finding.on(""))
        repairable = is_requested and not obstacle
        action = channels.action.name
        name = track.name if track.datablock is None else name_of(track.datablock)
        yield RotationFault(name, action, track.path, kind, fault_frames, repairable, obstacle, finding)
