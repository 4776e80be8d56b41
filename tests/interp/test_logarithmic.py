# SPDX-License-Identifier: GPL-3.0-or-later
"""Logarithmic tracks, compared with scipy's splines of logarithms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from interp import Keys, KeysError
from interp.splines import logarithmic


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(3, 8), st.sampled_from(["SINGLE", "REPEAT"]))
def test_it_is_the_exponential_of_scipy_s_spline_of_the_logarithms(seed, keys, cycle):
    generator = np.random.default_rng(seed)
    frames = np.cumsum(10.0 ** generator.uniform(-0.5, 1.0, keys))
    logs, signs = generator.normal(size=(keys, 2)), np.array([1.0, -1.0])
    reference = CubicHermiteSpline(frames, logs, np.gradient(logs, frames, axis=0, edge_order=2))
    spline = logarithmic.VectorSpline(Keys(frames, signs * np.exp(logs)), cycle)
    at = np.linspace(frames[0], frames[-1], 100)[:-1]
    values, rates = signs * np.exp(reference(at)), reference(at, 1)
    expected = [values, values * rates, values * (rates**2 + reference(at, 2))]
    scale = np.abs(values) * (1.0 + np.abs(rates).max()) ** 2 * (1.0 + np.abs(reference(at, 2)).max())
    for nu in range(3):
        assert (np.abs(spline(at, nu) - expected[nu]) <= 1e-12 * scale).all()


def test_between_1_and_100_is_10_and_nothing_gets_to_0():
    spline = logarithmic.VectorSpline(Keys([0, 10], [1.0, 100.0]))
    assert spline(5.0)[0] == pytest.approx(10.0, rel=1e-14)
    steep = logarithmic.VectorSpline(Keys([0, 1, 10, 11], [1e-3, 1e3, 1e-3, 1e-3]))
    assert (steep(np.linspace(0.0, 11.0, 300)) > 0.0).all()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[1.0, 2.0], [1.0, 0.0]], "key 1 at frame 5: component 1 of the value is 0, which has no logarithm"),
        (
            [[1.0, -2.0], [-3.0, -1.0]],
            "key 1 at frame 5: component 0 of the value is -3, with a different sign than the",
        ),
        ([[0.0, 1.0], [1.0, 1.0]], "key 0 at frame 0: component 0 of the value is 0"),
    ],
)
def test_values_without_a_logarithm_are_refused(values, words):
    with pytest.raises(KeysError, match=words):
        logarithmic.VectorSpline(Keys([0, 5], values))


def test_an_overshoot_beyond_what_blender_holds_is_refused_at_its_key():
    with pytest.raises(
        KeysError, match="key 1 at frame 1: the spline of logarithms exceeds the range of float32 after this key"
    ):
        logarithmic.VectorSpline(Keys([0, 1, 90], [1e-3, 1e3, 1.0]))
    calm = logarithmic.VectorSpline(Keys([0, 40, 90], [1e-3, 1e3, 1.0]))
    assert np.isfinite(calm(np.linspace(0.0, 90.0, 200)).astype(np.float32)).all()
