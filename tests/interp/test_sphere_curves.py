# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities from weights equal velocities from turns that are divided, for any small or sudden arcs."""

from __future__ import annotations

import numpy as np
import pytest

from interp import Keys, rotations
from interp.rotations import curves
from interp.splines import shoemake, tcb

KINDS = {
    "de Casteljau": lambda keys: tcb.RotationSpline(keys),
    "squad": lambda keys: tcb.RotationSpline(keys, construction="SQUAD"),
    "blend": lambda keys: shoemake.BlendSpline(keys),
}
NEAR = np.geomspace(1e-14, 0.5, 40)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("largest", [1e-9, 1e-5, 1e-2, 0.3, 2.2])
def test_rates_are_those_of_the_slerps(kind, largest):
    generator = np.random.default_rng(3)
    q = rotations.turns_to_rotations(generator.uniform(0.0, largest, 40), generator.normal(size=(40, 3)))
    spline = KINDS[kind](Keys(np.arange(40.0), q, *generator.uniform(-1.0, 1.0, (3, 40))))
    segment = np.repeat(np.arange(39), 100)
    u = np.tile(np.concatenate([NEAR, 1.0 - NEAR, generator.uniform(0.0, 1.0, 20)]), 39)
    curve = spline.prepared.curve
    points, at_rest = curve._points.take(segment, axis=2), np.zeros((3, 4, len(segment)))
    parameter = [u, np.ones_like(u), np.zeros_like(u)]
    q, velocity, _ = curve._motion([points, at_rest, at_rest], parameter, segment, curves._slerp_with_acceleration)
    assert np.abs(curve.evaluate(segment, u, 0) - q).max() < 1e-14
    assert np.abs(curve.evaluate(segment, u, 1) - velocity).max() < 4e-14


@pytest.mark.parametrize("kind", KINDS)
def test_keys_alike_are_at_rest(kind):
    spline = KINDS[kind](Keys(np.arange(5.0), [[0.5, 0.5, -0.5, 0.5]] * 5))
    assert np.abs(spline(np.linspace(0.0, 4.0, 33), 1)).max() < 1e-15
