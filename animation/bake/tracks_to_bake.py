# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the tracks that a bake of several datablocks processes, and collect them in jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import bpy

from ..datablocks import name_of, users_of_each
from ..fcurves.channels import Channels
from ..report import AnimationError, Finding
from ..store.editable import blocking_reasons, editable_sets, error_of_numbers, played_range, plays
from ..store.find_tracks import find_tracks, lost_tracks, played_otherwise
from ..store.read_own_keys import read_all_own_keys
from ..store.table.custom_property import read_table
from ..store.table.track_records import Options
from ..store.tracks import Track
from ..track_paths import path_filter
from .bake_job import BakeJob, jobs_after, read_inputs
from .plans.own_motion import ChosenTrack, TrackInput

_Prefixes = Iterable[str] | None


def collected_jobs(
    datablocks: Iterable[bpy.types.ID],
    options: Options,
    prefixes: Mapping[bpy.types.ID, Sequence[str]],
) -> tuple[list[BakeJob[TrackInput]], list[Finding]]:
    """Return one job per set of F-curves, with the tracks to bake on the datablocks that share the set, and errors."""
    sets, errors = _by_channels(datablocks)
    jobs: list[BakeJob[ChosenTrack]] = []
    tracks_of_jobs = []
    for channels, users in sets:
        takes_all = any(user not in prefixes for user in users)
        starts = None if takes_all else [start for user in users for start in prefixes[user]]
        tracks = find_tracks(users[0], channels, starts)
        lost = _lost_errors(users[0], channels, starts)
        errors += lost
        if tracks:
            in_action_time = _in_action_time(channels, users, options)
            to_bake = _tracks_to_bake(tracks, "" if starts is None else tuple(starts))
            chosen = [ChosenTrack(track, channels, _options_again(track, in_action_time)) for track in to_bake]
            jobs.append(BakeJob(users, channels, chosen, []))
            tracks_of_jobs.append(tracks)
        elif not lost:
            errors.append(Finding("NO_FLOAT_KEYS", name_of(users[0])))
    read = jobs_after(read_inputs, jobs)
    collected = []
    for job, tracks, all_users in zip(read, tracks_of_jobs, _all_users(read), strict=True):
        if job.tracks:
            collected.append(_with_notes(job, tracks, all_users))
            errors += collected[-1].errors
        else:
            errors += job.errors or [Finding("CURVES_GONE", name_of(job.datablocks[0]))]
    return collected, errors


def _by_channels(
    datablocks: Iterable[bpy.types.ID],
) -> tuple[Iterable[tuple[Channels, list[bpy.types.ID]]], list[Finding]]:
    """Return the editable sets of F-curves, each with the datablocks that share the set, and the errors."""
    shared: dict[tuple[int, int], tuple[Channels, list[bpy.types.ID]]] = {}
    errors: list[Finding] = []
    for datablock in datablocks:
        try:
            editable = editable_sets(datablock)
        except AnimationError as refusal:
            errors += refusal.findings
            continue
        errors += editable.refused
        # If some actions of the NLA strips have TCB tracks, the other actions are not baked.
        for channels in editable.tcb or editable.sets:
            shared.setdefault(channels.identity, (channels, []))[1].append(datablock)
    return shared.values(), errors


def _in_action_time(channels: Channels, users: Sequence[bpy.types.ID], options: Options) -> Options:
    """Return the options with `extend` converted to action time for F-curves played by NLA strips.

    `extend` is in scene time. NLA strips can offset and scale action time.
    """
    ranges = [played_range(user, channels) for user in users]
    played = [each for each in ranges if each is not None]
    if options.extend is None or len(played) < len(ranges):
        return options
    return replace(options, extend=(min(first for first, _ in played), max(last for _, last in played)))


