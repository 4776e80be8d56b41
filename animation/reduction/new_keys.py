# SPDX-License-Identifier: GPL-3.0-or-later
"""The new keys of tracks: fitted, recovered from curves that few keys generated, or added where handles deviate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ...interp.fitting.reduction import Method, RecoveredKeys, Reduced, SampledTracks, divided, recover_keys
from ...interp.fitting.tcb_from_tangents import tcb_of_tangents
from ...interp.keys import PARAMETERS, Keys
from ...interp.splines import tcb
from ..fcurves.keyframes import INTERPOLATION, EnumArray, Float64Array, IndexArray
from ..store.paths import bone_path
from ..store.record_keys import NumbersByName
from ..store.table.rows import velocity_of
from ..store.table.track_records import Settings
from .sampled_track import SampledTrack, keys_of_values

BEZIER, LINEAR, CONSTANT = (INTERPOLATION[name] for name in ("BEZIER", "LINEAR", "CONSTANT"))


@dataclass(frozen=True, eq=False)
class NewKeys:
    """The new keys of one track.

    Attributes
    ----------
    sampled : SampledTrack
        The track.
    rows : ndarray of int, shape (n,)
        The row of the sample at each key.
    values : ndarray, shape (n, components)
        The channel values of the keys.
    types : ndarray of uint8, shape (n,)
        Interpolation types.
    settings : Settings or None
        The TCB settings, or None if the keys do not use TCB.
    numbers : dict
        Parameters and velocities of the keys in each channel.
    handles : ndarray, shape (2, n, components), or None
        For Bezier keys without TCB, the offsets of the left and right handles' values from the key. Each handle is a
        third of its segment away from the key.
    fit : Reduced or None
        The fit with the keys of several tracks. The keys of this track are its `part`.
    part : int
        The index of the track in `fit`.
    """

    sampled: SampledTrack
    rows: IndexArray
    values: Float64Array
    types: EnumArray
    settings: Settings | None = None
    numbers: dict[int, NumbersByName] = field(default_factory=dict)
    handles: Float64Array | None = None
    fit: Reduced | None = None
    part: int = 0

    @classmethod
    def still(cls, sampled: SampledTrack) -> NewKeys:
        """Return one key, or a key at each end if there are other keys outside the frames."""
        if any(sampled.joined):
            ends = np.array([0, len(sampled.raw) - 1])
            values = sampled.values[ends]
            at_ends = Reduced(ends, [values], [np.zeros_like(values)], 0.0, [sampled.track.is_rotation], "TCB")
            return cls.fitted(sampled, at_ends, 0)
        return cls(sampled, np.zeros(1, dtype=np.intp), sampled.raw[:1], np.full(1, BEZIER, dtype=np.uint8))

    @classmethod
    def fitted(cls, sampled: SampledTrack, fit: Reduced, part: int) -> NewKeys:
        """Return the track's keys from a fit, with either velocities or TCB parameters."""
        values = keys_of_values(sampled, fit.values[part], fit.rows)
        types = np.full(len(fit.rows), BEZIER, dtype=np.uint8)
        if fit.method == "TCB":
            parameters: NumbersByName = dict(zip(PARAMETERS, fit.parameters(part), strict=True))
            settings, numbers = Settings(), dict.fromkeys(range(values.shape[1]), parameters)
        else:
            settings, numbers = Settings(method="HERMITE"), _velocities(sampled, fit.velocities(part))
        return cls(sampled, fit.rows, values, types, settings, numbers, fit=fit, part=part)

    @property
    def is_straight(self) -> bool:
        """Return whether no key is Bezier."""
        return not (self.types == BEZIER).any()


def _velocities(sampled: SampledTrack, velocities: Float64Array) -> dict[int, NumbersByName]:
    """Return the velocities for each channel: all three components for rotations, otherwise the channel's component."""
    if sampled.track.is_rotation:
        angular: NumbersByName = {velocity_of(index): column for index, column in enumerate(velocities.T)}
        return dict.fromkeys(range(sampled.raw.shape[1]), angular)
    return {index: {velocity_of(0): velocities[:, index]} for index in sampled.track.channels}


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


_SMALLEST_EFFECT = 0.1
"""A bone's track gets keys only if its effect is at least this fraction of the bone's tolerance."""


class Played(NamedTuple):
    """The played motion."""

    values: Mapping[str, Float64Array]
    """Values by path, with unit quaternions for rotations, shape (frames, components)."""
    positions: Float64Array | None
    """Positions of all bone heads and tails, shape (points, frames, 3)."""


class ReferenceMotion(NamedTuple):
    """The original positions of all bone heads and tails with their tolerances, and the tolerances of other tracks."""

    datablock: Any
    positions: Float64Array | None
    """Positions, shape (points, frames, 3)."""
    point_tolerances: Float64Array | None
    """Tolerances by point, shape (points, frames)."""
    track_tolerances: Mapping[str, Float64Array]
    """Tolerances by path, shape (frames,)."""


