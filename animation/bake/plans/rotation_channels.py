# SPDX-License-Identifier: GPL-3.0-or-later
"""Channel values of rotations: conversion from orientations without jumps, and values at keys."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from ....interp import rotations
from ....interp.rotations.equivalent import Maps
from ....interp.rotations.representations import JUMP, rotation_representation
from ...errors import Finding
from ...fcurves.keyframes import BoolArray, Float32Array, Float64Array, IndexArray
from ...store.tracks import Track
from .protocol import Followed, Walk
from .splines import TrackSpline

FOLLOWED = np.pi / 3
"""Largest rotation between samples, in radians, for unwrapping Euler angles. The limit is half a turn about a single
axis, and lower about several axes."""
_SHORT = 1.0
"""In radians, or units of an axis. Neighboring keys that differ by less keep their own values."""
_SAMPLES_AT_ONCE = 10_000
"""Number of samples to unwrap together. Their arrays fit into the processor's cache."""
_FEWEST_PARTS, _MOST_PARTS = 16, 1024
"""Minimum and maximum number of parts into which a segment is divided to unwrap its angles."""


def as_shown(track: Track, spline: TrackSpline) -> TrackSpline:
    """Return the spline with the channel values at the keys.

    If the motion passes through the keys, these are the values of the keys.
    """
    if spline.spline.interpolating:
        return spline
    if not track.is_rotation:
        return replace(spline, values=spline.spline(spline.frames))
    quaternions, rows = _sampled(spline)
    numbers = followed(track, quaternions, spline.values[:1], rows[:1]).numbers
    return replace(spline, values=numbers[rows])


def maps_to_short_way(track: Track, spline: TrackSpline) -> Maps | None:
    """Return the maps that make angles continuous along the motion, shape (keys, components).

    None if the angles of the keys are continuous. Signs of quaternions are chosen with their handles.
    """
    if track.kind == "QUATERNION" or (np.abs(np.diff(spline.values, axis=0)) <= _SHORT).all():
        return None
    quaternions, rows = _sampled(spline)
    found = followed(track, quaternions, spline.values, rows)
    return continuous_maps(track, spline, found.arriving, found.jumps)


def _sampled(spline: TrackSpline) -> tuple[Float64Array, IndexArray]:
    """Sample a spline densely enough to unwrap its angles. Return the orientations and the rows of the keys."""
    parts = _FEWEST_PARTS
    quaternions, rows = _in_parts(spline, parts)
    while parts < _MOST_PARTS and rotations.angle_between(quaternions[1:], quaternions[:-1]).max(initial=0) > FOLLOWED:
        parts *= 2
        quaternions, rows = _in_parts(spline, parts)
    return quaternions, rows


def _in_parts(spline: TrackSpline, parts: int) -> tuple[Float64Array, IndexArray]:
    """Return the orientations at the keys and at points between them, and the rows of the keys."""
    keys = spline.frames.astype(np.float64)
    way = np.arange(parts) / parts
    frames = np.append(keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * way, keys[-1])
    return spline.spline(frames), np.arange(len(keys)) * parts


def followed(track: Track, quaternions: Float64Array, raw: Float64Array, key_rows: IndexArray) -> Followed:
    """Convert samples to the track's components, without jumps between keys. `raw` contains the values of the keys."""
    return followed_together([(Walk(track, raw, key_rows), quaternions)])[0]


def followed_together(every: Sequence[tuple[Walk, Float64Array]]) -> list[Followed]:
    """Convert samples of several rotations, as `followed` does.

    A NumPy call takes about as long for many rotations as for one.
    """
    angles = [(walk, quaternions) for walk, quaternions in every if walk.track.kind != "QUATERNION"]
    chains = iter(_chains(angles))
    return [
        _signed(walk, quaternions) if walk.track.kind == "QUATERNION" else _rejoined(walk, quaternions, next(chains))
        for walk, quaternions in every
    ]


def _signed(walk: Walk, quaternions: Float64Array) -> Followed:
    """Return quaternions with the signs of the keys."""
    raw, key_rows = walk.raw, walk.key_rows
    jumps, arriving = np.zeros(len(raw), dtype=np.bool_), raw.copy()
    chain = rotations.unroll_signs(quaternions)
    signs = np.where(np.einsum("ij,ij->i", chain[key_rows], raw) < 0, -1.0, 1.0)
    jumps[1:] = signs[1:] != signs[:-1]
    if not jumps.any():
        return Followed(chain * signs[0], arriving, jumps)
    arriving[jumps] *= -1.0
    segment = np.clip(np.searchsorted(key_rows, np.arange(len(chain)), side="right") - 1, 0, None)
    return Followed(chain * signs[segment, np.newaxis], arriving, jumps)


