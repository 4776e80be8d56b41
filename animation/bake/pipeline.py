# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake pipeline, from the animator's keys to F-curves that Blender plays without the extension."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import bpy

from ...interp import KeysError, evaluate_many
from ...interp.fitting.curves import fit_many
from ...interp.fitting.handles import KnownFits, fit_handles
from ..datablocks import name_of
from ..fcurves import scratch_curves
from ..fcurves.channels import Channels, evaluate_if, played_now
from ..report import Report
from ..steps import Progress, Steps, collector_paused, run_steps
from ..store.table.track_records import Options
from ..store.tracks import Track
from .bake_job import BakeJob, job_of_edited
from .plan_tracks import plan_tracks
from .plans.protocol import Results
from .plans.rotation_channels import unwrapped_together
from .record_keys import add_rows
from .restore_tracks import turn_off_unplayable
from .sample_limit import count_samples, too_many, too_near_keys
from .track_bake import TrackBake
from .tracks_to_bake import collected_jobs
from .write import write_jobs, write_tracks

_LIVE_FITS = KnownFits()
"""Cache of the handles fitted by Live, because an edit changes only a few segments of a long track."""


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
    report = Report()
    jobs = collected_jobs(datablocks, options, prefixes or {}, report)
    samples = sum(count_samples(bake) for job in jobs for bake in job.tracks)
    reason = reason or too_many(samples, options.sample_limit)
    if reason:
        report.errors += [reason.on(name_of(job.datablocks[0])) for job in jobs]
        return report
    with scratch_curves.shared_action():
        planned = plan_tracks(jobs, report)
    for job in jobs:
        turn_off_unplayable(job)
    jobs = planned
    total, done = sum(len(job.tracks) for job in jobs), 0
    count = max(1, at_once or len(jobs))
    # The actions of several NLA strips can animate one datablock, which counts once.
    baked_datablocks: dict[bpy.types.ID, None] = {}
    for first in range(0, len(jobs), count):
        evaluated = _evaluated(jobs[first : first + count], report)
        if keeps_handles:
            for bake in [bake for job in evaluated for bake in job.tracks]:
                bake.keep_handles()
        add_rows(evaluated)
        baked_datablocks |= dict.fromkeys(datablock for job in evaluated for datablock in job.datablocks)
        for start, end in _written_together(evaluated):
            for job, report_of_job in zip(evaluated[start:end], write_jobs(evaluated[start:end]), strict=True):
                report.add(report_of_job)
                done += len(job.tracks)
                yield done, total
    report.add(Report.on(list(baked_datablocks)))
    return report


def _written_together(jobs: Sequence[BakeJob]) -> Iterator[tuple[int, int]]:
    """Yield the start and end indices of each range of jobs to write together.

    A job with a bake in world space is written separately, because its motion depends on earlier writes.
    """
    alone = [any(bake.options.in_world for bake in job.tracks) for job in jobs]
    ends = [number for number in range(1, len(jobs)) if alone[number - 1] or alone[number]]
    yield from pairwise([0, *ends, len(jobs)])


@collector_paused()
def rebake(
    datablocks: Sequence[bpy.types.ID],
    channels: Channels,
    tracks: Sequence[Track],
    options: Options,
    keep_options: bool = True,
    complete: bool = True,
) -> Report:
    """Bake the tracks of editable channels again.

    If `keep_options` is true, `options` are used only for tracks without a bake, and the other tracks keep their
    options. If `complete` is true, missing keys are added to rotations played by handles.

    `datablocks` are the datablocks that the channels animate. A track that can't be baked does not prevent other tracks
    from being baked.
    """
    report = Report()
    job = job_of_edited(datablocks, channels, tracks, options, report, keep_options, complete)
    with scratch_curves.shared_action():
        is_planned = bool(plan_tracks([job], report))
    turn_off_unplayable(job)
    if not is_planned:
        return report
    report.notes += job.notes
    evaluated = _evaluated([job], report, _LIVE_FITS)
    add_rows(evaluated)
    for evaluated_job in evaluated:
        before = _played_now(evaluated_job)
        write_tracks([evaluated_job], [report])
        evaluate_if(_played_now(evaluated_job) != before, channels.action)
    return report


def _played_now(job: BakeJob) -> list[float]:
    """Return the values of the job's F-curves at the current frame of each scene."""
    return played_now(job.datablocks, [fcurve for bake in job.tracks for fcurve in bake.track.channels.values()])


def _evaluated(jobs: Sequence[BakeJob], report: Report, known: KnownFits | None = None) -> list[BakeJob]:
    """Evaluate and fit the splines of all jobs together. Return the jobs with results. Known handles are reused.

    For some methods, only evaluation shows that a track's keys do not define a motion. Tracks that have no motion are
    reported and skipped.
    """
    try:
        _evaluate_together(jobs, known)
        return list(jobs)
    except KeysError:
        for job in jobs:
            job.tracks = [bake for bake in job.tracks if _is_soluble(job, bake, report)]
        soluble = [job for job in jobs if job.tracks]
        _evaluate_together(soluble, known)
        return soluble


def _is_soluble(job: BakeJob, bake: TrackBake, report: Report) -> bool:
    """Return whether the track can be evaluated, and report any failure."""
    try:
        _evaluate_together([replace(job, tracks=[bake])])
    except KeysError as error:
        report.errors.append(bake.track.finding("SPLINE", error.message, frame=error.frame))
        return False
    return True


def _evaluate_together(jobs: Sequence[BakeJob], known: KnownFits | None = None) -> None:
    """Evaluate and fit the splines of all jobs. Raises a KeysError that does not name the track."""
    bakes = [bake for job in jobs for bake in job.tracks]
    plans = [plan for bake in bakes for plan in bake.plans]
    evaluations = [evaluation for plan in plans for evaluation in plan.evaluations]
    samples = evaluate_many([each.spline for each in evaluations], [each.frames for each in evaluations])
    values = unwrapped_together([each.unwrapping for each in evaluations], samples)
    curve_fits = fit_many([request for plan in plans for request in plan.curve_requests])
    handle_fits = fit_handles([request for plan in plans for request in plan.handle_requests], known)
    results = Results(iter(values), iter(curve_fits), iter(handle_fits))
    for bake in bakes:
        bake.compose(results)
