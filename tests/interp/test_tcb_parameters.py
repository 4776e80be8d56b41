# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that fitted parameters play a motion as accurately as those found by scipy's least squares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import least_squares

from interp import Keys, rotations
from interp.fitting.tcb_parameters import SplineToFit, fit_parameters, sample_frames
from interp.splines import tcb

LOWEST = np.array([-1.0, -1.0, -1.0, 0.0, 0.0])
RANDOM = {"vector": tcb.VectorSpline, "rotation": tcb.RotationSpline}


def random_keys(generator, kind, keys=6):
    frames = np.cumsum(generator.integers(4, 20, keys)).astype(float)
    if kind == "vector":
        return frames, generator.normal(size=(keys, 3))
    turns = np.cumsum(generator.normal(size=(keys, 3)) * 0.4, axis=0)
    return frames, rotations.unroll_signs(rotations.from_rotation_vector(turns))


def part(spline, played, rows=None):
    """Return the part of a motion, given by a function from frames to values."""
    frames = spline.keys.frames
    at = sample_frames(frames)
    values = np.asarray(played(at.ravel())).reshape(*at.shape, -1)
    return SplineToFit(spline, np.arange(len(frames)) if rows is None else np.asarray(rows), values)


def smooth_curve(frames, values):
    """Return slopes as of Blender's automatic handles, level at the extremes of each component."""
    slopes = np.diff(values, axis=0) / np.diff(frames)[:, np.newaxis]
    level = slopes[1:] * slopes[:-1] < 0
    inner = np.where(level, 0.0, (slopes[1:] + slopes[:-1]) / 2)
    ends = np.zeros((1, values.shape[1]))
    return CubicHermiteSpline(frames, values, np.concatenate([ends, inner, ends]))


def difference(kind, spline, one):
    """Return the root mean square over frames, of angles for rotations."""
    at = sample_frames(spline.keys.frames)
    values, played = spline(at.ravel()), one.samples.reshape(at.size, -1)
    size = rotations.angle_between(values, played) if kind == "rotation" else np.linalg.norm(values - played, axis=1)
    lengths = np.diff(spline.keys.frames)
    return np.sqrt((size.reshape(at.shape) ** 2).mean(axis=1) @ lengths / lengths.sum())


@pytest.mark.slow
@pytest.mark.parametrize("eased", [False, True])
@pytest.mark.parametrize("kind", RANDOM)
def test_parameters_that_made_a_motion_are_found_again(kind, eased):
    generator = np.random.default_rng(1)
    for _ in range(6):
        frames, values = random_keys(generator, kind)
        parameters = generator.uniform(LOWEST * 0.6, 0.6, (len(frames), 5)).T
        parameters[3:] *= 0.5 * eased
        made = RANDOM[kind](Keys(frames, values, *parameters))
        plain = RANDOM[kind](Keys(frames, values))
        one = part(plain, made)
        (found,) = fit_parameters([[one]])
        # With ease, there are other minima with almost the same error.
        largest = 0.03 * difference(kind, plain, one) if eased else 1e-5
        assert difference(kind, RANDOM[kind](Keys(frames, values, *found)), one) < largest
        if kind == "vector" and not eased:
            # Continuity, bias and outer ease have no effect at the ends.
            assert found[:3, 1:-1] == pytest.approx(parameters[:3, 1:-1], abs=1e-4)
            assert not found[3:].any()


def test_parameters_are_found_again_among_whole_turns():
    frames, angles = np.arange(6) * 12.0, [0.0, 9.0, -14.0, 2.0, 20.0, 1.0]
    axes = np.random.default_rng(9).normal(size=(6, 3)) * 0.2 + [0.0, 0.0, 1.0]
    parameters = np.zeros((5, 6))
    parameters[:3, 1:-1] = np.random.default_rng(10).uniform(-0.4, 0.4, (3, 4))
    plain, made = (
        tcb.RotationSpline.from_turns(frames, angles, axes, *rows) for rows in (np.zeros((5, 6)), parameters)
    )
    one = part(plain, made)
    (found,) = fit_parameters([[one]])
    assert difference("rotation", one.with_parameters(found), one) < 1e-3 * difference("rotation", plain, one)


