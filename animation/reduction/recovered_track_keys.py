# SPDX-License-Identifier: GPL-3.0-or-later
"""Recover the keys from which a track's curves were generated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...interp.fitting.reduction import Method, RecoveredKeys, recover_keys
from ...interp.fitting.tcb_from_tangents import tcb_of_tangents
from ...interp.keys import PARAMETERS, Keys
from ...interp.splines import tcb
from ..fcurves.keyframes import Float64Array
from ..store.record_keys import NumbersByName
from ..store.table.rows import velocity_of
from ..store.table.track_records import Settings
from .sampled_track import SampledTrack
from .write_new_keys import BEZIER, CONSTANT, LINEAR, NewKeys

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
