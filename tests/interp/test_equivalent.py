# SPDX-License-Identifier: GPL-3.0-or-later
"""Equivalent values of keys: orientations compared with scipy, shortest steps, and distinction of spins and flips."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from interp.rotations import equivalent, rotation_faults

ORDERS = ["".join(letters) for letters in permutations("XYZ")]
NAMES = ["QUATERNION", "AXIS_ANGLE", *ORDERS]


def orientation(name: str, values: np.ndarray) -> Rotation:
    """Return the orientations of channel values as played by Blender, computed by scipy."""
    if name == "QUATERNION":
        return Rotation.from_quat(values[:, [1, 2, 3, 0]])
    if name == "AXIS_ANGLE":
        axes = values[:, 1:] / np.linalg.norm(values[:, 1:], axis=1, keepdims=True)
        return Rotation.from_rotvec(axes * values[:, :1])
    return Rotation.from_euler(name.lower(), values[:, ["XYZ".index(axis) for axis in name]])


def smooth(name: str, n: int = 60) -> np.ndarray:
    """Return channel values that change by less than 20 degrees from key to key."""
    generator = np.random.default_rng(4)
    width = 3 if len(name) == 3 else 4
    values = np.cumsum(generator.uniform(-0.15, 0.15, (n, width)), axis=0)
    if name == "QUATERNION":
        values += [2.0, 0.0, 0.0, 0.0]
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    if name == "AXIS_ANGLE":
        values = values * [1.0, 0.2, 0.2, 0.2] + [1.0, 0.0, 0.0, 2.0]
    return values


def scrambled(name: str, values: np.ndarray) -> np.ndarray:
    """Return values of the same orientations that jump at random, computed without the code under test."""
    generator = np.random.default_rng(9)
    result = values.copy()
    for row in result[1:]:
        other, turns = generator.random() < 0.5, generator.integers(-2, 3, 3)
        if name == "QUATERNION":
            row *= -1.0 if other else 1.0
        elif name == "AXIS_ANGLE":
            row *= -1.0 if other else 1.0
            row[0] += 2.0 * np.pi * turns[0]
        else:
            if other:
                middle = "XYZ".index(name[1])
                row[:] = [np.pi - x if at == middle else x + np.pi for at, x in enumerate(row)]
            row += 2.0 * np.pi * turns
    return result


def found(name: str, values: np.ndarray, step: float = 1.0, moves: bool = True) -> rotation_faults.KeyFaults:
    return rotation_faults.find_faults(name, np.arange(len(values)) * step, values, np.full(len(values), moves))


@pytest.mark.parametrize("name", NAMES)
def test_scrambled_numbers_become_the_smooth_ones_again(name: str) -> None:
    values = smooth(name)
    jumping = scrambled(name, values)
    assert (orientation(name, jumping) * orientation(name, values).inv()).magnitude().max() < 1e-12
    faults = found(name, jumping)
    np.testing.assert_allclose(faults.repaired(turns=True).applied(jumping), values, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_smooth_numbers_have_no_fault(name: str) -> None:
    faults = found(name, smooth(name), step=5.0)
    assert not faults.flips.any()
    assert not faults.turns.any()
    assert not faults.repaired(turns=True).changed.any()


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_repaired_keeps_the_orientation_of_numbers_beside_the_key(name: str) -> None:
    jumping = scrambled(name, smooth(name))
    maps = found(name, jumping, step=9.0).repaired(turns=False)
    beside = jumping + np.random.default_rng(1).normal(scale=0.1, size=jumping.shape)
    away = orientation(name, maps.applied(beside)) * orientation(name, beside).inv()
    assert away.magnitude().max() < 1e-12


def euler(*degrees: tuple[float, float, float]) -> np.ndarray:
    return np.radians(np.array(degrees))


def test_a_jump_to_the_other_solution_is_a_flip_over_any_time() -> None:
    faults = found("XYZ", euler((10, 80, 20), (195, 95, 203), (20, 80, 25)), step=30.0)
    assert faults.flips.tolist() == [False, True, True]
    repaired = faults.repaired(turns=False).applied(euler((10, 80, 20), (195, 95, 203), (20, 80, 25)))
    np.testing.assert_allclose(np.degrees(repaired), [(10, 80, 20), (15, 85, 23), (20, 80, 25)], atol=1e-9)


@pytest.mark.parametrize("turned", [360.0, 359.0, 720.0, -450.0])
def test_a_turn_over_more_than_a_frame_is_found_and_kept(turned: float) -> None:
    faults = found("XYZ", euler((0, 0, 0), (turned, 0, 0)), step=20.0)
    assert faults.turns.tolist() == [False, True]
    assert not faults.flips.any()
    assert not faults.repaired(turns=False).changed.any()
    assert faults.repaired(turns=True).changed.any()


def test_a_wheel_with_a_key_on_every_frame_spins_on() -> None:
    wheel = euler(*[(0.0, 250.0 * frame, 0.0) for frame in range(10)])
    assert found("XYZ", wheel).turns[1:].all()
    assert not found("XYZ", wheel).repaired(turns=False).changed.any()


def test_a_jump_within_a_frame_is_repaired_and_the_spin_beside_it_is_not() -> None:
    degrees = [170.0, 178.0, -175.0, -170.0, 179.0]
    jumping = euler(*[(angle, 0.0, 0.0) for angle in degrees], (900.0, 0.0, 0.0))
    frames = [1, 2, 3, 4, 5, 30]
    faults = rotation_faults.find_faults("XYZ", frames, jumping, [True] * 6)
    repaired = np.degrees(faults.repaired(turns=False).applied(jumping))[:, 0]
    np.testing.assert_allclose(repaired, [170, 178, 185, 190, 179, 900], atol=1e-9)


def test_without_an_order_only_whole_turns_are_known() -> None:
    values = euler((170, 0, 0), (-170, 0, 0), (10, 180, 180))
    faults = found(equivalent.UNKNOWN_ORDER, values)
    repaired = np.degrees(faults.repaired(turns=False).applied(values))
    np.testing.assert_allclose(repaired, [(170, 0, 0), (190, 0, 0), (370, 180, 180)], atol=1e-9)
    assert not faults.flips.any()


def test_half_turns_that_rounding_put_on_either_side_stay() -> None:
    assert not found("XYZ", euler((0, 0, 0), (180.0001, 0, 0))).turns.any()
    assert not found("QUATERNION", np.array([[1.0, 0, 0, 0], [-4e-8, 1.0, 0, 0]])).flips.any()


def test_nothing_moves_after_constant_keys() -> None:
    faults = found("QUATERNION", np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]]), moves=False)
    assert not faults.repaired(turns=True).changed.any()


def test_keys_near_gimbal_lock_depend_on_the_order() -> None:
    values = euler((0, 89, 0), (0, 87, 0), (89, 0, 0), (0, -91, 0), (0, 271, 0))
    assert found("XYZ", values).gimbal.tolist() == [True, False, False, True, True]
    assert found("YXZ", values).gimbal.tolist() == [False, False, True, False, False]
    assert not found(equivalent.UNKNOWN_ORDER, values).gimbal.any()
