# SPDX-License-Identifier: GPL-3.0-or-later
"""Dense samples come back as few keys with tension, continuity and bias, which play them within the tolerance."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from interp import Keys, rotations
from interp.fitting.reduction import (
    Joint,
    Method,
    Part,
    Reduced,
    Skeleton,
    divided,
    reduce_skeleton,
    reduce_tracks,
)
from interp.fitting.reduction.tcb_curves import TCBCurves
from interp.fitting.reduction.windows import Samples, Windows
from interp.splines import tcb
from tests.interp import exact
from tests.interp.dense_motion import smooth_paths

METHODS = [method for method in get_args(Method) if method != "HERMITE"]
ROOM = 1.0 + 1e-9


def played(keys: Reduced, part: int, count: int) -> np.ndarray:
    """Return what formulas at 50 digits play at each frame, with the parameters as float32 has them."""
    parameters = keys.parameters[part].astype(np.float32).astype(np.float64)
    track = exact.Track(keys.rows.astype(np.float64), keys.values[part], parameters)
    if keys.is_rotation[part]:
        track.prepare_rotations()
    evaluate = track.rotation if keys.is_rotation[part] else track.vector
    return np.array([[float(number) for number in evaluate(float(frame))] for frame in range(count)])


def made(random: np.random.Generator, keys: int, components: int, eased: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the frames of TCB keys, and what they play at each, with some noise."""
    rows = np.cumsum([0, *random.integers(9, 25, keys - 1)])
    parameters = random.uniform(-0.6, 0.6, (5, keys))
    parameters[3:] = random.uniform(0.0, 0.4, (2, keys)) if eased else 0.0
    track = exact.Track(rows.astype(np.float64), random.normal(size=(keys, components)), parameters)
    values = np.array([[float(number) for number in track.vector(float(frame))] for frame in range(rows[-1] + 1)])
    return rows, values + random.uniform(-1e-3, 1e-3, values.shape)


def paths(count: int, tracks: int, components: int, seed: int) -> np.ndarray:
    """Return smooth paths with a little noise."""
    return smooth_paths(count, tracks, components, seed, 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "components", "most"), [("TCB", 1, 1.1), ("TCB", 3, 1.1), ("TCB_EASE", 1, 1.5)])
def test_a_motion_of_tcb_keys_with_noise_comes_back_with_about_as_many(
    method: Method, components: int, most: float
) -> None:
    random = np.random.default_rng(components)
    wanted = found = 0
    for _ in range(3):
        rows, values = made(random, 8, components, method == "TCB_EASE")
        (keys,) = reduce_tracks([Part(values[np.newaxis], np.array([5e-3]))], method=method)
        assert np.linalg.norm(played(keys, 0, len(values)) - values, axis=1).max() <= 5e-3 * ROOM
        wanted += len(rows)
        found += len(keys.rows)
    assert found <= most * wanted


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("components", [1, 3])
def test_no_frame_is_farther_from_its_sample_than_allowed(components: int, method: Method) -> None:
    samples = paths(80, 3, components, 5)
    tolerance = np.array([0.005, 0.02, 0.05])
    for keys, wanted, most in zip(
        reduce_tracks([Part(samples, tolerance)], method=method), samples, tolerance, strict=True
    ):
        off = np.linalg.norm(played(keys, 0, 80) - wanted, axis=1).max()
        assert off <= most * ROOM
        assert off == pytest.approx(keys.error * most, rel=1e-6)
        assert len(keys.rows) < 40
        (parameters,) = keys.parameters
        assert (np.abs(parameters[:3]) <= 1.0).all()
        assert ((parameters[3:] >= 0.0) & (parameters[3:] <= 1.0)).all()
        assert method == "TCB_EASE" or not parameters[3:].any()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_values_and_rotations_have_their_keys_at_the_same_frames_and_parameters_of_their_own(method: Method) -> None:
    places = paths(60, 1, 3, 6)
    turns = Rotation.from_rotvec(paths(60, 1, 3, 7)[0]).as_quat(scalar_first=True)[np.newaxis]
    parts = [Part(places, np.array([0.03])), Part.of_rotations(turns, np.radians([1.5]))]
    (keys,) = reduce_tracks(parts, method=method)
    assert np.linalg.norm(played(keys, 0, 60) - places[0], axis=1).max() <= 0.03 * ROOM
    assert rotations.angle_between(played(keys, 1, 60), turns[0]).max() <= np.radians(1.5) * ROOM
    assert len(keys.rows) < 24
    assert not np.array_equal(*keys.parameters)
    for part, kind in enumerate((tcb.VectorSpline, tcb.RotationSpline)):
        assert isinstance(keys.spline(part), kind)
        assert keys.spline(part)(np.arange(60.0)) == pytest.approx(played(keys, part, 60), abs=1e-12)


def test_nothing_moves_in_a_hold() -> None:
    frames = np.arange(90)
    values = np.where(
        frames < 30, np.sin(frames / 10.0), np.where(frames > 60, np.sin((frames - 31) / 10.0), np.sin(3.0))
    )
    values[30:62] = values[30]
    (keys,) = reduce_tracks([Part(values[np.newaxis, :, np.newaxis], np.array([0.01]))], method="TCB")
    assert {30, 61} <= set(keys.rows.tolist())
    assert np.abs(played(keys, 0, 90)[30:62, 0] - values[30]).max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "has_ease"), [(0, False), (1, False), (1, True)])
