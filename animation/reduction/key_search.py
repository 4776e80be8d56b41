# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the fewest keys of one datablock, first among the keys from which curves were generated."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...interp.fitting.reduction import (
    Method,
    RecoveredKeys,
    Reduced,
    SampledTracks,
    Skeleton,
    recover_keys,
    reduce_skeleton,
    reduce_tracks_steps,
)
from ...interp.fitting.tcb_from_tangents import tcb_of_tangents
from ...interp.keys import PARAMETERS, Keys
from ...interp.splines import tcb
from ..fcurves.keyframes import Float64Array
from ..store.record_rows import NumbersByName
from ..store.table.rows import velocity_of
from ..store.table.track_records import Settings
from .armature_joints import ArmatureJoints
from .original_motion import OriginalMotion
from .report import ReduceRequest
from .sampled_track import SampledTrack, existing_key_count
from .write_new_keys import BEZIER, CONSTANT, LINEAR, NewKeys

MARGIN = 0.98
"""Fraction of the error that the search uses, because handles only approximate rotations and float32 rounds."""

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
        skeleton = Skeleton(armature.joints, error, self._still, armature.groups, points)
        key_counts = {number: existing_key_count(animated) for number, animated in armature.animated.items()}
        fits = yield from reduce_skeleton(skeleton, self._request.method, key_counts)
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


_SAME = 1e-4
"""A key is not a corner if the velocities before and after it differ by at most this fraction of the largest
velocity."""


def recovered_keys(sampled: SampledTrack, limit: float, method: Method) -> NewKeys | None:
    """Return the keys from which a track's curves were generated, or None if no keys with this method are found.

    `limit` is the tolerance for values computed from tension, continuity and bias. Straight lines and steps are
    recovered for either method.
    """
    recovered = recover_keys(sampled.raw[:, [*sampled.track.channels]])
    if recovered is None:
        return None
    types = np.select([recovered.is_hold, recovered.is_line], [CONSTANT, LINEAR], BEZIER)
    types = np.append(types, LINEAR if recovered.is_straight else BEZIER).astype(np.uint8)
    keys = NewKeys(sampled, recovered.rows, sampled.raw[recovered.rows], types)
    if recovered.is_straight:
        return keys
    if method == "TCB":
        return _with_parameters(keys, recovered, limit)
    if sampled.track.is_rotation or _has_corners(recovered):
        return _with_handles(keys, recovered)
    return _with_velocities(keys, recovered)


def _has_corners(recovered: RecoveredKeys) -> bool:
    """Return whether the velocity jumps at any key between two curves."""
    is_curve = ~(recovered.is_hold | recovered.is_line)
    between_curves = is_curve[:-1] & is_curve[1:]
    changes = np.abs(recovered.incoming - recovered.outgoing)[1:-1][between_curves]
    speed = np.abs(recovered.incoming).max() + np.abs(recovered.outgoing).max()
    return bool(changes.max(initial=0.0) > _SAME * speed)


def _with_velocities(keys: NewKeys, recovered: RecoveredKeys) -> NewKeys:
    """Return the keys with one velocity per key."""
    after_curve = np.append(False, ~(recovered.is_hold | recovered.is_line))[:, np.newaxis]
    velocities = np.where(after_curve, recovered.incoming, recovered.outgoing)
    numbers: dict[int, NumbersByName] = {
        index: {velocity_of(0): column} for index, column in zip(keys.sampled.track.channels, velocities.T, strict=True)
    }
    return replace(keys, settings=Settings(method="HERMITE"), numbers=numbers)


def _with_handles(keys: NewKeys, recovered: RecoveredKeys) -> NewKeys:
    """Return the keys with separate velocities before and after each key, as handles."""
    components = [*keys.sampled.track.channels]
    thirds = np.diff(recovered.rows)[:, np.newaxis] / 3.0
    handles = np.zeros((2, *keys.values.shape))
    handles[0, 1:, components] = -(thirds * recovered.incoming[1:]).T
    handles[1, :-1, components] = (thirds * recovered.outgoing[:-1]).T
    return replace(keys, handles=handles)


def _with_parameters(keys: NewKeys, recovered: RecoveredKeys, limit: float) -> NewKeys | None:
    """Return the keys with tension, continuity and bias, or None if these parameters do not reproduce the motion."""
    sampled, components = keys.sampled, [*keys.sampled.track.channels]
    if sampled.track.is_rotation or (keys.types != BEZIER).any() or len(recovered.rows) < 3:
        return None
    values = keys.values[:, components]
    parameters = _parameters_of(recovered, values).astype(np.float32).astype(np.float64)
    frames = np.arange(len(sampled.raw), dtype=np.float64)
    spline = tcb.VectorSpline(Keys(recovered.rows.astype(np.float64), values, *parameters))
    if np.linalg.norm(spline(frames) - sampled.raw[:, components], axis=1).max() > limit:
        return None
    by_name = dict(zip(PARAMETERS, parameters, strict=True))
    return replace(keys, settings=Settings(), numbers=dict.fromkeys(components, by_name))


def _parameters_of(recovered: RecoveredKeys, values: Float64Array) -> Float64Array:
    """Return the parameters (5, n) whose tangents are closest to the recovered velocities."""
    length = np.diff(recovered.rows).astype(np.float64)
    chords = np.diff(values, axis=0)
    incoming = recovered.incoming[1:-1] * length[:-1, np.newaxis]
    outgoing = recovered.outgoing[1:-1] * length[1:, np.newaxis]
    fractions = length[:-1] / (length[:-1] + length[1:])
    parameters = np.zeros((len(PARAMETERS), len(recovered.rows)))
    parameters[:3, 1:-1] = tcb_of_tangents(
        chords[:-1], chords[1:], fractions, incoming, outgoing, np.zeros((3, len(fractions)))
    )
    # At the ends, only the tension has an effect.
    parameters[0, 0] = _end_tension(recovered.outgoing[0] * length[0], chords[0], incoming[0])
    parameters[0, -1] = _end_tension(recovered.incoming[-1] * length[-1], chords[-1], outgoing[-1])
    return parameters


def _end_tension(tangent: Float64Array, chord: Float64Array, inner_tangent: Float64Array) -> float:
    """Return the tension of an end key, from its tangent and the tangent at the other end of its segment."""
    # The tangent of tension 0 (docs/formulas, "TCB tangents").
    without_tension = 1.5 * chord - 0.5 * inner_tangent
    square = float(without_tension @ without_tension)
    return 1.0 - float(np.clip(tangent @ without_tension / square, 0.0, 2.0)) if square > 0.0 else 0.0
