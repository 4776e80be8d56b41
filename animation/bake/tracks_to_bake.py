# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake jobs: choose the tracks to bake, and plan each track with its key rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import bpy
import numpy as np

from ...interp import KeysError
from ...interp.base_spline import Cycle
from ..datablocks import name_of, users_of_each
from ..errors import AnimationError, Finding
from ..fcurves.channels import Channels
from ..fcurves.cycles_modifier import repeats
from ..fcurves.frames import union
from ..fcurves.keyframes import Float32Array
from ..live.meaning_of_edits import may_imply, with_implied
from ..memoize import memoized
from ..report import Report
from ..store.action_and_strips import editable_sets, played_range, plays
from ..store.find_tracks import find_tracks, lost_tracks, played_otherwise
from ..store.frame_functions import functions_of
from ..store.own_arrays import OwnKeys
from ..store.own_keys import read_all_own_keys
from ..store.table.custom_property import read_table
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT, NO_ROWS, Rows
from ..store.table.track_records import Options, Settings
from ..store.track_refusals import blocking_reasons, error_of_numbers
from ..store.tracks import Track
from .missing_rotation_keys import completed
from .plans.continuous_rotations import with_values_of_motion
from .plans.curve_plan import plan_curves
from .plans.handle_plan import plan_handles
from .plans.own_motion import OwnChannels
from .plans.protocol import Plan, Scope
from .plans.retimed_plan import plan_retimed
from .plans.sample_frames import APART, sampling_of
from .plans.sample_plan import plan_samples
from .plans.track_splines import SplineInput, TrackSpline, splines_together, track_splines
from .sample_limit import count_samples, too_many
from .track_bake import TrackBake

_LOOP_GAP = 1e-4
"""Smallest reported gap between the first and last pose of a loop, in the track's units or radians."""
_OUTPUTS: dict[str, Callable[[Scope, Sequence[TrackSpline]], list[Plan]]] = {
    "SAMPLES": plan_samples,
    "CURVES": plan_curves,
    "HANDLES": plan_handles,
}


def plan_track(bake: TrackBake, splines: list[TrackSpline] | None) -> None:
    """Plan the bake of a track, retimed by the track's frame function if there is one.

    `splines` are the track's splines, or None if they have not been created yet.

    Raises AnimationError if the keys or their parameters do not define a spline. Raises KeysError, which does not name
    the track, if the fault is found only during evaluation.
    """
    track, own, options, settings, function = bake.track, bake.own, bake.options, bake.settings, bake.function
    if options.output == "HANDLES" and function is not None:
        raise track.error("HANDLES_TIMED")
    splines = splines or track_splines(track, settings, own, options.defaults)
    frames = splines[0].frames if len(splines) == 1 else union([spline.frames for spline in splines])
    scope = Scope(
        track=track,
        own=own,
        options=options,
        sampling=sampling_of(frames, options.step, options.extend),
        cycle=_cycle_beyond(track, settings, splines, options),
        key_frames=frames,
        takes_shortest_path=track.is_rotation and settings.path == "SHORTEST",
    )
    notes = [track.finding("SPLINE", note) for spline in splines for note in spline.spline.notes]
    if function is not None:
        plans = plan_retimed(scope, splines, function)
    else:
        notes += _notes_of_keys(scope, settings, splines)
        plans = _OUTPUTS[options.output](scope, [with_values_of_motion(track, spline) for spline in splines])
    bake.key_frames, bake.plans, bake.notes = frames, plans, notes


def _cycle_beyond(track: Track, settings: Settings, splines: Sequence[TrackSpline], options: Options) -> Cycle:
    """Return the cycle that the bake adds outside the keys."""
    # A Cycles modifier repeats all keys of the curve, including generated keys outside the animator's keys.
    if settings.cycle == "SINGLE" or any(repeats(fcurve) for fcurve in track.channels.values()):
        return "SINGLE"
    # Our Cycles modifier on handles also repeats the segments that Blender plays. Generated keys cannot.
    if options.output != "HANDLES" and any(spline.is_interrupted for spline in splines):
        return "SINGLE"
    return settings.cycle


def _notes_of_keys(scope: Scope, settings: Settings, splines: Sequence[TrackSpline]) -> list[Finding]:
    """Return notes on the cycle, chosen handles and closely spaced keys of a track without a frame function."""
    track, frames = scope.track, scope.key_frames
    notes: list[Finding] = []
    if settings.cycle != "SINGLE":
        notes += _notes_of_cycle(scope, splines, settings.cycle)
    if scope.options.output != "HANDLES" and any(_has_chosen_handles(keys) for keys in scope.own.values()):
        notes.append(track.finding("HANDLES_CHOSEN"))
    row = _first_of_close_keys(frames) if track.is_rotation else None
    if row is not None:
        notes.append(track.finding("KEYED_NEAR", float(frames[row]), float(frames[row + 1])))
    return notes


