# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce one datablock: search for the fewest keys, then write these keys to a copy of the action."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...interp.fitting.reduction import (
    SampledTracks,
    Skeleton,
    limits_while_still,
    reduce_skeleton,
    reduce_tracks_steps,
    stand_still,
)
from ..bake.pipeline import bake
from ..datablocks import name_of
from ..edit.apply_and_remove import apply
from ..errors import AnimationError, Finding
from ..fcurves.channels import Channels, assign, channels_in, channels_of, users_of_channels
from ..fcurves.frames import SAME_FRAME, union
from ..fcurves.keyframes import Float64Array, read_coordinates
from ..fcurves.linked_data import check_editable, check_not_tweaked
from ..sampling.beyond_fcurves import UnknownMotionError
from ..store.actions.live_switch import switch_off
from ..store.table.stored_bake_options import Options
from ..store.track_refusals import blocking_reason
from ..store.tracks import Track, find_tracks
from .armature_joints import ArmatureJoints, names_of_points, places_of
from .beside_range import are_freed, has_beside, reason_apart
from .evaluated import check_evaluated, evaluated_places, play_densely, tightened_search
from .key_count import as_many_keys
from .measure import Difference, count_keys, difference, difference_of_points
from .mend_handles import Played, WantedMotion, mended
from .new_keys import NewKeys
from .recovered_keys import recovered_keys
from .reduce_request import ReduceRequest
from .report import Reduction
from .sampled_track import SampledTrack, filtered, frames_of, is_posed, own_count, sample_track
from .write_new_keys import enable, write

_MARGIN = 0.98
"""Fraction of the error that the search uses, because handles only approximate rotations and float32 rounds."""
_SPARSE = 4
"""If frames outnumber recovered keys by this factor, the recovered keys are used even if fewer keys would suffice."""
_SPARSEST = 100
"""Tracks with fewer than one key per this number of frames are not reduced."""
_LEAST_FRAMES = 3
_MENDS = 24
"""Maximum number of rounds in which keys are added where handles do not play the motion accurately."""


class AlreadyMinimalError(AnimationError):
    """The exception for a datablock in which no track can have fewer keys. Nothing was changed."""

    def __init__(
        self, datablock: bpy.types.ID, channels: Channels, tracks: Sequence[Track], wanted: ReduceRequest
    ) -> None:
        super().__init__(Finding("REDUCE_FEW_KEYS", name_of(datablock)))
        counts = count_keys(tracks, np.array([-np.inf, np.inf]))
        self.result = _unchanged(name_of(datablock), channels, wanted, len(tracks), counts)