@pytest.mark.slow
@pytest.mark.parametrize("kind", RANDOM)
def test_the_fit_is_as_near_as_scipys(kind):
    generator = np.random.default_rng(2)
    for _ in range(2):
        frames, values = random_keys(generator, kind, keys=5)
        curve = smooth_curve(frames, values)
        plain = RANDOM[kind](Keys(frames, values))
        one = part(plain, lambda at, c=curve: rotations.normalise(c(at)) if kind == "rotation" else c(at))
        (found,) = fit_parameters([[one]])
        at = sample_frames(frames)
        weights = np.repeat(np.sqrt(np.diff(frames)), at.shape[1])[:, np.newaxis]

        def residuals(numbers, one=one, at=at, weights=weights, frames=frames, values=values):
            made = RANDOM[kind](Keys(frames, values, *numbers.reshape(5, -1)))(at.ravel())
            played = one.samples.reshape(made.shape)
            if kind == "rotation":
                turns = rotations.shorter(rotations.multiply(made, rotations.conjugate(played)))
                return (rotations.to_rotation_vector(turns) * weights).ravel()
            return ((made - played) * weights).ravel()

        lowest = np.repeat(LOWEST, len(frames))
        best = least_squares(residuals, np.maximum(lowest, 0.0) + 1e-3, bounds=(lowest, 1.0), max_nfev=60).cost
        assert (residuals(found.ravel()) ** 2).sum() / 2 <= best * 1.05**2
        assert difference(kind, plain, one) > 2 * difference(kind, RANDOM[kind](Keys(frames, values, *found)), one)


def test_a_polyline_is_continuity_minus_one():
    frames, values = random_keys(np.random.default_rng(3), "vector")
    lines = part(
        tcb.VectorSpline(Keys(frames, values)),
        lambda at: np.stack([np.interp(at, frames, component) for component in values.T], axis=1),
    )
    (found,) = fit_parameters([[lines]])
    assert (found[1, 1:-1] == -1.0).all()
    assert not found[[0, 2, 3, 4], 1:-1].any()


def test_components_keyed_at_other_frames_share_their_keys_parameters():
    generator = np.random.default_rng(4)
    frames = np.array([0.0, 9.0, 14.0, 30.0, 41.0])
    parameters = np.concatenate([generator.uniform(-0.5, 0.5, (3, 5)), np.zeros((2, 5))])
    parts, splines = [], []
    for rows in ([0, 1, 2, 4], [0, 2, 3, 4]):
        values = generator.normal(size=(4, 2))
        made = tcb.VectorSpline(Keys(frames[rows], values, *parameters[:, rows]))
        parts.append(part(tcb.VectorSpline(Keys(frames[rows], values)), made, rows))
        splines.append((rows, values))
    (found,) = fit_parameters([parts])
    for (rows, values), one in zip(splines, parts, strict=True):
        assert difference("vector", tcb.VectorSpline(Keys(frames[rows], values, *found[:, rows])), one) < 1e-5


def test_what_the_motion_does_not_tell_stays_0():
    still = tcb.VectorSpline(Keys([0, 5, 9], [[2.0], [2.0], [2.0]]))
    bulging = part(still, lambda at: np.sin(at)[:, np.newaxis])
    assert not fit_parameters([[part(still, still)], [bulging]])[0].any()
    assert not fit_parameters([[bulging]])[0].any()


def test_parameters_are_rounded_where_nobody_sees_it():
    generator = np.random.default_rng(6)
    frames, values = random_keys(generator, "vector")
    parameters = np.round(generator.uniform(-0.9, 0.9, (3, len(frames))), 1)
    parameters[:, [0, -1]] = 0.0
    made = tcb.VectorSpline(Keys(frames, values, *parameters))
    one = part(tcb.VectorSpline(Keys(frames, values)), lambda at: made(at).astype(np.float32))
    (found,) = fit_parameters([[one]])
    assert found[:3].tolist() == parameters.tolist()


def test_many_tracks_at_once_are_fitted_as_one_by_one():
    generator = np.random.default_rng(7)
    tracks = []
    for kind in ("vector", "rotation", "vector"):
        frames, values = random_keys(generator, kind, keys=4 + len(tracks))
        tracks.append([part(RANDOM[kind](Keys(frames, values)), RANDOM[kind](Keys(frames, values, tension=0.25)))])
    tracks.append([])
    for track, found in zip(tracks, fit_parameters(tracks), strict=True):
        assert found == pytest.approx(fit_parameters([track])[0], abs=1e-9)
