# SPDX-License-Identifier: GPL-3.0-or-later
"""Full turns of Euler angles, and of an angle about an axis, while the axis moves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from interp import Keys, SplineBatch, rotations
from interp.splines import b_spline, catmull_rom, cubic, hermite, linear, tcb
from tests.interp.rotation_tracks import CONSTRUCTIONS, ENDS

ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
SPLINES = {
    "tcb": (tcb.RotationSpline, tcb.VectorSpline),
    "catmull_rom": (catmull_rom.RotationSpline, catmull_rom.VectorSpline),
    "linear": (linear.RotationSpline, linear.VectorSpline),
    "hermite": (hermite.RotationSpline, hermite.VectorSpline),
    "natural": (cubic.NaturalRotationSpline, cubic.NaturalVectorSpline),
    "clamped": (cubic.ClampedRotationSpline, cubic.ClampedVectorSpline),
    "b_spline": (b_spline.RotationSpline, b_spline.VectorSpline),
    "b_spline_through": (b_spline.ThroughRotationSpline, b_spline.ThroughVectorSpline),
}
FRAMES = np.array([1.0, 50.0, 100.0, 120.0])


def spinning(angles, order="XYZ", spline_class=tcb.RotationSpline, frames=FRAMES, parameters=(), **options):
    """Return the spline of Euler keys with their full turns."""
    full_turns = rotations.split_full_turns(order, angles)
    rest = np.asarray(angles) if full_turns is None else full_turns.rest
    keys = Keys(frames[: len(rest)], rotations.from_euler(angles, order), *parameters)
    return spline_class.from_walk(keys, rotations.walk_euler(rest, order), full_turns=full_turns, **options)


def with_spin(spin, turning, tilt):
    """Return Euler keys with one spinning angle, a tilt about the next axis, and a constant third angle."""
    angles = np.full((len(turning), 3), np.radians(12.0))
    angles[:, spin] = np.radians(turning)
    angles[:, (spin + 1) % 3] = np.radians(tilt)
    return angles


def turned(q):
    """Return the length of a path of quaternions in degrees."""
    ordered = Rotation.from_quat(q[:, [1, 2, 3, 0]])
    return np.degrees((ordered[1:] * ordered[:-1].inv()).magnitude().sum())


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("spin", range(3))
def test_a_spin_about_a_slowly_moving_axis_is_the_motion_of_its_angles(order, spin):
    angles = with_spin(spin, (0, 720, 1799), (0, 28.6, -17.2))
    at = np.linspace(1, 100, 1000)
    spline = spinning(angles, order, ends="TANGENT")
    by_angles = rotations.from_euler(tcb.VectorSpline(Keys(FRAMES[:3], angles))(at), order)
    assert np.degrees(rotations.angle_between(spline(at), by_angles)).max() < 1.0


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(6))
def test_no_full_turn_is_lost(order, seed):
    generator = np.random.default_rng(seed)
    turning = np.cumsum(np.append(0.0, generator.uniform(0.8, 5.0, 2) * 360.0 * generator.choice([-1, 1], 2)))
    angles = np.radians(generator.uniform(-30, 30, (3, 3)))
    angles[:, seed % 3] = np.radians(turning)
    spline = spinning(angles, order, linear.RotationSpline)
    for segment in range(2):
        at = np.linspace(FRAMES[segment], FRAMES[segment + 1], 1000)
        linear_angles = np.linspace(angles[segment], angles[segment + 1], 1000)
        assert turned(spline(at)) == pytest.approx(turned(rotations.from_euler(linear_angles, order)), abs=40.0)


@pytest.mark.parametrize("name", SPLINES)
@pytest.mark.parametrize("spin", range(3))
def test_every_method_plays_one_spinning_angle_as_values(name, spin):
    rotation_class, vector_class = SPLINES[name]
    angles = with_spin(spin, (0, 725, 1799, 1700), (12, 12, 12, 12))
    spline, by_values = spinning(angles, "YZX", rotation_class), vector_class(Keys(FRAMES, angles))
    at = np.linspace(1, 120, 500)
    if name == "tcb":
        spline, by_values = spinning(angles, "YZX", ends="TANGENT"), tcb.VectorSpline(Keys(FRAMES, angles))
    assert rotations.angle_between(spline(at), rotations.from_euler(by_values(at), "YZX")).max() < 1e-11


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("cycle", ["SINGLE", "LOOP"])
def test_the_motion_passes_through_the_keys_without_a_jump_of_the_velocity(construction, ends, cycle):
    generator = np.random.default_rng(3)
    angles = generator.uniform(-0.6, 0.6, (4, 3)) + np.radians([[0, 0, 0], [800, 0, 0], [100, 0, 900], [90, 0, 950]])
    angles[-1] = angles[0] + np.radians([360, 0, 720])
    parameters = (0.2, 0.0, -0.3)
    options = {"construction": construction, "ends": ends, "cycle": cycle}
    spline = spinning(angles, "ZXY", parameters=parameters, **options)
    assert rotations.angle_between(spline(FRAMES), rotations.from_euler(angles, "ZXY")).max() < 1e-12
    inner = FRAMES[1:-1]
    np.testing.assert_allclose(spline(inner - 1e-9, 1), spline(inner, 1), rtol=0, atol=1e-8)
    if cycle == "LOOP":
        np.testing.assert_allclose(spline(FRAMES[-1] - 1e-9, 1), spline(FRAMES[-1] + 1e-9, 1), rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", SPLINES)
def test_derivatives_are_those_of_the_motion(name):
    angles = with_spin(1, (0, 500, 1799, 1700), (0, 30, -20, 10))
    spline = spinning(angles, "XYZ", SPLINES[name][0])
    at, step = np.linspace(2.0, 119.0, 60), 1e-4
    before, after = (Rotation.from_quat(spline(at + shift)[:, [1, 2, 3, 0]]) for shift in (-step, step))
    np.testing.assert_allclose((after * before.inv()).as_rotvec() / (2 * step), spline(at, 1), rtol=0, atol=1e-7)
    change = (spline(at + step, 1) - spline(at - step, 1)) / (2 * step)
    np.testing.assert_allclose(change, spline(at, 2), rtol=0, atol=1e-6)


@pytest.mark.parametrize("angle", [0.3, 2.0])
def test_an_angle_about_a_moving_axis_keeps_its_turns(angle):
    values = np.array([[0.0, 0, 0, 1], [angle + 4 * np.pi, 0, 0.3, 1], [angle + 10 * np.pi, 0.2, 0, 1]])
    full_turns = rotations.split_full_turns("AXIS_ANGLE", values)
    walk = rotations.walk_axis_angle(full_turns.rest[:, 0], full_turns.rest[:, 1:])
    keys = Keys(FRAMES[:3], rotations.from_axis_angle(values[:, 1:], values[:, 0]))
    spline = tcb.RotationSpline.from_walk(keys, walk, full_turns=full_turns)
    assert turned(spline(np.linspace(1, 50, 500))) == pytest.approx(720 + np.degrees(angle), abs=10)
    assert turned(spline(np.linspace(50, 100, 500))) == pytest.approx(1080, abs=10)


def test_changes_of_up_to_270_degrees_are_arcs_on_the_sphere():
    assert rotations.split_full_turns("XYZ", np.radians([[0, 0, 0], [269, -269, 0]])) is None
    full_turns = rotations.split_full_turns("XYZ", np.radians([[0, 0, 0], [271, -269, 0], [1351, -800, 5]]))
    np.testing.assert_allclose(np.degrees(full_turns.turns), [[0, 0, 0], [360, 0, 0], [1440, -360, 0]], atol=1e-12)
    np.testing.assert_allclose(np.degrees(full_turns.rest), [[0, 0, 0], [-89, -269, 0], [-89, -440, 5]], atol=1e-12)


def test_several_tracks_are_split_together():
    generator = np.random.default_rng(4)
    values = generator.uniform(-20, 20, (3, 5, 3))
    values[1] /= 20
    together = rotations.split_full_turns("ZXY", values)
    assert together.of_track(1) is None
    for index in (0, 2):
        alone, of_track = rotations.split_full_turns("ZXY", values[index]), together.of_track(index)
        np.testing.assert_array_equal(of_track.turns, alone.turns)
        np.testing.assert_array_equal(of_track.rest, alone.rest)


def test_tracks_with_full_turns_do_not_affect_tracks_computed_with_them():
    generator = np.random.default_rng(8)
    tracks = [
        spinning(generator.uniform(-size, size, (4, 3)), order) for size in (1.0, 9.0, 20.0) for order in ("XYZ", "ZXY")
    ]
    at = np.linspace(-5, 130, 200)
    for nu in range(3):
        for spline, values in zip(tracks, SplineBatch(tracks)(at, nu), strict=True):
            np.testing.assert_array_equal(values, spline(at, nu))
