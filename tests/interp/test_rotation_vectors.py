# SPDX-License-Identifier: GPL-3.0-or-later
"""Polynomials of rotation vectors as segments, compared with the exponential at 50 digits and splines of one angle."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from interp.rotations.rotation_vectors import RotationVectors, Turns
from interp.rotations.sphere import exp, product
from tests.interp import exact
from tests.interp.rotation_tracks import angular_acceleration

AXIS = np.array([2.0, -3.0, 6.0]) / 7.0


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


def one_segment(start, end, turn):
    """Return the turns of a track with two keys."""
    return Turns(np.array([start, end]).T, np.array([turn, np.zeros(3)]).T)


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


@pytest.mark.slow
@given(
    turn=st.floats(0.0, 40.0),
    axis=st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3).filter(lambda row: np.linalg.norm(row) > 0.1),
    velocities=st.lists(st.floats(-9.0, 9.0), min_size=6, max_size=6),
)
def test_a_segment_has_the_velocities_that_are_asked_for_and_meets_its_end(turn, axis, velocities):
    onward = turn * np.array(axis) / np.linalg.norm(axis)
    start = np.array([0.5, -0.5, 0.5, 0.5])
    end = product(exp(onward / 2.0), start)
    outgoing, incoming = (np.array([row, np.zeros(3)]).T for row in (velocities[:3], velocities[3:]))
    curve = RotationVectors.through(one_segment(start, end, onward), outgoing, incoming)
    at = np.zeros(2, dtype=np.intp), np.array([0.0, 1.0])
    np.testing.assert_allclose(curve.evaluate(*at, 0), np.array([start, end]).T, rtol=0, atol=1e-14 * (1.0 + turn))
    # The exact derivative of the orientation at the ends, computed from the values alone.
    found = curve.evaluate(*at, 1)
    np.testing.assert_allclose(found.ravel(order="F"), velocities, rtol=0, atol=1e-13 * (1.0 + turn))


@pytest.mark.parametrize("turn", [0.1, 3.0, 3.2, 6.2832, 9.5, 7.853981633974483])
def test_the_velocities_at_the_ends_are_those_of_the_values(turn):
    generator = np.random.default_rng(4)
    onward = turn * AXIS
    start = np.array([0.5, -0.5, 0.5, 0.5])
    outgoing, incoming = (np.array([row, np.zeros(3)]).T for row in generator.normal(size=(2, 3)))
    turns = one_segment(start, product(exp(onward / 2.0), start), onward)
    curve = RotationVectors.through(turns, outgoing, incoming)
    h = 1e-4
    for u, expected in ((0.0, outgoing), (1.0, incoming)):
        q = curve.evaluate(np.zeros(5, dtype=np.intp), u + h * np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), 0)
        rate = (q[:, 0] - 8.0 * q[:, 1] + 8.0 * q[:, 3] - q[:, 4]) / (12.0 * h)
        conjugate = q[:, 2] * (1.0, -1.0, -1.0, -1.0)
        np.testing.assert_allclose(2.0 * product(rate, conjugate)[1:], expected[:, 0], rtol=0, atol=1e-10)


@given(turn=st.floats(-40.0, 40.0), leaving=st.floats(-50.0, 50.0), arriving=st.floats(-50.0, 50.0))
def test_about_one_axis_it_is_the_hermite_spline_of_the_angle_whole_turns_included(turn, leaving, arriving):
    start = np.array([0.5, -0.5, 0.5, 0.5])
    outgoing, incoming = (np.array([rate * AXIS, np.zeros(3)]).T for rate in (leaving, arriving))
    turns = one_segment(start, product(exp(turn * AXIS / 2.0), start), turn * AXIS)
    curve = RotationVectors.through(turns, outgoing, incoming)
    u = np.linspace(0.0, 1.0, 21)
    angle = CubicHermiteSpline([0.0, 1.0], [0.0, turn], [leaving, arriving])
    segment = np.zeros(len(u), dtype=np.intp)
    expected = product(exp(AXIS[:, np.newaxis] * angle(u) / 2.0), start[:, np.newaxis])
    np.testing.assert_allclose(curve.evaluate(segment, u, 0), expected, rtol=0, atol=1e-13)
    for nu in (1, 2):
        found = curve.evaluate(segment, u, nu)
        np.testing.assert_allclose(found, AXIS[:, np.newaxis] * angle(u, nu), rtol=0, atol=1e-11)
