# SPDX-License-Identifier: GPL-3.0-or-later
"""C2 cubic splines compared with scipy's splines, exact rational arithmetic and their defining properties."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from interp import Keys
from interp.splines import cubic
from tests.interp.random_keys import random_frames

VALUE_CLASSES = [cubic.NaturalVectorSpline, cubic.ClampedVectorSpline]
# The docstring of NaturalVectorSpline states this.
BOUND = 1e-13

seeds = st.integers(0, 2**32 - 1)


def scale_of(reference, frames):
    """Return the scale for errors: the largest value, or slope or second derivative times powers of the length."""
    at, length = np.linspace(frames[0], frames[-1], 301), np.diff(frames).max()
    return max(np.abs(reference(at, nu)).max() * length**nu for nu in (0, 1, 2))


def assert_agrees(spline, reference, frames):
    at = np.append(np.linspace(frames[0], frames[-1], 101), frames)
    scale = scale_of(reference, frames)
    for nu in (0, 1, 2):
        bound = BOUND * scale / np.diff(frames).min() ** nu
        np.testing.assert_allclose(spline(at, nu), reference(at, nu), rtol=0, atol=bound)


def test_without_velocities_it_starts_and_ends_at_rest():
    frames, values = np.array([0.0, 10.0, 15.0]), np.array([1.0, 5.0, -2.0])
    spline = cubic.ClampedVectorSpline(Keys(frames, values))
    assert_agrees(lambda at, nu: spline(at, nu)[:, 0], CubicSpline(frames, values, bc_type="clamped"), frames)
    np.testing.assert_allclose(spline([0.0, 15.0], 1), 0.0, rtol=0, atol=1e-14)


@pytest.mark.parametrize("made", [*VALUE_CLASSES, cubic.VectorSpline])
@given(st.lists(st.floats(0.01, 100.0), min_size=2, max_size=12), seeds)
@settings(max_examples=20, deadline=None)
def test_a_loop_is_scipys_periodic_spline(made, lengths, seed):
    frames = np.cumsum([-7.0, *lengths])
    values = np.random.default_rng(seed).normal(size=(len(frames), 2)) * 10.0
    values[-1] = values[0]
    reference = CubicSpline(frames, values, bc_type="periodic")
    assert_agrees(made(Keys(frames, values), "LOOP"), reference, frames)


@pytest.mark.parametrize("made", VALUE_CLASSES)
def test_velocity_and_acceleration_go_on_across_the_seam_of_a_loop_whose_ends_differ(made):
    frames = np.array([0.0, 7.0, 9.0, 20.0])
    spline = made(Keys(frames, [1.0, -2.0, 5.0, 3.0]), "LOOP")
    for nu in (1, 2):
        np.testing.assert_allclose(spline([20.0], nu), spline([0.0], nu), rtol=0, atol=1e-13)


def test_a_natural_spline_is_that_of_the_equations_in_fractions():
    frames, values = [Fraction(n) for n in (0, 1, 4, 6, 13)], [Fraction(n) for n in (3, -1, 5, 5, 2)]
    lengths = [b - a for a, b in itertools.pairwise(frames)]
    mean = [(b - a) / h for a, b, h in zip(values, values[1:], lengths, strict=False)]
    # Szirmay-Kalos, eq. 13.21, with second derivatives of 0 at the ends, eliminated from the top.
    zero, one, two = (Fraction(n) for n in (0, 1, 2))
    rows = [[zero, two, one, 3 * mean[0]]]
    for (a, b), (m, k) in zip(itertools.pairwise(lengths), itertools.pairwise(mean), strict=True):
        rows.append([b, 2 * (a + b), a, 3 * (b * m + a * k)])
    rows.append([one, two, zero, 3 * mean[-1]])
    for above, row in itertools.pairwise(rows):
        factor = row[0] / above[1]
        row[1] -= factor * above[2]
        row[3] -= factor * above[3]
    slopes = [rows[-1][3] / rows[-1][1]]
    for row in rows[-2::-1]:
        slopes.insert(0, (row[3] - row[2] * slopes[0]) / row[1])
    at_keys = [np.array(each, dtype=float) for each in (frames, values, slopes)]
    reference = CubicHermiteSpline(at_keys[0], at_keys[1], at_keys[2])
    at = np.linspace(0.0, 13.0, 99)
    spline = cubic.NaturalVectorSpline(Keys([float(f) for f in frames], [float(v) for v in values]))
    np.testing.assert_allclose(spline(at)[:, 0], reference(at), rtol=0, atol=1e-14)


def test_a_thousand_keys_are_as_exact_as_ten():
    generator = np.random.default_rng(0)
    frames = random_frames(generator, 1000)
    values = generator.normal(size=(1000, 3))
    spline = cubic.NaturalVectorSpline(Keys(frames, values))
    assert_agrees(spline, CubicSpline(frames, values, bc_type="natural"), frames)
