# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves that were made from few keys give back those keys, with what is between them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline, Slerp

from interp import Keys
from interp.fitting.unbaking import CURVE, EASED, HOLD, LINE, unbake_rotations, unbake_values
from interp.splines import hermite, tcb
from tests.interp.random_keys import random_rotations

Array = np.ndarray


def drawn(random: np.random.Generator, count: int, shortest: int = 4, longest: int = 30) -> Array:
    """Return frames of keys."""
    return np.cumsum(np.concatenate(([0], random.integers(shortest, longest, count - 1)))).astype(np.float64)


def stored(samples: Array) -> Array:
    """Return numbers as F-curves store them."""
    return samples.astype(np.float32).astype(np.float64)


def every(frames: Array) -> Array:
    return np.arange(frames[0], frames[-1] + 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_keys_of_values_by_tcb_come_back_with_their_parameters(seed: int) -> None:
    random = np.random.default_rng(seed)
    frames, parameters = drawn(random, 12), np.zeros((5, 12))
    parameters[:3] = random.uniform(-1.0, 1.0, (3, 12))
    keys = Keys(frames, random.normal(size=(12, 3)), *parameters)
    found = unbake_values(stored(tcb.VectorSpline(keys)(every(frames))))
    assert found is not None
    assert found.rows.tolist() == frames.tolist()
    assert (found.kinds == CURVE).all()
    assert found.parameters is not None
    # Two chords and four tangents of three numbers determine the three parameters of an inner key.
    assert np.abs(found.parameters[0] - parameters)[:3, 1:-1].max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("construction", ["DE_CASTELJAU", "SQUAD"])
@pytest.mark.parametrize("ends", ["3DS", "TANGENT"])
def test_keys_of_rotations_by_tcb_come_back_with_their_parameters(construction: str, ends: str) -> None:
    random = np.random.default_rng(5)
    frames, parameters = drawn(random, 8, 6, 20), np.zeros((5, 8))
    parameters[:3] = random.uniform(-0.9, 0.9, (3, 8))
    keys = Keys(frames, random_rotations(random, 8, 1.0), *parameters)
    samples = stored(tcb.RotationSpline(keys, ends=ends, construction=construction)(every(frames)))
    found = unbake_rotations(samples)
    assert found is not None
    assert (found.rows.tolist(), found.construction) == (frames.tolist(), construction)
    assert found.parameters is not None
    assert found.ends == ends
    assert np.abs(found.parameters[0] - parameters)[:3, 1:-1].max() < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_eases_come_back_too(seed: int) -> None:
    random = np.random.default_rng(seed)
    frames, parameters = drawn(random, 6, 12, 24), np.zeros((5, 6))
    parameters[:3] = random.uniform(-0.5, 0.5, (3, 6))
    parameters[3:] = random.uniform(0.2, 0.4, (2, 6))
    keys = Keys(frames, random.normal(size=(6, 3)), *parameters)
    found = unbake_values(stored(tcb.VectorSpline(keys)(every(frames))))
    assert found is not None
    assert found.rows.tolist() == frames.tolist()
    assert (found.kinds == EASED).all()
    assert found.parameters is not None
    assert np.abs(found.parameters[0] - parameters)[3, 1:].max() < 0.05
    assert np.abs(found.parameters[0] - parameters)[4, :-1].max() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("length", [4, 5, 6])
def test_a_short_segment_with_an_ease_is_found_between_long_ones(length: int) -> None:
    random = np.random.default_rng(length)
    frames, parameters = np.cumsum([0, 15, 20, length, 18, 12]).astype(np.float64), np.zeros((5, 6))
    parameters[:3] = random.uniform(-0.5, 0.5, (3, 6))
    parameters[4, 2], parameters[3, 5] = 0.3, 0.2
    keys = Keys(frames, random.normal(size=(6, 3)), *parameters)
    found = unbake_values(stored(tcb.VectorSpline(keys)(every(frames))))
    assert found is not None
    assert found.rows.tolist() == frames.tolist()
    assert found.kinds.tolist() == [CURVE, CURVE, EASED, CURVE, EASED]


@pytest.mark.slow
def test_eases_come_back_where_a_short_segment_lies_between() -> None:
    random = np.random.default_rng(16)
    frames, parameters = np.cumsum([0, 17, 18, 25, 3, 14]).astype(np.float64), np.zeros((5, 6))
    parameters[:3] = random.uniform(-0.5, 0.5, (3, 6))
    parameters[4, [0, 2]], parameters[3, 3] = 0.3, 0.25
    keys = Keys(frames, random.normal(size=(6, 3)), *parameters)
    found = unbake_values(stored(tcb.VectorSpline(keys)(every(frames))))
    assert found is not None
    assert found.rows.tolist() == frames.tolist()
    assert found.kinds.tolist() == [EASED, CURVE, EASED, CURVE, CURVE]


@pytest.mark.slow
def test_of_constructions_that_play_alike_the_first_is_taken_where_a_segment_is_short() -> None:
    random = np.random.default_rng(17)
    frames = np.cumsum([0, 3, 4, 4, 4, 3, 5]).astype(np.float64)
    keys = Keys(frames, random_rotations(random, 7, 0.05))
    found = unbake_rotations(stored(tcb.RotationSpline(keys)(every(frames))))
    assert found is not None
    assert (found.rows.tolist(), found.construction) == (frames.tolist(), "DE_CASTELJAU")
    assert found.parameters is not None


def test_knots_of_a_natural_cubic_of_scipys_are_found_though_only_its_third_derivative_jumps() -> None:
    random = np.random.default_rng(6)
    frames = drawn(random, 14, 5, 25)
    curve = CubicSpline(frames, random.normal(size=(14, 2)), bc_type="natural")
    found = unbake_values(stored(curve(every(frames))))
    assert found is not None
    assert found.rows.tolist() == frames.tolist()
    assert found.velocities is not None
    np.testing.assert_allclose(found.velocities, curve(frames, 1), atol=1e-5)


def test_velocities_of_hermites_rotations_come_back() -> None:
    random = np.random.default_rng(7)
    frames, velocities = drawn(random, 8, 6, 20), 0.05 * random.normal(size=(8, 3))
    keys = Keys(frames, random_rotations(random, 8, 0.8))
    found = unbake_rotations(stored(hermite.RotationSpline(keys, velocities=velocities)(every(frames))))
    assert found is not None
    assert (found.rows.tolist(), found.construction) == (frames.tolist(), "ROTATION_VECTORS")
    np.testing.assert_allclose(found.velocities, velocities, atol=1e-5)


def test_corners_with_a_velocity_on_each_side_have_their_tangents() -> None:
    random = np.random.default_rng(8)
    frames = drawn(random, 6, 8, 20)
    values, velocities = random.normal(size=6), random.normal(size=(5, 2)) * 0.2
    pieces = [
        CubicHermiteSpline(frames[i : i + 2], values[i : i + 2], velocities[i])(np.arange(*frames[i : i + 2]))
        for i in range(5)
    ]
    found = unbake_values(stored(np.append(np.concatenate(pieces), values[-1])[:, np.newaxis]))
    assert found is not None
    assert found.rows.tolist() == frames.tolist()
    assert found.velocities is None
    np.testing.assert_allclose(found.tangents[:, :, 0] / np.diff(frames)[:, np.newaxis], velocities, atol=1e-4)


def test_lines_holds_and_steps_between_curves_are_found_as_such() -> None:
    random = np.random.default_rng(9)
    first = CubicHermiteSpline([0, 15, 30], [0.0, 1.0, 0.5], [0.1, 0.0, -0.2])(np.arange(30.0))
    line = np.linspace(0.5, 3.0, 13)[:-1]
    held = np.full(9, 3.0)
    last = CubicHermiteSpline([0, 20], [-1.0, 2.0], random.normal(size=2) * 0.1)(np.arange(21.0))
    found = unbake_values(stored(np.concatenate([first, line, held, last])[:, np.newaxis]))
    assert found is not None
    assert found.rows.tolist() == [0, 15, 30, 42, 51, 71]
    assert found.kinds.tolist() == [CURVE, CURVE, LINE, HOLD, CURVE]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_corners_of_lines_are_found_as_numpy_draws_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = np.cumsum(np.concatenate(([0], random.integers(2, 30, size=20))))
    corners = random.uniform(-5.0, 5.0, size=(len(rows), 2))
    samples = np.stack([np.interp(np.arange(rows[-1] + 1), rows, own) for own in corners.T], axis=1)
    found = unbake_values(stored(samples))
    assert found is not None
    assert found.rows.tolist() == rows.tolist()
    assert (found.kinds == LINE).all()


def test_arcs_of_scipys_slerp_are_lines() -> None:
    random = np.random.default_rng(10)
    frames = drawn(random, 8, 3, 20)
    turns = Rotation.from_quat(random_rotations(random, 8, 1.2)[:, [1, 2, 3, 0]])
    found = unbake_rotations(stored(Slerp(frames, turns)(every(frames)).as_quat()[:, [3, 0, 1, 2]]))
    assert found is not None
    assert found.rows.tolist() == frames.tolist()
    assert (found.kinds == LINE).all()


def smooth() -> Array:
    return np.sin(np.arange(4000.0) / 4000.0)[:, np.newaxis]


def waves() -> Array:
    t = np.arange(300.0) / 20.0
    return np.stack([np.sin(t), np.cos(1.3 * t)], axis=1)


def noisy() -> Array:
    return waves() + 1e-3 * np.random.default_rng(11).normal(size=(300, 2))


@pytest.mark.slow
@pytest.mark.parametrize("samples", [smooth, waves, noisy])
def test_what_was_not_made_from_keys_has_none(samples) -> None:
    assert unbake_values(stored(samples())) is None


def test_rotations_that_were_not_made_from_keys_of_a_known_kind_have_none() -> None:
    random = np.random.default_rng(12)
    frames = drawn(random, 8, 10, 20)
    turns = Rotation.from_quat(random_rotations(random, 8, 1.0)[:, [1, 2, 3, 0]])
    smooth = RotationSpline(frames, turns)(every(frames)).as_quat()[:, [3, 0, 1, 2]]
    found = unbake_rotations(stored(smooth + 1e-3 * random.normal(size=smooth.shape)))
    assert found is None
