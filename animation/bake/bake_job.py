# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake of one set of F-curves: its tracks, with the animator's keys and the parameters implied by edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy

from ..errors import AnimationError, Finding
from ..fcurves.channels import Channels
from ..live.meaning_of_edits import may_imply, with_implied
from ..report import Report
from ..store.frame_functions import functions_of
from ..store.own_keys import read_all_own_keys
from ..store.table.rows import NO_ROWS, Rows
from ..store.table.track_records import Options
from ..store.track_refusals import blocking_reasons
from ..store.tracks import Track
from .missing_rotation_keys import completed
from .plans.own_motion import OwnChannels
from .sample_limit import count_samples, too_many
from .track_bake import TrackBake


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


def job_of_edited(
    datablocks: Sequence[bpy.types.ID],
    channels: Channels,
    tracks: Sequence[Track],
    options: Options,
    report: Report,
    keep_options: bool = True,
    complete: bool = True,
) -> BakeJob:
    """Return one job for the edited tracks (see `pipeline.rebake`).

    A track that can't be baked, or that would need more samples than `options` allow, is reported and skipped.
    """
    job, options_to_keep = BakeJob(list(datablocks), channels, [], []), options.as_kept()
    (candidates,) = read_candidates([tracks])
    left_out = add_tracks(
        job, candidates, lambda track: (track.settings.options if keep_options else None) or options_to_keep, complete
    )
    report.errors += [finding for _, error in left_out for finding in error.findings]
    reasons = [too_many(count_samples(bake), options.sample_limit) for bake in job.tracks]
    limited = list(zip(job.tracks, reasons, strict=True))
    report.errors += [reason.on(bake.track.name, bake.track.path) for bake, reason in limited if reason]
    job.tracks = [bake for bake, reason in limited if not reason]
    return job


class Candidate(NamedTuple):
    """A track to bake."""

    track: Track
    reason: Finding | None
    """The reason why the track can't be baked, or None."""
    own: OwnChannels
    """The animator's keys. Empty if the track can't be baked."""


def read_candidates(tracks_of_jobs: Sequence[Sequence[Track]]) -> list[list[Candidate]]:
    """Read the tracks of each job. Reading the keys of all jobs together is faster than one job at a time."""
    reasons_of_jobs = [blocking_reasons(tracks) for tracks in tracks_of_jobs]
    jobs = list(zip(tracks_of_jobs, reasons_of_jobs, strict=True))
    to_read = [track for tracks, reasons in jobs for track, reason in zip(tracks, reasons, strict=True) if not reason]
    own_keys = iter(read_all_own_keys(to_read))
    return [
        [
            Candidate(track, reason, {} if reason else next(own_keys))
            for track, reason in zip(tracks, reasons, strict=True)
        ]
        for tracks, reasons in jobs
    ]


def add_tracks(
    job: BakeJob, candidates: Sequence[Candidate], options_of: Callable[[Track], Options], complete: bool = True
) -> list[tuple[Track, AnimationError]]:
    """Add the tracks that have keys to the job, with parameters implied by edits.

    Return the remaining tracks, each with its error. If `complete` is true, missing keys are added to rotations played
    by handles.
    """
    left_out = []
    tracks = [candidate.track for candidate in candidates]
    implied = may_imply(tracks, [candidate.own for candidate in candidates])
    for (track, reason, own), function, implies in zip(candidates, functions_of(tracks), implied, strict=True):
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
