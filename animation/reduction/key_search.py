# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest keys of one datablock, within an error or with a requested number of keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...interp.fitting.reduction import (
    Reduced,
    SampledTracks,
    Skeleton,
    part_of_steps,
    reduce_skeleton,
    reduce_tracks_steps,
)
from ..fcurves.keyframes import Float64Array
from ..report import AnimationError, Finding
from .armature import ArmatureJoints
from .new_keys import NewKeys
from .original_motion import OriginalMotion
from .report import ReduceRequest
from .sampled_track import SampledTrack, existing_key_count

MARGIN = 0.98
"""Fraction of the error that the search uses, because handles only approximate rotations and float32 rounds."""
_TRIES = 8
"""The maximum number of errors to try."""
_ENOUGH = 0.98
"""A search ends when it reaches this fraction of the requested number of keys."""
_RESOLVED = 1.01
"""A search ends when the factors that leave too many keys and few enough keys have at most this ratio."""
_POWER = 2.5
"""The number of keys is roughly inversely proportional to this root of the error."""
_FARTHEST = 1e5
"""The largest factor by which a tried error may exceed or fall below the requested error."""

_KeySteps = Generator[float, None, list[NewKeys]]
"""Yields the finished fraction, and returns the keys."""


class KeySearch:
    """The search for the fewest keys that preserve the motion of one datablock.

    Parameters
    ----------
    datablock : bpy.types.ID
    motion : OriginalMotion
    frames : ndarray, shape (frames,)
        The frames of the samples.
    request : ReduceRequest
    recovered : mapping of str to NewKeys
        The keys from which tracks were generated, by path, if they are fewer than the existing keys.
    """

    def __init__(
        self,
        datablock: bpy.types.ID,
        motion: OriginalMotion,
        frames: Float64Array,
        request: ReduceRequest,
        recovered: Mapping[str, NewKeys],
    ) -> None:
        self._datablock = datablock
        self._motion = motion
        self._frames = frames
        self._request = request
        self._recovered = recovered

    def fewest_keys(self, factor: float, fractions: Float64Array | None = None) -> _KeySteps:
        """Return the fewest keys within the requested error and angle times `factor`.

        `fractions` contains fractions of the bones' tolerances, shape (bones, frames).
        """
        error, angle = MARGIN * self._request.error * factor, factor * self._request.angle
        moving = self._motion.moving_tracks
        keys = [
            self._recovered[sampled.track.path]
            for sampled in moving
            if sampled.stays and sampled.track.path in self._recovered
        ]
        paths_of_joints: set[str] = set()
        if self._motion.positions is not None:
            keys_of_joints, paths_of_joints = yield from self._keys_of_joints(error, fractions)
            keys += keys_of_joints
        others = [sampled for sampled in moving if not sampled.stays and sampled.track.path not in paths_of_joints]
        keys += yield from self._keys_of_groups(self._grouped(others), error, angle, fractions)
        still = [sampled for sampled in self._motion.tracks if sampled.is_still and _can_be_fewer(sampled)]
        return keys + [NewKeys.still(sampled) for sampled in still]

    def _keys_of_joints(
        self, error: float, fractions: Float64Array | None
    ) -> Generator[float, None, tuple[list[NewKeys], set[str]]]:
        """Return the keys of the armature's joints, and the paths of all tracks that move the joints."""
        tracks = [*self._motion.tracks, *self._motion.kept_tracks]
        armature = ArmatureJoints(self._datablock, tracks, self._frames, self._request.together)
        points = armature.of_points(fractions)
        skeleton = Skeleton(armature.joints, error, self._still, armature.groups, points, self._request.method)
        key_counts = {number: existing_key_count(animated) for number, animated in armature.animated.items()}
        fits = yield from reduce_skeleton(skeleton, key_counts)
        keys: list[NewKeys] = []
        for number, animated in armature.animated.items():
            if number in fits:
                keys += [NewKeys.fitted(sampled, fits[number], part) for part, sampled in enumerate(animated)]
        return keys, {sampled.track.path for animated in armature.animated.values() for sampled in animated}

    @property
    def _still(self) -> tuple[float, float] | None:
        """Return the radius within which points count as at rest, and their tolerance in the search."""
        still = self._request.still
        return None if still is None else (still, MARGIN * still)

    def _grouped(self, tracks: Sequence[SampledTrack]) -> list[list[SampledTrack]]:
        """Return groups of tracks with common key frames. Bones are not considered."""
        groups: dict[str, list[SampledTrack]] = {}
        for sampled in tracks:
            shares_keys = self._request.together != "TRACK" and sampled.is_transform
            group = sampled.owner if shares_keys else sampled.track.path
            groups.setdefault("" if self._request.together == "POSE" else group, []).append(sampled)
        return list(groups.values())

    def _keys_of_groups(
        self, groups: Sequence[Sequence[SampledTrack]], error: float, angle: float, fractions: Float64Array | None
    ) -> _KeySteps:
        """Return common keys for the tracks in each group. Groups with the same structure are searched together."""
        by_structure: dict[tuple[tuple[int, bool], ...], list[Sequence[SampledTrack]]] = {}
        for group in groups:
            structure = tuple((sampled.values.shape[1], sampled.track.is_rotation) for sampled in group)
            by_structure.setdefault(structure, []).append(group)
        keys: list[NewKeys] = []
        for number, similar_groups in enumerate(by_structure.values()):
            parts = [
                self._with_tolerances(tracks, error, angle, fractions) for tracks in zip(*similar_groups, strict=True)
            ]
            fits = yield from reduce_tracks_steps(parts, self._request.method)
            for group, fit in zip(similar_groups, fits, strict=True):
                keys += self._keys_of_group(group, fit)
            yield (number + 1) / len(by_structure)
        return keys

    def _with_tolerances(
        self, tracks: Sequence[SampledTrack], error: float, angle: float, fractions: Float64Array | None
    ) -> SampledTracks:
        """Return the samples of tracks with the same structure."""
        tolerances = np.concatenate([sampled.tolerances(error, angle, self._still) for sampled in tracks])
        if fractions is not None:
            tolerances = tolerances * fractions.min(axis=0)
        ends = [sampled.ends for sampled in tracks if sampled.ends is not None]
        values = np.stack([sampled.values for sampled in tracks])
        return SampledTracks(values, tolerances, tracks[0].track.is_rotation, np.stack(ends) if ends else None)

    def _keys_of_group(self, group: Sequence[SampledTrack], fit: Reduced) -> list[NewKeys]:
        """Return the recovered keys if they are at least as few as the fitted keys, otherwise the fitted keys.

        Return no keys if the group already has as few keys or fewer.
        """
        paths = [sampled.track.path for sampled in group]
        recovered = [self._recovered[path] for path in paths if path in self._recovered]
        key_count = existing_key_count(group)
        largest = max((len(keys.rows) for keys in recovered), default=0)
        if len(recovered) == len(group) and largest <= min(len(fit.rows), key_count):
            return recovered
        if len(fit.rows) < key_count:
            return [NewKeys.fitted(sampled, fit, part) for part, sampled in enumerate(group)]
        return []


