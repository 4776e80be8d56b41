# SPDX-License-Identifier: GPL-3.0-or-later
"""Few Bezier keys through samples, played by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from interp.fitting.samples import SampledFit, fit_samples

FRAMES = np.arange(0.0, 40.0 + 1 / 16, 1 / 8)


def largest(change):
    return np.abs(change).max(axis=1)


def played(fit: SampledFit, frames, values, at):
    found = np.empty((len(at), values.shape[1]))
    knots = frames[fit.rows]
    piece = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    for each in np.unique(piece):
        ends = fit.rows[each : each + 2]
        cubic = CubicHermiteSpline(frames[ends], values[ends], [fit.outgoing[each], fit.incoming[each + 1]])
        found[piece == each] = cubic(at[piece == each])
    return found


def ends(frames=FRAMES):
    return np.array([0, len(frames) - 1])


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3, 1e-4, 1e-5])
def test_a_smooth_motion_is_played_within_the_tolerance_between_samples_too(tolerance):
    def motion(t):
        return np.stack((np.sin(t / 3), np.cos(t / 7) * t / 10), axis=1)

    fit = fit_samples(FRAMES, motion(FRAMES), ends(), largest, tolerance)
    at = np.linspace(0.0, 40.0, 3001)
    off = np.abs(played(fit, FRAMES, motion(FRAMES), at) - motion(at)).max()
    assert off <= 1.05 * tolerance
    assert fit.error <= tolerance


def test_a_cubic_needs_no_key_between():
    values = np.stack((FRAMES**3 / 1000 - FRAMES, 2 * FRAMES), axis=1)
    fit = fit_samples(FRAMES, values, ends(), largest, 1e-9)
    assert fit.rows.tolist() == [0, len(FRAMES) - 1]
    np.testing.assert_allclose(fit.outgoing[0], [-1.0, 2.0], atol=1e-9)
    np.testing.assert_allclose(fit.incoming[1], [3 * 40**2 / 1000 - 1.0, 2.0], atol=1e-9)


def test_samples_one_frame_apart_cause_no_floating_point_error():
    frames = np.arange(40.0)
    with np.errstate(all="raise"):
        fit = fit_samples(frames, np.sin(frames / 5)[:, np.newaxis], ends(frames), largest, 1e-4)
    assert fit.error <= 1e-4


def test_a_smaller_tolerance_takes_more_keys():
    values = np.sin(FRAMES)[:, np.newaxis]
    counts = [len(fit_samples(FRAMES, values, ends(), largest, 10.0**-power).rows) for power in (1, 3, 5)]
    assert counts == sorted(counts)
    assert counts[0] < counts[2] < len(FRAMES)


def test_breaks_are_keys_and_corners_at_them_stay_corners():
    corner = np.abs(FRAMES - 15.0)[:, np.newaxis]
    row = int(np.flatnonzero(FRAMES == 15.0)[0])
    fit = fit_samples(FRAMES, corner, np.array([0, row, len(FRAMES) - 1]), largest, 1e-9)
    assert fit.rows.tolist() == [0, row, len(FRAMES) - 1]
    assert (fit.incoming[1, 0], fit.outgoing[1, 0]) == pytest.approx((-1.0, 1.0))


def test_a_corner_between_samples_is_met_to_a_few_samples():
    corner = np.abs(FRAMES - 15.06)[:, np.newaxis]
    fit = fit_samples(FRAMES, corner, ends(), largest, 1e-6)
    at = np.linspace(0.0, 40.0, 4001)
    off = np.abs(played(fit, FRAMES, corner, at)[:, 0] - np.abs(at - 15.06))
    assert off[np.abs(at - 15.06) > 1 / 2].max() < 1e-6
    assert off.max() < 1 / 16


def test_two_samples_are_joined_by_a_line():
    fit = fit_samples([2.0, 5.0], [[1.0], [7.0]], np.array([0, 1]), largest, 1e-9)
    assert (fit.rows.tolist(), fit.outgoing[0, 0], fit.incoming[1, 0]) == ([0, 1], 2.0, 2.0)
