# SPDX-License-Identifier: GPL-3.0-or-later
"""Polynomials of rotation vectors as segments, compared with the exponential at 50 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from interp.rotations.curves import RotationVectors
from tests.interp import exact
from tests.interp.rotation_tracks import angular_acceleration


def exact_orientation(start, coefficients):
    """Evaluate exp(h(u) / 2) q at 50 digits for one segment."""

    def at(u):
        half = [
            mp.fsum(mp.mpf(float(row[i])) * u ** (k + 1) for k, row in enumerate(coefficients)) / 2 for i in range(3)
        ]
        return exact.multiply(exact.exp([mp.mpf(0), *half]), [mp.mpf(float(x)) for x in start])

    return at


def exact_velocity(rotation, u):
    rate = exact.derivative(rotation, u, 1)
    return [2 * x for x in exact.multiply(rate, exact.conjugate(rotation(mp.mpf(u))))[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [0.0, 1e-200, 1e-12, 1e-8, 1e-4, 9e-3, 1.1e-2, 0.5, 3.0, 6.3, 20.0])
def test_values_velocities_and_accelerations_are_those_of_the_exponential(size, degree):
    generator = np.random.default_rng(degree)
    start = generator.normal(size=4)
    start /= np.linalg.norm(start)
    coefficients = size * generator.normal(size=(degree, 3))
    curve = RotationVectors(start[:, np.newaxis], coefficients[..., np.newaxis])
    rotation = exact_orientation(start, coefficients)
    for u in (0.0, 0.3, 1.0):
        at = np.zeros(1, dtype=np.intp), np.array([u])
        expected = [
            rotation(mp.mpf(u)),
            exact_velocity(rotation, u),
            angular_acceleration(rotation, u),
        ]
        for nu, values in enumerate(expected):
            scale = max(1.0, size) ** (nu + 1)
            found = curve.evaluate(*at, nu)[:, 0]
            np.testing.assert_allclose(found, [float(x) for x in values], rtol=0, atol=3e-14 * scale)
