# SPDX-License-Identifier: GPL-3.0-or-later
"""Find keys at which a rotation flips or jumps, and replace their values with equivalent values.

The pose at every key is preserved. Fix Rotations works on plain and TCB tracks, and on actions that are not played. See
`interp/rotations/equivalent.py` for the mathematics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import bpy
import numpy as np

from ...interp.rotations.equivalent import UNKNOWN_ORDER, Maps
from ...interp.rotations.rotation_faults import KeyFaults, find_faults
from ..action_users import strips_of, users_of_each
from ..arguments import checked
from ..bake.pipeline import rebake
from ..bake.put_back import place_automatic
from ..datablocks import HAS_SLOTS, animation_data, name_of
from ..errors import AnimationError, Finding, as_dict
from ..fcurves.action_refusals import layered_reason
from ..fcurves.channels import Channels, channels_in, channels_of, evaluate_anew
from ..fcurves.frames import SAME_FRAME, union
from ..fcurves.keyframes import SIDES, BoolArray, Float32Array, Float64Array, Keyframes
from ..fcurves.linked_data import check_editable, editable_channels
from ..fcurves.read_keys import read
from ..fcurves.write_keys import write
from ..options import FIX_ROTATIONS
from ..records import record
from ..report import Report
from ..store.find_tracks import find_tracks, rotations_without_owner
from ..store.own_keys import OwnKeys, read_all_own_keys
from ..store.track_refusals import blocking_reasons, error_of_numbers
from ..store.tracks import Track, is_of_another_mode
from .free_and_restore import restore_if_played

Turns = Literal["KEEP", "SHORTEST"]
Kind = Literal["FLIP", "JUMP", "TURN", "GIMBAL"]


@dataclass(frozen=True)
class RotationFault:
    """The keys of one track that have the same fault. `str()` returns a message that lists the keys."""

    datablock: str
    """Name of the datablock, or of the action if it has no users."""
    action: str
    track: str
    """Path of the track."""
    kind: Kind
    """FLIP: opposite quaternions or axes, or the other Euler solution. JUMP: whole turns within one frame. TURN: more
    than 180 degrees over a longer time, which may be intended. GIMBAL: within 2 degrees of gimbal lock."""
    frames: tuple[float, ...]
    """Frames of the keys, in action time. For a flip, jump or turn, the frame of the second key."""
    repairable: bool
    """True if `fix_rotations` repairs the fault with the same options."""
    reason: Finding | None
    """The reason why the fault can't be repaired, or None."""
    finding: Finding
    """The fault as a finding, with the names of the datablock and the track."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fault as a JSON-compatible dictionary."""
        return as_dict(self)

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
    return [
        fault
        for channels, owners in _places(datablock, channels_of)
        for examined in _examine(channels, owners, prefixes, turns)
        for fault in examined.faults
    ]


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
        Counts of repaired tracks and changed keys. `notes` lists the repaired faults and the faults that were left
        unchanged. `errors` lists the faults that could not be repaired.

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
    >>> animation.fix_rotations(ball, turns="SHORTEST").keys
    1
    """
    report = Report()
    for channels, owners in _places(datablock, check_editable):
        every = list(_examine(channels, owners, prefixes, turns))
        if channels.action.library is not None and any(examined.keys.any() for examined in every):
            # A library override gets a local copy of its linked action.
            channels, owners = editable_channels(datablock, report.notes), [datablock]
            every = list(_examine(channels, owners, prefixes, turns))
        written = False
        for examined in every:
            report.errors += [fault.reason for fault in examined.faults if fault.reason][:1]
            report.notes += [
                examined.track.finding("REPAIRED", fault.finding.on("")) if fault.repairable else fault.finding
                for fault in examined.faults
                if not fault.reason
            ]
            if examined.keys.any():
                report.add(_repair(channels, owners, examined))
                report.tracks += 1
                report.keys += int(examined.keys.sum())
                written = True
        if written:
            report.add(Report.on(owners))
            evaluate_anew(channels.action)
    return report


def _places(datablock: bpy.types.ID, channels_for: Any) -> Iterator[tuple[Channels, list[bpy.types.ID]]]:
    """Yield each set of F-curves, with the datablocks that it animates directly or through NLA strips."""
    if not isinstance(datablock, bpy.types.Action):
        channels = channels_for(datablock)
        owners = users_of_each([channels.action], in_strips=True)[channels.action]
        yield channels, [datablock, *(each for each in _in_slot(channels, owners) if each != datablock)]
        return
    reason = layered_reason(datablock)
    if not reason and not datablock.is_editable and channels_for is not channels_of:
        reason = Finding("IS_LINKED_ACTION")
    if reason:
        raise AnimationError(reason.on(name_of(datablock)))
    owners = users_of_each([datablock], in_strips=True)[datablock]
    for channels in channels_in(datablock):
        yield channels, _in_slot(channels, owners)


def _in_slot(channels: Channels, owners: Iterable[bpy.types.ID]) -> list[bpy.types.ID]:
    """Return the owners that use the action's slot in `channels`."""
    if not HAS_SLOTS:
        return list(owners)
    return [owner for owner in owners if any(slot == channels.slot_handle for slot, _ in _uses(channels, owner))]


