# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the bakes of all jobs: baked curves, handles, locks and table entries."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import AnimationError
from ..fcurves import scratch_curves
from ..fcurves.channels import evaluate_anew
from ..report import Report
from ..store.frame_function_paths import remove_strays
from ..store.table.custom_property import update
from .bake_job import BakeJob
from .bake_report import add_notes_of_manual_bake, count_track
from .free_tracks import free_tracks
from .locks import lock_groups
from .world_space_samples import WorldMotion, depth
from .write_baked_curves import write_bakes
from .write_handles import write_handles


def write_in_place(jobs: Sequence[BakeJob]) -> list[Report]:
    """Write the channels of each job. Return one report per job."""
    reports = [Report.on(job.datablocks) for job in jobs]
    for job, report in zip(jobs, reports, strict=True):
        report.notes += job.notes
        remove_strays(job.channels)
    write_tracks(jobs, reports)
    with scratch_curves.shared_action():
        for job, report in zip(jobs, reports, strict=True):
            add_notes_of_manual_bake(report, job)
    for job in jobs:
        evaluate_anew(job.channels.action)
    return reports


def write_tracks(jobs: Sequence[BakeJob], reports: Sequence[Report]) -> None:
    """Write the channels and the table entries of all tracks.

    All jobs are written together, because a call for many tracks takes about as long as a call for one. Tracks baked in
    world space are written last, so a job with such tracks should be written separately.
    """
    bakes = [bake for job in jobs for bake in job.tracks]
    by_handles = [bake for bake in bakes if bake.baked.is_by_handles]
    in_own_space = [bake for bake in bakes if not bake.baked.is_by_handles and not bake.options.in_world]
    for job in jobs:
        baked_before = [bake.track for bake in job.tracks if bake.baked.is_by_handles and bake.track.is_baked]
        free_tracks(job.channels, baked_before)
    states = dict(zip(by_handles, write_handles(by_handles), strict=True))
    states |= zip(in_own_space, write_bakes(in_own_space), strict=True)
    for job, report in zip(jobs, reports, strict=True):
        in_world = [bake for bake in job.tracks if bake not in states]
        for bake in sorted(in_world, key=lambda bake: depth(job.datablocks[0], bake.track)):
            # Write one track at a time, because children depend on the new motion of their parents.
            try:
                bake.baked = WorldMotion(job.datablocks[0], bake.track, bake.own, bake.options).composed_keys()
            except AnimationError as error:
                report.errors += error.findings
            else:
                (states[bake],) = write_bakes([bake])
        written = [bake for bake in job.tracks if bake in states]
        for bake in written:
            bake.track.state = states[bake]
            count_track(report, bake)
        table = update(job.channels.action, job.rows, [states[bake] for bake in written])
        for bake in job.tracks:
            bake.track.table = table
        if not all(bake.baked.is_by_handles for bake in written):
            lock_groups(job.channels, table)
