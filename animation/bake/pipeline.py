# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake pipeline, from the animator's keys to F-curves that Blender plays without the extension."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import bpy
import numpy as np

from ...interp import KeysError, evaluate_many
from ...interp.fitting.curves import fit_many
from ...interp.fitting.handles import fit_handles
from ..datablocks import name_of
from ..fcurves import scratch_curves
from ..fcurves.channels import Channels, assign, editable_channels, evaluate_anew, evaluate_if, played_now
from ..fcurves.keyframes import HANDLE, SIDES
from ..report import AnimationError, Report
from ..steps import Progress, Steps, collector_paused, run_steps
from ..store.find_tracks import find_tracks
from ..store.paths import remove_strays
from ..store.record_keys import OwnChannel, new_state, record_rows
from ..store.table.custom_property import update
from ..store.table.rows import ROW, joined
from ..store.table.track_records import Options
from ..store.tracks import Track
from .bake_job import (
    BakeJob,
    EvaluatedTrack,
    PlannedTrack,
    Refusal,
    TrackBake,
    TrackT,
    count_samples,
    job_of_edited,
    jobs_after,
    too_many,
    too_near_keys,
)
from .bake_report import add_notes_of_manual_bake, count_tracks
from .locked_channels import lock_groups
from .plan_tracks import plan_tracks
from .plans.plan import ComposedKeys, Results
from .plans.rotations import unwrapped_together
from .restore_tracks import free_tracks, turn_off_unplayable
from .tracks_to_bake import collected_jobs
from .world_space_samples import WorldMotion, depth
from .write_baked_curves import write_bakes
from .write_handles import write_handles


def write_jobs(jobs: Sequence[BakeJob[TrackBake]], report: Report) -> None:
    """Write the jobs of a manual bake (see `write_tracks`), add their tracks to the report, and show the result."""
    for job in jobs:
        remove_strays(job.channels)
    with scratch_curves.shared_action():
        for job in write_tracks(jobs):
            report.notes += job.notes
            count_tracks(report, job)
            add_notes_of_manual_bake(report, job)
    for job in jobs:
        evaluate_anew(job.channels.action)


def write_tracks(jobs: Sequence[BakeJob[TrackBake]]) -> list[BakeJob[TrackBake]]:
    """Write the channels and table entries of all tracks. Tracks without motion in world space are refused.

    Jobs are written together, because a call for many tracks takes about as long as a call for one. A job with tracks
    in world space must be the only one.
    """
    bakes = [bake for job in jobs for bake in job.tracks]
    by_handles = [bake for bake in bakes if bake.baked.is_by_handles]
    on_baked_curves = [bake for bake in bakes if not bake.baked.is_by_handles]
    in_own_space = [bake for bake in on_baked_curves if not bake.options.in_world]
    in_world = [bake for bake in on_baked_curves if bake.options.in_world]
    assert len(jobs) == 1 or not in_world
    # Handles play the animator's channels, so free the tracks first: unlock channels, and remove those made by a bake.
    for job in jobs if by_handles else ():
        baked_before = [bake.track for bake in job.tracks if bake.baked.is_by_handles and bake.track.is_baked]
        free_tracks(job.channels, baked_before)
    states = dict(zip(by_handles, write_handles(by_handles), strict=True))
    states |= zip(in_own_space, write_bakes(in_own_space), strict=True)
    in_world_results: dict[TrackBake, TrackBake | Refusal] = {}
    # World space comes last, parents first, because it is computed from the motion that parents play after the bake.
    for bake in sorted(in_world, key=lambda bake: depth(jobs[0].datablocks[0], bake.track)):
        try:
            # These keys replace the keys that were planned in the parent's space.
            baked = WorldMotion(jobs[0].datablocks[0], bake.track, bake.own, bake.options).composed_keys()
            in_world_results[bake] = with_world_keys = replace(bake, baked=baked, notes=[])
            (states[bake],) = write_bakes([with_world_keys])
        except AnimationError as error:
            in_world_results[bake] = Refusal(bake.track, error)
    written_jobs = []
    for job in jobs:
        # A track without motion in world space has no entry.
        written = [bake for bake in job.tracks if bake in states]
        for bake in written:
            bake.track.state = states[bake]
        rows = joined([bake.rows for bake in job.tracks], ROW)
        table = update(job.channels.action, rows, [states[bake] for bake in written])
        for bake in job.tracks:
            bake.track.table = table
        if not all(bake.baked.is_by_handles for bake in written):
            lock_groups(job.channels, table)
        written_jobs.append(job.after([in_world_results.get(bake, bake) for bake in job.tracks]))
    return written_jobs


# The stages


