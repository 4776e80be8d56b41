# SPDX-License-Identifier: GPL-3.0-or-later
"""Hermite's curve from 0, with which residuals are differentiated, and rotation vectors for the same.

The last axis of each array runs over segments, N in all; d components come first.
"""

from __future__ import annotations

import numpy as np

from ...keys import Float64Array
from ...rotations import sphere
from ...rotations.exponential import cross


def hermite(u: Float64Array, chord: Float64Array, leaving: Float64Array, arriving: Float64Array) -> Float64Array:
    """Return Hermite's curve from 0 with these chords and tangents (d, N) at u (m, N), shape (d, m, N)."""
    rest = 1.0 - u
    result: Float64Array = chord[:, np.newaxis] * (u * u * (3.0 - 2.0 * u))
    result += leaving[:, np.newaxis] * (u * rest * rest)
    result -= arriving[:, np.newaxis] * (u * u * rest)
    return result


def hermite_derivative(
    u: Float64Array, chord: Float64Array, leaving: Float64Array, arriving: Float64Array
) -> Float64Array:
    """Return the derivative of `hermite` by u."""
    rest = 1.0 - u
    result: Float64Array = chord[:, np.newaxis] * (6.0 * u * rest)
    result += leaving[:, np.newaxis] * (rest * (1.0 - 3.0 * u))
    result += arriving[:, np.newaxis] * (u * (3.0 * u - 2.0))
    return result


def half_vector(vectors: Float64Array) -> Float64Array:
    """Return rotation vectors of half the length, no longer than 1."""
    return vectors * (0.5 * np.sinc(sphere.length(vectors) / (2.0 * np.pi)))


def transported(vectors: Float64Array, half: Float64Array | None) -> Float64Array:
    """Return tangent vectors, changes of a rotation, after a rotation of which `half` is the half vector.

    To first order: on the sphere of quaternions this is parallel transport. None for `half` is no rotation.
    """
    return vectors if half is None else vectors + cross(half, vectors)


def chord_vectors(values: Float64Array, others: Float64Array) -> Float64Array:
    """Return the rotation vectors from unit quaternions to others, as long as the chord, 4 sin(angle / 4)."""
    turn = sphere.product(values, sphere.conjugate(others))
    vectors: Float64Array = turn[1:] * (np.copysign(2.0, turn[0]) / np.sqrt(0.5 + 0.5 * np.abs(turn[0])))
    return vectors