class DatablockReduction:
    """The reduction of one datablock in steps: `prepare`, then `fit` or `choose`, then `write`.

    Raises AnimationError if the datablock can't be edited, has no keys to reduce, or has unknown motion.
    """

    def __init__(self, datablock: bpy.types.ID, prefixes: Iterable[str] | None, wanted: ReduceRequest) -> None:
        self._start = time.perf_counter()
        self._datablock = datablock
        self._wanted = wanted
        self._factor = 1.0
        self._notes: list[Finding] = []
        self._channels = check_editable(datablock)
        check_not_tweaked(datablock)
        reducible = _reducible(datablock, self._channels, prefixes, wanted, self._notes)
        self._frames = frames_of(reducible, wanted.frame_range, wanted.sample_limit)
        if len(self._frames) < _LEAST_FRAMES and wanted.frame_range is None:
            raise AlreadyMinimalError(datablock, self._channels, reducible, wanted)
        self._every = _joinable(datablock, reducible, self._frames, self._notes)
        self._tracks = [sampled.track for sampled in self._every]
        if any(any(sampled.joined) and are_freed(sampled.track, self._frames) for sampled in self._every):
            self._notes.append(Finding("REDUCE_HANDLES_FREE", name_of(datablock)))
        self.keys_before, self.diamonds_before = count_keys(self._tracks, self._frames)
        self._kept: list[SampledTrack] = []
        self._names: list[str] = []
        self._places: Float64Array | None = None
        self._is_evaluated = False
        self._few: dict[str, NewKeys] = {}
        self._noise = Difference()
        self._unfiltered: tuple[list[SampledTrack], Float64Array | None] | None = None
        self._new: list[NewKeys] = []
        self._between: tuple[list[SampledTrack], Float64Array | None] | None = None
        if is_posed(datablock, self._every):
            chosen = {track.path for track in self._tracks}
            others = [track for track in find_tracks(datablock, self._channels) if track.path not in chosen]
            self._kept = [sample_track(track, self._frames, stays=True) for track in others if track.in_use]
            self._names = names_of_points(datablock)
            try:
                self._places = places_of(datablock, self._frames, [*self._every, *self._kept])
            except UnknownMotionError:
                check_evaluated(datablock)
                self._is_evaluated = True
                self._places = self._places_now()

    @property
    def _moving(self) -> list[SampledTrack]:
        return [sampled for sampled in self._every if not sampled.is_still]

    def prepare(self) -> Generator[float, None, None]:
        """Find the tracks that were generated from few keys, and filter all others. Yield the finished fraction."""
        error = _MARGIN * self._wanted.error
        moving = self._moving
        for number, sampled in enumerate(moving):
            keys = recovered_keys(sampled, error, self._wanted.method)
            if keys is not None:
                sampled.stays = len(keys.rows) * _SPARSE <= len(self._frames)
                if len(keys.rows) < own_count([sampled]):
                    self._few[sampled.track.path] = keys
            yield number / len(moving)
        if self._wanted.period is not None:
            self._filter(self._wanted.period)

    def _filter(self, period: float) -> None:
        """Filter noise from all tracks except those whose original keys were recovered."""
        before = self._every
        self._unfiltered = before, self._places
        self._every = [
            sampled if sampled.is_still or sampled.stays else filtered(sampled, period, self._frames)
            for sampled in before
        ]
        played = {sampled.track.path: sampled.values for sampled in self._every}
        self._noise = difference(before, played, self._frames)
        if self._places is not None:
            places = self._places_with(self._every)
            self._noise = self._noise.with_points(difference_of_points(self._names, self._places, places, self._frames))
            self._places = places

    def _places_now(self) -> Float64Array:
        """Return the positions of all bone heads and tails with the current keys."""
        own = evaluated_places if self._is_evaluated else places_of
        return own(self._datablock, self._frames)

    def _places_with(self, every: Sequence[SampledTrack]) -> Float64Array:
        """Return the positions of all bone heads and tails for these tracks' values."""
        if not self._is_evaluated:
            return places_of(self._datablock, self._frames, every)
        try:
            play_densely(self._copy(), every, self._frames)
            return self._places_now()
        finally:
            self.take_back()

    def choose(self) -> Generator[float, None, None]:
        """Choose the keys to write, limited by either the error or the requested number of keys."""
        if self._wanted.key_count is None:
            self._new = yield from self.fit(1.0)
        else:
            name = name_of(self._datablock)
            self._new, self._factor = yield from as_many_keys(self._search, self.diamonds, self._wanted.key_count, name)

    def fit(self, factor: float) -> Generator[float, None, list[NewKeys]]:
        """Return the fewest keys that keep all tracks within the error and angle times `factor`.

        Yield the finished fraction. The effect of constraints is measured. If the effect exceeds the tolerance, the
        search continues with smaller errors.
        """
        found = yield from self._search(factor)
        if not self._is_evaluated:
            return found
        return (
            yield from tightened_search(
                self._datablock,
                found,
                lambda parts: self._search(factor, parts),
                lambda new: self._excess(new, factor),
            )
        )

    def _excess(self, new: Sequence[NewKeys], factor: float) -> Float64Array:
        """Return the errors of the evaluated bones relative to their tolerances, shape (bones, frames).

        Nothing is changed.
        """
        try:
            places = self._written(new, factor)[3].places
        finally:
            self.take_back()
        wanted = self._wanted_motion(factor)
        assert places is not None
        assert wanted.places is not None
        far = np.linalg.norm(places - wanted.places, axis=2) / wanted.point_tolerances
        # Heads and tails alternate in the array.
        excess: Float64Array = np.maximum(far[::2], far[1::2])
        return excess

    def _search(self, factor: float, parts: Float64Array | None = None) -> Generator[float, None, list[NewKeys]]:
        """Return the fewest keys within the error times `factor`, assuming that only F-curves and parents move bones.

        `parts` contains fractions of the tolerance, by bone and frame.
        """
        error = _MARGIN * self._wanted.error * factor
        moving = self._moving
        new = [self._few[sampled.track.path] for sampled in moving if sampled.stays and sampled.track.path in self._few]
        of_skeleton: set[str] = set()
        if self._places is not None:
            every = [*self._every, *self._kept]
            found = ArmatureJoints(self._datablock, every, self._frames, self._wanted.together)
            skeleton = Skeleton(found.joints, error, self._still, found.groups, found.of_points(parts))
            most = {number: own_count(own) for number, own in found.animated.items()}
            keys_of = yield from reduce_skeleton(skeleton, self._wanted.method, most)
            for number, own in found.animated.items():
                of_skeleton |= {sampled.track.path for sampled in own}
                if number in keys_of:
                    new += [NewKeys.fitted(sampled, keys_of[number], part) for part, sampled in enumerate(own)]
        groups: dict[str, list[SampledTrack]] = {}
        for sampled in moving:
            if not sampled.stays and sampled.track.path not in of_skeleton:
                groups.setdefault(self._group_of(sampled), []).append(sampled)
        new += yield from self._fewest(list(groups.values()), error, factor * self._wanted.angle, parts)
        return new + [
            NewKeys.still(sampled) for sampled in self._every if sampled.is_still and self._can_be_fewer(sampled)
        ]

    def _can_be_fewer(self, sampled: SampledTrack) -> bool:
        """Return whether a still track has more keys than necessary."""
        return own_count([sampled]) > (2 if any(sampled.joined) else 1)

    def _group_of(self, sampled: SampledTrack) -> str:
        """Return a string that is the same for all tracks with common key frames. Bones are not considered."""
        if self._wanted.together == "POSE":
            return ""
        is_shared = self._wanted.together != "TRACK" and sampled.part in ("location", "rotation", "scale")
        return sampled.owner if is_shared else sampled.track.path

    @property
    def _still(self) -> tuple[float, float] | None:
        """Return the radius within which points count as at rest, and their tolerance in the search."""
        still = self._wanted.still
        return None if still is None else (still, _MARGIN * still)

    def _fewest(
        self, groups: Sequence[Sequence[SampledTrack]], error: float, angle: float, of_bones: Float64Array | None
    ) -> Generator[float, None, list[NewKeys]]:
        """Return common keys for the tracks in each group, or the recovered keys if they are at least as few.

        Groups with the same structure are searched together. Groups that already have as few keys or fewer are omitted.
        """
        alike: dict[tuple[tuple[int, bool], ...], list[Sequence[SampledTrack]]] = {}
        for group in groups:
            alike.setdefault(
                tuple((sampled.values.shape[1], sampled.track.is_rotation) for sampled in group), []
            ).append(group)
        new: list[NewKeys] = []
        for number, some in enumerate(alike.values()):
            parts = []
            for place in range(len(some[0])):
                own = [group[place] for group in some]
                limit = np.concatenate([self._limit(sampled, error, angle, self._still) for sampled in own])
                if of_bones is not None:
                    limit = limit * of_bones.min(axis=0)
                ends = [sampled.ends for sampled in own if sampled.ends is not None]
                values = np.stack([sampled.values for sampled in own])
                parts.append(SampledTracks(values, limit, own[0].track.is_rotation, np.stack(ends) if ends else None))
            found = yield from reduce_tracks_steps(parts, self._wanted.method)
            for group, one in zip(some, found, strict=True):
                before = [self._few.get(sampled.track.path) for sampled in group]
                made = [keys for keys in before if keys is not None]
                most = own_count(group)
                if len(made) == len(group) and max(len(keys.rows) for keys in made) <= min(len(one.rows), most):
                    new += made
                elif len(one.rows) < most:
                    new += [NewKeys.fitted(sampled, one, part) for part, sampled in enumerate(group)]
            yield (number + 1) / len(alike)
        return new

    def _limit(
        self, sampled: SampledTrack, error: float, angle: float, still: tuple[float, float] | None
    ) -> Float64Array:
        """Return the tolerance at each frame for a track that does not belong to a bone, shape (1, frames)."""
        limit = np.full((1, len(self._frames)), angle if sampled.track.is_rotation else error)
        return limits_while_still(limit, sampled.values[np.newaxis], still) if sampled.part == "location" else limit

    def take_back(self) -> None:
        """Assign the original action to the datablock again, and remove the copy."""
        original, copy = self._channels.action, channels_of(self._datablock).action
        if copy != original:
            assign(self._datablock, original, self._channels.slot_handle)
            bpy.data.actions.remove(copy)

    def write(self) -> Reduction:
        """Write the chosen keys, add keys where handles do not reproduce the motion accurately, and measure the result.

        If the number of keys would not decrease, nothing is changed.
        """
        if not self._are_fewer(self._new):
            return self._minimal()
        self._between = self._motion_between()
        copy, new, refused, _ = self._written(self._new, self._factor)
        if not self._are_fewer(new):
            self.take_back()
            return self._minimal()
        self._keep_handles(copy, new)
        self._notes += refused
        plain = [keys.sampled.track for keys in new if keys.settings is None and len(keys.rows) > 1]
        self._notes += [track.finding("REDUCE_PLAIN") for track in plain]
        result = self._result(copy, new)
        self._keep_original()
        return result

    def _are_fewer(self, new: Sequence[NewKeys]) -> bool:
        """Return whether there are fewer keys than before."""
        count, keys, channel_keys = self._counts(new)
        own_keys = sum(sampled.own_keys for sampled in self._every)
        return (count, keys) < (self.diamonds_before, self.keys_before) and channel_keys <= own_keys

    def diamonds(self, new: Sequence[NewKeys]) -> int:
        """Return the number of frames with either these keys or kept keys, summed over the bones and the object."""
        return self._counts(new)[0]

    def _counts(self, new: Sequence[NewKeys]) -> tuple[int, int, int]:
        """Return the numbers of owners' keyed frames, tracks' keyed frames, and channel keys, including kept tracks."""
        frames: dict[str, set[float]] = {}
        keys = channel_keys = 0
        by_path = {each.sampled.track.path: each.rows for each in new}
        for sampled in self._every:
            rows = by_path.get(sampled.track.path)
            own = sampled.own_frames if rows is None else self._frames[rows]
            frames.setdefault(sampled.track.path.rpartition(".")[0], set()).update(own.tolist())
            keys += len(own)
            channel_keys += sampled.own_keys if rows is None else len(rows) * sampled.written
        return sum(map(len, frames.values())), keys, channel_keys

    def _minimal(self) -> Reduction:
        """Return the result of a reduction that could not remove any keys."""
        wanted, counts = self._wanted, (self.keys_before, self.diamonds_before)
        return replace(
            _unchanged(name_of(self._datablock), self._channels, wanted, len(self._tracks), counts),
            wanted=wanted.error * self._factor,
            wanted_angle=wanted.angle * self._factor,
            wanted_still=wanted.still,
            seconds=time.perf_counter() - self._start,
            notes=self._notes,
        )

    def _written(
        self, new: Sequence[NewKeys], factor: float
    ) -> tuple[Channels, Sequence[NewKeys], list[Finding], Played]:
        """Write keys into a copy of the action, and add keys where handles do not reproduce the motion accurately.

        Return the copy's F-curves, the keys, the errors, and the copy's motion.
        """
        # A requested number of keys is never exceeded.
        most = _MENDS if self._wanted.key_count is None else 0
        for turn in range(most + 1):
            copy = self._copy()
            write(copy, new, self._frames)
            refused = self._play(copy, new)
            played = self._played()
            more = mended(new, played, self._wanted_motion(factor)) if turn < most else None
            if more is None:
                break
            self.take_back()
            new = more
        return copy, new, refused, played

    def _play(self, copy: Channels, new: Sequence[NewKeys]) -> list[Finding]:
        """Enable TCB on the tracks, play the tracks with handles, and return the errors."""
        enable(self._datablock, copy, new, self._frames)
        paths = [keys.sampled.track.path for keys in new if keys.settings is not None]
        if not paths:
            return []
        return bake([self._datablock], Options(output="HANDLES"), {self._datablock: paths}).refused

    def _keep_handles(self, copy: Channels, new: Sequence[NewKeys]) -> None:
        """Keep the handles that play the motion on restored keys and on keys without TCB."""
        paths = [keys.sampled.track.path for keys in new if keys.settings is not None]
        if paths:
            apply(self._datablock, paths)
            self._play(copy, new)

    def _now(self) -> list[Track]:
        own = {sampled.track.path for sampled in self._every}
        return [track for track in find_tracks(self._datablock, channels_of(self._datablock)) if track.path in own]

    def _played(self) -> Played:
        """Return the current motion of the F-curves."""
        now = [sample_track(track, self._frames) for track in self._now()]
        places = None
        if self._places is not None and self._is_evaluated:
            places = self._places_now()
        elif self._places is not None:
            places = places_of(self._datablock, self._frames, [*now, *self._kept])
        return Played({sampled.track.path: sampled.values for sampled in now}, places)

    def _wanted_motion(self, factor: float) -> WantedMotion:
        wanted = self._wanted
        limits, still = None, None if wanted.still is None else (wanted.still, wanted.still)
        if self._places is not None:
            error = np.full(self._places.shape[:2], factor * wanted.error)
            limits = limits_while_still(error, self._places, still)
        of_tracks = {
            sampled.track.path: self._limit(sampled, factor * wanted.error, factor * wanted.angle, still)[0]
            for sampled in self._every
            if not sampled.is_of_bone
        }
        return WantedMotion(self._datablock, self._places, limits, of_tracks)

    def _result(self, copy: Channels, new: Sequence[NewKeys]) -> Reduction:
        played = self._played()
        off, still = self._measured(played)
        between = self._off_between(played.values)
        whole = self._from_unfiltered(played)
        error, angle = self._wanted.error * self._factor, self._wanted.angle * self._factor
        is_counted = self._wanted.key_count is not None
        keys, now_diamonds = count_keys(self._now(), self._frames)
        return Reduction(
            name_of(self._datablock),
            wanted=max(error, off.largest) if is_counted else error,
            wanted_angle=max(angle, off.angle) if is_counted else angle,
            wanted_still=self._wanted.still,
            tracks=len(self._tracks),
            keys_before=self.keys_before,
            keys=keys,
            diamonds_before=self.diamonds_before,
            diamonds=now_diamonds,
            error=off.largest,
            error_at=off.at,
            between=between.largest,
            between_at=between.at,
            mean=off.mean,
            angle=off.angle,
            angle_at=off.angle_at,
            still=still.largest,
            still_at=still.at,
            noise=self._noise.largest,
            noise_at=self._noise.at,
            noise_angle=self._noise.angle,
            unfiltered=whole.largest,
            unfiltered_at=whole.at,
            unfiltered_angle=whole.angle,
            evaluated=self._is_evaluated,
            mended=self.diamonds(new) - self.diamonds(self._new),
            seconds=time.perf_counter() - self._start,
            original=self._channels.action.name,
            action=copy.action.name,
            notes=self._notes,
        )

    def _measured(self, now: Played) -> tuple[Difference, Difference]:
        """Return the current deviation of the tracks, and of points at rest."""
        played, places = now
        off, still = difference(self._every, played, self._frames), Difference()
        if self._places is not None and places is not None:
            off = off.with_points(difference_of_points(self._names, self._places, places, self._frames))
            names, wanted = self._names, self._places
        else:
            own = [sampled for sampled in self._every if sampled.part == "location"]
            if not own:
                return off, still
            names = [sampled.track.path for sampled in own]
            wanted, places = (
                np.stack(each) for each in ([sampled.values for sampled in own], [played[path] for path in names])
            )
        if self._wanted.still is not None:
            standing = stand_still(wanted, self._wanted.still)
            still = difference_of_points(names, wanted, places, self._frames, standing)
        return off, still

    def _motion_between(self) -> tuple[list[SampledTrack], Float64Array | None] | None:
        """Return the motion of tracks and points halfway between frames, or None if F-curves alone do not determine it.

        There is no reference for filtered motion between frames.
        """
        if self._is_evaluated or self._wanted.period is not None:
            return None
        frames = 0.5 * (self._frames[1:] + self._frames[:-1])
        every = [sample_track(track, frames) for track in self._now()]
        if self._places is None:
            return every, None
        return every, places_of(self._datablock, frames, every)

    def _off_between(self, at_frames_now: Mapping[str, Float64Array]) -> Difference:
        """Return the deviation halfway between frames, except where the motion jumped before or is a step now."""
        now = self._motion_between() if self._between is not None else None
        if self._between is None or now is None:
            return Difference()
        frames = 0.5 * (self._frames[1:] + self._frames[:-1])
        (before, wanted), (every, places) = self._between, now
        own = {sampled.track.path: sampled for sampled in self._every}
        played = {}
        for sampled, then in zip(every, before, strict=True):
            at_frames = own[sampled.track.path].values
            middle = 0.5 * (at_frames[1:] + at_frames[:-1])
            signs = np.sign((middle * then.values).sum(axis=1, keepdims=True)) if sampled.track.is_rotation else 1.0
            jumps = np.linalg.norm(signs * then.values - middle, axis=1) > self._wanted.error
            jumps |= (sampled.values == at_frames_now[sampled.track.path][:-1]).all(axis=1)
            played[sampled.track.path] = np.where(jumps[:, np.newaxis], then.values, sampled.values)
        found = difference(before, played, frames)
        if wanted is not None and places is not None and self._places is not None:
            middle = 0.5 * (self._places[:, 1:] + self._places[:, :-1])
            is_even = np.linalg.norm(wanted - middle, axis=2) <= self._wanted.error
            found = found.with_points(difference_of_points(self._names, wanted, places, frames, is_even))
        return found

    def _from_unfiltered(self, now: Played) -> Difference:
        """Return the deviation from the unfiltered motion. Without a filter, the deviation is 0."""
        if self._unfiltered is None:
            return Difference()
        every, places = self._unfiltered
        off = difference(every, now.values, self._frames)
        if places is None or now.places is None:
            return off
        return off.with_points(difference_of_points(self._names, places, now.places, self._frames))

    def say_who_shares(self) -> None:
        """Add a note on other users of the original action.

        Call this method after all reduced datablocks have been written.
        """
        original = self._channels.action
        (users,) = users_of_channels([self._channels])
        self._notes += [
            Finding("REDUCE_SHARED", name_of(user), arguments=(original.name,))
            for user in users
            if user != self._datablock
        ]

    def _keep_original(self) -> None:
        """Give the original action a fake user so that it is saved with the file."""
        original = self._channels.action
        if original.library is None:
            original.use_fake_user = True
            self._notes.append(Finding("REDUCE_KEPT", name_of(self._datablock), arguments=(original.name,)))

    def _copy(self) -> Channels:
        """Assign a copy of the action, without Live, to the datablock, and return the copy's F-curves."""
        original, slot = self._channels.action, self._channels.slot_handle
        copy = original.copy()
        copy.name = f"{original.name}.reduced"
        switch_off(copy)
        assign(self._datablock, copy, slot)
        return next(bag for bag in channels_in(copy) if bag.slot_handle == slot)


