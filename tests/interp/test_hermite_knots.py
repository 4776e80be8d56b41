# SPDX-License-Identifier: GPL-3.0-or-later
"""Least squares of Hermite cubics through knots, against scipy's spline design and dense least squares."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline, make_lsq_spline
from scipy.linalg import solveh_banded

from interp.fitting.hermite_knots import Knots, fit_knots
from interp.tridiagonal import solve_symmetric


def chain(row):
    return Knots(np.asarray(row), np.zeros(len(row), dtype=np.intp))


def random_row(generator, count, knots):
    inner = np.sort(generator.choice(np.arange(1, count - 1), knots - 2, replace=False))
    return np.concatenate([[0], inner, [count - 1]])


def walk(generator, count, d=3):
    return np.cumsum(generator.normal(size=(count, d)), axis=0)


def dense(row, samples, frames=None, weights=None, columns=None):
    """Return values and velocities by scipy's CubicHermiteSpline of unit vectors and NumPy's dense least squares."""
    frames = np.arange(len(samples), dtype=float) if frames is None else frames
    k = len(row)
    basis = CubicHermiteSpline(frames[row], np.eye(2 * k)[:k], np.eye(2 * k)[k:])(frames)
    root = np.ones(len(samples)) if weights is None else np.sqrt(weights)
    found = np.linalg.lstsq(basis * root[:, None], samples * root[:, None], rcond=None)[0]
    return found[:k], found[k:]


@pytest.mark.parametrize("seed", range(8))
def test_values_and_velocities_are_those_of_dense_least_squares(seed):
    generator = np.random.default_rng(seed)
    samples = walk(generator, 200)
    row = np.cumsum([0, *generator.integers(4, 20, size=12)])
    samples = samples[: row[-1] + 1]
    weights = generator.uniform(0.1, 2.0, size=len(samples)) if seed % 2 else None
    frames = np.cumsum(generator.uniform(0.3, 2.5, size=len(samples))) if seed > 3 else None
    fitted = fit_knots(samples, chain(row), frames, weights)
    values, velocities = dense(row, samples, frames, weights)
    np.testing.assert_allclose(fitted.values, values, atol=1e-6)
    np.testing.assert_allclose(fitted.incoming, velocities, atol=1e-6)
    np.testing.assert_allclose(fitted.outgoing, velocities, atol=1e-6)


def test_corners_are_a_b_spline_with_triple_knots():
    generator = np.random.default_rng(1)
    samples = walk(generator, 100, 2)
    row = np.array([0, 20, 55, 99])
    frames = np.arange(100.0)
    knots = Knots(row, np.zeros(4, dtype=np.intp), is_corner=np.ones(4, dtype=bool))
    fitted = fit_knots(samples, knots)
    spline = make_lsq_spline(frames, samples, np.repeat(frames[row], [4, 3, 3, 4]), 3)
    np.testing.assert_allclose(fitted.values, spline(frames[row]), atol=1e-6)
    np.testing.assert_allclose(fitted.outgoing[:-1], spline(frames[row[:-1]], 1), atol=1e-6)
    np.testing.assert_allclose(fitted.incoming[1:], spline(frames[row[1:]] - 1e-9, 1), atol=1e-6)


def test_corners_among_smooth_knots():
    generator = np.random.default_rng(2)
    samples = walk(generator, 120, 2)
    row = np.array([0, 30, 60, 90, 119])
    is_corner = np.array([False, False, True, False, False])
    fitted = fit_knots(samples, Knots(row, np.zeros(5, dtype=np.intp), is_corner=is_corner))
    frames = np.arange(120.0)
    t = np.concatenate([[0.0] * 4, [30.0] * 2, [60.0] * 3, [90.0] * 2, [119.0] * 4])
    spline = make_lsq_spline(frames, samples, t, 3)
    np.testing.assert_allclose(fitted.values, spline(frames[row]), atol=1e-6)
    np.testing.assert_allclose(fitted.outgoing[:-1], spline(frames[row[:-1]], 1), atol=1e-6)
    assert np.abs(fitted.outgoing[2] - fitted.incoming[2]).max() > 1e-3
    np.testing.assert_array_equal(fitted.outgoing[~is_corner], fitted.incoming[~is_corner])


def test_held_ends_stay_and_the_others_are_the_optimum_beside_them():
    generator = np.random.default_rng(3)
    samples = walk(generator, 90, 2)
    row, k = np.array([0, 25, 50, 89]), 4
    held = np.array([True, False, False, True])
    values, velocities = generator.normal(size=(2, k, 2))
    knots = Knots(row, np.zeros(k, dtype=np.intp), values, velocities, velocities, held, held)
    fitted = fit_knots(samples, knots)
    np.testing.assert_array_equal(fitted.incoming[held], velocities[held])
    np.testing.assert_allclose(fitted.values[held], values[held], atol=1e-15)
    frames = np.arange(90.0)
    basis = CubicHermiteSpline(frames[row], np.eye(2 * k)[:k], np.eye(2 * k)[k:])(frames)
    fixed = np.tile(held, 2)
    given = np.concatenate([values, velocities])
    free = np.linalg.lstsq(basis[:, ~fixed], samples - basis[:, fixed] @ given[fixed], rcond=None)[0]
    np.testing.assert_allclose(np.concatenate([fitted.values, fitted.incoming])[~fixed], free, atol=1e-6)


def test_what_is_played_is_scipys_cubic_and_residuals_are_its_errors():
    generator = np.random.default_rng(4)
    samples, row = walk(generator, 150), np.array([0, 3, 4, 80, 149])
    fitted = fit_knots(samples, chain(row))
    spline = CubicHermiteSpline(row.astype(float), fitted.values, fitted.incoming)
    np.testing.assert_allclose(fitted.played, spline(fitted.row), atol=1e-12)
    np.testing.assert_allclose(fitted.residuals, spline(fitted.row) - samples[fitted.row], atol=1e-12)
    errors = np.abs(spline(np.arange(150)) - samples).max(axis=1)
    worst = [errors[a : b + 1].max() for a, b in itertools.pairwise(row)]
    np.testing.assert_allclose(fitted.largest(np.abs(fitted.residuals).max(axis=1)), worst, atol=1e-12)


def test_a_chain_has_the_same_bits_alone_and_among_others():
    generator = np.random.default_rng(5)
    samples = walk(generator, 300)
    rows = [random_row(generator, 300, count) for count in (2, 3, 17, 64, 5)]
    chains = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    together = fit_knots(samples, Knots(np.concatenate(rows), chains))
    for number, row in enumerate(rows):
        alone = fit_knots(samples, chain(row))
        np.testing.assert_array_equal(together.values[chains == number], alone.values)
        np.testing.assert_array_equal(together.incoming[chains == number], alone.incoming)


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_knots_that_samples_do_not_determine_are_finite_and_meet_the_samples(size):
    generator = np.random.default_rng(6)
    samples = walk(generator, 40) * size
    samples[:, 1] = 7.0 * size
    fitted = fit_knots(samples, chain(np.arange(40)))
    np.testing.assert_allclose(fitted.values, samples, rtol=0, atol=1e-9 * np.abs(samples).max())
    np.testing.assert_array_equal(fitted.values[:, 1], samples[:, 1])
    np.testing.assert_array_equal(fitted.incoming[:, 1], np.zeros(40))
    assert np.isfinite(fitted.incoming).all()
    assert np.isfinite(fitted.residuals).all()


@pytest.mark.parametrize("seed", range(40))
def test_uneven_frames_weights_and_corners_give_finite_numbers(seed):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(2, 60))
    row = np.unique(np.concatenate([[0, n - 1], generator.integers(0, n, size=12)]))
    frames = np.cumsum(10.0 ** generator.uniform(-4.0, 7.0, size=n))
    weights = generator.choice([0.0, 1.0, 1e-12, 1e9], n)
    is_corner, is_value_held, is_velocity_held = generator.random((3, len(row))) < 0.3
    knots = Knots(
        row,
        np.zeros(len(row), dtype=np.intp),
        is_corner=is_corner,
        is_value_held=is_value_held,
        is_velocity_held=is_velocity_held,
    )
    fitted = fit_knots(walk(generator, n) * 1e30, knots, frames, weights)
    for numbers in (fitted.values, fitted.incoming, fitted.outgoing, fitted.residuals):
        assert np.isfinite(numbers).all()


def test_without_weight_knots_keep_what_is_preferred():
    samples = np.arange(12.0)[:, None] ** 2
    fitted = fit_knots(samples, chain([0, 5, 11]), weights=np.zeros(12))
    np.testing.assert_allclose(fitted.values[:, 0], [0.0, 25.0, 121.0])
    np.testing.assert_allclose(fitted.incoming[:, 0], [5.0, 11.0, 16.0])


def test_a_single_knot_has_its_sample():
    fitted = fit_knots(np.array([[3.0, 4.0]]), chain([0]))
    np.testing.assert_array_equal(fitted.values, [[3.0, 4.0]])
    np.testing.assert_array_equal(fitted.incoming, [[0.0, 0.0]])
    assert len(fitted.residuals) == 0


@pytest.mark.parametrize("counts", [[2], [1, 1], [3, 1, 8], [100, 2, 31]])
@pytest.mark.parametrize("b", [1, 2, 3, 5])
def test_block_tridiagonal_systems_are_scipys_banded_ones(counts, b):
    generator = np.random.default_rng(sum(counts) * b)
    count = sum(counts)
    is_first = np.zeros(count, dtype=bool)
    is_first[np.cumsum([0, *counts[:-1]])] = True
    across = generator.normal(size=(b, b, count))
    rows = generator.normal(size=(b, b, count))
    own = np.einsum("ikn,jkn->ijn", rows, rows) + 4.0 * b * np.eye(b)[:, :, None]
    right = generator.normal(size=(b, 2, count))
    banded = np.zeros((2 * b, count * b))
    for key in range(count):
        for i in range(b):
            for j in range(b):
                if j >= i:
                    banded[j - i, key * b + i] = own[i, j, key]
                if key + 1 < count and not is_first[key + 1]:
                    banded[b + j - i, key * b + i] = across[i, j, key]
    wanted = solveh_banded(banded, right.transpose(2, 0, 1).reshape(count * b, 2), lower=True)
    found = solve_symmetric(own, across, right, is_first)
    np.testing.assert_allclose(found.transpose(2, 0, 1).reshape(count * b, 2), wanted, atol=1e-11)
