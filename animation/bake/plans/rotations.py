# SPDX-License-Identifier: GPL-3.0-or-later
"""Splines of rotations, and conversions between channel values and orientations.

Several channel values represent the same orientation: quaternions of opposite signs, and angles that differ by whole
turns. Unwrapping chooses values that change continuously from one sample to the next.

Quaternions, and rotations that take the shortest path, are interpolated from orientation to orientation. Angles, and
axes with angles, also define how many turns the rotation makes between two keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....interp import Keys, KeysError, rotations
from ....interp.base_spline import Spline
from ....interp.rotations import FullTurns, split_full_turns
from ....interp.splines import METHODS
from ...fcurves.keyframes import Float32Array, Float64Array
from ...store.parameters import parameter_rows
from ...store.table.track_records import Settings, TurnPath
from ...store.tracks import Track, spline_class_of
from .own_motion import OwnChannels
from .spline_keys import check_finite, check_turns, error_of_keys, spline_keys, spline_options, values_are_small

LARGEST_STEP = np.pi / 3
"""Largest rotation between samples, in radians, for unwrapping Euler angles. The limit is half a turn for rotation
about a single axis, and lower for rotation about several axes."""
_SAMPLES_AT_ONCE = 3000
"""Number of rotation samples to convert together, whose arrays fit into the processor's cache."""


def quaternions_of(track: Track, values: Float64Array) -> Float64Array:
    """Convert a rotation's channel values, shape (n, components), to quaternions of any length, shape (n, 4)."""
    if track.kind == "EULER":
        return rotations.from_euler(values, track.order)
    if track.kind == "AXIS_ANGLE":
        return rotations.from_axis_angle(values[:, 1:], values[:, 0])
    return values


def split_walk(
    track: Track, path: TurnPath, values: Float64Array
) -> tuple[Float64Array, FullTurns | None, Float64Array]:
    """Return the walk of angles without full turns (see `walk_of`), the full turns, and the angles of rotation.

    `values` has the shape (…, n, components), the walk (…, n - 1, 3), and the angles (…, n - 1). Unless `path` is
    "AS_KEYED", full turns stay in the walk.
    """
    representation = track.order if track.kind == "EULER" else track.kind
    full_turns = split_full_turns(representation, values) if path == "AS_KEYED" else None
    rest = values if full_turns is None else full_turns.rest
    rows = rest.reshape(-1, rest.shape[-1])
    # Omit the walks from the last key of a track to the first key of the next track.
    walk = np.append(walk_of(track, rows), np.zeros((1, 3)), axis=0).reshape(*rest.shape[:-1], 3)[..., :-1, :]
    angles = np.linalg.norm(walk, axis=-1)
    if full_turns is not None:
        changes = np.abs(np.diff(values[..., : full_turns.turns.shape[-1]], axis=-2)).sum(axis=-1)
        angles = np.where(np.diff(full_turns.turns, axis=-2).any(axis=-1), changes, angles)
    return walk, full_turns, angles


def walk_of(track: Track, values: Float64Array) -> Float64Array:
    """Return the rotations between consecutive rows of angles, or of axes and angles, as rotation vectors.

    `values` has the shape (n, components), and the result (n - 1, 3).
    """
    if track.kind == "EULER":
        return rotations.walk_euler(values, track.order)
    return rotations.walk_axis_angle(values[:, 0], values[:, 1:])


def unwrapped(track: Track, quaternions: Float64Array, start: Float64Array, row: int = 0) -> Float64Array:
    """Convert orientations, shape (n, 4), to continuous channel values, shape (n, components).

    The sample in `row` gets the equivalent values that are closest to `start`, shape (components,).
    """
    after = _unwrapped_from_first(track, quaternions[row:], start)
    if not row:
        return after
    before = _unwrapped_from_first(track, quaternions[row::-1], start)[:0:-1]
    return np.concatenate((before, after))


class Unwrapping(NamedTuple):
    """The arguments of `unwrapped`, except the orientations."""

    track: Track
    start: Float64Array
    row: int


