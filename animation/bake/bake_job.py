# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake of one set of F-curves: its tracks, with a record of each track after each stage, and the limit of samples.

The first stages have the records in `plans/own_motion.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Generic, NamedTuple, TypeVar

import bpy
import numpy as np

from ...interp.base_spline import Cycle
from ..fcurves.channels import Channels
from ..fcurves.keyframes import Float32Array
from ..live.meaning_of_edits import may_imply, with_implied
from ..records import record
from ..report import AnimationError, Finding
from ..store.editable import blocking_reasons
from ..store.frame_functions import functions_of
from ..store.read_own_keys import read_all_own_keys
from ..store.table.rows import Rows
from ..store.table.track_records import BakedChannel, Options, Output, Settings, TrackState
from ..store.tracks import Track
from ..store.up_to_date import digest
from .complete_rotations import with_complete_rotation
from .plans.own_motion import ChosenTrack, OwnChannels, TrackInput
from .plans.plan import ComposedKeys, Plan
from .plans.retimed_plan import sample_count
from .plans.sample_frames import APART, Sampling, sampling_of


def too_many(count: float, limit: int) -> Finding | None:
    """Return the reason why a bake with this number of samples is not allowed, or None."""
    return Finding("TOO_MANY_SAMPLES", arguments=(count, limit)) if count > limit else None


def too_near_keys(step: float) -> Finding | None:
    """Return the reason why the step is too small, or None."""
    return None if step >= APART else Finding("STEP_TOO_SMALL", arguments=(step, APART))


def count_samples(inputs: TrackInput) -> float:
    """Return the approximate number of samples that the bake of a track needs."""
    own, options = inputs.own, inputs.options
    if options.output == "HANDLES":
        return 0.0
    if inputs.function is not None:
        return sample_count(own, options, inputs.function)
    timings = tuple([channel.frame_bytes for channel in own.values()])
    return _count_at(timings, inputs.settings.cycle, options.output, options.step, options.extend)


@lru_cache(maxsize=16)
def _count_at(
    timings: tuple[bytes, ...], cycle: Cycle, output: Output, step: float, extend: tuple[float, float] | None
) -> float:
    """Return the approximate number of samples for channels with keys at these frames, each given as bytes."""
    keyed_at = [np.frombuffer(frames, np.float32) for frames in timings]
    ends = [float(end) for frames in keyed_at for end in (frames[0], frames[-1])]
    sampling = sampling_of(np.array([min(ends), max(ends)], dtype=np.float32), step, extend)
    # Curves have few keys unless there are many cycles.
    count = _curve_keys if output == "CURVES" else samples_of_channel
    return sum(count(sampling, frames, cycle) for frames in keyed_at)


def samples_of_channel(sampling: Sampling, keys: Float32Array, cycle: str) -> float:
    """Return the approximate number of samples for a channel with these keys. Return 0 if a frame is not finite."""
    if not np.isfinite(keys).all():
        return 0.0
    first, last = float(keys[0]), float(keys[-1])
    if cycle == "SINGLE" or last <= first:
        return (last - first) / sampling.step
    outside = max(0.0, first - sampling.low) + max(0.0, sampling.high - last)
    return (last - first + outside) / sampling.step + 2 * outside / (last - first)


def _curve_keys(sampling: Sampling, keys: Float32Array, cycle: str) -> float:
    """Return the approximate number of Bezier keys in the cycles outside the keys, including one per jump back."""
    first, last = float(keys[0]), float(keys[-1])
    if not np.isfinite(keys).all() or cycle == "SINGLE" or last <= first:
        return 0.0
    low, high = sampling.low, sampling.high
    jumps = int(cycle == "REPEAT")
    return (len(keys) + jumps) * (max(0.0, first - low) + max(0.0, high - last)) / (last - first)


# A track after each stage, which adds fields to the record of the stage before


@record(eq=False)
class PlannedTrack(TrackInput):
    """A track with its plans."""

    key_frames: Float32Array
    """Frames of the animator's keys in all channels."""
    plans: Sequence[Plan]
    """One plan per spline, or one for all splines."""
    notes: Sequence[Finding]


@record(eq=False)
class EvaluatedTrack(PlannedTrack):
    """A track whose splines have been evaluated."""

    baked: ComposedKeys
    """The keys that play the track."""


@record(eq=False)
class TrackBake(EvaluatedTrack):
    """The complete bake of a track, whose keys have rows and identities."""

    state: TrackState
    """Table entry of the track before the bake."""
    rows: Rows
    """New rows for the table."""

    @cached_property
    def keeps_identities(self) -> bool:
        """Return whether the keys still have the identities read from the curves."""
        return not len(self.rows)

    def settings_after(self) -> Settings:
        """Return the track's settings after the bake."""
        options = self.options
        digest_of_bake = digest(self.track, self.settings, options, self.own, self.function)
        return Settings(**{**vars(self.settings), "options": options, "digest": digest_of_bake})

    @cached_property
    def may_keep_records(self) -> bool:
        """Return whether the records of handles match the saved keys."""
        return bool(self.state.channels) and self.keeps_identities

    def baked_before(self, index: int) -> BakedChannel | None:
        """Return the channel's record from an earlier bake, or None."""
        return self.state.bake.channels.get(index) if self.state.bake is not None else None


# The tracks of a set of F-curves


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
    complete_rotations: bool = True,
) -> BakeJob[TrackInput]:
    """Return one job for the edited tracks (see `pipeline.rebake`).

    A track that can't be baked, or that would need more samples than `options` allow, is refused.
    """
    options_to_keep = options.as_kept()
    chosen = [
        ChosenTrack(track, channels, (track.settings.options if keep_options else None) or options_to_keep)
        for track in tracks
    ]
    job = BakeJob(datablocks, channels, chosen, []).after(read_inputs(chosen, complete_rotations))
    notes = [note for inputs in job.tracks for note in inputs.notes_on_edits]
    within_limit = [_within_limit(inputs, options.sample_limit) for inputs in job.tracks]
    return replace(job, notes=notes).after([*job.refused, *within_limit])


def _within_limit(inputs: TrackInput, limit: int) -> TrackInput | Refusal:
    """Return the track, or its refusal if the bake would need too many samples."""
    reason = too_many(count_samples(inputs), limit)
    track = inputs.track
    return Refusal(track, AnimationError(reason.on(track.name, track.path))) if reason else inputs


def read_inputs(chosen: Sequence[ChosenTrack], complete_rotations: bool = True) -> list[TrackInput | Refusal]:
    """Read the animator's keys, and find the parameters implied by edits. Tracks that can't be baked are refused.

    If `complete_rotations` is true, missing keys are added to rotations played by handles. Reading the keys of all
    tracks together is faster than one track at a time.
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
            whole = with_complete_rotation(track, own) if complete_rotations and options.output == "HANDLES" else own
            is_completed = whole is not own
            whole, notes = with_implied(track, whole, options.defaults) if implies or is_completed else (whole, [])
            results.append(TrackInput(track, each.channels, options, whole, settings, function, is_completed, notes))
        except AnimationError as error:
            results.append(Refusal(track, error))
    return results
