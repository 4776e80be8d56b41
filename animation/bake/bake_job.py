# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake of one set of F-curves: its tracks, with the animator's keys and the parameters implied by edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

import bpy

from ..fcurves.channels import Channels
from ..live.meaning_of_edits import may_imply, with_implied
from ..records import record
from ..report import AnimationError, Finding
from ..store.editable import blocking_reasons
from ..store.frame_functions import functions_of
from ..store.read_own_keys import read_all_own_keys
from ..store.table.track_records import Options
from ..store.tracks import Track
from .missing_rotation_keys import completed
from .plans.own_motion import ChosenTrack, OwnChannels, TrackInput
from .sample_limit import count_samples, too_many

TrackT = TypeVar("TrackT")
OtherT = TypeVar("OtherT")


class Refusal(NamedTuple):
    """A track that a stage can't process."""

    track: Track
    error: AnimationError


@record(eq=False)
class BakeJob(Generic[TrackT]):
    """The bake of one set of F-curves after a stage. All data are read and checked before anything is written."""

    datablocks: Sequence[bpy.types.ID]
    """The datablocks that share the F-curves. The first datablock defines the rotation modes."""
    channels: Channels
    tracks: Sequence[TrackT]
    """The records of the tracks that the stage has processed."""
    notes: Sequence[Finding]
    refused: Sequence[Refusal] = ()
    """The tracks that the stage has refused."""

    def after(self, results: Sequence[OtherT | Refusal]) -> BakeJob[OtherT]:
        """Return the job after the next stage, which has these results."""
        tracks = [result for result in results if not isinstance(result, Refusal)]
        refused = [result for result in results if isinstance(result, Refusal)]
        return BakeJob(self.datablocks, self.channels, tracks, self.notes, refused)

    @property
    def errors(self) -> list[Finding]:
        """Return the errors of the refused tracks."""
        return [finding for refusal in self.refused for finding in refusal.error.findings]


def jobs_after(
    stage: Callable[[Sequence[TrackT]], Sequence[OtherT | Refusal]], jobs: Sequence[BakeJob[TrackT]]
) -> list[BakeJob[OtherT]]:
    """Return the jobs after a stage, which processes the tracks of all jobs together."""
    results = iter(stage([track for job in jobs for track in job.tracks]))
    return [job.after([next(results) for _ in job.tracks]) for job in jobs]


def job_of_edited(
    datablocks: Sequence[bpy.types.ID],
    channels: Channels,
    tracks: Sequence[Track],
    options: Options,
    keep_options: bool = True,
    complete: bool = True,
) -> BakeJob[TrackInput]:
    """Return one job for the edited tracks (see `pipeline.rebake`).

    A track that can't be baked, or that would need more samples than `options` allow, is refused.
    """
    options_to_keep = options.as_kept()
    chosen = [
        ChosenTrack(track, channels, (track.settings.options if keep_options else None) or options_to_keep)
        for track in tracks
    ]
    job = BakeJob(datablocks, channels, chosen, []).after(read_inputs(chosen, complete))
    notes = [note for inputs in job.tracks for note in inputs.notes_on_edits]
    within_limit = [_within_limit(inputs, options.sample_limit) for inputs in job.tracks]
    return replace(job, notes=notes).after([*job.refused, *within_limit])


def _within_limit(inputs: TrackInput, limit: int) -> TrackInput | Refusal:
    """Return the track, or its refusal if the bake would need too many samples."""
    reason = too_many(count_samples(inputs), limit)
    track = inputs.track
    return Refusal(track, AnimationError(reason.on(track.name, track.path))) if reason else inputs


def read_inputs(chosen: Sequence[ChosenTrack], complete: bool = True) -> list[TrackInput | Refusal]:
    """Read the animator's keys, and find the parameters implied by edits. Tracks that can't be baked are refused.

    If `complete` is true, missing keys are added to rotations played by handles. Reading the keys of all tracks
    together is faster than one track at a time.
    """
    tracks = [each.track for each in chosen]
    reasons = blocking_reasons(tracks)
    own_keys = iter(read_all_own_keys([track for track, reason in zip(tracks, reasons, strict=True) if not reason]))
    own_of_tracks: list[OwnChannels] = [{} if reason else next(own_keys) for reason in reasons]
    found = zip(chosen, reasons, own_of_tracks, functions_of(tracks), may_imply(tracks, own_of_tracks), strict=True)
    results: list[TrackInput | Refusal] = []
    for each, reason, own, function, implies in found:
        track, options, settings = each.track, each.options, each.track.settings
        try:
            if not own:
                raise AnimationError(reason or track.finding("NO_KEYS"))
            whole = completed(track, own) if complete and options.output == "HANDLES" else own
            is_completed = whole is not own
            whole, notes = with_implied(track, whole, options.defaults) if implies or is_completed else (whole, [])
            results.append(TrackInput(track, each.channels, options, whole, settings, function, is_completed, notes))
        except AnimationError as error:
            results.append(Refusal(track, error))
    return results