def _chains(every: Sequence[tuple[Walk, Float64Array]]) -> list[Float64Array]:
    """Unwrap the angles of rotations, starting at their first keys.

    Rotations of equal length are processed together.
    """
    groups: dict[Hashable, list[int]] = {}
    ahead = [quaternions[int(walk.key_rows[0]) :] for walk, quaternions in every]
    for number, ((walk, _), quaternions) in enumerate(zip(every, ahead, strict=True)):
        groups.setdefault((walk.track.kind, walk.track.order, len(quaternions)), []).append(number)
    chains: dict[int, Float64Array] = {}
    for numbers in groups.values():
        at_once = max(1, _SAMPLES_AT_ONCE // len(ahead[numbers[0]]))
        for some in (numbers[start : start + at_once] for start in range(0, len(numbers), at_once)):
            starts = np.stack([every[number][0].raw[0] for number in some])
            together = _follow(every[some[0]][0].track, np.stack([ahead[number] for number in some]), starts)
            chains |= zip(some, together, strict=True)
    return [chains[number] for number in range(len(every))]


def _rejoined(walk: Walk, quaternions: Float64Array, chain: Float64Array) -> Followed:
    """Return angles that continue from the values of each key. `chain` continues only from the first key."""
    track, raw, key_rows = walk.track, walk.raw, walk.key_rows
    jumps, arriving = np.zeros(len(raw), dtype=np.bool_), raw.copy()
    first = int(key_rows[0])
    if first:
        before = _follow(track, quaternions[first::-1], raw[0])[::-1]
        chain = np.concatenate((before[:-1], chain))
    for key in range(1, len(raw)):
        row = int(key_rows[key])
        jumps[key] = np.abs(chain[row] - _own_numbers(track, raw[key])).max() > JUMP
        if jumps[key]:
            arriving[key] = chain[row]
            chain[row:] = _follow(track, quaternions[row:], raw[key])
    return Followed(chain, arriving, jumps)


def channel_numbers(
    track: Track, found: Followed, spline: TrackSpline, key_rows: IndexArray
) -> tuple[Float64Array, Maps | None]:
    """Return the samples as continuous channel values, and the maps to these values.

    The maps convert the values of a key and of the following samples to equivalent channel values. The maps are None if
    the values of the keys are continuous.
    """
    maps = continuous_maps(track, spline, found.arriving, found.jumps)
    if maps is None:
        return found.numbers, None
    key = np.clip(np.searchsorted(key_rows, np.arange(len(found.numbers)), side="right") - 1, 0, None)
    return maps[0][key] * found.numbers + maps[1][key], maps


def continuous_maps(track: Track, spline: TrackSpline, arriving: Float64Array, jumps: BoolArray) -> Maps | None:
    """Return maps, shape (keys, components), that make channel values continuous. Return None if there are no jumps.

    Both keys of a segment played by Blender have the same map, because the segment interpolates their values.
    """
    inside = jumps.copy()
    inside[1:] &= ~spline.between[:-1]
    if not inside.any():
        return None
    representation = rotation_representation(track.order if track.kind == "EULER" else track.kind)
    factors, terms = np.ones_like(spline.values), np.zeros_like(spline.values)
    for key in range(1, len(factors)):
        factors[key], terms[key] = factors[key - 1], terms[key - 1]
        if inside[key]:
            chain = factors[key] * arriving[key] + terms[key]
            factor, term = representation.map_to_nearest(spline.values[key][:, np.newaxis], chain[:, np.newaxis])
            factors[key], terms[key] = factor[:, 0], term[:, 0]
    return Maps(factors, terms)


def _follow(track: Track, quaternions: Float64Array, start: Float64Array) -> Float64Array:
    if track.kind == "EULER":
        return rotations.follow_euler(quaternions, track.order, start)
    axes, angles = rotations.follow_axis_angle(quaternions, start[..., 1:], start[..., 0])
    return np.concatenate((angles[..., np.newaxis], axes), axis=-1)


def _own_numbers(track: Track, raw: Float64Array) -> Float64Array:
    """Return the values of a key, with a unit axis as in samples."""
    if track.kind != "AXIS_ANGLE":
        return raw
    length = float(np.linalg.norm(raw[1:]))
    return np.concatenate((raw[:1], raw[1:] / length)) if length else raw


def other_turns(track: Track, frames: Float32Array) -> list[Finding]:
    """Return the note on keys where Euler angles jump. Jumps of signs and axes are not reported."""
    if track.kind != "EULER" or not len(frames):
        return []
    return [track.finding("EULER_OTHER_WAY", tuple(frames.tolist()))]
