# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the tracks that Free Bake, Restore, Apply and Remove change, and update the table afterward.

Tracks that can't be changed are reported. Apply and Remove also process tracks whose table entries are damaged or
missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence

import bpy

from ..datablocks import action_strips, animation_data, name_of
from ..errors import AnimationError, Finding
from ..fcurves.action_refusals import layered_reason
from ..fcurves.channels import Channels, assign, channels_of, evaluate_anew
from ..fcurves.linked_data import editable_channels
from ..records import record
from ..report import Report
from ..store.action_and_strips import editable_sets
from ..store.edited_outside import edited_outside
from ..store.find_tracks import find_tracks, lost_tracks
from ..store.frame_functions import curve_of
from ..store.live_switch import switch_off
from ..store.own_keys import key_frames
from ..store.paths import remove_strays
from ..store.table.custom_property import has_played_tracks, read_table, remove_table, update
from ..store.table.track_records import TrackState
from ..store.table_upkeep import tracks_of_removed_slots
from ..store.tracks import Track, looks_baked


@record()
class TrackResult:
    """The result for one track: the number of frames with keys, and the code of a note (empty if none)."""

    keys: int
    note: str


Work = Callable[[Channels, bpy.types.ID, list[Track]], list[TrackResult | None]]
"""Function that returns a result for each track, or None for unchanged tracks."""
Strip = Callable[[Channels, Track], str]
"""Function that removes all traces of TCB from a track, and returns the code of a note on the keys that it keeps."""


@record()
class Task:
    """The work to do on each track of a datablock. Locked tracks are reported as errors."""

    work: Work
    nothing: str
    """Code of the error if there is no track to process. Empty if the absence of tracks is not an error."""
    prefixes: Iterable[str] | None
    strip: Strip | None = None
    """Function for tracks without a table entry. If given, table entries are removed."""
    takes_edited: bool = False
    """True if tracks that were edited outside TCB are also processed."""
    paths: Collection[str] | None = None
    """The exact paths of the tracks. If None, all tracks with the prefixes are processed."""


def work_on(datablock: bpy.types.ID, task: Task, only: Hashable = None) -> Report:
    """Process tracks in the datablock's action, and in NLA strips with TCB tracks.

    `only` is the identity of the F-curves to process. If the task removes entries, a damaged table is removed
    completely.
    """
    report = Report.on([datablock])
    has_lost_slots = task.strip is not None and _remove_lost_slots(datablock, report)
    sets: list[Channels] = []
    try:
        editable = editable_sets(datablock, takes_plain=False)
        report.errors += editable.refused
        sets = [channels for channels in editable.sets if only in (None, channels.identity)]
    except AnimationError:
        if not has_lost_slots:
            raise
    refused: list[Finding] = []
    refusals = 0
    for channels in sets:
        try:
            _work_in(channels, datablock, report, task)
        except AnimationError as refusal:
            refused += refusal.findings
            refusals += 1
    if refused and refusals == len(sets):
        raise AnimationError(*refused)
    report.errors += refused
    if task.nothing and not report.tracks:
        raise AnimationError(*(report.errors or [Finding(task.nothing, name_of(datablock))]))
    if task.strip is not None:
        report.notes += _kept_function_note(datablock)
    return report


def _work_in(original: Channels, datablock: bpy.types.ID, report: Report, task: Task) -> None:
    """Process the tracks of one set of F-curves, and add the results to the report."""
    table = read_table(original.action)
    if table.error and (table.newer or task.strip is None):
        raise AnimationError(table.error.on(name_of(datablock)))
    is_linked = original.action.library is not None
    channels = editable_channels(datablock, report.notes) if is_linked else original
    action = channels.action
    remove_strays(channels)
    tracks = _tracks_of(datablock, channels, task)
    if table.error and task.strip is not None:
        _remove_damaged(channels, tracks, report, task.strip)
        return
    tracks_before = report.tracks
    had_entry = {track.path for track in tracks if track.state is not None}
    unlocked = list(_unlocked(tracks, report, task))
    damaged: list[int] = []
    states: list[TrackState] = []
    for track, result in zip(unlocked, _process(channels, datablock, unlocked, task, damaged), strict=True):
        if result is None:
            continue
        if track.path in had_entry and track.state is not None:
            states.append(track.state)
        report.tracks += 1
        report.keys += result.keys
        if result.note:
            report.notes.append(track.finding(result.note))
    if report.tracks == tracks_before and original.action != action:
        # Nothing was changed, so the local copy of the linked action is not needed.
        assign(datablock, original.action, original.slot_handle)
        bpy.data.actions.remove(action)
        return
    _update_table(action, states, damaged, task.strip is not None)
    if report.tracks > tracks_before and not has_played_tracks(action):
        report.notes += switch_off(action)
    evaluate_anew(action)


