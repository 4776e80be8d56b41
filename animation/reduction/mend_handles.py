# SPDX-License-Identifier: GPL-3.0-or-later
"""Add keys where handles are not accurate, for example with fast Euler angles, long segments or eases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...interp.fitting.reduction import Reduced, SampledTracks, divided
from ..fcurves.keyframes import Float64Array, IndexArray
from ..store.paths import bone_path
from .write_new_keys import NewKeys

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
