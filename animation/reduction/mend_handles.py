# SPDX-License-Identifier: GPL-3.0-or-later
"""Add keys where handles are not accurate, for example with fast Euler angles, long segments or eases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...interp import rotations
from ...interp.fitting.reduction import Reduced, SampledTracks, divided
from ..datablocks import bone_path
from ..fcurves.keyframes import Float64Array, IndexArray
from .new_keys import NewKeys

_LEAST = 0.1
"""A segment is divided if the track's error is at least this fraction of the tolerance."""


class Played(NamedTuple):
    """Played values, indexed by path, with unit quaternions for rotations.

    Played positions, shape (points, frames, 3).
    """

    values: Mapping[str, Float64Array]
    places: Float64Array | None


class WantedMotion(NamedTuple):
    """The wanted positions of all bone heads and tails with their tolerances, and the tolerances of other tracks."""

    datablock: Any
    places: Float64Array | None
    limits: Float64Array | None
    """Tolerances by point, shape (points, frames)."""
    of_tracks: Mapping[str, Float64Array]
    """Tolerances by path, shape (frames,)."""


def mended(new: Sequence[NewKeys], played: Played, wanted: WantedMotion) -> list[NewKeys] | None:
    """Add keys in the middle of segments that handles do not play accurately.

    Return None if the additional keys do not help.
    """
    # Handles are exact for values without eases.
    able = {
        keys.sampled.track.path: keys
        for keys in new
        if keys.fit is not None and (keys.sampled.track.is_rotation or keys.fit.method == "TCB") and len(keys.rows) > 1
    }
    cuts: dict[int, set[int]] = {}
    for path, frame in (*_of_bones(able, played, wanted), *_of_objects(able, played, wanted)):
        rows = able[path].rows
        cuts.setdefault(id(rows), set()).update(_middles(rows, frame))
    if not any(cuts.values()):
        return None
    fits: dict[int, Reduced] = {}
    found = []
    for keys in new:
        if keys.fit is None or not cuts.get(id(keys.rows)):
            found.append(keys)
            continue
        if id(keys.fit) not in fits:
            fits[id(keys.fit)] = divided(keys.fit, cuts[id(keys.rows)], _parts_of(new, keys.fit))
        found.append(NewKeys.fitted(keys.sampled, fits[id(keys.fit)], keys.part))
    return _sharing(found)


def _middles(rows: IndexArray, frame: int) -> list[int]:
    """Return the middle of the segment around a frame, or of both segments next to a key, if longer than a frame."""
    after = int(np.searchsorted(rows, frame, side="right"))
    first = after - 1 - int(rows[after - 1] == frame)
    segments = range(max(first, 0), min(after, len(rows) - 1))
    return [int(rows[each] + rows[each + 1]) // 2 for each in segments if rows[each + 1] - rows[each] > 1]


def _parts_of(new: Sequence[NewKeys], fit: Reduced) -> list[SampledTracks]:
    """Return the parts of a fit in order. Tolerances are ignored."""
    own = sorted((keys for keys in new if keys.fit is fit), key=lambda keys: keys.part)
    return [SampledTracks(keys.sampled.values[np.newaxis], np.ones(1), keys.sampled.track.is_rotation) for keys in own]


def _sharing(found: Sequence[NewKeys]) -> list[NewKeys]:
    """Make keys at the same frames share one array of rows, whose identity marks the tracks to divide together."""
    known: dict[tuple[int, ...], Any] = {}
    for keys in found:
        if keys.fit is not None:
            keys.rows = known.setdefault(tuple(keys.rows.tolist()), keys.rows)
    return list(found)


def _apart(keys: NewKeys, played: Float64Array) -> Float64Array:
    """Return the deviation of the played motion, as angles for rotations and distances otherwise, shape (frames,)."""
    if keys.sampled.track.is_rotation:
        angles: Float64Array = rotations.angle_between(played, keys.sampled.values)
        return angles
    distances: Float64Array = np.linalg.norm(played - keys.sampled.values, axis=1)
    return distances


def _of_bones(able: Mapping[str, NewKeys], played: Played, wanted: WantedMotion) -> Iterator[tuple[str, int]]:
    """Yield the track with the largest effect at each frame at which a bone exceeds its tolerance."""
    if played.places is None or wanted.places is None or wanted.limits is None:
        return
    off = {path: _apart(keys, played.values[path]) for path, keys in able.items()}
    bones = list(wanted.datablock.pose.bones)
    heads = {bone.name: 2 * number for number, bone in enumerate(bones)}
    far = np.linalg.norm(played.places - wanted.places, axis=2) / wanted.limits
    for frame in np.flatnonzero(far.max(axis=0) > 1.0).tolist():
        point = int(np.argmax(far[:, frame]))
        bone = bones[point // 2]
        moved = {"": 0.0}
        for each in (bone, *bone.parent_recursive):
            reach = float(np.linalg.norm(wanted.places[point, frame] - wanted.places[heads[each.name], frame]))
            for path in off:
                if path.startswith(f"{bone_path(each)}.") and _middles(able[path].rows, frame):
                    moved[path] = (reach if able[path].sampled.track.is_rotation else 1.0) * off[path][frame]
        path = max(moved, key=lambda each: moved[each])
        if moved[path] > _LEAST * wanted.limits[point, frame]:
            yield path, frame


def _of_objects(able: Mapping[str, NewKeys], played: Played, wanted: WantedMotion) -> Iterator[tuple[str, int]]:
    """Yield tracks that do not belong to bones, with the frames at which they exceed their tolerances."""
    for path, keys in able.items():
        if not keys.sampled.is_of_bone:
            far = _apart(keys, played.values[path])
            for frame in np.flatnonzero(far > wanted.of_tracks[path]).tolist():
                yield path, frame
