# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the tracks that a bake of several datablocks processes, and collect them in jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import bpy

from ..action_users import users_of_each
from ..chosen_paths import path_filter
from ..datablocks import name_of
from ..errors import AnimationError, Finding
from ..fcurves.channels import Channels
from ..report import Report
from ..store.action_and_strips import editable_sets, played_range, plays
from ..store.find_tracks import find_tracks, lost_tracks, played_otherwise
from ..store.own_keys import read_all_own_keys
from ..store.table.custom_property import read_table
from ..store.table.track_records import Options
from ..store.track_refusals import blocking_reasons, error_of_numbers
from ..store.tracks import Track
from .bake_job import BakeJob, Candidate, add_tracks, read_candidates

_Prefixes = Iterable[str] | None


def collected_jobs(
    datablocks: Iterable[bpy.types.ID],
    options: Options,
    prefixes: Mapping[bpy.types.ID, Sequence[str]],
    report: Report,
) -> list[BakeJob]:
    """Return one job per set of shared F-curves, with the tracks to bake on the datablocks that share the set."""
    jobs: list[BakeJob] = []
    tracks_of_jobs, tracks_to_bake = [], []
    for channels, users in _by_channels(datablocks, report):
        takes_all = any(user not in prefixes for user in users)
        starts = None if takes_all else [start for user in users for start in prefixes[user]]
        tracks = find_tracks(users[0], channels, starts)
        lost = _lost_errors(users[0], channels, starts)
        report.errors += lost
        if tracks:
            jobs.append(BakeJob(users, channels, [], []))
            tracks_of_jobs.append(tracks)
            tracks_to_bake.append(_tracks_to_bake(tracks, "" if starts is None else tuple(starts)))
        elif not lost:
            report.errors.append(Finding("NO_FLOAT_KEYS", name_of(users[0])))
    collected = []
    for job, tracks, candidates in zip(jobs, tracks_of_jobs, read_candidates(tracks_to_bake), strict=True):
        try:
            _collect(job, tracks, candidates, _in_action_time(job, options), report)
            collected.append(job)
        except AnimationError as refusal:
            report.errors += refusal.findings
    for job, users in zip(collected, _all_users(collected), strict=True):
        job.notes += played_otherwise([bake.track for bake in job.tracks], users)
    return collected


def _by_channels(datablocks: Iterable[bpy.types.ID], report: Report) -> Iterable[tuple[Channels, list[bpy.types.ID]]]:
    """Return the editable sets of F-curves, each with the datablocks that share the set."""
    shared: dict[tuple[int, int], tuple[Channels, list[bpy.types.ID]]] = {}
    for datablock in datablocks:
        try:
            editable = editable_sets(datablock)
        except AnimationError as refusal:
            report.errors += refusal.findings
            continue
        report.errors += editable.refused
        # If some actions of the NLA strips have TCB tracks, the other actions are not baked.
        for channels in editable.tcb or editable.sets:
            shared.setdefault(channels.identity, (channels, []))[1].append(datablock)
    return shared.values()


def _in_action_time(job: BakeJob, options: Options) -> Options:
    """Return the options with `extend` converted to action time for F-curves played by NLA strips.

    `extend` is in scene time. NLA strips can offset and scale action time.
    """
    ranges = [played_range(datablock, job.channels) for datablock in job.datablocks]
    played = [each for each in ranges if each is not None]
    if options.extend is None or len(played) < len(ranges):
        return options
    return replace(options, extend=(min(first for first, _ in played), max(last for _, last in played)))


def _all_users(jobs: Sequence[BakeJob]) -> list[list[bpy.types.ID]]:
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


def _collect(
    job: BakeJob,
    tracks: Sequence[Track],
    candidates: Sequence[Candidate],
    options: Options,
    report: Report,
) -> None:
    """Add the candidates that have keys to the job. `tracks` also contains tracks that are not baked.

    Raises AnimationError if no track can be baked. A track that can't be baked is reported as an error if it is
    enabled, and as a note otherwise.
    """
    is_any_enabled = any(track.enabled for track in tracks)
    if is_any_enabled:
        job.notes += [_why_left(track) for track in tracks if track.in_use and not track.enabled]
    left_out = add_tracks(job, candidates, lambda track: _options_again(track, options))
    job.notes += [track.finding("COMPLETED") for track in job.completed]
    if not candidates:
        raise AnimationError(Finding("CURVES_GONE", name_of(job.datablocks[0])))
    if not job.tracks:
        raise AnimationError(*(finding for _, refusal in left_out for finding in refusal.findings))
    for track, refusal in left_out:
        if is_any_enabled and track.in_use:
            report.errors += refusal.findings
        else:
            job.notes += refusal.findings


def _options_again(track: Track, options: Options) -> Options:
    """Return the options for baking a track again.

    A track that was baked in world space is baked in world space again, as samples.
    """
    before = track.settings.options
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