def _unchanged(name: str, channels: Channels, wanted: ReduceRequest, tracks: int, counts: tuple[int, int]) -> Reduction:
    """Return the result for an unchanged datablock. `counts` contains the numbers of keys and diamonds."""
    keys, diamonds = counts
    return Reduction(
        name,
        wanted=wanted.error,
        wanted_angle=wanted.angle,
        is_minimal=True,
        tracks=tracks,
        keys_before=keys,
        keys=keys,
        diamonds_before=diamonds,
        diamonds=diamonds,
        original=channels.action.name,
        action=channels.action.name,
    )


def _reducible(
    datablock: bpy.types.ID,
    channels: Channels,
    prefixes: Iterable[str] | None,
    wanted: ReduceRequest,
    notes: list[Finding],
) -> list[Track]:
    """Return the tracks that can be reduced, and add notes on the other tracks.

    Raises AlreadyMinimalError if no track has more than two keys, or if the keys are far apart. Raises AnimationError
    if there are no tracks.
    """
    found: list[Track] = []
    refused: list[Finding] = []
    sparse: list[Track] = []
    frame_range = wanted.frame_range
    tracks = find_tracks(datablock, channels, prefixes)
    for track in tracks:
        is_dense = track.in_use and any(_keys_in(fcurve, frame_range) > 2 for fcurve in track.channels.values())
        if track.enabled:
            reason: Finding | None = track.finding("REDUCE_BAKED" if track.is_baked else "REDUCE_TCB")
        else:
            reason = blocking_reason(track) or _modified(track)
        if reason and (is_dense or frame_range is None):
            refused.append(reason)
        elif not reason and (not is_dense or (frame_range is None and _is_sparse(track))):
            sparse.append(track)
        elif not reason and frame_range is None and _is_close(track):
            sparse.append(track)
            refused.append(track.finding("REDUCE_CLOSE"))
        elif not reason:
            found.append(track)
    _note_refused(bool(found or sparse), refused, notes)
    if not found and frame_range is not None:
        raise AnimationError(Finding("REDUCE_FEW_IN_RANGE", name_of(datablock), arguments=tuple(frame_range)))
    keyed = [track for track in sparse if any(_keys_in(fcurve, None) for fcurve in track.channels.values())]
    if not found and keyed:
        raise AlreadyMinimalError(datablock, channels, keyed, wanted)
    if not found:
        raise AnimationError(Finding("REDUCE_NO_KEYS", name_of(datablock)))
    return found