def test_scipy_finds_no_lesser_squares(seed: int, has_ease: bool) -> None:
    random = np.random.default_rng(seed)
    rows = np.cumsum([0, *random.integers(7, 15, 8)])
    shaped = 5 if has_ease else 3
    start = np.zeros((9, 5))
    known = random.uniform(-0.4, 0.4, (9, 5))
    known[:, 3:] = np.abs(known[:, 3:]) if has_ease else 0.0
    values = random.normal(size=(9, 2))
    frames = np.arange(float(rows[-1] + 1))
    inner = (frames > rows[1]) & (frames < rows[-2])

    def motion(own: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        return tcb.VectorSpline(Keys(rows.astype(float), own, *parameters.T))(frames)

    noisy = motion(values, known) + 0.02 * random.normal(size=(len(frames), 2))
    start[[0, 1, 2, 6, 7, 8]] = known[[0, 1, 2, 6, 7, 8]]
    free = np.zeros((1, 9), dtype=np.bool_)
    free[0, 3:6] = True
    samples = Samples(
        noisy[np.newaxis], lambda _t, _r, v: np.zeros(len(v)), False, TCBCurves(((slice(0, 2), False),), has_ease)
    )
    windows = Windows(np.zeros(1, dtype=np.intp), rows[np.newaxis], values[np.newaxis], start[np.newaxis])
    for _ in range(10):
        windows, _ = samples.curves.refit(samples, windows, free)

    def cost(own: np.ndarray, parameters: np.ndarray) -> float:
        return float(((motion(own, parameters) - noisy)[inner] ** 2).sum())

    def off(numbers: np.ndarray) -> np.ndarray:
        own, parameters = values.copy(), start.copy()
        own[3:6], parameters[3:6, :shaped] = numbers[:6].reshape(3, 2), numbers[6:].reshape(3, shaped)
        return (motion(own, parameters) - noisy)[inner].ravel()

    low = np.concatenate([np.full(6, -np.inf), np.tile([-1.0, -1.0, -1.0, 0.0, 0.0][:shaped], 3)])
    high = np.concatenate([np.full(6, np.inf), np.ones(3 * shaped)])
    first = np.concatenate([values[3:6].ravel(), np.full(3 * shaped, 1e-3)])
    best = least_squares(off, first, bounds=(low, high), xtol=1e-12, ftol=1e-12)
    assert cost(windows.values[0], windows.shapes[0]) <= 2.0 * best.cost * 1.01
    assert np.array_equal(windows.shapes[0, [0, 1, 2, 6, 7, 8]], start[[0, 1, 2, 6, 7, 8]].astype(np.float32))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_no_point_of_a_skeleton_is_farther_off_than_allowed(method: Method) -> None:
    count = 60
    moved, turned = paths(count, 1, 3, 8)[0], paths(count, 2, 3, 9)
    unmoved, unscaled = np.zeros((count, 3)), np.ones((count, 3))
    offset = np.eye(4)
    offset[:3, 3] = 0.0, 1.0, 0.0
    quaternions = [Rotation.from_rotvec(own).as_quat(scalar_first=True) for own in turned]
    points = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])

    def joints(place: np.ndarray, turns: list[np.ndarray]) -> list[Joint]:
        return [
            Joint(-1, np.eye(4), place, turns[0], unscaled, ["location", "rotation"], points),
            Joint(0, offset, unmoved, turns[1], unscaled, ["rotation"], points),
        ]

    skeleton = Skeleton(joints(moved, quaternions), 0.03, method=method)
    steps = reduce_skeleton(skeleton)
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            found = stop.value
            break
    ends = [played(found[0], 0, count), [played(found[0], 1, count), played(found[1], 0, count)]]
    places = [Skeleton(joints(*each), 0.03).wanted for each in ((moved, quaternions), ends)]
    assert np.linalg.norm(places[1] - places[0], axis=2).max() <= 0.03 * ROOM
    assert sum(len(keys.rows) for keys in found.values()) < 48


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_keys_that_are_divided_are_fitted_anew_around(method: Method) -> None:
    samples = paths(100, 1, 3, 10)
    part = Part(samples, np.array([0.1]))
    (keys,) = reduce_tracks([part], method=method)
    long = int(np.argmax(np.diff(keys.rows)))
    row = int(keys.rows[long] + keys.rows[long + 1]) // 2
    more = divided(keys, [row], [part])
    assert more.rows.tolist() == sorted([*keys.rows.tolist(), row])
    off = np.linalg.norm(played(more, 0, 100) - samples[0], axis=1)
    assert off.max() == pytest.approx(0.1 * more.error, rel=1e-6)
    assert off[keys.rows[long] : keys.rows[long + 1] + 1].max() <= 0.1
    # A key's parameters act on four segments.
    apart = np.abs(np.arange(len(more.rows)) - long - 1) > 2
    kept = np.isin(more.rows, keys.rows) & apart
    assert np.array_equal(more.values[0][kept], keys.values[0][np.isin(keys.rows, more.rows[kept])])
