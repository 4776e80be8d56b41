# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce one datablock: search for the fewest keys, then write these keys to a copy of the action."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ..bake.pipeline import bake
from ..datablocks import name_of
from ..fcurves.channels import Channels, check_editable, check_not_tweaked
from ..fcurves.keyframes import Float64Array
from ..report import Finding
from ..store.table.track_records import Options
from ..track_paths import WholePath
from .armature import tightened_search
from .key_search import MARGIN, KeySearch, as_many_keys
from .keys_outside_range import are_freed
from .new_keys import NewKeys, Played, mended, recovered_keys
from .original_motion import OriginalMotion, count_keys
from .reducible_tracks import (
    LEAST_FRAMES,
    AlreadyMinimalError,
    joinable_tracks,
    reducible_tracks,
    unchanged_reduction,
)
from .report import ReduceRequest, Reduction
from .sampled_track import existing_key_count, frames_to_sample
from .write_new_keys import ActionCopy, enable, write

_SPARSE = 4
"""If frames outnumber recovered keys by this factor, the recovered keys are used even if fewer keys would suffice."""
_MENDS = 24
"""Maximum number of rounds in which keys are added where handles do not play the motion accurately."""


class DatablockReduction:
    """The reduction of one datablock in steps: `prepare`, then `fit` or `choose`, then `write`.

    Raises AnimationError if the datablock can't be edited, has no keys to reduce, or has unknown motion.
    """

    def __init__(self, datablock: bpy.types.ID, prefixes: Iterable[str] | None, request: ReduceRequest) -> None:
        self._start = time.perf_counter()
        self._datablock = datablock
        self._request = request
        self._notes: list[Finding] = []
        channels = check_editable(datablock)
        check_not_tweaked(datablock)
        reducible = reducible_tracks(datablock, channels, prefixes, request, self._notes)
        self._frames = frames_to_sample(reducible, request.frame_range, request.sample_limit)
        if len(self._frames) < LEAST_FRAMES and request.frame_range is None:
            raise AlreadyMinimalError(datablock, channels, reducible, request)
        sampled_tracks = joinable_tracks(datablock, reducible, self._frames, self._notes)
        if any(any(sampled.joined) and are_freed(sampled.track, self._frames) for sampled in sampled_tracks):
            self._notes.append(Finding("REDUCE_HANDLES_FREE", name_of(datablock)))
        tracks = [sampled.track for sampled in sampled_tracks]
        self.keys_before, self.diamonds_before = count_keys(tracks, self._frames)
        self._copy = ActionCopy(datablock, channels)
        self._motion = OriginalMotion(datablock, self._copy, sampled_tracks, self._frames)
        self._recovered: dict[str, NewKeys] = {}
        self._search = KeySearch(datablock, self._motion, self._frames, request, self._recovered)
        self._new_keys: list[NewKeys] = []
        self._factor = 1.0
        """The ratio of the error of the new keys to the requested error."""

    def prepare(self) -> Generator[float, None, None]:
        """Find the tracks that were generated from few keys, and filter all others. Yield the finished fraction."""
        moving = self._motion.moving_tracks
        for number, sampled in enumerate(moving):
            keys = recovered_keys(sampled, MARGIN * self._request.error, self._request.method)
            if keys is not None:
                sampled.stays = len(keys.rows) * _SPARSE <= len(self._frames)
                if len(keys.rows) < existing_key_count([sampled]):
                    self._recovered[sampled.track.path] = keys
            yield number / len(moving)
        if self._request.period is not None:
            self._motion.remove_noise(self._request.period)

    def choose(self) -> Generator[float, None, None]:
        """Choose the keys to write, limited by either the error or the requested number of keys."""
        if self._request.key_count is None:
            self._new_keys = yield from self.fit(1.0)
        else:
            self._new_keys, self._factor = yield from as_many_keys(
                self._search.fewest_keys, self.diamonds, self._request.key_count, name_of(self._datablock)
            )

    def fit(self, factor: float) -> Generator[float, None, list[NewKeys]]:
        """Return the fewest keys that keep all tracks within the error and angle times `factor`.

        Yield the finished fraction. The effect of constraints is measured. If the effect exceeds the tolerance, the
        search continues with smaller errors.
        """
        new_keys = yield from self._search.fewest_keys(factor)
        if not self._motion.is_evaluated:
            return new_keys
        return (
            yield from tightened_search(
                self._datablock,
                new_keys,
                lambda fractions: self._search.fewest_keys(factor, fractions),
                lambda tighter_keys: self._excess(tighter_keys, factor),
            )
        )

    def _excess(self, new_keys: Sequence[NewKeys], factor: float) -> Float64Array:
        """Return the errors of the evaluated bones relative to their tolerances, shape (bones, frames).

        Nothing is changed.
        """
        try:
            positions = self._written(new_keys, factor)[3].positions
        finally:
            self.discard_copy()
        reference = self._motion.reference(self._request, factor)
        assert positions is not None
        assert reference.positions is not None
        ratios = np.linalg.norm(positions - reference.positions, axis=2) / reference.point_tolerances
        # Heads and tails alternate in the array.
        excess: Float64Array = np.maximum(ratios[::2], ratios[1::2])
        return excess

    def discard_copy(self) -> None:
        """Assign the original action to the datablock again, and remove the copy, if there is one."""
        self._copy.remove()

    def diamonds(self, new_keys: Sequence[NewKeys]) -> int:
        """Return the number of frames with either these keys or kept keys, summed over the bones and the object."""
        return self._counts(new_keys)[0]

    def _counts(self, new_keys: Sequence[NewKeys]) -> tuple[int, int, int]:
        """Return the numbers of owners' keyed frames, tracks' keyed frames, and channel keys, including kept tracks."""
        frames_by_owner: dict[str, set[float]] = {}
        track_keys = channel_keys = 0
        rows_by_path = {keys.sampled.track.path: keys.rows for keys in new_keys}
        for sampled in self._motion.tracks:
            path = sampled.track.path
            rows = rows_by_path.get(path)
            frames = sampled.key_frames if rows is None else self._frames[rows]
            frames_by_owner.setdefault(path.rpartition(".")[0], set()).update(frames.tolist())
            track_keys += len(frames)
            channel_keys += sampled.channel_keys if rows is None else len(rows) * sampled.channels_to_key
        return sum(map(len, frames_by_owner.values())), track_keys, channel_keys

    def write(self) -> Reduction:
        """Write the chosen keys, add keys where handles do not reproduce the motion accurately, and measure the result.

        If the number of keys would not decrease, nothing is changed.
        """
        if not self._are_fewer(self._new_keys):
            return self._minimal()
        self._motion.sample_between_frames()
        copy, new_keys, refused, played = self._written(self._new_keys, self._factor)
        if not self._are_fewer(new_keys):
            self.discard_copy()
            return self._minimal()
        self._notes += refused
        plain = [keys.sampled.track for keys in new_keys if keys.settings is None and len(keys.rows) > 1]
        self._notes += [track.finding("REDUCE_PLAIN") for track in plain]
        result = self._result(copy, new_keys, played)
        self._notes += self._copy.keep_original()
        return result

    def _are_fewer(self, new_keys: Sequence[NewKeys]) -> bool:
        """Return whether there are fewer keys than before."""
        diamonds, track_keys, channel_keys = self._counts(new_keys)
        channel_keys_before = sum(sampled.channel_keys for sampled in self._motion.tracks)
        is_less = (diamonds, track_keys) < (self.diamonds_before, self.keys_before)
        return is_less and channel_keys <= channel_keys_before

    def _minimal(self) -> Reduction:
        """Return the result of a reduction that could not remove any keys."""
        request, counts = self._request, (self.keys_before, self.diamonds_before)
        return replace(
            unchanged_reduction(
                name_of(self._datablock), self._copy.original, request, len(self._motion.tracks), counts
            ),
            wanted=request.error * self._factor,
            wanted_angle=request.angle * self._factor,
            wanted_still=request.still,
            seconds=time.perf_counter() - self._start,
            notes=self._notes,
        )

    def _written(
        self, new_keys: Sequence[NewKeys], factor: float
    ) -> tuple[Channels, Sequence[NewKeys], list[Finding], Played]:
        """Write keys into a copy of the action, and add keys where handles do not reproduce the motion accurately.

        Return the copy's F-curves, the keys, the errors, and the copy's motion.
        """
        # A requested number of keys is never exceeded.
        rounds = _MENDS if self._request.key_count is None else 0
        for number in range(rounds + 1):
            copy = self._copy.assign()
            write(copy, new_keys, self._frames)
            refused = self._play(copy, new_keys)
            played = self._motion.played()
            is_last = number == rounds
            more_keys = None if is_last else mended(new_keys, played, self._motion.reference(self._request, factor))
            if more_keys is None:
                break
            self.discard_copy()
            new_keys = more_keys
        return copy, new_keys, refused, played

    def _play(self, copy: Channels, new_keys: Sequence[NewKeys]) -> list[Finding]:
        """Enable TCB on the tracks, play the tracks with handles, and return the errors."""
        enable(self._datablock, copy, new_keys, self._frames)
        paths = _tcb_paths(new_keys)
        if not paths:
            return []
        options = Options(output="HANDLES")
        return bake([self._datablock], options, {self._datablock: paths}, keeps_handles=True).refused

    def _result(self, copy: Channels, new_keys: Sequence[NewKeys], played: Played) -> Reduction:
        """Measure the motion that the copy plays."""
        request, motion = self._request, self._motion
        deviation, still = motion.deviation(played, request.still)
        between = motion.deviation_between_frames(played.values, request.error)
        unfiltered = motion.deviation_from_unfiltered(played)
        error, angle = request.error * self._factor, request.angle * self._factor
        is_counted = request.key_count is not None
        keys, diamonds = count_keys(motion.tracks_now(), self._frames)
        return Reduction(
            name_of(self._datablock),
            wanted=max(error, deviation.largest) if is_counted else error,
            wanted_angle=max(angle, deviation.angle) if is_counted else angle,
            wanted_still=request.still,
            tracks=len(motion.tracks),
            keys_before=self.keys_before,
            keys=keys,
            diamonds_before=self.diamonds_before,
            diamonds=diamonds,
            error=deviation.largest,
            error_at=deviation.at,
            between=between.largest,
            between_at=between.at,
            mean=deviation.mean,
            angle=deviation.angle,
            angle_at=deviation.angle_at,
            still=still.largest,
            still_at=still.at,
            noise=motion.noise.largest,
            noise_at=motion.noise.at,
            noise_angle=motion.noise.angle,
            unfiltered=unfiltered.largest,
            unfiltered_at=unfiltered.at,
            unfiltered_angle=unfiltered.angle,
            evaluated=motion.is_evaluated,
            mended=self.diamonds(new_keys) - self.diamonds(self._new_keys),
            seconds=time.perf_counter() - self._start,
            original=self._copy.original.action.name,
            action=copy.action.name,
            notes=self._notes,
        )

    def note_other_users(self) -> None:
        """Add a note on other users of the original action.

        Call this method after all reduced datablocks have been written.
        """
        self._notes += self._copy.other_users()


def _tcb_paths(new_keys: Sequence[NewKeys]) -> list[WholePath]:
    """Return the paths of the tracks whose new keys use TCB."""
    return [WholePath(keys.sampled.track.path) for keys in new_keys if keys.settings is not None]
