# SPDX-License-Identifier: GPL-3.0-or-later
"""Logarithmic tracks, compared with scipy's splines of logarithms and the appendix of Holden's article."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from interp import Keys, KeysError
from interp.splines import logarithmic


def scale_catmull_rom(x, s0, s1, s2, s3):
    """Evaluate Holden's "Appendix: Cubic Interpolation of Scales", with its `scale_hermite`."""
    s1_sub_s0, s2_sub_s1, s3_sub_s2 = np.log(s1 / s0), np.log(s2 / s1), np.log(s3 / s2)
    v1, v2 = (s1_sub_s0 + s2_sub_s1) / 2, (s2_sub_s1 + s3_sub_s2) / 2
    w1, w2, w3 = 3 * x * x - 2 * x * x * x, x * x * x - 2 * x * x + x, x * x * x - x * x
    q1, q2, q3 = 6 * x - 6 * x * x, 3 * x * x - 4 * x + 1, 3 * x * x - 2 * x
    return np.exp(w1 * s2_sub_s1 + w2 * v1 + w3 * v2) * s1, q1 * s2_sub_s1 + q2 * v1 + q3 * v2


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_evenly_spaced_values_are_the_article_s(sign):
    generator = np.random.default_rng(0)
    values = sign * 10.0 ** generator.uniform(-2.0, 2.0, (6, 3))
    spline = logarithmic.VectorSpline(Keys(np.arange(6.0), values))
    for n in range(1, 4):
        for x in (0.0, 0.2, 0.7, 0.99):
            scale, velocity = scale_catmull_rom(x, *values[n - 1 : n + 3])
            np.testing.assert_allclose(spline(n + x), scale, rtol=1e-13)
            # The article's velocity is the velocity of the logarithm.
            np.testing.assert_allclose(spline(n + x, 1) / spline(n + x), velocity, rtol=0, atol=1e-12)


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


def test_even_factors_take_even_times():
    spline = logarithmic.VectorSpline(Keys([0, 10, 20], [1.0, 2.0, 4.0]))
    at = np.linspace(0.0, 20.0, 41)
    np.testing.assert_allclose(spline(at)[:, 0], 2.0 ** (at / 10.0), rtol=1e-15)
    np.testing.assert_allclose(spline(at, 1)[:, 0], np.log(2.0) / 10.0 * 2.0 ** (at / 10.0), rtol=1e-13)


def test_between_1_and_100_is_10_and_nothing_gets_to_0():
    spline = logarithmic.VectorSpline(Keys([0, 10], [1.0, 100.0]))
    assert spline(5.0)[0] == pytest.approx(10.0, rel=1e-14)
    steep = logarithmic.VectorSpline(Keys([0, 1, 10, 11], [1e-3, 1e3, 1e-3, 1e-3]))
    assert (steep(np.linspace(0.0, 11.0, 300)) > 0.0).all()


def test_key_values_are_met_exactly_of_either_sign():
    generator = np.random.default_rng(4)
    values = [1.0, -1.0] * np.exp(generator.normal(size=(9, 2)))
    frames = np.cumsum(generator.uniform(1.0, 9.0, 9))
    assert (logarithmic.VectorSpline(Keys(frames, values))(frames) == values).all()


def test_a_loop_of_scales_is_smooth_across_its_seam():
    spline = logarithmic.VectorSpline(Keys([0, 5, 20, 30], [1.0, 3.0, 0.2, 1.0]), "LOOP")
    np.testing.assert_allclose(spline(0.0, 1), spline(30.0, 1), rtol=1e-14)


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