def _is_sparse(track: Track) -> bool:
    """Return whether the track already has few keys because they are far apart."""
    frames = _frames_of_keys(track)
    return bool(frames[-1] - frames[0] > _SPARSEST * len(frames))


def _is_close(track: Track) -> bool:
    """Return whether the track has more keys than whole frames."""
    frames = _frames_of_keys(track)
    return bool(len(frames) > frames[-1] - frames[0] + 2.0)


def _frames_of_keys(track: Track) -> Float64Array:
    frames: Float64Array = union([read_coordinates(fcurve)[::2] for fcurve in track.channels.values()]).astype(
        np.float64
    )
    return frames


def _keys_in(fcurve: bpy.types.FCurve, frame_range: tuple[float, float] | None) -> int:
    """Return the number of the curve's keys in the range."""
    frames = read_coordinates(fcurve)[::2]
    if frame_range is None:
        return len(frames)
    return int(np.count_nonzero((frames >= frame_range[0] - SAME_FRAME) & (frames <= frame_range[1] + SAME_FRAME)))


def _joinable(
    datablock: bpy.types.ID, tracks: Sequence[Track], frames: Float64Array, notes: list[Finding]
) -> list[SampledTrack]:
    """Return the tracks' motion at the frames. Add notes on tracks whose new keys could not join the existing keys."""
    if len(frames) < _LEAST_FRAMES:
        raise AnimationError(Finding("REDUCE_SHORT_RANGE", name_of(datablock)))
    joins = has_beside(tracks, frames)
    every = [sample_track(track, frames, joins=joins) for track in tracks]
    apart = {sampled.track.path: reason_apart(sampled.track, frames, sampled.raw) for sampled in every}
    refused = {path: reason for path, reason in apart.items() if reason}
    _note_refused(len(refused) < len(every), list(refused.values()), notes)
    return [sampled for sampled in every if sampled.track.path not in refused]


def _note_refused(are_others: bool, refused: Sequence[Finding], notes: list[Finding]) -> None:
    """Add notes on why tracks were skipped. Raise AnimationError if no other tracks remain."""
    if refused and not are_others:
        raise AnimationError(*refused)
    notes += refused


def _modified(track: Track) -> Finding | None:
    """Return an error if the track has F-curve modifiers.

    A Cycles modifier is allowed, because it acts only outside the keys.
    """
    modifiers = (modifier for fcurve in track.channels.values() for modifier in fcurve.modifiers)
    acting = sorted({modifier.type for modifier in modifiers if not modifier.mute and modifier.type != "CYCLES"})
    return track.finding("REDUCE_MODIFIERS", ", ".join(acting)) if acting else None