def _notes_of_cycle(scope: Scope, splines: Sequence[TrackSpline], cycle: Cycle) -> list[Finding]:
    """Return notes on a track with the cycle REPEAT or LOOP: jumps in a loop, and cycles that the bake omits."""
    by_handles = scope.options.output == "HANDLES"
    codes = []
    if cycle == "LOOP" and any(spline.spline.loop_gap > _LOOP_GAP for spline in splines):
        codes.append("LOOP_JUMPS")
    if scope.options.extend is None and scope.cycle != "SINGLE" and not by_handles:
        codes.append("CYCLE_INSIDE_KEYS")
    if any(spline.is_interrupted for spline in splines):
        if not by_handles:
            codes.append("CYCLE_ENDS")
        elif cycle == "LOOP":
            codes.append("LOOP_CORNER")
    return list(map(scope.track.finding, codes))


@memoized
def _first_of_close_keys(frames: Float32Array) -> int | None:
    """Return the row of the first key that is so close to the next key that Blender could merge samples, or None."""
    is_close = np.diff(frames) <= APART
    return int(np.argmax(is_close)) if is_close.any() else None


def _has_chosen_handles(own: OwnKeys) -> bool:
    """Return whether the animator chose the type of any handle in the spline's segments."""
    if not own.has_chosen:
        return False
    is_chosen = ((own.chosen[:-1] & CHOSEN_RIGHT) | (own.chosen[1:] & CHOSEN_LEFT)) != 0
    return bool(is_chosen[~own.begins_segment[:-1]].any())


@dataclass
class BakeJob:
    """The bake of one set of F-curves. All data are read and checked before anything is written."""

    datablocks: list[bpy.types.ID]
    """The datablocks that share the F-curves. The first datablock defines the rotation modes."""
    channels: Channels
    tracks: list[TrackBake]
    """The tracks to bake. Once they are planned, only the tracks that could be planned."""
    notes: list[Finding]
    completed: list[Track] = field(default_factory=list)
    """Rotations to which missing keys are added."""
    unplayable: list[Track] = field(default_factory=list)
    """Tracks that handles can't play."""
    rows: Rows = field(default_factory=lambda: NO_ROWS)
    """New rows for the table."""


def keys_to_bake(to_bake: Sequence[tuple[Track, Finding | None]]) -> Iterator[OwnChannels]:
    """Read the animator's keys on each track. Tracks that can't be baked get no keys."""
    own_keys = iter(read_all_own_keys([track for track, reason in to_bake if not reason]))
    return ({} if reason else next(own_keys) for _, reason in to_bake)


def job_of_edited(
    datablocks: Sequence[bpy.types.ID],
    channels: Channels,
    tracks: Sequence[Track],
    otherwise: Options,
    report: Report,
    anew: bool = False,
    complete: bool = True,
) -> BakeJob:
    """Return one job for the edited tracks, each with its current options or, if there are none, with `otherwise`.

    If `anew` is true, `otherwise` is used for all tracks. If `complete` is true, missing keys are added to rotations
    played by handles. A track that can't be baked, or that would need more samples than `otherwise` allows, is reported
    and skipped.
    """
    to_bake = list(zip(tracks, blocking_reasons(tracks), strict=True))
    job, kept = BakeJob(list(datablocks), channels, [], []), otherwise.as_kept()
    left_out = add_tracks(
        job,
        to_bake,
        list(keys_to_bake(to_bake)),
        lambda track: (None if anew else track.settings.options) or kept,
        complete,
    )
    report.errors += [finding for _, error in left_out for finding in error.findings]
    reasons = [too_many(count_samples(bake), otherwise.sample_limit) for bake in job.tracks]
    limited = list(zip(job.tracks, reasons, strict=True))
    report.errors += [reason.on(bake.track.name, bake.track.path) for bake, reason in limited if reason]
    job.tracks = [bake for bake, reason in limited if not reason]
    return job


def add_tracks(
    job: BakeJob,
    to_bake: Sequence[tuple[Track, Finding | None]],
    own_keys: Sequence[OwnChannels],
    options_of: Callable[[Track], Options],
    complete: bool = True,
) -> list[tuple[Track, AnimationError]]:
    """Add the tracks that have keys to the job, with parameters implied by edits.

    Return the remaining tracks, each with its error. If `complete` is true, missing keys are added to rotations played
    by handles.
    """
    left_out = []
    tracks = [track for track, _ in to_bake]
    inputs = zip(to_bake, own_keys, functions_of(tracks), may_imply(tracks, own_keys), strict=True)
    for (track, reason), own, function, implies in inputs:
        try:
            if not own:
                raise AnimationError(reason or track.finding("NO_KEYS"))
            options = options_of(track)
            whole = completed(track, own) if complete and options.output == "HANDLES" else own
            if whole is not own:
                job.completed.append(track)
            if implies or whole is not own:
                whole, notes = with_implied(track, whole, options.defaults)
                job.notes += notes
            job.tracks.append(TrackBake(track, job.channels, whole, options, function))
        except AnimationError as error:
            left_out.append((track, error))
    return left_out