def bake(
    datablocks: Iterable[bpy.types.ID],
    options: Options,
    prefixes: Mapping[bpy.types.ID, Sequence[str]] | None = None,
    progress: Progress | None = None,
    keeps_handles: bool = False,
) -> Report:
    """Bake the TCB tracks of the datablocks (see `bake_many`). `prefixes` maps each datablock to its path prefixes.

    If `keeps_handles`, fitted handles stay on the keys after Restore and Remove. If `progress` raises an exception,
    the bake is completed before the exception is raised again.
    """
    steps = bake_steps(datablocks, options, prefixes, keeps_handles=keeps_handles)
    return run_steps(steps, progress, finishes=True)


def bake_steps(
    datablocks: Iterable[bpy.types.ID],
    options: Options,
    prefixes: Mapping[bpy.types.ID, Sequence[str]] | None = None,
    at_once: int | None = None,
    keeps_handles: bool = False,
) -> Steps[Report]:
    """Bake step by step (see `bake`). Yield the number of finished tracks and the total number of tracks.

    `at_once` is the number of datablocks whose splines are evaluated together, or None for all datablocks.
    """
    reason = too_near_keys(options.step)
    options = options if reason else options.as_kept()
    jobs, errors = collected_jobs(datablocks, options, prefixes or {})
    report = Report(errors=errors)
    samples = sum(count_samples(inputs) for job in jobs for inputs in job.tracks)
    reason = reason or too_many(samples, options.sample_limit)
    if reason:
        report.errors += [reason.on(name_of(job.datablocks[0])) for job in jobs]
        return report
    # All tracks are planned first, because only then the number of tracks to bake is known.
    planned = jobs_after(plan_tracks, jobs)
    turn_off_unplayable(planned)
    report.notes += [note for job in planned if not job.tracks for note in job.notes]
    playable = _without_refused(planned, report)
    total, done = sum(len(job.tracks) for job in playable), 0
    count = max(1, at_once or len(playable))
    # The actions of several NLA strips can animate one datablock, which counts once.
    baked_datablocks: dict[bpy.types.ID, None] = {}
    for first in range(0, len(playable), count):
        evaluated = _without_refused(jobs_after(_evaluated, playable[first : first + count]), report)
        # Evaluation can refuse all tracks of a linked action, which then needs no copy, so copies come after it.
        local = [_on_local_copy(job) for job in evaluated]
        # Rows record the handles of the animator's keys, so these keys get the fitted handles first.
        fitted = jobs_after(lambda tracks: [*map(_with_fitted_handles, tracks)], local) if keeps_handles else local
        recorded = jobs_after(_add_rows, fitted)
        baked_datablocks |= dict.fromkeys(datablock for job in recorded for datablock in job.datablocks)
        for together in _written_together(recorded):
            write_jobs(together, report)
            for job in together:
                done += len(job.tracks)
                yield done, total
    report.add(Report.on(list(baked_datablocks)))
    return report


def _without_refused(jobs: Sequence[BakeJob[TrackT]], report: Report) -> list[BakeJob[TrackT]]:
    """Report the errors of the tracks that a stage has refused, and return the jobs that still have tracks."""
    report.errors += [error for job in jobs for error in job.errors]
    return [job for job in jobs if job.tracks]


def _written_together(jobs: Sequence[BakeJob[TrackBake]]) -> Iterator[Sequence[BakeJob[TrackBake]]]:
    """Yield the jobs to write together.

    A job with a bake in world space is written separately, because its motion depends on earlier writes.
    """
    alone = [any(bake.options.in_world for bake in job.tracks) for job in jobs]
    ends = [number for number in range(1, len(jobs)) if alone[number - 1] or alone[number]]
    for start, end in pairwise([0, *ends, len(jobs)]):
        yield jobs[start:end]


@collector_paused()
def rebake(
    datablocks: Sequence[bpy.types.ID],
    channels: Channels,
    tracks: Sequence[Track],
    options: Options,
    keep_options: bool = True,
    complete_rotations: bool = True,
) -> Report:
    """Bake the tracks of editable channels again.

    If `keep_options` is true, `options` are used only for tracks without a bake, and the other tracks keep their
    options. If `complete_rotations` is true, missing keys are added to rotations played by handles.

    `datablocks` are the datablocks that the channels animate. A track that can't be baked does not prevent other tracks
    from being baked.
    """
    job = job_of_edited(datablocks, channels, tracks, options, keep_options, complete_rotations)
    report = Report(errors=job.errors, notes=[*job.notes])
    planned = jobs_after(plan_tracks, [job])
    turn_off_unplayable(planned)
    evaluated = jobs_after(_evaluated, _without_refused(planned, report))
    for recorded in jobs_after(_add_rows, _without_refused(evaluated, report)):
        before = _played_now(recorded)
        (written,) = write_tracks([recorded])
        count_tracks(report, written)
        # Evaluate only if the motion changed, because an evaluation discards poses that are not keyed.
        evaluate_if(_played_now(recorded) != before, channels.action)
    return report