def _all_users(jobs: Sequence[BakeJob[TrackInput]]) -> list[Sequence[bpy.types.ID]]:
    """Return all datablocks that each job's F-curves animate, including datablocks that are not baked."""
    given = Counter(job.channels.action for job in jobs for _ in job.datablocks)
    more = {job.channels.action for job in jobs if job.channels.action.users > given[job.channels.action]}
    users = users_of_each(more, in_strips=True)
    return [
        [user for user in users[job.channels.action] if plays(job.channels, user)]
        if job.channels.action in more
        else job.datablocks
        for job in jobs
    ]


def _tracks_to_bake(tracks: list[Track], starts: str | tuple[str, ...]) -> list[Track]:
    """Return the TCB tracks, or all tracks if no track was TCB.

    If TCB tracks whose paths start with `starts` have lost their F-curves, the other tracks are not baked.
    """
    # If the table is damaged, the states of the tracks are unknown.
    enabled = [track for track in tracks if track.enabled or track.table.error]
    # All tracks are in one slot of one action.
    was_tcb = tracks[0].table.has_tracks(tracks[0].slot, starts)
    return enabled if enabled or was_tcb else tracks


def _lost_errors(datablock: bpy.types.ID, channels: Channels, prefixes: Sequence[str] | None) -> list[Finding]:
    """Return an error for each baked track that has lost its F-curves."""
    if not read_table(channels.action).baked:
        return []
    lost = lost_tracks(datablock, channels, find_tracks(datablock, channels))
    is_chosen = path_filter(prefixes)
    return [track.finding("EDITED_OUTSIDE") for track in lost if is_chosen(track.path)]


def _with_notes(
    job: BakeJob[TrackInput], tracks: Sequence[Track], users: Sequence[bpy.types.ID]
) -> BakeJob[TrackInput]:
    """Return the job with its notes. `tracks` and `users` also contain tracks and datablocks that are not baked.

    A track that can't be baked is an error if it is enabled, and only noted otherwise.
    """
    is_any_enabled = any(track.enabled for track in tracks)
    notes = [_why_left(track) for track in tracks if is_any_enabled and track.in_use and not track.enabled]
    notes += [note for inputs in job.tracks for note in inputs.notes_on_edits]
    notes += [inputs.track.finding("COMPLETED") for inputs in job.tracks if inputs.is_completed]
    refused = []
    for refusal in job.refused:
        if is_any_enabled and refusal.track.in_use:
            refused.append(refusal)
        else:
            notes += refusal.error.findings
    notes += played_otherwise([inputs.track for inputs in job.tracks], users)
    return replace(job, notes=notes, refused=refused)


def _options_again(track: Track, options: Options) -> Options:
    """Return the options for baking a track again.

    A track that was baked in world space is baked in world space again, as samples.
    """
    before = track.state.settings.options if track.state is not None else None
    if before is None or not before.in_world or options.output == "HANDLES":
        return options
    return replace(options, output="SAMPLES", in_world=True)


def _why_left(track: Track) -> Finding:
    """Return a note on the reason why a track that is not TCB is not baked."""
    (reason,) = blocking_reasons([track])
    if reason:
        return reason
    (own,) = read_all_own_keys([track])
    return error_of_numbers(track, own) or track.finding("NOT_BAKED")


def plain_among(selected: Mapping[bpy.types.ID, _Prefixes]) -> dict[bpy.types.ID, _Prefixes]:
    """Return the datablocks that have tracks, but none that is or was TCB. A bake makes all of these tracks TCB."""
    return {datablock: prefixes for datablock, prefixes in selected.items() if _is_plain(datablock, prefixes)}


def _is_plain(datablock: bpy.types.ID, prefixes: _Prefixes) -> bool:
    try:
        sets = editable_sets(datablock).sets
    except AnimationError:
        return False
    starts = "" if prefixes is None else tuple(prefixes)
    tables = [(read_table(channels.action), channels.slot_handle) for channels in sets]
    if any(table.error or table.has_tracks(slot, starts) for table, slot in tables):
        return False
    tracks = [track for channels in sets for track in find_tracks(datablock, channels, prefixes)]
    return bool(tracks) and not any(track.enabled for track in tracks)
