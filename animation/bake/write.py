# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the bakes of all jobs: baked curves, handles, locks and table entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..fcurves import scratch_curves
from ..fcurves.channels import evaluate_anew
from ..report import AnimationError, Report
from ..store.paths import remove_strays
from ..store.table.custom_property import update
from ..store.table.rows import ROW, joined
from .bake_job import BakeJob, Refusal
from .bake_report import add_notes_of_manual_bake, count_tracks
from .free_tracks import free_tracks
from .locks import lock_groups
from .track_bake import TrackBake
from .world_space_samples import WorldMotion, depth
from .write_baked_curves import write_bakes
from .write_handles import write_handles


def write_jobs(jobs: Sequence[BakeJob[TrackBake]]) -> list[Report]:
    """Write the jobs of a manual bake (see `write_tracks`), and show the result. Return one report per job.

    The reports do not count datablocks.
    """
    for job in jobs:
        remove_strays(job.channels)
    written_jobs = write_tracks(jobs)
    reports = [Report(notes=[*job.notes]) for job in written_jobs]
    with scratch_curves.shared_action():
        for job, report in zip(written_jobs, reports, strict=True):
            count_tracks(report, job)
            add_notes_of_manual_bake(report, job)
    for job in jobs:
        evaluate_anew(job.channels.action)
    return reports


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
        rows = joined([rows for bake in job.tracks for rows in bake.rows], ROW)
        table = update(job.channels.action, rows, [states[bake] for bake in written])
        for bake in job.tracks:
            bake.track.table = table
        if not all(bake.baked.is_by_handles for bake in written):
            lock_groups(job.channels, table)
        written_jobs.append(job.after([in_world_results.get(bake, bake) for bake in job.tracks]))
    return written_jobs
