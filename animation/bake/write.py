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


def write_jobs(jobs: Sequence[BakeJob]) -> list[Report]:
    """Write the jobs of a manual bake (see `write_tracks`), and show the result. Return one report per job.

    The reports do not count datablocks.
    """
    reports = [Report() for _ in jobs]
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
    """Write the channels and the table entries of all tracks, and add them to the reports, one per job.

    Jobs are written together, because a call for many tracks takes about as long as a call for one. A job with tracks
    in world space must be the only one.
    """
    bakes = [bake for job in jobs for bake in job.tracks]
    by_handles = [bake for bake in bakes if bake.baked.is_by_handles]
    in_own_space = [bake for bake in bakes if not bake.baked.is_by_handles and not bake.options.in_world]
    in_world = [bake for bake in bakes if not bake.baked.is_by_handles and bake.options.in_world]
    assert len(jobs) == 1 or not in_world
    # Handles play the animator's channels, so free the tracks first: unlock channels, and remove those made by a bake.
    for job in jobs:
        baked_before = [bake.track for bake in job.tracks if bake.baked.is_by_handles and bake.track.is_baked]
        free_tracks(job.channels, baked_before)
    states = dict(zip(by_handles, write_handles(by_handles), strict=True))
    states |= zip(in_own_space, write_bakes(in_own_space), strict=True)
    # World space comes last, parents first, because it is computed from the motion that parents play after the bake.
    for bake in sorted(in_world, key=lambda bake: depth(jobs[0].datablocks[0], bake.track)):
        try:
            # These keys replace the keys that were planned in the parent's space.
            bake.baked = WorldMotion(jobs[0].datablocks[0], bake.track, bake.own, bake.options).composed_keys()
        except AnimationError as error:
            reports[0].errors += error.findings
        else:
            (states[bake],) = write_bakes([bake])
    for job, report in zip(jobs, reports, strict=True):
        # A track without motion in world space has no entry.
        written = [bake for bake in job.tracks if bake in states]
        for bake in written:
            bake.track.state = states[bake]
            count_track(report, bake)
        table = update(job.channels.action, job.rows, [states[bake] for bake in written])
        for bake in job.tracks:
            bake.track.table = table
        if not all(bake.baked.is_by_handles for bake in written):
            lock_groups(job.channels, table)