def _uses(channels: Channels, owner: bpy.types.ID) -> Iterator[tuple[int, str]]:
    """Yield the slot and the blend mode of each use of the action by this owner."""
    data: Any = animation_data(owner)
    uses = [(data, data.action_blend_type)] if data.action == channels.action else []
    for use, blending in [*uses, *((strip, strip.blend_type) for strip in strips_of(owner, channels.action))]:
        slot = use.action_slot if HAS_SLOTS else None
        yield (slot.handle if slot is not None else 0), blending


@record(eq=False)
class _Examined:
    """A track with its faults, and the changes that repair the faults."""

    track: Track
    faults: list[RotationFault]
    indices: list[int]
    """Components with keys, in the same order as the columns of the maps."""
    maps: Maps
    keys: BoolArray
    """Mask of the keys to repair. All false if the track can't be edited."""


def _examine(
    channels: Channels, owners: Sequence[bpy.types.ID], prefixes: Iterable[str] | None, turns: Turns
) -> Iterator[_Examined]:
    starts = None if prefixes is None else tuple(prefixes)
    tracks = find_tracks(owners[0], channels, starts) if owners else []
    every = [*tracks, *rotations_without_owner(channels, tracks)]
    rotating = [track for track in every if track.is_rotation and track.path.startswith(starts or "")]
    names = {track.path: _name_of(track) for track in rotating}
    for owner in owners[1:]:
        others = {track.path: track for track in find_tracks(owner, channels, starts)}
        for track in rotating:
            if track.kind == "EULER" and track.path in others and is_of_another_mode(others[track.path], track):
                names[track.path] = UNKNOWN_ORDER
    for track, own in zip(rotating, read_all_own_keys(rotating), strict=True):
        examined = _faults_of(channels, owners, track, own, names[track.path], turns)
        if examined is not None:
            yield examined


def _name_of(track: Track) -> str:
    """Return the name of the rotation representation that the track uses."""
    if track.kind != "EULER":
        return track.kind
    return track.order if track.in_use else UNKNOWN_ORDER


def _faults_of(
    channels: Channels,
    owners: Sequence[bpy.types.ID],
    track: Track,
    own: Mapping[int, OwnKeys],
    name: str,
    turns: Turns,
) -> _Examined | None:
    """Find the faults of a track. Return None if the track has no faults."""
    own = {index: own[index] for index in sorted(own) if own[index].count}
    if not own or error_of_numbers(track, own) is not None:
        return None
    reason, indices = None, list(own)
    frames = own[indices[0]].frames
    columns = {index: each.values for index, each in own.items()}
    if all(_are_at(frames, each.frames) for each in own.values()):
        moves: BoolArray = ~np.logical_and.reduce([each.keys.stepped for each in own.values()], axis=0)
    else:
        reason = track.finding("KEYED_APART")
        frames = union([each.frames for each in own.values()])
        columns = {index: _played(track.channels[index], frames) for index in indices}
        moves = np.ones(len(frames), dtype=np.bool_)
    if len(own) < len(track.rest):
        if track.kind == "EULER":
            name = UNKNOWN_ORDER  # Whole turns in one angle do not depend on the other angles.
        else:
            reason, indices = track.finding("NOT_REPAIRED_PARTLY"), list(range(len(track.rest)))
    values = np.stack([columns.get(i, np.full(len(frames), track.component(i))) for i in indices], axis=1)
    found = find_faults(name, frames, values, moves)
    repairs_turns = turns == "SHORTEST"
    wanted = found.repaired(repairs_turns)
    keys: BoolArray = np.logical_or.reduce(wanted.changed, axis=1)
    if keys.any():
        reason = reason or _reason_against(channels, owners, track)
    faults = list(_listed(channels, track, found, frames, found.to_repair(repairs_turns), reason))
    if not faults:
        return None
    return _Examined(track, faults, indices, wanted, keys & (reason is None))


