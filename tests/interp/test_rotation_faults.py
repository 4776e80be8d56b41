# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults in rotation keys and their repair. scipy computes the orientations to preserve."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from interp.rotations.equivalent import UNKNOWN_ORDER, KeyFaults, find_faults

ORDERS = ["".join(letters) for letters in permutations("XYZ")]
MODES = ["QUATERNION", "AXIS_ANGLE", *ORDERS]


def orientations(mode: str, values: np.ndarray) -> Rotation:
    """Return the orientations of channel values as played by Blender, computed by scipy."""
    if mode == "QUATERNION":
        return Rotation.from_quat(values[:, [1, 2, 3, 0]])
    if mode == "AXIS_ANGLE":
        axes = values[:, 1:] / np.linalg.norm(values[:, 1:], axis=1, keepdims=True)
        return Rotation.from_rotvec(axes * values[:, :1])
    return Rotation.from_euler(mode.lower(), values[:, ["XYZ".index(axis) for axis in mode]])


def largest_angle(mode: str, values: np.ndarray, others: np.ndarray) -> float:
    """Return the largest angle between the orientations of two arrays of channel values, in radians."""
    return float(np.max((orientations(mode, values) * orientations(mode, others).inv()).magnitude()))


def smooth_values(mode: str, n: int = 60) -> np.ndarray:
    """Return channel values whose orientations differ by less than 20 degrees from key to key."""
    rng = np.random.default_rng(4)
    values = np.cumsum(rng.uniform(-0.15, 0.15, (n, 3 if mode in ORDERS else 4)), axis=0)
    if mode == "QUATERNION":
        values += [2.0, 0.0, 0.0, 0.0]  # Keep the quaternions away from 0.
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    if mode == "AXIS_ANGLE":
        values = values * [1.0, 0.2, 0.2, 0.2] + [1.0, 0.0, 0.0, 2.0]  # Keep the axis near z.
    return values


def with_random_equivalents(mode: str, values: np.ndarray) -> np.ndarray:
    """Return values of the same orientations that jump at random, computed without the code under test."""
    rng = np.random.default_rng(9)
    result = values.copy()
    for row in result[1:]:
        use_other_solution, turns = rng.random() < 0.5, rng.integers(-2, 3, 3)
        if mode == "QUATERNION":
            # q and -q represent the same orientation.
            row *= -1.0 if use_other_solution else 1.0
        elif mode == "AXIS_ANGLE":
            # So do an angle about an axis, and the negated angle about the opposite axis.
            row *= -1.0 if use_other_solution else 1.0
            row[0] += 2.0 * np.pi * turns[0]
        else:
            if use_other_solution:
                # So do Euler angles (a, b, c) and (a + pi, pi - b, c + pi), where b is the angle applied second.
                middle = "XYZ".index(mode[1])
                row[:] = [np.pi - angle if axis == middle else angle + np.pi for axis, angle in enumerate(row)]
            row += 2.0 * np.pi * turns
    return result


def euler(*degrees: tuple[float, float, float]) -> np.ndarray:
    """Return Euler angles in radians, one row per key."""
    return np.radians(np.array(degrees))


def faults_of(mode: str, values: np.ndarray, frames: list[int] | None = None, moves: bool = True) -> KeyFaults:
    """Return the faults of keys at these frames. Default: one key per frame."""
    key_frames = np.arange(len(values)) if frames is None else frames
    return find_faults(mode, key_frames, values, np.full(len(values), moves))


