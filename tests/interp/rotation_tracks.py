# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation tracks: options, turns about one axis, the same tracks at 50 digits, and distances."""

from __future__ import annotations

import mpmath as mp
import numpy as np

from interp import rotations
from tests.interp import exact

CYCLES = ["SINGLE", "REPEAT", "LOOP"]
ENDS = ["3DS", "TANGENT"]
CONSTRUCTIONS = ["DE_CASTELJAU", "SQUAD"]
PATHS = ["SHORTEST", "AS_KEYED"]
NOT_EVEN = {"HERMITE", "CUBIC_CLAMPED", "RAW_CUBIC"}
"""Methods that do not rotate evenly between evenly rotated keys, because of resting ends or cubics of components."""


def off(found, expected):
    """Return distances between quaternions, including signs."""
    return np.linalg.norm(found - expected, axis=1)


def one_axis(angles, axis):
    """Return quaternions of turns about one axis, with their signs."""
    return rotations.from_axis_angle(np.broadcast_to(axis, (len(angles), 3)), np.asarray(angles))


def exact_rotation_track(frames, q, parameters, **options):
    track = exact.Track(frames, q, parameters, **options)
    track.prepare_rotations()
    return track


AXIS = np.array([2.0, -3.0, 6.0]) / 7.0


def angular_acceleration(rotation, frame):
    """Return 2 q'' q*, from a fourth-order central difference. Its vector part equals (2 q' q*)'."""
    step, middle = mp.mpf(10) ** -12, mp.mpf(float(frame))
    around = [rotation(middle + side * step) for side in (-2, -1, 0, 1, 2)]
    weights = [-1, 16, -30, 16, -1]
    second = [mp.fsum(w * q[i] for w, q in zip(weights, around, strict=True)) / (12 * step**2) for i in range(4)]
    return [2 * x for x in exact.multiply(second, exact.conjugate(around[2]))[1:]]