def plan_tracks(jobs: Sequence[BakeJob], report: Report) -> list[BakeJob]:
    """Plan the splines of all jobs, and return the jobs with planned tracks. Report tracks that can't be planned."""
    bakes = [bake for job in jobs for bake in job.tracks]
    inputs = [SplineInput(bake.track, bake.settings, bake.own, bake.options.defaults) for bake in bakes]
    splines = iter(splines_together(inputs))
    for job in jobs:
        job.tracks = [
            bake
            for bake, splines_of_track in zip(job.tracks, splines, strict=False)
            if _is_planned(job, bake, splines_of_track, report)
        ]
        if not job.tracks:
            report.notes += job.notes
    return [job for job in jobs if job.tracks]


def _is_planned(job: BakeJob, bake: TrackBake, splines: list[TrackSpline] | None, report: Report) -> bool:
    """Plan a track, and return whether it could be planned. Report any error."""
    try:
        plan_track(bake, splines)
        return True
    except KeysError as error:
        report.errors.append(bake.track.finding("SPLINE", error.message, frame=error.frame))
    except AnimationError as refusal:
        report.errors += refusal.findings
        if refusal.has("HANDLES_TIMED") or refusal.has("HANDLES_LEAVE_KEYS"):
            job.unplayable.append(bake.track)
    return False


_Prefixes = Iterable[str] | None


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


def collected_jobs(
    datablocks: Iterable[bpy.types.ID],
    options: Options,
    prefixes: Mapping[bpy.types.ID, Sequence[str]],
    report: Report,
) -> list[BakeJob]:
    """Return one job per set of shared F-curves, with the tracks to bake on the datablocks that share the set."""
    jobs: list[BakeJob] = []
    to_bake = []
    candidates: list[list[Track]] = []
    for channels, users in _by_channels(datablocks, report):
        takes_all = any(user not in prefixes for user in users)
        starts = None if takes_all else [start for user in users for start in prefixes[user]]
        tracks = find_tracks(users[0], channels, starts)
        lost = _lost_errors(users[0], channels, starts)
        report.errors += lost
        if tracks:
            jobs.append(BakeJob(users, channels, [], []))
            candidates.append(tracks)
            to_bake.append(_tracks_to_bake(tracks, "" if starts is None else tuple(starts)))
        elif not lost:
            report.errors.append(Finding("NO_FLOAT_KEYS", name_of(users[0])))
    # Reading all tracks together is faster than reading one track at a time.
    own_keys = keys_to_bake([each for of_job in to_bake for each in of_job])
    collected = []
    for job, tracks, of_job in zip(jobs, candidates, to_bake, strict=True):
        try:
            _collect(job, tracks, of_job, list(islice(own_keys, len(of_job))), _in_action_time(job, options), report)
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


def _tracks_to_bake(tracks: Sequence[Track], starts: str | tuple[str, ...]) -> list[tuple[Track, Finding | None]]:
    """Return the TCB tracks, or all tracks if no track was TCB, each with the reason why it can't be baked (or None).

    If TCB tracks whose paths start with `starts` have lost their F-curves, the other tracks are not baked.
    """
    # If the table is damaged, the states of the tracks are unknown.
    enabled = [track for track in tracks if track.enabled or track.table.error]
    # All tracks are in one slot of one action.
    was_tcb = tracks[0].table.has_tracks(tracks[0].slot, starts)
    to_bake = enabled if enabled or was_tcb else tracks
    return list(zip(to_bake, blocking_reasons(to_bake), strict=True))


def _lost_errors(datablock: bpy.types.ID, channels: Channels, prefixes: Sequence[str] | None) -> list[Finding]:
    """Return an error for each baked track that has lost its F-curves."""
    if not read_table(channels.action).baked:
        return []
    lost = lost_tracks(datablock, channels, find_tracks(datablock, channels))
    starts = "" if prefixes is None else tuple(prefixes)
    return [track.finding("EDITED_OUTSIDE") for track in lost if track.path.startswith(starts)]


def _collect(
    job: BakeJob,
    tracks: Sequence[Track],
    to_bake: Sequence[tuple[Track, Finding | None]],
    own_keys: Sequence[OwnChannels],
    options: Options,
    report: Report,
) -> None:
    """Add the tracks that have keys to the job.

    Raises AnimationError if no track can be baked. A track that can't be baked is reported as an error if it is
    enabled, and as a note otherwise.
    """
    is_any_enabled = any(track.enabled for track in tracks)
    if is_any_enabled:
        job.notes += [_why_left(track) for track in tracks if track.in_use and not track.enabled]
    left_out = add_tracks(job, to_bake, own_keys, lambda track: _options_again(track, options))
    job.notes += [track.finding("COMPLETED") for track in job.completed]
    if not to_bake:
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