def unwrapped_together(unwrappings: Sequence[Unwrapping | None], samples: Sequence[Float64Array]) -> list[Float64Array]:
    """Unwrap the samples of several tracks. Samples without an `Unwrapping` are returned unchanged.

    Rotations with the same number of samples are converted together, which is several times faster.
    """
    results = list(samples)
    groups: dict[tuple[str, str, int], list[tuple[int, Unwrapping]]] = {}
    for number, (unwrapping, quaternions) in enumerate(zip(unwrappings, samples, strict=True)):
        if unwrapping is None:
            continue
        if unwrapping.row:
            results[number] = unwrapped(unwrapping.track, quaternions, unwrapping.start, unwrapping.row)
        else:
            track = unwrapping.track
            groups.setdefault((track.kind, track.order, len(quaternions)), []).append((number, unwrapping))
    for (*_, length), group in groups.items():
        at_once = max(1, _SAMPLES_AT_ONCE // length)
        for first in range(0, len(group), at_once):
            numbers, members = zip(*group[first : first + at_once], strict=True)
            starts = np.array([unwrapping.start for unwrapping in members])
            quaternions = np.stack([samples[number] for number in numbers])
            values = _unwrapped_from_first(members[0].track, quaternions, starts)
            for number, values_of_track in zip(numbers, values, strict=True):
                results[number] = values_of_track
    return results


def _unwrapped_from_first(track: Track, quaternions: Float64Array, start: Float64Array) -> Float64Array:
    """Unwrap orientations, shape (…, n, 4). The first sample's values are the closest to `start`, (…, components)."""
    if track.kind == "QUATERNION":
        chain = rotations.unroll_signs(quaternions)
        chain[np.einsum("...i,...i->...", chain[..., 0, :], start) < 0.0] *= -1.0
        return chain
    if track.kind == "EULER":
        return rotations.follow_euler(quaternions, track.order, start)
    axes, angles = rotations.follow_axis_angle(quaternions, start[..., 1:], start[..., 0])
    return np.concatenate((angles[..., np.newaxis], axes), axis=-1)


# Splines through the keys of one run


RotationSpline = tuple[Spline, Float64Array | None]
"""A spline of a rotation, and the angles between keys in radians, shape (n - 1,), if they may exceed half a turn."""


class _Run(NamedTuple):
    """The keys of a run, and the options of its spline."""

    track: Track
    settings: Settings
    frames: Float32Array
    values: Float64Array
    """Channel values, shape (n, components)."""
    spline_class: type[Any]
    parameters: Float64Array
    options: dict[str, Any]
    are_small: bool
    """True if the values are known to be valid."""

    def keys(self, values: Float64Array) -> Keys:
        """Return the keys with other values, for example quaternions."""
        return spline_keys(self.frames, values, self.parameters, self.are_small)


def rotation_spline(
    track: Track,
    settings: Settings,
    own: OwnChannels,
    frames: Float32Array,
    values: Float64Array,
    defaults: Mapping[str, float],
    is_blenders: bool,
) -> RotationSpline:
    """Return the spline of a run of a rotation's keys. `values` are the channel values, shape (n, components).

    If `is_blenders` is true, Blender plays all segments, so only the orientations at the keys matter.
    """
    are_small = values_are_small(own.values()) and len(own) == values.shape[1]
    if not are_small:
        check_finite(track, frames, values)
    spline_class = spline_class_of(track, settings)
    options = spline_options(track, settings, own, frames)
    parameters = parameter_rows(track, own, frames, defaults)
    run = _Run(track, settings, frames, values, spline_class, parameters, options, are_small)
    try:
        if track.kind == "QUATERNION" or settings.path == "SHORTEST" or is_blenders:
            return _through_orientations(run, is_blenders)
        return _through_turns(run)
    except KeysError as error:
        raise error_of_keys(track, error, frames) from error


def _through_orientations(run: _Run, is_blenders: bool) -> RotationSpline:
    """Return a spline that rotates from orientation to orientation."""
    track, settings, options, spline_class = run.track, run.settings, run.options, run.spline_class
    if track.kind == "EULER" and hasattr(spline_class, "from_angles"):
        options["order"] = track.order
    keys = run.keys(quaternions_of(track, run.values))
    spline = spline_class(keys, settings.cycle, **options)
    if settings.path == "SHORTEST":
        return spline, None
    arcs = np.zeros(len(run.frames) - 1) if is_blenders else _arcs(keys.values)
    if "path" not in options:
        check_turns(track, run.frames, arcs, np.pi, METHODS[settings.method].label)
    # Rotations of less than half a turn need no unwrapping between samples.
    return spline, arcs if arcs.max(initial=0.0) > np.pi else None


def _through_turns(run: _Run) -> RotationSpline:
    """Return a spline that makes the turns that the angles define."""
    track, settings, options, spline_class = run.track, run.settings, run.options, run.spline_class
    walk = walk_of(track, run.values)
    turns = np.linalg.norm(walk, axis=1)
    if track.kind == "EULER" and hasattr(spline_class, "from_angles"):
        keys = run.keys(run.values)
        return spline_class.from_angles(keys, settings.cycle, **options, order=track.order), turns
    keys = run.keys(quaternions_of(track, run.values))
    if hasattr(spline_class, "from_walk"):
        options.pop("path", None)
        walk, full_turns, turns = split_walk(track, settings.path, run.values)
        return spline_class.from_walk(keys, walk, settings.cycle, full_turns, **options), turns
    limit = 2 * np.pi if "path" in options else np.pi
    check_turns(track, run.frames, turns, limit, METHODS[settings.method].label)
    return spline_class(_with_signs_along(keys, walk), settings.cycle, **options), turns


def _with_signs_along(keys: Keys, walk: Float64Array) -> Keys:
    """Return quaternion keys with signs chosen so that the arcs between keys match the rotation vectors in `walk`."""
    q = keys.values
    reached = rotations.multiply(rotations.from_rotation_vector(walk), q[:-1])
    flips = np.where(np.einsum("ij,ij->i", reached, q[1:]) < 0.0, -1.0, 1.0)
    return keys.with_values(q * np.append(1.0, np.cumprod(flips))[:, np.newaxis])


def _arcs(quaternions: Float64Array) -> Float64Array:
    """Return the angle from each quaternion to the next, up to a whole turn because signs matter, shape (n - 1,)."""
    unit = rotations.normalise(quaternions)
    apart, joined = (np.linalg.norm(unit[1:] + sign * unit[:-1], axis=1) for sign in (-1.0, 1.0))
    # The arctangent of half the chords is accurate for all angles. The arc cosine loses digits for small angles.
    arcs: Float64Array = 4.0 * np.arctan2(apart, joined)
    return arcs
