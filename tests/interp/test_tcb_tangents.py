# SPDX-License-Identifier: GPL-3.0-or-later
"""The derivatives of TCB tangents, against those of exact arithmetic and of difference quotients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from interp import Keys
from interp.batch import end_to_end
from interp.fitting.tcb_tangents import chord_factors, tangent_changes
from interp.splines import tcb

STEP = 1e-6


def tracks_of(generator, *counts):
    splines = []
    for count in counts:
        shapes = generator.uniform(0.1, 0.9, size=(3, count)) * generator.choice([-1.0, 1.0], size=(3, count))
        frames = np.cumsum(generator.uniform(1.0, 20.0, size=count))
        splines.append(tcb.VectorSpline(Keys(frames, generator.normal(size=(count, 2)), *shapes)))
    return end_to_end(splines)


def quotients(tracks, chords, ends, key):
    """Return how tangents of all keys change with the parameters of one: incoming and outgoing (3, d, K)."""
    found = []
    for which in range(3):
        sides = []
        for sign in (1.0, -1.0):
            moved = tracks.parameters.copy()
            moved[which, key] += sign * STEP
            sides.append(np.stack(tcb.tangents(replace(tracks, parameters=moved), chords[0], chords[1], ends)))
        found.append((sides[0] - sides[1]) / (2.0 * STEP))
    return np.stack(found, axis=1)


@pytest.mark.parametrize("ends", ["3DS", "TANGENT"])
def test_changes_are_the_difference_quotients_of_tangents(ends):
    tracks = tracks_of(np.random.default_rng(0), 5, 2, 3)
    chords = tracks.chords(np.ascontiguousarray(tracks.values.T))
    changes = tangent_changes(tracks, chords[0], chords[1], ends)
    has_in, has_out = np.ones((2, 10), dtype=bool)
    has_in[[0, 5, 7]] = has_out[[4, 6, 9]] = False
    for key in range(10):
        incoming, outgoing = quotients(tracks, chords, ends, key)
        if has_in[key]:
            np.testing.assert_allclose(changes.incoming[:, :, key], incoming[:, :, key], atol=1e-8)
        if has_out[key]:
            np.testing.assert_allclose(changes.outgoing[:, :, key], outgoing[:, :, key], atol=1e-8)
        if key in (1, 8):
            passed_on = changes.from_next[key - 1] * incoming[:, :, key]
            np.testing.assert_allclose(passed_on, outgoing[:, :, key - 1], atol=1e-8)
        if key in (3, 8):
            passed_on = changes.from_last[key + 1] * outgoing[:, :, key]
            np.testing.assert_allclose(passed_on, incoming[:, :, key + 1], atol=1e-8)


def test_factors_are_those_of_the_formulas():
    shapes, share = np.array([[0.25], [-0.5], [0.75]]), np.array([0.2])
    factors = chord_factors(shapes, share)
    adjust_in, adjust_out = 0.5 + 0.5 * (0.2 - 0.5), 0.5 + 0.5 * (0.8 - 0.5)
    wanted = [
        [0.75 * adjust_in * 1.75 * 1.5, 0.75 * adjust_in * 0.25 * 0.5],
        [0.75 * adjust_out * 1.75 * 0.5, 0.75 * adjust_out * 0.25 * 1.5],
    ]
    np.testing.assert_allclose(factors[..., 0], wanted, rtol=1e-15)
