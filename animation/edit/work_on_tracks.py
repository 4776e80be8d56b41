# SPDX-License-Identifier: GPL-3.0-or-later
"""The common work of Free Bake, Restore, Apply and Remove: choose tracks, report refusals, and update the table.

Apply and Remove also process tracks whose table entries are damaged or missing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

import bpy

from ..datablocks import action_strips, animation_data, name_of
from ..fcurves.channels import Channels, assign, channels_of, editable_channels, evaluate_anew, layered_reason
from ..records import record
from ..report import AnimationError, Finding, Report
from ..store.editable import editable_sets
from ..store.find_tracks import find_tracks, lost_tracks
from ..store.frame_functions import curve_of
from ..store.paths import remove_strays
from ..store.read_own_keys import key_frames
from ..store.table.custom_property import has_played_tracks, read_table, remove_table, update
from ..store.table_upkeep import switch_off, tracks_of_removed_slots
from ..store.tracks import Track, looks_baked
from ..store.up_to_date import edited_outside
from ..track_paths import path_filter


@record()
class TrackResult:
    """The result for one track: the number of frames with keys, and the code of a note (empty if none)."""

    keys: int
    note: str = ""


@record()
class Task:
    """The work to do on the tracks of a datablock."""

    changes: Callable[[Track], bool]
    """Function that returns whether the work changes a track. Other tracks are skipped."""
    work: Callable[[Channels, list[Track]], list[TrackResult]]
    """Function that changes tracks, and returns a result for each."""
    error_if_none: str
    """Code of the error if there is no track to process. Empty if the absence of tracks is not an error."""
    prefixes: Iterable[str] | None = None
    """Path prefixes or whole paths of the tracks to process. If None, all tracks are processed."""
    clean_up: Callable[[Channels, Track], str] | None = None
    """Function that removes all traces of TCB from a track whose table entry is damaged or missing, and returns the
    code of a note on the keys that it keeps. If given, the table entries of all processed tracks are removed."""
    takes_edited: bool = False
    """True if tracks that were edited outside TCB are also processed."""
    only: Hashable = None
    """Identity of the set of F-curves to process. If None, all sets are processed."""

    @property
    def removes_entries(self) -> bool:
        return self.clean_up is not None


def work_on(datablock: bpy.types.ID, task: Task) -> Report:
    """Process tracks in the datablock's action, and in NLA strips with TCB tracks.

    If the task removes entries, a damaged table is removed completely.
    """
    report = Report.on([datablock])
    if task.removes_entries:
        _remove_lost_slots(datablock, report)
    sets: list[Channels] = []
    try:
        editable = editable_sets(datablock, takes_plain=False)
        report.errors += editable.refused
        sets = [channels for channels in editable.sets if task.only in (None, channels.identity)]
    except AnimationError:
        if not report.tracks:
            raise
    refusals: list[AnimationError] = []
    for channels in sets:
        try:
            _work_in(channels, datablock, report, task)
        except AnimationError as refusal:
            refusals.append(refusal)
    refused = [finding for refusal in refusals for finding in refusal.findings]
    if refused and len(refusals) == len(sets):
        raise AnimationError(*refused)
    report.errors += refused
    if task.error_if_none and not report.tracks:
        raise AnimationError(*(report.errors or [Finding(task.error_if_none, name_of(datablock))]))
    if task.removes_entries:
        report.notes += _kept_function_note(datablock)
    return report


def _remove_lost_slots(datablock: bpy.types.ID, report: Report) -> None:
    """Remove entries of tracks whose slot was removed from the datablock's action, and add them to the report."""
    if datablock.library is not None:
        return
    data = animation_data(datablock)
    assigned = None if data is None else data.action
    actions = dict.fromkeys([assigned, *(strip.action for strip in action_strips(datablock))])
    for action in actions:
        if action is None or not action.is_editable or layered_reason(action):
            continue
        lost = tracks_of_removed_slots(action)
        if not lost:
            continue
        remove_entries(action, lost)
        report.tracks += len(lost)
        report.notes.append(Finding("SLOTS_REMOVED", name_of(datablock), arguments=(len(lost),)))


def remove_entries(action: bpy.types.Action, tracks: Iterable[int]) -> None:
    """Remove tracks from the table by their identities. Remove the table if it becomes empty."""
    update(action, removed=tracks)
    if not read_table(action).tracks:
        remove_table(action)


