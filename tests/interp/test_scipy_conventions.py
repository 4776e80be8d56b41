# SPDX-License-Identifier: GPL-3.0-or-later
"""Requirements from scipy's tests of CubicSpline and PPoly, checked for the splines and scipy.

The tests are rewritten from scipy's tests of these classes (scipy/interpolate/tests/test_polyint.py and
test_interpolate.py; BSD-3-Clause). docs/automate/scipy.md lists the differences.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline, CubicSpline, PPoly

from interp import Keys, KeysError, rotations
from interp.splines import METHODS, catmull_rom, cubic, hermite, lagrange, linear, logarithmic, tcb

X = np.array([-1, 0, 0.5, 2, 4, 4.5, 5.5, 9])
Y = np.array([0, -0.5, 2, 3, 2.5, 1, 1, 0.5])
ENDS = {
    "NOT_A_KNOT": "not-a-knot",
    "NATURAL": "natural",
    "CLAMPED": "clamped",
    (1, 2.0): (1, 2.0),
    (2, -1.0): (2, -1.0),
}


@pytest.mark.parametrize("count", [2, 3, 4, 8])
@pytest.mark.parametrize(("first", "last"), [*itertools.product(ENDS, ENDS)])
def test_all_ends_are_those_of_scipy_s_cubic_spline(first, last, count):
    x, y = X[:count], Y[:count]
    expected = CubicSpline(x, y, bc_type=(ENDS[first], ENDS[last]))
    spline = cubic.VectorSpline(Keys(x, y), ends=(first, last))
    assert np.allclose(spline.to_ppoly().c[..., 0], expected.c, rtol=0, atol=2e-13)
    at = np.linspace(x[0] - 2.0, x[-1] + 2.0, 60)
    for nu in range(3):
        assert np.allclose(spline(at, nu, True)[:, 0], expected(at, nu), rtol=1e-12, atol=1e-12)


def test_components_have_derivatives_of_their_own_at_ends():
    y = np.column_stack([Y, Y - 1.0, np.sin(Y)])
    given = [2.0, -1.0, 0.5]
    expected = CubicSpline(X, y, bc_type=((1, given), (2, given[::-1])))
    spline = cubic.VectorSpline(Keys(X, y), ends=((1, given), (2, given[::-1])))
    at = np.linspace(-1.0, 9.0, 50)
    assert np.allclose(spline(at), expected(at), rtol=0, atol=1e-13)


def test_a_loop_of_two_keys_repeats_with_its_ends():
    x, y, ends = [0.0, 10.0], [0.0, 1.0], ((1, 3.0), (2, 0.5))
    spline = cubic.VectorSpline(Keys(x, y), "LOOP", ends)
    at = np.linspace(0.0, 9.0, 10)
    assert np.allclose(spline(at + 30.0)[1:, 0], CubicSpline(x, y, bc_type=ends)(at)[1:], rtol=0, atol=1e-13)


def test_short_segments_and_large_values_keep_the_conditions():
    generator = np.random.default_rng(0)
    x = np.sort(generator.uniform(size=100))
    y = 1e4 + generator.uniform(size=100)
    c, scale = cubic.VectorSpline(Keys(x, y)).to_ppoly().c[..., 0], np.diff(x)
    ends = ((c[0] * scale + c[1]) * scale + c[2]) * scale + c[3]
    assert np.allclose(ends[:-1], c[3, 1:], rtol=1e-13)
    slopes = (3.0 * c[0] * scale + 2.0 * c[1]) * scale + c[2]
    assert np.allclose(slopes[:-1], c[2, 1:], rtol=1e-8, atol=1e-9 * np.abs(c[2]).max())


@pytest.mark.parametrize(
    ("ends", "error"),
    [
        ("PERIODIC", ValueError),
        (("NATURAL", (3, 10.0)), ValueError),
        (((1, 0.0),), TypeError),
        ((1, 0.5), TypeError),
        (None, TypeError),
        (("NATURAL", (1.5, 0.0)), TypeError),
        (("NATURAL", (1, "x")), TypeError),
        (("NATURAL", (1, [0.0, 0.0, 0.0])), ValueError),
        (("NATURAL", (1, [[0.0, 0.0]])), ValueError),
        (("NATURAL", (2, np.nan)), ValueError),
    ],
)
def test_wrong_ends_are_named(ends, error):
    with pytest.raises(error, match=r"^ends"):
        cubic.VectorSpline(Keys([1, 2, 3, 4], np.ones((4, 2))), ends=ends)


def test_velocities_of_one_component_have_no_axis_as_scipy_s_have():
    x, y, velocities = [0, 2, 7], [-1, 2, 3], [0, 3, 7]
    at = np.linspace(-1.0, 8.0, 30)
    found = hermite.VectorSpline(Keys(x, y), velocities=velocities)(at, 0, True)[:, 0]
    assert np.allclose(found, CubicHermiteSpline(x, y, velocities)(at), rtol=0, atol=1e-12)
    clamped = cubic.ClampedVectorSpline(Keys(x, y), velocities=velocities)(at, 0, True)[:, 0]
    assert np.allclose(clamped, CubicSpline(x, y, bc_type=((1, 0.0), (1, 7.0)))(at), rtol=0, atol=1e-12)
    for made in (hermite.VectorSpline, cubic.ClampedVectorSpline):
        with pytest.raises(KeysError, match="one row per key"):
            made(Keys(x, np.ones((3, 3))), velocities=velocities)
        with pytest.raises(KeysError, match="one row per key"):
            made(Keys(x, y), velocities=velocities[:2])


CUBICS = [
    lambda keys, cycle: tcb.VectorSpline(keys, cycle),
    lambda keys, cycle: linear.VectorSpline(keys, cycle),
    lambda keys, cycle: catmull_rom.VectorSpline(keys, cycle),
    lambda keys, cycle: cubic.NaturalVectorSpline(keys, cycle),
    lambda keys, cycle: METHODS["B_SPLINE"].values(keys, cycle),
]


@pytest.mark.parametrize("cycle", ["SINGLE", "REPEAT", "LOOP"])
@pytest.mark.parametrize("eased", [False, True])
@pytest.mark.parametrize("made", CUBICS)
def test_polynomials_play_what_the_spline_plays(made, eased, cycle):
    eases = {"ease_to": [0, 0.9, 1, 0, 0, 0.2, 0, 0.5], "ease_from": [1, 0.4, 0, 0, 0.7, 0, 0, 0]} if eased else {}
    spline = made(Keys(X, np.column_stack([Y, np.cos(Y)]), **eases), cycle)
    polynomials = spline.to_ppoly()
    # Skip the start and end of eases, where the acceleration jumps and each implementation returns another side.
    whole_periods = X[0] + (X[-1] - X[0]) * np.arange(-3.0, 4.0)
    at = np.concatenate([np.linspace(-8.0, 17.0, 301) + 1e-3, X, whole_periods])
    for nu in range(3):
        assert np.allclose(polynomials(at, nu), spline(at, nu), rtol=1e-11, atol=1e-11)
        assert np.allclose(polynomials.derivative(nu)(at), spline(at, nu), rtol=1e-11, atol=1e-11)
    inside = at[(at >= X[0]) & (at <= X[-1])]
    assert np.allclose(PPoly(polynomials.c, polynomials.x)(inside), spline(inside), rtol=1e-12, atol=1e-12)
    assert eased or polynomials.c.shape == (4, 7, 2)
    for nu in range(3):
        for found in (polynomials(at, nu, True), polynomials.derivative(nu)(at, 0, True)):
            assert np.allclose(found, spline(at, nu, True), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("eases", [{"ease_to": 0.5}, {"ease_from": 0.5}, {"ease_to": 0.3, "ease_from": 0.6}])
def test_what_is_held_at_an_eased_end_is_integrated(eases):
    spline = tcb.VectorSpline(Keys([0, 10], [0, 1], **eases))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    for a, b in ((10.0, 30.0), (-20.0, 0.0), (-7.0, 14.0)):
        edges = np.unique(np.append(np.linspace(a, b, 421), [0.0, 10.0]).clip(a, b))
        half = np.diff(edges) / 2.0
        samples = spline((edges[:-1] + half)[:, np.newaxis] + half[:, np.newaxis] * nodes, 0, True)[..., 0]
        expected = ((samples * weights).sum(axis=1) * half).sum()
        assert abs(float(spline.integrate(a, b, True)[0]) - expected) < 1e-9
    if "ease_to" in eases:
        assert abs(float(spline.integrate(10.0, 30.0, True)[0]) - 20.0) < 1e-13


@pytest.mark.parametrize("base", [0.0, 1001.0, 1e5])
def test_pieces_of_eased_segments_rise_and_play_the_spline_wherever_it_stands(base):
    generator = np.random.default_rng(3)
    for _ in range(50):
        eases = generator.uniform(0.0, 1.0, (2, 5))
        keys = Keys(base + np.cumsum(generator.uniform(5.0, 20.0, 5)), generator.normal(size=5), 0, 0, 0, *eases)
        spline = tcb.VectorSpline(keys)
        polynomials = spline.to_ppoly()
        assert (np.diff(polynomials.x) > 0.0).all()
        at = np.linspace(keys.frames[0], keys.frames[-1], 200)
        assert np.abs(polynomials(at) - spline(at)).max() < 1e-13
        assert np.abs(PPoly(polynomials.c, polynomials.x)(at) - spline(at)).max() < 1e-13


@pytest.mark.parametrize("cycle", ["SINGLE", "REPEAT", "LOOP"])
@pytest.mark.parametrize("eased", [False, True])
def test_integrals_are_those_of_many_samples(eased, cycle):
    spline = tcb.VectorSpline(Keys(X, Y, ease_to=0.6 * eased, ease_from=0.3 * eased), cycle)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    for a, b in ((-1.0, 9.0), (0.3, 4.2), (4.2, 0.3), (-7.0, 23.0), (12.0, 15.0)):
        edges = np.unique(np.concatenate([np.linspace(min(a, b), max(a, b), 4001)]))
        half = np.diff(edges) / 2.0
        samples = spline((edges[:-1] + half)[:, np.newaxis] + half[:, np.newaxis] * nodes)[..., 0]
        expected = float(((samples * weights).sum(axis=1) * half).sum()) * (1.0 if b > a else -1.0)
        assert abs(float(spline.integrate(a, b)[0]) - expected) < 1e-6


def test_integrals_and_antiderivatives_are_scipy_s():
    expected = CubicSpline(X, Y)
    spline = cubic.VectorSpline(Keys(X, Y))
    at = np.linspace(-4.0, 12.0, 50)
    assert np.allclose(
        spline.antiderivative()(at, 0, True)[:, 0], expected.antiderivative()(at), rtol=1e-12, atol=1e-12
    )
    assert np.allclose(
        spline.antiderivative(2)(at, 0, True)[:, 0], expected.antiderivative(2)(at), rtol=1e-12, atol=1e-11
    )
    assert abs(spline.integrate(-3.0, 11.0, True)[0] - expected.integrate(-3.0, 11.0)) < 1e-11
    assert np.allclose(spline.antiderivative().derivative()(at), spline(at), rtol=0, atol=1e-12)
    third = spline.to_ppoly().derivative(3)
    assert np.allclose(third(at, 0, True)[:, 0], expected(at, 3), rtol=1e-11, atol=1e-11)


def test_beyond_the_keys_the_held_value_is_integrated():
    spline = tcb.VectorSpline(Keys([0, 10], [[2.0, 0.0], [4.0, 1.0]]))
    assert np.allclose(spline.integrate(-5.0, 0.0), [10.0, 0.0])
    assert np.allclose(spline.integrate(10.0, 13.0), [12.0, 3.0])
    assert np.allclose(tcb.VectorSpline(Keys([3], [5.0])).integrate(0.0, 10.0), 50.0)


def test_what_is_no_cubic_says_so():
    for module in (logarithmic, lagrange):
        with pytest.raises(ValueError, match="no segments that are cubic"):
            module.VectorSpline(Keys([0, 1, 2], [1.0, 2.0, 4.0])).antiderivative()
    with pytest.raises(ValueError, match="cycle has no piecewise antiderivative"):
        tcb.VectorSpline(Keys([0, 1, 2], [1.0, 2.0, 4.0]), "REPEAT").antiderivative()


@pytest.mark.parametrize("kind", ["values", "rotations"])
def test_a_derivative_is_called_as_the_spline_is(kind):
    values = Y if kind == "values" else rotations.from_rotation_vector(np.column_stack([Y, X, Y]) * 0.1)
    spline = getattr(METHODS["TCB"], kind)(Keys(X, values))
    at = np.linspace(-3.0, 12.0, 20).reshape(4, 5)
    assert (spline.derivative()(at) == spline(at, 1)).all()
    assert (spline.derivative(1).derivative()(at, 0, True) == spline(at, 2, True)).all()
    assert spline.derivative(2)(3.0).shape == (spline(3.0, 1).shape[-1],)
    with pytest.raises(ValueError, match="derivatives of order 0 to 2"):
        spline.derivative(3)
    with pytest.raises(TypeError, match=r"^n must be an integer"):
        spline.derivative("1")
