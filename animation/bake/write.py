# SPDX-License-Identifier: GPL-3.0-or-later
"""Write bakes: the channels and the table entries of all jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from ..errors import AnimationError
from ..fcurves import scratch_curves
from ..fcurves.channels import evaluate_anew
from ..fcurves.keyframes import Write
from ..fcurves.selection_flags import selecting
from ..report import Report
from ..store.paths import remove_strays
from ..store.table.custom_property import update
from .job import Job
from .locks import lock_groups
from .notes import count_track, note_of_one_bake
from .plans.protocol import Baked
from .put_back import free_tracks
from .track_to_write import TrackToWrite
from .world import WorldMotion, depth
from .write_baked_keys import write_bakes
from .write_handles import write_handles


def write_in_place(jobs: Sequence[Job], every: Sequence[Sequence[Baked]]) -> list[Report]:
    """Write the channels of each job. Return one report per job."""
    reports = [Report.on(job.datablocks) for job in jobs]
    for job, report in zip(jobs, reports, strict=True):
        report.notes += job.notes
        remove_strays(job.channels)
    with selecting() as keys:
        write_tracks(jobs, every, reports, keys.write)
    with scratch_curves.kept():
        for job, results, report in zip(jobs, every, reports, strict=True):
            for plan, baked in zip(job.plans, results, strict=True):
                note_of_one_bake(report, plan, baked)
    for job in jobs:
        evaluate_anew(job.channels.action)
    return reports


def write_tracks(
    jobs: Sequence[Job], every: Sequence[Sequence[Baked]], reports: Sequence[Report], write: Write
) -> None:
    """Write the channels and the table entries of all tracks.

    All jobs are written together, because a call for many tracks takes about as long as a call for one. Tracks baked in
    world space are written last, so a job with such tracks should be written separately.
    """
    members = [
        TrackToWrite(job, report, plan, state, baked, is_settled)
        for job, results, report in zip(jobs, every, reports, strict=True)
        for plan, state, baked, is_settled in zip(job.plans, job.states, results, job.are_settled, strict=True)
    ]
    by_handles = [member for member in members if member.baked.is_by_handles]
    for job in {id(member.job): member.job for member in by_handles if member.plan.track.is_baked}.values():
        to_free = [member.plan.track for member in by_handles if member.job is job and member.plan.track.is_baked]
        free_tracks(job.channels, to_free)
    others = [member for member in members if not member.baked.is_by_handles]
    in_world = [member for member in others if member.is_in_world]
    in_own_space = [member for member in others if not member.is_in_world]
    states = dict(zip(map(id, by_handles), write_handles(by_handles, write), strict=True))
    states |= zip(map(id, in_own_space), write_bakes(in_own_space, write), strict=True)
    for member in sorted(in_world, key=lambda each: depth(each.job.datablocks[0], each.plan.track)):
        # Write one track at a time, because children depend on the new motion of their parents.
        moved = _in_world(member)
        if moved is not None:
            (states[id(member)],) = write_bakes([moved], write)
    remaining = iter(members)
    for job, report in zip(jobs, reports, strict=True):
        written = [member for member in islice(remaining, len(job.plans)) if id(member) in states]
        for member in written:
            member.plan.track.state = states[id(member)]
            count_track(report, member.plan, member.baked)
        entries = [states[id(member)] for member in written]
        table = update(job.channels.action, job.rows, entries, known=job.plans[0].track.table)
        for plan in job.plans:
            plan.track.table = table
        if not all(member.baked.is_by_handles for member in written):
            lock_groups(job.channels, table)


def _in_world(member: TrackToWrite) -> TrackToWrite | None:
    """Return the track with the keys of its motion in world space. Report a failure and return None."""
    plan = member.plan
    assert plan.settings.options is not None
    try:
        motion = WorldMotion(member.job.datablocks[0], plan.track, plan.own, plan.settings.options)
        return replace(member, baked=motion.baked())
    except AnimationError as error:
        member.report.errors += error.findings
        return None