def _kept_function_note(datablock: bpy.types.ID) -> list[Finding]:
    """Return a note if the datablock's frame function remains although its last TCB track was removed."""
    # The function does not belong to a track, and an animator may have edited it. The next bake will use it.
    if curve_of(datablock) is None or any(track.enabled for track in find_tracks(datablock, channels_of(datablock))):
        return []
    return [Finding("TIMING_STAYS", name_of(datablock))]


def _work_in(original: Channels, datablock: bpy.types.ID, report: Report, task: Task) -> None:
    """Process the tracks of one set of F-curves, and add the results to the report."""
    table = read_table(original.action)
    if table.error and (table.newer or not task.removes_entries):
        raise AnimationError(table.error.on(name_of(datablock)))
    is_linked = original.action.library is not None
    channels = editable_channels(datablock, report.notes) if is_linked else original
    action = channels.action
    remove_strays(channels)
    tracks = _tracks_of(datablock, channels, task)
    if table.error:
        _remove_damaged(channels, tracks, report, task)
        return
    changed = list(_changeable(tracks, report, task))
    for track, result in zip(changed, _process(channels, changed, task), strict=True):
        report.tracks += 1
        report.keys += result.keys
        if result.note:
            report.notes.append(track.finding(result.note))
    if not changed and original.action != action:
        # The local copy of the linked action is not needed.
        assign(datablock, original.action, original.slot_handle)
        bpy.data.actions.remove(action)
        return
    states = [track.state for track in changed if track.state is not None]
    if task.removes_entries:
        entries = [state.identity for state in states]
        damaged = [track for track in changed if track.table.error and track.is_at_home]
        entries += [track.table.identity_of[track.slot, track.path] for track in damaged]
        if entries:
            remove_entries(action, entries)
    elif states:
        update(action, states=states)
    if changed and not has_played_tracks(action):
        report.notes += switch_off(action)
    evaluate_anew(action)


def _tracks_of(datablock: bpy.types.ID, channels: Channels, task: Task) -> list[Track]:
    """Return the tracks to process, including baked tracks that have lost their F-curves."""
    tracks = find_tracks(datablock, channels, task.prefixes)
    if read_table(channels.action).baked:
        all_tracks = tracks if task.prefixes is None else find_tracks(datablock, channels)
        is_chosen = path_filter(task.prefixes)
        tracks += [track for track in lost_tracks(datablock, channels, all_tracks) if is_chosen(track.path)]
    return tracks


def _remove_damaged(channels: Channels, tracks: Sequence[Track], report: Report, task: Task) -> None:
    """Remove a damaged table, and clean up each track."""
    assert task.clean_up is not None
    for track in tracks:
        task.clean_up(channels, track)
        report.tracks += 1
        report.keys += len(key_frames(track))
    remove_table(channels.action)
    report.notes.append(Finding("TABLE_REMOVED", name_of(channels.action)))
    evaluate_anew(channels.action)


def _changeable(tracks: Sequence[Track], report: Report, task: Task) -> Iterator[Track]:
    """Yield the tracks to change. Report the reasons against changes of other TCB tracks."""
    for track, is_edited in zip(tracks, edited_outside(tracks), strict=True):
        if is_edited and not task.takes_edited:
            report.errors.append(track.finding("EDITED_OUTSIDE"))
        elif track.table.error and not task.removes_entries:
            report.errors.append(track.table.error.on(track.name, track.path))
        elif not track.enabled and looks_baked(track):
            if task.removes_entries:
                yield track
            else:
                report.errors.append(track.finding("TABLE_LOST"))
        elif not (task.changes(track) or track.table.error):
            continue
        elif not track.locked:
            yield track
        elif track.enabled:
            report.errors.append(track.finding("LOCKED"))


def _process(channels: Channels, tracks: Sequence[Track], task: Task) -> list[TrackResult]:
    """Clean up tracks without a valid table entry if the task does so. Call the task's function for all others."""
    results: dict[str, TrackResult] = {}
    for track in tracks:
        if task.clean_up is not None and (track.table.error or (track.state is None and looks_baked(track))):
            note = task.clean_up(channels, track)
            results[track.path] = TrackResult(
                len(key_frames(track)), "TABLE_PART_REMOVED" if track.table.error else note
            )
    others = [track for track in tracks if track.path not in results]
    results |= zip((track.path for track in others), task.work(channels, others), strict=True)
    return [results[track.path] for track in tracks]
