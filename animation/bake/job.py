# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake jobs: the tracks that are baked together on datablocks that share F-curves, with their keys and plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import bpy

from ...interp import KeysError
from ..errors import AnimationError, Finding
from ..fcurves.channels import Channels
from ..live.meaning_of_edits import may_imply, with_implied
from ..report import Report
from ..store.frame_functions import functions_of
from ..store.own_keys import read_all_own_keys
from ..store.table.rows import NO_ROWS, Rows
from ..store.table.stored_bake_options import Options
from ..store.track_refusals import blocking_reasons
from ..store.tracks import Track
from .missing_rotation_keys import completed
from .plans.plan_track import plan_track
from .plans.protocol import OwnChannels, TrackBake
from .sample_limit import count_samples, too_many


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
    reasons = [too_many(count, otherwise.sample_limit) for count in count_samples(job.tracks)]
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
    implied = may_imply([track for track, _ in to_bake], own_keys)
    for (track, reason), own, implies in zip(to_bake, own_keys, implied, strict=True):
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
            job.tracks.append(TrackBake(track, job.channels, whole, options))
        except AnimationError as error:
            left_out.append((track, error))
    return left_out


def plan_tracks(job: BakeJob, report: Report) -> bool:
    """Plan the splines of a job, and return whether any were planned. Report tracks that can't be planned."""
    planned = []
    functions = functions_of([bake.track for bake in job.tracks])
    for bake, function in zip(job.tracks, functions, strict=True):
        try:
            plan_track(bake, function)
            planned.append(bake)
        except KeysError as error:
            report.errors.append(bake.track.finding("SPLINE", error.message, frame=error.frame))
        except AnimationError as refusal:
            report.errors += refusal.findings
            if refusal.has("HANDLES_TIMED") or refusal.has("HANDLES_LEAVE_KEYS"):
                job.unplayable.append(bake.track)
    job.tracks = planned
    if not planned:
        report.notes += job.notes
    return bool(planned)