def _played_now(job: BakeJob[TrackBake]) -> list[float]:
    """Return the values of the job's F-curves at the current frame of each scene."""
    return played_now(job.datablocks, [fcurve for bake in job.tracks for fcurve in bake.track.channels.values()])


def _evaluated(tracks: Sequence[PlannedTrack]) -> Sequence[EvaluatedTrack | Refusal]:
    """Evaluate and fit the splines of all tracks together.

    For some methods, only evaluation shows that a track's keys do not define a motion. Such tracks are refused.
    """
    try:
        return _evaluate_together(tracks)
    except KeysError as error:
        if len(tracks) == 1:
            track = tracks[0].track
            return [Refusal(track, track.error("SPLINE", error.message, frame=error.frame))]
        # The error does not name the track.
        return [result for planned in tracks for result in _evaluated([planned])]


def _evaluate_together(tracks: Sequence[PlannedTrack]) -> list[EvaluatedTrack]:
    """Evaluate and fit the splines of all tracks. Raises a KeysError that does not name the track."""
    plans = [plan for planned in tracks for plan in planned.plans]
    evaluations = [evaluation for plan in plans for evaluation in plan.evaluations]
    samples = evaluate_many([each.spline for each in evaluations], [each.frames for each in evaluations])
    values = unwrapped_together([each.unwrapping for each in evaluations], samples)
    curve_fits = fit_many([request for plan in plans for request in plan.curve_requests])
    handle_fits = fit_handles([request for plan in plans for request in plan.handle_requests])
    results = Results(iter(values), iter(curve_fits), iter(handle_fits))
    return [EvaluatedTrack(**vars(planned), baked=_composed(planned, results)) for planned in tracks]


def _composed(planned: PlannedTrack, results: Results) -> ComposedKeys:
    """Compose the keys of all plans, and find the largest error."""
    baked_by_plan = [plan.compose(results) for plan in planned.plans]
    if len(baked_by_plan) == 1:
        return baked_by_plan[0]
    worst = max(baked_by_plan, key=lambda baked: baked.error)
    return ComposedKeys(
        [keys for baked in baked_by_plan for keys in baked.channel_keys],
        [keys for baked in baked_by_plan for keys in baked.handle_keys],
        [note for baked in baked_by_plan for note in baked.notes],
        worst.error,
        worst.error_frame,
        any(baked.is_approximate for baked in baked_by_plan),
    )


def _on_local_copy(job: BakeJob[EvaluatedTrack]) -> BakeJob[EvaluatedTrack]:
    """Return the job on editable channels. If its action is linked, these are in the override's local copy."""
    if job.channels.action.library is None:
        return job
    notes = [*job.notes]
    channels = editable_channels(job.datablocks[0], notes)
    for user in job.datablocks[1:]:
        assign(user, channels.action, channels.slot_handle)
    tracks = {track.path: track for track in find_tracks(job.datablocks[0], channels)}
    evaluated = [replace(each, track=tracks[each.track.path], channels=channels) for each in job.tracks]
    return BakeJob(job.datablocks, channels, evaluated, notes)


def _with_fitted_handles(evaluated: EvaluatedTrack) -> EvaluatedTrack:
    """Make the fitted handles the animator's own, so that Restore and Remove keep them.

    Handles of keys with other values on the curves do not fit the animator's values.
    """
    own_keys = dict(evaluated.own)
    for handle_keys in [keys for keys in evaluated.baked.handle_keys if keys.values_on_curves is None]:
        for index, *handles in zip(handle_keys.components, handle_keys.left, handle_keys.right, strict=True):
            keys = own_keys[index].keys.copy()
            for side, places in zip(SIDES, handles, strict=True):
                is_fitted = ~np.isnan(places).any(axis=1)
                getattr(keys, side)[is_fitted] = places[is_fitted]
                getattr(keys, f"{side}_type")[is_fitted] = HANDLE["FREE"]
            own_keys[index] = own_keys[index].with_(keys=keys)
    return replace(evaluated, own=own_keys)


def _add_rows(tracks: Sequence[EvaluatedTrack]) -> list[TrackBake]:
    """Create rows and identities for the keys of all tracks, whose channels must be editable."""
    states = [each.track.state or new_state(each.channels, each.track, each.settings) for each in tracks]
    recorded_keys, rows, row_counts = record_rows(
        [
            OwnChannel(state.identity, index, own, index in state.channels)
            for evaluated, state in zip(tracks, states, strict=True)
            for index, own in evaluated.own.items()
        ]
    )
    next_channels = zip(recorded_keys, accumulate(row_counts), strict=True)
    bakes, end = [], 0
    for evaluated, state in zip(tracks, states, strict=True):
        own, start = {}, end
        for index in evaluated.own:
            own[index], end = next(next_channels)
        fields = {**vars(evaluated), "own": own}
        bakes.append(TrackBake(**fields, state=state, rows=rows[start:end]))
    return bakes
