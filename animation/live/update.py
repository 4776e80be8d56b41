# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: find edited tracks of live actions, and update the keys that play the tracks.

Blender reports that an action has changed, but not which keys have changed. The keys of each channel are therefore
compared with the keys at the last check. A track counts as edited if any of its channels differs. The result of a check
depends only on the keys and the table, not on the number of checks or on previous undo steps.

Baked tracks are locked. As long as the curves of a baked track are unchanged since the bake, the track is rebaked if
its parameters, settings or timing have changed, and locked again if a user has unlocked it. Tracks edited outside TCB
are not changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import bpy

from ..bake.pipeline import rebake
from ..fcurves.channels import Channels, channels_in, layered_refusals
from ..report import Finding, Report
from ..steps import collector_paused
from ..store.find_tracks import refreshed
from ..store.table.track_records import Options
from ..store.table_upkeep import is_live as is_switched_on
from ..store.tracks import Track
from .edited_tracks import Watch, Watches

_OptionsFor = Callable[[list[bpy.types.ID]], Options]


def refresh(
    watches: Watches,
    action: bpy.types.Action,
    options_for: _OptionsFor | None = None,
    complete_rotations: bool = True,
) -> Report:
    """Update the played tracks of an editable action that were edited since the last check, and `watches`.

    This fast check does not find all edits. `check_remaining` finds the remaining edits.

    `options_for` returns the options for TCB tracks that nothing plays yet, given the datablocks that use the tracks.
    If it is None, the action is not live, and only the locks of baked tracks are updated. If `complete_rotations` is
    true (the preference *Key All Rotation Channels*), missing keys are added to rotations played by handles.
    """
    report = Report()
    for channels, watch in _watched(watches, action):
        if watch.is_live != (options_for is not None):
            watch.key_places, watch.bake_inputs, watch.other_state = {}, {}, {}
            watch.is_live = options_for is not None
        report.notes, watch.new_notes = [*report.notes, *watch.new_notes], []
        report.add(_update_tracks(watch, channels, watch.edited_by_fast_check(), options_for, complete_rotations))
        report.notes += watch.lock_again(channels)
    return report


def check_remaining(
    watches: Watches,
    action: bpy.types.Action,
    options_for: _OptionsFor | None = None,
    complete_rotations: bool = True,
    seconds: float = math.inf,
) -> Report:
    """Update tracks with edits to handles, interpolation or channel settings (extrapolation, mute, lock, modifiers).

    This check takes longer than `refresh`. If the time runs out, `is_unsure` returns True.
    """
    report = Report()
    checked = []
    for channels, watch in _watched(watches, action) if options_for is not None else ():
        report.add(
            _update_tracks(watch, channels, watch.edited_by_full_check(seconds), options_for, complete_rotations)
        )
        checked.append(watch)
    for watch in _watches_of(watches, action):
        if watch not in checked:
            # The slot has no users, for example after exiting tweak mode. The slot is checked when it has users again.
            watch.unsure.clear()
    return report


def refresh_all(
    watches: Watches,
    action: bpy.types.Action,
    options_for: _OptionsFor | None = None,
    complete_rotations: bool = True,
) -> Report:
    """Check all tracks of the action for any kind of edit, and update the edited tracks.

    All notes on rotation modes are repeated.
    """
    for watch in _watches_of(watches, action):
        watch.forget()
        watch.mode_notes, watch.new_notes, watch.refused = [], [], {}
    report = refresh(watches, action, options_for, complete_rotations)
    report.add(check_remaining(watches, action, options_for, complete_rotations))
    return report


def standing_of(watches: Watches, action: bpy.types.Action) -> list[Finding]:
    """Return the notes on the action's tracks in their current state, such as reasons why a bake failed."""
    findings = layered_refusals(action) if is_switched_on(action) else []
    for watch in _watches_of(watches, action):
        findings += watch.findings()
    return findings


def is_unsure(watches: Watches, action: bpy.types.Action) -> bool:
    """Return whether any track of the action is not fully checked."""
    return any(watch.unsure for watch in _watches_of(watches, action))


@collector_paused()
def _update_tracks(
    watch: Watch, channels: Channels, tracks: list[Track], options_for: _OptionsFor | None, complete_rotations: bool
) -> Report:
    """Update edited tracks of a live action in their current output, and tracks that nothing plays yet."""
    if options_for is None:
        return Report()
    tracks = [*tracks, *watch.worth_trying(watch.not_played)]
    if not tracks:
        return Report()
    users = watch.users
    present = refreshed(users[0], channels, tracks)
    # A track that is played keeps the options of its last bake.
    options = Options() if all(track.is_played for track in present) else options_for(users)
    used = [track for track in present if track.in_use]
    report = rebake(users, channels, used, options, complete_rotations=complete_rotations)
    refused = {error.track for error in report.errors}
    watch.take(channels, [track for track in present if track.path not in refused], report)
    return report


def _watched(watches: Watches, action: bpy.types.Action) -> Iterator[tuple[Channels, Watch]]:
    """Yield the channels and the watch of each slot that has users."""
    for channels in channels_in(action):
        watch = watches.setdefault((action.session_uid, channels.slot_handle), Watch())
        if watch.find(channels):
            yield channels, watch


def _watches_of(watches: Watches, action: bpy.types.Action) -> list[Watch]:
    return [watch for (session_uid, _), watch in watches.items() if session_uid == action.session_uid]
