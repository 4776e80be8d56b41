# SPDX-License-Identifier: GPL-3.0-or-later
"""The Hermite and Bernstein bases, compared with scipy's polynomials."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BPoly, CubicHermiteSpline

from interp.cubics import bernstein_weights, hermite_powers, hermite_weights

U = np.linspace(0.0, 1.0, 31)
CHORD, LEAVING, ARRIVING = np.random.default_rng(0).normal(size=(3, 4))
CUBIC = CubicHermiteSpline([0.0, 1.0], [0.0 * CHORD, CHORD], [LEAVING, ARRIVING])


@pytest.mark.parametrize("nu", [0, 1, 2])
def test_weights_make_scipys_hermite_cubic(nu):
    weights = hermite_weights(U, nu)
    made = sum(np.outer(weight, each) for weight, each in zip(weights, (CHORD, LEAVING, ARRIVING), strict=True))
    np.testing.assert_allclose(made, CUBIC(U, nu), atol=1e-14)


def test_powers_are_those_of_scipys_hermite_cubic():
    np.testing.assert_allclose(hermite_powers(CHORD, LEAVING, ARRIVING), CUBIC.c[2::-1, 0], atol=1e-14)


def test_bernstein_weights_make_scipys_bezier_cubic():
    points = np.random.default_rng(1).normal(size=(4, 2))
    made = np.einsum("pm,pd->md", bernstein_weights(U), points)
    np.testing.assert_allclose(made, BPoly(points[:, np.newaxis], [0.0, 1.0])(U), atol=1e-14)