def _process(
    channels: Channels, datablock: bpy.types.ID, tracks: Sequence[Track], task: Task, damaged: list[int]
) -> list[TrackResult | None]:
    """Strip tracks without a valid table entry if the task does so, and call the task's function for all others.

    Append the identities of damaged entries to `damaged`.
    """
    strip = task.strip
    stripped = [None if strip is None else _stripped(channels, track, strip, damaged) for track in tracks]
    others = [track for track, result in zip(tracks, stripped, strict=True) if result is None]
    results = iter(task.work(channels, datablock, others))
    return [next(results) if result is None else result for result in stripped]


def _unlocked(tracks: Sequence[Track], report: Report, task: Task) -> Iterator[Track]:
    """Yield the tracks that can be changed. Report all other tracks."""
    for track, is_edited in zip(tracks, edited_outside(tracks), strict=True):
        if is_edited and not task.takes_edited:
            report.errors.append(track.finding("EDITED_OUTSIDE"))
            continue
        refusal = _refusal_of(track, task.strip is not None)
        if refusal:
            report.errors.append(refusal)
        elif not track.locked or track.enabled or looks_baked(track):
            yield track


def _stripped(channels: Channels, track: Track, strip: Strip, damaged: list[int]) -> TrackResult | None:
    """Call `strip` for a track whose table entry is damaged or missing. Return None for other tracks.

    Append the identity of a damaged entry to `damaged`.
    """
    if track.table.error:
        strip(channels, track)
        identity = track.table.identity_of.get((track.slot, track.path))
        if identity is not None:
            damaged.append(identity)
        return TrackResult(len(key_frames(track)), "TABLE_PART_REMOVED")
    if track.state is None and looks_baked(track):
        note = strip(channels, track)
        return TrackResult(len(key_frames(track)), note)
    return None


def _tracks_of(datablock: bpy.types.ID, channels: Channels, task: Task) -> list[Track]:
    """Return the tracks to process, including baked tracks that have lost their F-curves."""
    tracks = find_tracks(datablock, channels, task.prefixes)
    if read_table(channels.action).baked:
        all_tracks = tracks if task.prefixes is None else find_tracks(datablock, channels)
        starts = "" if task.prefixes is None else tuple(task.prefixes)
        tracks += [track for track in lost_tracks(datablock, channels, all_tracks) if track.path.startswith(starts)]
    return [track for track in tracks if task.paths is None or track.path in task.paths]


def _update_table(action: bpy.types.Action, states: list[TrackState], damaged: list[int], removes: bool) -> None:
    """Write the tracks' states to the table, or remove the tracks' entries and damaged entries."""
    identities = [*(state.identity for state in states), *damaged]
    if identities and removes:
        remove_entries(action, identities)
    elif states:
        update(action, states=states)


def remove_entries(action: bpy.types.Action, tracks: Iterable[int]) -> None:
    """Remove tracks from the table by their identities. Remove the table if it becomes empty."""
    update(action, removed=tracks)
    if not read_table(action).tracks:
        remove_table(action)


def _remove_lost_slots(datablock: bpy.types.ID, report: Report) -> bool:
    """Remove entries of tracks whose slot was removed from the datablock's action.

    Return whether any entry was removed.
    """
    if datablock.library is not None:
        return False
    data = animation_data(datablock)
    assigned = None if data is None else data.action
    actions = dict.fromkeys([assigned, *(strip.action for strip in action_strips(datablock))])
    is_any_removed = False
    for action in actions:
        if action is None or not action.is_editable or layered_reason(action):
            continue
        lost = tracks_of_removed_slots(action)
        if not lost:
            continue
        is_any_removed = True
        remove_entries(action, lost)
        report.tracks += len(lost)
        report.notes.append(Finding("SLOTS_REMOVED", name_of(datablock), arguments=(len(lost),)))
    return is_any_removed


def _refusal_of(track: Track, removes: bool) -> Finding | None:
    """Return the reason why a track is not changed, or None if the track is changed or needs no message."""
    if not removes and track.table.error:
        return track.table.error.on(track.name, track.path)
    if not track.enabled and looks_baked(track):
        return None if removes else track.finding("TABLE_LOST")
    return track.finding("LOCKED") if track.locked and track.enabled else None


def _remove_damaged(channels: Channels, tracks: Sequence[Track], report: Report, strip: Strip) -> None:
    """Remove a damaged table, and call `strip` for each track."""
    for track in tracks:
        strip(channels, track)
        report.tracks += 1
        report.keys += len(key_frames(track))
    remove_table(channels.action)
    report.notes.append(Finding("TABLE_REMOVED", name_of(channels.action)))
    evaluate_anew(channels.action)


def _kept_function_note(datablock: bpy.types.ID) -> list[Finding]:
    """Return a note if the datablock's last TCB track was removed but the datablock's frame function remains.

    The frame function is kept, because it does not belong to a track, and an animator may have edited it. The next bake
    will use it.
    """
    if curve_of(datablock) is None or any(track.enabled for track in find_tracks(datablock, channels_of(datablock))):
        return []
    return [Finding("TIMING_STAYS", name_of(datablock))]
