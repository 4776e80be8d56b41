# SPDX-License-Identifier: GPL-3.0-or-later
"""Raw cubics of quaternions, compared with their formula at 50 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from interp import Keys, KeysError, rotations
from interp.splines import quaternion_cubic
from tests.interp import exact
from tests.interp.random_keys import random_rotations
from tests.interp.rotation_tracks import angular_acceleration, off


def test_angular_velocities_and_accelerations_agree_with_differences_at_50_digits():
    generator = np.random.default_rng(6)
    frames = np.array([0.0, 4.0, 9.0, 12.0])
    q = rotations.unroll_signs(random_rotations(generator, 4, 1.5))
    rates = np.gradient(q, frames, axis=0, edge_order=2)
    spline = quaternion_cubic.RotationSpline(Keys(frames, q))

    def rotation(frame):
        n = max(k for k in range(3) if frames[k] <= frame)
        d, u = mp.mpf(frames[n + 1] - frames[n]), (frame - mp.mpf(frames[n])) / mp.mpf(frames[n + 1] - frames[n])
        weights = [2 * u**3 - 3 * u**2 + 1, 3 * u**2 - 2 * u**3, d * (u**3 - 2 * u**2 + u), d * (u**3 - u**2)]
        rows = [q[n], q[n + 1], rates[n], rates[n + 1]]
        raw = [mp.fsum(w * mp.mpf(float(row[i])) for w, row in zip(weights, rows, strict=True)) for i in range(4)]
        return [x / exact.length(raw) for x in raw]

    for frame in generator.uniform(0.0, 12.0, 12):
        change = exact.derivative(rotation, frame, 1)
        velocity = [2 * float(x) for x in exact.multiply(change, exact.conjugate(rotation(mp.mpf(frame))))[1:]]
        np.testing.assert_allclose(spline(frame, 1), velocity, rtol=0, atol=1e-13)
        acceleration = [float(x) for x in angular_acceleration(rotation, frame)]
        np.testing.assert_allclose(spline(frame, 2), acceleration, rtol=0, atol=1e-13)


def test_two_keys_are_nlerp():
    p, q = rotations.normalise([[1, 0, 0, 0], [1, 2, 0, 1]])
    u = np.linspace(0.0, 1.0, 11)[:, np.newaxis]
    found = quaternion_cubic.RotationSpline(Keys([0, 10], [p, q]))(10.0 * u[:, 0])
    assert off(found, rotations.normalise(p * (1.0 - u) + q * u)).max() < 1e-15


def test_a_loop_that_ends_on_the_other_sign_is_smooth_across_its_seam():
    q = rotations.from_axis_angle([[1, 2, 2]] * 5, np.radians([0, 90, 180, 270, 360]))
    spline = quaternion_cubic.RotationSpline(Keys([0, 10, 20, 30, 40], q), "LOOP")
    np.testing.assert_allclose(spline(0.0, 1), spline(40.0, 1), rtol=0, atol=1e-15)
    np.testing.assert_allclose(spline([0.0, 10.0, 20.0], 1), [spline(0.0, 1)] * 3, rtol=0, atol=1e-15)


def test_components_that_come_near_0_are_refused_where_they_do():
    q = rotations.from_axis_angle([[0, 0, 1]] * 2, np.radians([30, 389.5]))
    with pytest.raises(
        KeysError, match=r"key 0 at frame 10: before the next key, .* within 0.01 of 0, .* Insert a key between"
    ):
        quaternion_cubic.RotationSpline(Keys([10, 20], q), path="AS_KEYED")
    assert quaternion_cubic.RotationSpline(Keys([10, 20], q)).keys.values.shape == (2, 4)