@pytest.mark.parametrize("mode", MODES)
def test_equivalent_values_are_repaired_to_the_smooth_ones(mode: str) -> None:
    values = smooth_values(mode)
    jumping = with_random_equivalents(mode, values)
    assert largest_angle(mode, jumping, values) < 1e-12
    repaired = faults_of(mode, jumping).repaired(turns=True).applied(jumping)
    np.testing.assert_allclose(repaired, values, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_smooth_values_have_no_faults(mode: str) -> None:
    faults = faults_of(mode, smooth_values(mode))
    assert not faults.flips.any()
    assert not faults.turns.any()
    assert not faults.repaired(turns=True).changed.any()


@pytest.mark.parametrize("mode", MODES)
def test_a_repair_preserves_orientations_near_the_key(mode: str) -> None:
    """Handles have values near the key, and get the same repair."""
    jumping = with_random_equivalents(mode, smooth_values(mode))
    repair = faults_of(mode, jumping).repaired(turns=False)
    assert repair.changed.any()
    nearby = jumping + np.random.default_rng(1).normal(scale=0.1, size=jumping.shape)
    assert largest_angle(mode, repair.applied(nearby), nearby) < 1e-12


def test_the_other_euler_solution_is_a_flip_at_any_distance_in_frames() -> None:
    values = euler((10, 80, 20), (195, 95, 203), (20, 80, 25))
    faults = faults_of("XYZ", values, frames=[0, 30, 60])
    # Each key is the other solution compared with the key before it. With the second key repaired, the third is smooth.
    assert faults.flips.tolist() == [False, True, True]
    repaired = np.degrees(faults.repaired(turns=False).applied(values))
    np.testing.assert_allclose(repaired, [(10, 80, 20), (15, 85, 23), (20, 80, 25)], atol=1e-9)


@pytest.mark.parametrize("degrees", [360.0, 359.0, 720.0, -450.0])
def test_a_turn_over_more_than_one_frame_is_repaired_only_on_request(degrees: float) -> None:
    faults = faults_of("XYZ", euler((0, 0, 0), (degrees, 0, 0)), frames=[0, 20])
    assert faults.turns.tolist() == [False, True]
    assert not faults.flips.any()
    assert not faults.repaired(turns=False).changed.any()
    assert faults.repaired(turns=True).changed.any()


def test_a_wheel_with_a_key_on_every_frame_is_a_spin() -> None:
    faults = faults_of("XYZ", euler(*[(0.0, 250.0 * frame, 0.0) for frame in range(10)]))
    assert faults.turns[1:].all()
    assert not faults.repaired(turns=False).changed.any()


def test_jumps_within_a_frame_are_repaired_beside_a_spin() -> None:
    angles = [170.0, 178.0, -175.0, -170.0, 179.0, 900.0]
    values = euler(*[(angle, 0.0, 0.0) for angle in angles])
    faults = faults_of("XYZ", values, frames=[1, 2, 3, 4, 5, 30])
    repaired = np.degrees(faults.repaired(turns=False).applied(values))[:, 0]
    # The jumps at frames 3 and 5 cancel. The turn from frame 5 to 30 is kept.
    np.testing.assert_allclose(repaired, [170, 178, 185, 190, 179, 900], atol=1e-9)


def test_for_an_unknown_order_only_full_turns_are_repaired() -> None:
    """In order XYZ, the last key would be a flip."""
    values = euler((170, 0, 0), (-170, 0, 0), (10, 180, 180))
    faults = faults_of(UNKNOWN_ORDER, values)
    assert not faults.flips.any()
    repaired = np.degrees(faults.repaired(turns=False).applied(values))
    np.testing.assert_allclose(repaired, [(170, 0, 0), (190, 0, 0), (370, 180, 180)], atol=1e-9)


@pytest.mark.parametrize(
    ("mode", "values"),
    [
        ("XYZ", euler((0, 0, 0), (180.0001, 0, 0))),
        ("QUATERNION", np.array([[1.0, 0, 0, 0], [-4e-8, 1.0, 0, 0]])),
    ],
)
def test_half_turns_with_rounding_errors_are_not_faults(mode: str, values: np.ndarray) -> None:
    """Keys have float32 values, so a half turn can be rounded to either side."""
    faults = faults_of(mode, values)
    assert not faults.flips.any()
    assert not faults.turns.any()


def test_keys_after_constant_interpolation_have_no_faults() -> None:
    """Without motion between the keys, their signs have no effect."""
    faults = faults_of("QUATERNION", np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]]), moves=False)
    assert not faults.repaired(turns=True).changed.any()


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        # Gimbal lock occurs where the angle applied second, about Y or X, is an odd multiple of 90 degrees.
        ("XYZ", [True, False, False, True, True]),
        ("YXZ", [False, False, True, False, False]),
        (UNKNOWN_ORDER, [False, False, False, False, False]),
    ],
)
def test_keys_within_2_degrees_of_gimbal_lock_depend_on_the_order(mode: str, expected: list[bool]) -> None:
    values = euler((0, 89, 0), (0, 87, 0), (89, 0, 0), (0, -91, 0), (0, 271, 0))
    assert faults_of(mode, values).gimbal.tolist() == expected