def _are_at(frames: Float32Array, own: Float32Array) -> bool:
    return len(frames) == len(own) and bool(np.abs(frames - own).max(initial=0.0) <= SAME_FRAME)


def _played(fcurve: bpy.types.FCurve, frames: Float32Array) -> Float64Array:
    return np.array([fcurve.evaluate(frame) for frame in frames.tolist()])


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
    """Return whether a modifier can change the pose if keys get equivalent values.

    Every modifier can change the pose, except a Cycles modifier without an offset.
    """
    if modifier.mute or modifier.type != "CYCLES":
        return not modifier.mute
    return "REPEAT_OFFSET" in (modifier.mode_before, modifier.mode_after)


def _listed(
    channels: Channels,
    track: Track,
    found: KeyFaults,
    frames: Float32Array,
    to_repair: BoolArray,
    reason: Finding | None,
) -> Iterator[RotationFault]:
    """Yield the faults of a track, one per kind. `to_repair` is a mask of the keys that the options repair."""
    kept = found.turns & ~found.jumps
    masks: dict[Kind, BoolArray] = {"FLIP": found.flips, "JUMP": found.jumps, "TURN": kept, "GIMBAL": found.gimbal}
    for kind, mask in masks.items():
        if not mask.any():
            continue
        at = tuple(frames[mask].tolist())
        # Gimbal lock remains, even at a key with another fault.
        is_wanted = kind != "GIMBAL" and bool((mask & to_repair).any())
        finding = track.finding("FLIP_EULER" if kind == "FLIP" and track.kind == "EULER" else kind, at)
        why = reason if is_wanted else None
        if why:
            finding = track.finding("NOT_REPAIRED", finding.on(""), why.on(""))
        elif kind == "TURN" and not is_wanted:
            finding = track.finding("TURN_KEPT_TCB" if _keeps_turns(track) else "TURN_KEPT", finding.on(""))
        repairable = is_wanted and not why
        yield RotationFault(track.name, channels.action.name, track.path, kind, at, repairable, why, finding)


def _keeps_turns(track: Track) -> bool:
    """Return whether the settings of a TCB track keep its long turns."""
    try:
        return track.enabled and track.settings.path == "AS_KEYED"
    except AnimationError:
        return False


def _repair(channels: Channels, owners: Sequence[bpy.types.ID], examined: _Examined) -> Report:
    """Write equivalent values into keys and handles. Update the track if it is played by handles."""
    track, changed = examined.track, examined.maps.changed
    played = track.settings.options
    if track.is_played:
        restore_if_played(channels, track)
    for column, index in enumerate(examined.indices):
        fcurve, rows = track.channels[index], changed[:, column]
        if not rows.any():
            continue
        factors, terms = examined.maps.factors[rows, column], examined.maps.terms[rows, column]
        keys = read(fcurve)
        write(fcurve, _mapped(keys, rows, factors, terms))
        place_automatic(fcurve, keys.frames)
    if played is None:
        return Report()
    report = rebake(owners, channels, [track], played)
    return Report(errors=report.errors, notes=report.notes)


def _mapped(keys: Keyframes, rows: BoolArray, factors: Float64Array, terms: Float64Array) -> Keyframes:
    """Return the keys, with the values and handles of the given rows scaled and shifted."""
    places = {name: getattr(keys, name).copy() for name in ("co", *SIDES)}
    for place in places.values():
        place[rows, 1] = factors * place[rows, 1] + terms
    return keys.with_(**places)
