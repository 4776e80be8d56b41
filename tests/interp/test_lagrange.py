# SPDX-License-Identifier: GPL-3.0-or-later
"""The Lagrange polynomial, compared with exact rational arithmetic and scipy."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import barycentric_interpolate

from interp import Keys, KeysError
from interp.splines import lagrange

# The bounds in VectorSpline's docstring.
BOUND, DERIVATIVE_BOUND = 1e-14, 1e-13


def newton(frames, values):
    """Return divided differences as fractions."""
    nodes, table = [Fraction(f) for f in frames], [Fraction(v) for v in values]
    for order in range(1, len(nodes)):
        for index in range(len(nodes) - 1, order - 1, -1):
            table[index] = (table[index] - table[index - 1]) / (nodes[index] - nodes[index - order])
    return nodes, table


def exact(frames, values, at):
    """Return the polynomial and its first two derivatives as fractions, by Horner's scheme."""
    nodes, table = newton(frames, values)
    rows = []
    for frame in at:
        x = Fraction(float(frame))
        value, slope, bend = table[-1], Fraction(0), Fraction(0)
        for node, coefficient in zip(nodes[-2::-1], table[-2::-1], strict=True):
            bend = bend * (x - node) + 2 * slope
            slope = slope * (x - node) + value
            value = value * (x - node) + coefficient
        rows.append([float(value), float(slope), float(bend)])
    return np.array(rows)


@pytest.mark.slow
@given(st.lists(st.floats(0.3, 30.0), min_size=1, max_size=14), st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_it_is_the_polynomial_of_exact_arithmetic(lengths, seed):
    generator = np.random.default_rng(seed)
    frames = np.cumsum([-7.0, *lengths])
    values = generator.normal(size=len(frames)) * 10.0
    at = np.concatenate([generator.uniform(frames[0], frames[-1], 12), frames[:-1], np.nextafter(frames[1:], -np.inf)])
    try:
        spline = lagrange.VectorSpline(Keys(frames, values))
    except KeysError:
        return  # The values would be too large. See below.
    expected = exact(frames, values, at)
    swing, largest = spline.swing, np.abs(values).max()
    np.testing.assert_allclose(spline(at)[:, 0], expected[:, 0], rtol=0, atol=BOUND * swing * largest)
    for nu in (1, 2):
        bound = DERIVATIVE_BOUND * swing**2 * largest / np.diff(frames).min() ** nu
        np.testing.assert_allclose(spline(at, nu)[:, 0], expected[:, nu], rtol=0, atol=bound)


def test_it_is_scipys_barycentric_interpolation():
    frames = 50.0 * np.cos(np.pi * np.arange(60, -1, -1) / 60.0)
    values = np.random.default_rng(1).normal(size=(61, 3))
    at = np.linspace(-50.0, 50.0, 301)
    expected = barycentric_interpolate(frames, values, at)
    np.testing.assert_allclose(lagrange.VectorSpline(Keys(frames, values))(at), expected, rtol=0, atol=1e-12)


def test_the_swing_is_lebesgues_constant():
    # Known values for evenly spaced points, by the number of intervals.
    for intervals, constant in ((5, 3.11), (10, 29.9), (15, 512.05), (20, 10986.5)):
        spline = lagrange.VectorSpline(Keys(np.arange(intervals + 1) * 7.0, np.zeros(intervals + 1)))
        assert spline.swing == pytest.approx(constant, rel=0.08)
        assert pickle.loads(pickle.dumps(spline)).swing == spline.swing


def test_above_ten_keys_it_says_that_it_swings():
    assert lagrange.VectorSpline(Keys(np.arange(10), np.zeros(10))).notes == ()
    (note,) = lagrange.VectorSpline(Keys(np.arange(14), np.zeros(14))).notes
    assert note.startswith("Lagrange through 14 keys oscillates between them, up to ")


def test_a_loop_is_a_repeat():
    keys = Keys([0.0, 4.0, 5.0, 9.0], [0.0, 2.0, -1.0, 0.0])
    at = np.linspace(-20.0, 30.0, 77)
    assert (lagrange.VectorSpline(keys, "LOOP")(at) == lagrange.VectorSpline(keys, "REPEAT")(at)).all()


def test_keys_of_which_nothing_is_known_between_are_refused():
    with pytest.raises(KeysError, match=r"key 0 at frame 0: a polynomial through 50 such keys oscillates beyond"):
        lagrange.VectorSpline(Keys(np.arange(50), np.zeros(50)))
    assert lagrange.VectorSpline(Keys(np.arange(45), np.zeros(45))).swing < 1e12
    with pytest.raises(KeysError, match="oscillates beyond"):
        lagrange.VectorSpline(Keys([*np.arange(40) * 1e-3, 1e6], np.zeros(41)))
    with pytest.raises(KeysError, match="the track has 1001 keys, more than the limit of 1000 for a polynomial"):
        lagrange.VectorSpline(Keys(np.arange(1001), np.zeros(1001)))
