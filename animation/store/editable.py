# SPDX-License-Identifier: GPL-3.0-or-later
"""The sets of F-curves and the tracks that can be edited, and the reasons why others cannot.

For datablocks and actions, see `fcurves/channels.py`, and for values that a method can't play
`bake/plans/spline_keys.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import bpy
import numpy as np

from ..datablocks import action_strips, animation_data, name_of, strips_of
from ..fcurves.channels import Channels, animates, check_editable, check_not_linked, strip_channels
from ..fcurves.keyframes import NO_KEYS, PAIRS
from ..records import record
from ..report import AnimationError, Finding
from .own_keys import OwnKeys, own_end_to_end
from .table.custom_property import read_table, table_stamp
from .tracks import Track, looks_baked
from .up_to_date import edited_outside


@record(eq=False)
class EditableSets:
    """The F-curves of a datablock that can be edited, in its action and in the actions of its NLA strips."""

    sets: list[Channels]
    """Distinct sets of F-curves."""
    refused: list[Finding]
    """Errors for strips whose actions can't be edited."""
    skipped: list[str]
    """Names of strip actions that were skipped because they are not TCB and the datablock has its own action."""

    @property
    def tcb(self) -> list[Channels]:
        """Return the sets that have TCB tracks or an unreadable table."""
        return list(filter(has_tcb, self.sets))


def has_tcb(channels: Channels) -> bool:
    """Return whether the F-curves have TCB tracks or an unreadable table."""
    table = read_table(channels.action)
    return bool(table.error) or table.has_tracks(channels.slot_handle, "")


def editable_sets(datablock: bpy.types.ID, takes_plain: bool = True) -> EditableSets:
    """Return all of the datablock's F-curves that can be edited. Raise AnimationError if no F-curves can be edited.

    If the datablock has its own action, only strips with TCB tracks are included. Otherwise, and in tweak mode, all
    strips are included. If `takes_plain` is false, only strips with TCB tracks are included, and the result may be
    empty.
    """
    strips = action_strips(datablock)
    if not strips:
        return EditableSets([check_editable(datablock)], [], [])
    animation = animation_data(datablock)
    own_action = None if animation is None else animation.action
    sets: dict[tuple[int, int], Channels] = {}
    refused: list[Finding] = []
    skipped: dict[str, None] = {}
    if own_action is not None:
        try:
            channels = check_editable(datablock)
            sets[channels.identity] = channels
        except AnimationError as refusal:
            refused += refusal.findings
    takes_all = takes_plain and (own_action is None or (animation is not None and animation.use_tweak_mode))
    for strip in strips:
        try:
            channels = _editable_strip(datablock, strip)
            if takes_all or has_tcb(channels):
                sets.setdefault(channels.identity, channels)
            elif channels.identity not in sets:
                skipped[channels.action.name] = None
        except AnimationError as refusal:
            if strip.action is None or strip.action == own_action:
                continue
            if takes_all or table_stamp(strip.action):
                refused += refusal.findings
            else:
                skipped[strip.action.name] = None
    refused = list(dict.fromkeys(refused))
    if not sets and refused:
        raise AnimationError(*refused)
    return EditableSets(list(sets.values()), refused, list(skipped))


def _editable_strip(datablock: bpy.types.ID, strip: bpy.types.NlaStrip) -> Channels:
    """Return the F-curves of a strip. Raise AnimationError if the F-curves can't be edited."""
    check_not_linked(datablock)
    channels = strip_channels(datablock, strip)
    if channels.action.library is not None:
        raise AnimationError(Finding("STRIP_ACTION_LINKED", name_of(datablock), arguments=(channels.action.name,)))
    return channels


def plays(channels: Channels, datablock: bpy.types.ID) -> bool:
    """Return whether the F-curves animate the datablock through its action or an NLA strip."""
    if animates(channels, datablock):
        return True
    for strip in strips_of(datablock, channels.action):
        with suppress(AnimationError):
            if strip_channels(datablock, strip).identity == channels.identity:
                return True
    return False


def played_range(datablock: bpy.types.ID, channels: Channels) -> tuple[float, float] | None:
    """Return the range of action time that the datablock's NLA strips play, or None if no strip plays the F-curves."""
    animation = animation_data(datablock)
    is_own = animation is not None and animation.action == channels.action and not animation.use_tweak_mode
    strips = [] if is_own else strips_of(datablock, channels.action)
    if not strips:
        return None
    return min(strip.action_frame_start for strip in strips), max(strip.action_frame_end for strip in strips)


# Reasons to refuse tracks


def blocking_reasons(tracks: Sequence[Track]) -> list[Finding | None]:
    """Return the reason why each track can't be changed or baked, or None.

    Edits outside TCB are checked first, because they may cause other problems, such as a channel without keys.
    """
    edited = edited_outside(tracks)
    return [
        track.finding("EDITED_OUTSIDE") if is_edited else blocking_reason(track)
        for track, is_edited in zip(tracks, edited, strict=True)
    ]


def blocking_reason(track: Track, *, without_keys: bool = False) -> Finding | None:
    """Return the reason why the track can't be baked, or None. `without_keys` allows F-curves without keys."""
    if track.table.error:
        return track.table.error.on(track.name, track.path)
    if not track.in_use:
        return track.finding("NOT_IN_USE")
    if track.locked:
        return track.finding("TABLE_LOST" if not track.enabled and looks_baked(track) else "LOCKED")
    if track.driven:
        return track.finding("DRIVEN")
    if any(fcurve.mute or (fcurve.group is not None and fcurve.group.mute) for fcurve in track.channels.values()):
        return track.finding("MUTED")
    for index, fcurve in track.channels.items():
        if len(fcurve.keyframe_points):
            continue
        if len(fcurve.sampled_points):
            return track.finding("SAMPLED_CURVE")
        if not without_keys:
            return track.finding("CHANNEL_WITHOUT_KEYS", index)
    return None


def has_keys(track: Track) -> bool:
    """Return whether any channel has keys or Blender's samples."""
    return any(len(fcurve.keyframe_points) or len(fcurve.sampled_points) for fcurve in track.channels.values())


def errors_of_numbers(tracks: Sequence[Track], own_of_tracks: Sequence[Mapping[int, OwnKeys]]) -> list[Finding | None]:
    """Return the result of `error_of_numbers` for each track. Finite numbers are checked together."""
    channels = [own for own_of_track in own_of_tracks for own in own_of_track.values()]
    keys = own_end_to_end(channels).keys if channels else NO_KEYS
    if all(np.isfinite(getattr(keys, name)).all() for name in PAIRS):
        return [None] * len(tracks)
    return list(map(error_of_numbers, tracks, own_of_tracks))


def error_of_numbers(track: Track, own_by_index: Mapping[int, OwnKeys]) -> Finding | None:
    """Return a finding on a frame, value or handle that is not finite, in this order, or None."""
    for own in own_by_index.values():
        keys = own.keys
        if not np.isfinite(keys.frames).all():
            return track.finding("FRAME_NOT_FINITE")
        for name in PAIRS:
            is_finite = np.isfinite(getattr(keys, name)).all(axis=1)
            if not is_finite.all():
                code = "VALUE_NOT_FINITE" if name == "co" else "HANDLE_NOT_FINITE"
                return track.finding(code, frame=float(keys.frames[np.argmin(is_finite)]))
    return None