def mended(new: Sequence[NewKeys], played: Played, reference: ReferenceMotion) -> list[NewKeys] | None:
    """Add keys in the middle of segments that handles do not reproduce accurately.

    Tracks that share one array of rows are divided together. Return None if additional keys do not help.
    """
    # Handles are exact for values without eases.
    inexact = {
        keys.sampled.track.path: keys
        for keys in new
        if keys.fit is not None and (keys.sampled.track.is_rotation or keys.fit.method == "TCB") and len(keys.rows) > 1
    }
    rows_to_add: dict[int, set[int]] = {}
    for path, frame in (*_faults_of_bones(inexact, played, reference), *_faults_of_others(inexact, played, reference)):
        rows = inexact[path].rows
        rows_to_add.setdefault(id(rows), set()).update(_middles(rows, frame))
    if not any(rows_to_add.values()):
        return None
    divided_fits: dict[int, Reduced] = {}
    result = []
    for keys in new:
        middles = rows_to_add.get(id(keys.rows))
        if keys.fit is None or not middles:
            result.append(keys)
            continue
        if id(keys.fit) not in divided_fits:
            divided_fits[id(keys.fit)] = divided(keys.fit, middles, _parts_of(new, keys.fit))
        result.append(NewKeys.fitted(keys.sampled, divided_fits[id(keys.fit)], keys.part))
    return _with_shared_rows(result)


def _middles(rows: IndexArray, frame: int) -> list[int]:
    """Return the middle of the segment around a frame, or the middles of both segments next to a key.

    Segments of a single frame are omitted.
    """
    after = int(np.searchsorted(rows, frame, side="right"))
    first = after - 1 - int(rows[after - 1] == frame)
    segments = range(max(first, 0), min(after, len(rows) - 1))
    return [int(rows[start] + rows[start + 1]) // 2 for start in segments if rows[start + 1] - rows[start] > 1]


def _parts_of(new: Sequence[NewKeys], fit: Reduced) -> list[SampledTracks]:
    """Return the parts of a fit in order. Tolerances are ignored."""
    parts = sorted((keys for keys in new if keys.fit is fit), key=lambda keys: keys.part)
    return [
        SampledTracks(keys.sampled.values[np.newaxis], np.ones(1), keys.sampled.track.is_rotation) for keys in parts
    ]


def _with_shared_rows(new: Sequence[NewKeys]) -> list[NewKeys]:
    """Return the keys with one shared array of rows for all fitted tracks with keys at the same frames."""
    shared_rows: dict[bytes, IndexArray] = {}
    return [
        keys if keys.fit is None else replace(keys, rows=shared_rows.setdefault(keys.rows.tobytes(), keys.rows))
        for keys in new
    ]


def _faults_of_bones(
    inexact: Mapping[str, NewKeys], played: Played, reference: ReferenceMotion
) -> Iterator[tuple[str, int]]:
    """Yield the track with the largest effect at each frame at which a bone exceeds its tolerance."""
    if played.positions is None or reference.positions is None or reference.point_tolerances is None:
        return
    errors = {path: keys.sampled.errors(played.values[path]) for path, keys in inexact.items()}
    bones = list(reference.datablock.pose.bones)
    # Heads and tails alternate in the array.
    heads = {bone.name: 2 * number for number, bone in enumerate(bones)}
    excess = np.linalg.norm(played.positions - reference.positions, axis=2) / reference.point_tolerances
    for frame in np.flatnonzero(excess.max(axis=0) > 1.0).tolist():
        point = int(np.argmax(excess[:, frame]))
        position, worst_bone = reference.positions[point, frame], bones[point // 2]
        effects: dict[str, float] = {}
        for bone in (worst_bone, *worst_bone.parent_recursive):
            radius = float(np.linalg.norm(position - reference.positions[heads[bone.name], frame]))
            for path, keys in inexact.items():
                if path.startswith(f"{bone_path(bone)}.") and _middles(keys.rows, frame):
                    effects[path] = (radius if keys.sampled.track.is_rotation else 1.0) * errors[path][frame]
        path = max(effects, key=effects.__getitem__, default="")
        if path and effects[path] > _SMALLEST_EFFECT * reference.point_tolerances[point, frame]:
            yield path, frame


def _faults_of_others(
    inexact: Mapping[str, NewKeys], played: Played, reference: ReferenceMotion
) -> Iterator[tuple[str, int]]:
    """Yield tracks that do not belong to bones, with the frames at which they exceed their tolerances."""
    for path, keys in inexact.items():
        if not keys.sampled.is_of_bone:
            errors = keys.sampled.errors(played.values[path])
            for frame in np.flatnonzero(errors > reference.track_tolerances[path]).tolist():
                yield path, frame
