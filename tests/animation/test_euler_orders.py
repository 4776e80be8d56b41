# SPDX-License-Identifier: GPL-3.0-or-later
"""The orders of Euler angles, compared with Blender's mathutils."""

from __future__ import annotations

import bpy  # noqa: F401  mathutils comes with it
import mathutils
import numpy as np
import pytest

from interp import rotations
from tests.animation.curves import ORDERS


@pytest.mark.parametrize("order", ORDERS)
def test_euler_orders_are_blenders(order):
    for angles in np.random.default_rng(5).uniform(-7, 7, (20, 3)):
        # mathutils computes with float32.
        expected = np.array(mathutils.Euler(angles, order).to_quaternion())
        assert rotations.angle_between(rotations.from_euler(angles, order), expected) < 1e-5
        expected = np.array(mathutils.Euler(angles, order).to_matrix())
        found = rotations.to_matrix(rotations.from_euler(angles, order))
        np.testing.assert_allclose(found, expected, atol=2e-6)