def _can_be_fewer(sampled: SampledTrack) -> bool:
    """Return whether a still track has more keys than necessary."""
    return existing_key_count([sampled]) > (2 if any(sampled.joined) else 1)


def as_many_keys(
    search: Callable[[float], _KeySteps],
    count_of: Callable[[Sequence[NewKeys]], int],
    key_count: int,
    name: str,
) -> Generator[float, None, tuple[list[NewKeys], float]]:
    """Try different errors until the number of keys is close to `key_count`, but not greater.

    Return the keys and the error's factor. `search` finds the keys for a factor of the error, and `count_of` counts
    them.

    Raises AnimationError, with the `name` of the datablock, if every error leaves too many keys.
    """
    chosen: tuple[list[NewKeys], float] | None = None
    factor, too_many, few_enough = 1.0, _Tried(0.0, math.inf), _Tried(math.inf, 0.0)
    for number in range(_TRIES):
        keys = yield from part_of_steps(search(factor), number / _TRIES, 1.0 / _TRIES)
        count = count_of(keys)
        if count <= key_count:
            few_enough, chosen = _Tried(factor, count), (keys, factor)
        else:
            too_many = _Tried(factor, count)
        is_close = _ENOUGH * key_count <= count <= key_count or few_enough.factor < _RESOLVED * too_many.factor
        if (chosen and is_close) or not 1.0 / _FARTHEST < factor < _FARTHEST:
            break
        factor = _next_factor(too_many, few_enough, key_count)
    if chosen is None:
        raise AnimationError(Finding("REDUCE_TOO_FEW", name, arguments=(key_count, too_many.keys)))
    return chosen


class _Tried(NamedTuple):
    """A factor of the error, and the number of keys that it leaves."""

    factor: float
    keys: float


def _next_factor(too_many: _Tried, few_enough: _Tried, key_count: int) -> float:
    """Return the next factor to try, from the closest factors that left too many keys and few enough keys."""
    if not too_many.factor:
        return float(few_enough.factor * max(few_enough.keys / key_count, 0.2) ** _POWER / 1.05)
    if math.isinf(few_enough.factor):
        return float(too_many.factor * min(too_many.keys / key_count, 5.0) ** _POWER * 1.05)
    # The relation between the logarithms is roughly linear.
    span = math.log(too_many.keys / few_enough.keys)
    fraction = math.log(too_many.keys / ((1.0 + _ENOUGH) / 2.0 * key_count)) / span
    return float(too_many.factor * (few_enough.factor / too_many.factor) ** min(max(fraction, 0.1), 0.9))
