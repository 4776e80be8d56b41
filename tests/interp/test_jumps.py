# SPDX-License-Identifier: GPL-3.0-or-later
"""Measured jumps at keys, compared with scipy's piecewise polynomials and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from interp import Keys, rotations
from interp.continuity import continuity, jumps
from interp.splines import tcb
from tests.interp.rotation_tracks import AXIS

FRAMES = np.array([0.0, 4.0, 5.0, 12.0, 20.0])
VALUES = np.array([[0.0, 1.0], [3.0, -1.0], [2.0, 5.0], [7.0, 2.0], [0.5, 0.5]])


def largest(left, right):
    """Return the largest difference at inner keys, and its key."""
    size = np.linalg.norm(right - left, axis=1)
    return size.max(), FRAMES[1:-1][np.argmax(size)]


def test_plain_tcb_is_c1_and_its_jump_of_acceleration_is_that_of_its_hermite_segments():
    spline = tcb.VectorSpline(Keys(FRAMES, VALUES, 0.1, 0.0, 0.2))
    hermite = CubicHermiteSpline(FRAMES, VALUES, spline(FRAMES, 1)).derivative(2)
    size, frame = largest(hermite(FRAMES[1:-1] - 1e-9), hermite(FRAMES[1:-1]))
    found = jumps(spline, False)
    assert continuity(found) == "C1"
    assert [jump.is_seen for jump in found] == [False, False, True]
    assert found[2].size == pytest.approx(size, rel=1e-7)
    assert found[2].frame == frame


def test_continuity_makes_a_corner_as_large_as_the_tangents_differ():
    c = 0.5
    found = jumps(tcb.VectorSpline(Keys([0, 10, 20], [0.0, 1.0, -1.0], continuity=c)), False)
    # docs/formulas, "TCB tangents":
    # b = ((1+C) 1 + (1-C) (-2)) / 2, a = ((1-C) 1 + (1+C) (-2)) / 2, each over 10 frames.
    assert continuity(found) == "C0"
    assert found[1].size == pytest.approx(abs((1 + c) - 2 * (1 - c) - ((1 - c) - 2 * (1 + c))) / 2 / 10, rel=1e-12)
    assert found[1].frame == 10.0


@pytest.mark.parametrize("construction", ["DE_CASTELJAU", "SQUAD"])
@pytest.mark.parametrize("c", [0.0, 0.4])
def test_rotations_about_one_axis_jump_as_their_angle(construction, c):
    angles = np.array([0.0, 0.5, 0.9, 0.2, -0.6])
    q = rotations.from_axis_angle(np.tile(AXIS, (5, 1)), angles)
    turning = tcb.RotationSpline(Keys(FRAMES, q, 0.1, c), ends="TANGENT", construction=construction)
    expected = jumps(tcb.VectorSpline(Keys(FRAMES, angles, 0.1, c)), False)
    found = jumps(turning, True)
    assert continuity(found) == continuity(expected) == ("C0" if c else "C1")
    for order in (1, 2):
        assert found[order].size == pytest.approx(expected[order].size, abs=1e-12)


def test_the_seam_of_a_repeat_jumps_in_value_and_of_a_closed_loop_does_not():
    found = jumps(tcb.VectorSpline(Keys([0, 10], [0.0, 3.0]), "REPEAT"), False)
    assert continuity(found) == ""
    assert (found[0].size, found[0].frame) == (3.0, 10.0)
    closed = Keys([0, 10, 20, 25], [0.0, 3.0, 1.0, 0.0])
    assert continuity(jumps(tcb.VectorSpline(closed, "LOOP"), False)) == "C1"
    assert continuity(jumps(tcb.VectorSpline(closed, "REPEAT"), False)) == "C0"


def test_a_whole_turn_from_first_to_last_key_is_no_jump_of_a_rotation():
    q = rotations.from_axis_angle(np.tile(AXIS, (5, 1)), np.radians([0, 90, 180, 270, 360]))
    found = jumps(tcb.RotationSpline(Keys([0, 1, 2, 3, 4], q), "LOOP"), True)
    assert continuity(found) == "C2"
    assert found[0].size < 1e-7


def test_rounding_is_no_jump_wherever_the_keys_are():
    for offset in (0.0, 1e4):
        values = np.float32(VALUES + offset).astype(float)
        assert continuity(jumps(tcb.VectorSpline(Keys(FRAMES + offset, values)), False)) == "C1"


@pytest.mark.parametrize("keys", [1, 2])
def test_where_no_key_has_two_sides_nothing_jumps(keys):
    found = jumps(tcb.VectorSpline(Keys(FRAMES[:keys], VALUES[:keys])), False)
    assert [(jump.size, jump.frame) for jump in found] == [(0.0, None)] * 3
    assert continuity(found) == "C2"


def test_ease_jumps_in_acceleration_only():
    found = jumps(tcb.VectorSpline(Keys([0, 10, 20], [0.0, 10.0, 20.0], ease_to=0.5, ease_from=0.5)), False)
    # Both sides are at rest at the key. The derivatives by u are -2 k / b and 2 k / a, with k = 1 over 10 frames, as at
    # the ends of a parabola.
    assert continuity(found) == "C1"
    assert found[2].size == pytest.approx(2 * 10 * 2 / 0.5 / 10**2)
