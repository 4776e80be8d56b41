# SPDX-License-Identifier: GPL-3.0-or-later
"""A spline is prepared once, on first use. A single frame gives the same bits as the frame among many."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy

import numpy as np
import pytest

from interp import Keys, SplineBatch, evaluate_many, rotations
from interp.keys import PARAMETERS
from interp.piecewise import PiecewiseSpline
from interp.splines import METHODS, cubic, lagrange, linear, logarithmic, tcb
from tests.interp.rotation_tracks import NOT_EVEN

CASES = [
    pytest.param(cls, cycle, eased, id=f"{method.name}-{kind}-{cycle}{'-eased' * eased}")
    for method in METHODS.values()
    for kind, cls in (("values", method.values), ("rotations", method.rotations))
    if cls is not None
    for cycle in ("SINGLE", "REPEAT", "LOOP")
    for eased in (False, True)
]


def spline_of(cls, cycle="SINGLE", eased=False, count=6):
    generator = np.random.default_rng(8)
    frames = np.cumsum(generator.uniform(2.0, 9.0, count)) - 7.0
    if "Rotation" in cls.__name__ or "Blend" in cls.__name__:
        values = rotations.from_rotation_vector(generator.normal(size=(count, 3)) * 0.25)
    else:
        values = np.exp(generator.normal(size=(count, 3)) * 0.4)
    eases = {"ease_to": np.linspace(0.0, 0.8, count), "ease_from": 0.3} if eased else {}
    return cls(Keys(frames, values, **eases), cycle)


@pytest.mark.parametrize(
    ("cls", "cycle", "eased"),
    [
        case if case.values[1] == "SINGLE" else pytest.param(*case.values, id=case.id, marks=pytest.mark.slow)
        for case in CASES
    ],
)
def test_one_frame_gives_the_bits_that_it_gives_among_many(cls, cycle, eased):
    spline = spline_of(cls, cycle, eased)
    first, last = spline.keys.frames[[0, -1]]
    frames = np.concatenate(
        [
            spline.keys.frames,
            np.linspace(first - 30.0, last + 30.0, 21),
            [last + 3 * (last - first), np.nextafter(last, 0)],
        ]
    )
    for nu in range(3):
        for extrapolate in (False, True):
            together = spline(frames, nu, extrapolate)
            alone = np.array([spline(float(frame), nu, extrapolate) for frame in frames])
            assert (alone == together).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "eases"),
    [
        (tcb.VectorSpline, {"ease_to": 0.3, "ease_from": 0.4}),
        (logarithmic.VectorSpline, {}),
        (lagrange.VectorSpline, {}),
    ],
)
def test_one_frame_of_thousands_gives_no_other_bits(cls, eases):
    """A square computed by pow differs from a product for about one in a thousand numbers."""
    generator = np.random.default_rng(5)
    frames = np.cumsum(generator.uniform(1.0, 9.0, 8))
    spline = cls(Keys(frames, np.exp(generator.normal(size=(8, 3))), **eases))
    at = generator.uniform(frames[0], frames[-1], 2500)
    assert (np.array([spline(frame, 2) for frame in at.tolist()]) == spline(at, 2)).all()


@pytest.mark.parametrize(("cls", "cycle", "eased"), CASES[::3])
def test_a_spline_is_prepared_once(cls, cycle, eased, monkeypatch):
    spline = spline_of(cls, cycle, eased)
    expected = spline([0.5, 3.0])
    monkeypatch.setattr(cls, "curve", None)
    assert (spline([0.5, 3.0]) == expected).all()
    assert (evaluate_many([spline], [0.5, 3.0])[0] == expected).all()


@pytest.mark.parametrize(("cls", "cycle", "eased"), CASES[::3])
def test_pickles_and_copies_play_the_same(cls, cycle, eased):
    spline = spline_of(cls, cycle, eased)
    expected = spline([0.5, 3.0, 99.0])
    for other in (pickle.loads(pickle.dumps(spline)), deepcopy(spline)):
        assert "prepared" not in vars(other)
        assert (other([0.5, 3.0, 99.0]) == expected).all()


def test_copies_of_keys_are_read_only():
    keys = Keys([0, 10], [[0.0], [1.0]], tension=0.5)
    for made in (keys, Keys([0, 10], [0, 1], bias=1)):
        for other in (copy(made), deepcopy(made), pickle.loads(pickle.dumps(made))):
            assert (other.values == made.values).all()
            assert (other.bias == made.bias).all()
            assert np.shares_memory(other.bias, other.parameters)
            for name in ("frames", "values", "parameters", *PARAMETERS):
                with pytest.raises(ValueError, match="read-only"):
                    getattr(other, name)[0] = 0.0


@pytest.mark.parametrize("cls", [tcb.VectorSpline, tcb.RotationSpline])
def test_with_other_keys_it_is_the_spline_that_is_made_of_them(cls):
    spline = spline_of(cls, "LOOP")
    spline(3.0)
    keys = spline.keys.with_parameters(np.linspace(0.0, 0.9, 30).reshape(5, 6))
    at = np.linspace(-20.0, 60.0, 77)
    assert np.abs(spline.with_keys(keys)(at) - cls(keys, "LOOP")(at)).max() < 1e-14
    assert np.abs(spline.with_keys(keys)(at) - spline(at)).max() > 0.01


def test_ends_are_a_copy():
    slope = np.array([2.0])
    spline = cubic.VectorSpline(Keys([0, 10], [0, 1]), ends=((1, slope), (1, slope)))
    slope[0] = 9.0
    assert spline(0.0, 1) == 2.0


@pytest.mark.slow
def test_threads_share_a_spline():
    generator = np.random.default_rng(2)
    keys = Keys(np.arange(40.0), generator.normal(size=(40, 4)))
    frames = [generator.uniform(-3.0, 45.0, 200) for _ in range(32)]
    for order in range(3):
        shared = [tcb.RotationSpline(keys), lagrange.VectorSpline(Keys(np.arange(9.0), generator.normal(size=9)))]
        for spline in shared:
            alone = [pickle.loads(pickle.dumps(spline))(each, order) for each in frames]
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(lambda each, of=spline, nu=order: of(each, nu), frames))
            assert all((a == b).all() for a, b in zip(alone, found, strict=True))


@pytest.mark.parametrize("shape", [(), (0,), (4,), (2, 3), (2, 1, 3), (1, 0, 2)])
@pytest.mark.parametrize("nu", [0, 1])
def test_frames_have_any_shape(shape, nu):
    frames = np.random.default_rng(1).uniform(-9.0, 40.0, shape)
    for spline in (spline_of(tcb.RotationSpline), spline_of(tcb.VectorSpline, "REPEAT")):
        found = spline(frames, nu)
        assert found.shape[:-1] == shape
        assert (found.reshape(-1, found.shape[-1]) == spline(frames.ravel(), nu)).all()


@pytest.mark.parametrize("frame", [True, 3, np.int16(3), np.float32(3.0), np.float64(3.0), np.array(3.0)])
def test_one_frame_is_any_real_number(frame):
    spline = spline_of(tcb.VectorSpline)
    assert (spline(frame) == spline([float(frame)])[0]).all()


@pytest.mark.slow
def test_a_batch_gives_what_its_splines_give_again_and_again():
    splines = [spline_of(cls, cycle, eased) for cls, cycle, eased in (case.values for case in CASES)]
    batch = SplineBatch(splines)
    assert len(batch) == len(splines)
    assert list(batch) == splines
    for frames in (np.linspace(-20.0, 60.0, 77), np.array([3.5]), np.array([])):
        for nu in range(3):
            for extrapolate in (False, True):
                found = evaluate_many(batch, frames, nu, extrapolate)
                for each, spline in zip(found, splines, strict=True):
                    assert (each == spline(frames, nu, extrapolate)).all()


@pytest.mark.parametrize("nu", [0, 1, 2])
@pytest.mark.parametrize("count", [3, 40])
def test_one_frame_of_a_batch_has_the_same_bits_whatever_was_prepared(count, nu):
    splines = [spline_of(tcb.VectorSpline, eased=bool(number % 2)) for number in range(count)]
    unprepared = evaluate_many(splines, [2.5], nu)
    alone = [spline(np.array([2.5]), nu) for spline in splines]
    prepared = evaluate_many(splines, [2.5], nu)
    for one, other, last in zip(unprepared, alone, prepared, strict=True):
        assert one.shape == other.shape == last.shape == (1, 3)
        assert one.tobytes() == other.tobytes() == last.tobytes()


def test_a_batch_is_prepared_once_and_pickled_without(monkeypatch):
    batch = SplineBatch([spline_of(tcb.RotationSpline), spline_of(tcb.RotationSpline, "LOOP")])
    copied = pickle.loads(pickle.dumps(batch))
    expected = batch([1.0, 2.0])
    assert all((a == b).all() for a, b in zip(copied([1.0, 2.0]), expected, strict=True))
    monkeypatch.setattr(tcb.RotationSpline, "curve", None)
    assert all((a == b).all() for a, b in zip(batch([1.0, 2.0]), expected, strict=True))


@pytest.mark.parametrize(("cls", "cycle", "eased"), [case for case in CASES if case.values[1] == "SINGLE"])
def test_extrapolation_continues_the_end_segments(cls, cycle, eased):
    """Continued cubics are Taylor polynomials. Splines that end in an ease are at rest. Others are C1 at the ends."""
    spline = spline_of(cls, cycle, eased)
    first, last = (float(frame) for frame in spline.keys.frames[[0, -1]])
    for frame, step in ((first, -1e-4), (last, 1e-4)):
        outside = spline(np.array([frame, frame + step]), 0, True)
        assert np.abs(outside[1] - outside[0]).max() < 1e-3
        assert np.abs(spline(frame + step, 1, True) - spline(frame, 1)).max() < 2e-3
    if eased:
        for nu in (1, 2):
            assert (spline(last + np.array([1e-3, 2.0, 9.0]), nu, True) == 0.0).all()
            assert (spline(last + 9.0, nu, True) == 0.0).all()
        assert np.abs(spline(last + 9.0, 0, True) - spline(last)).max() < 1e-15
    elif spline.is_cubic:
        value, rate, change = (spline(last, nu) for nu in range(3))
        third = (change - spline(np.nextafter(last, 0.0) - 1.0, 2)) / (1.0 + np.spacing(last))
        expected = value + rate * 2.0 + change * 2.0 + third * 8.0 / 6.0
        assert np.abs(spline(last + 2.0, 0, True) - expected).max() < 1e-9 * np.abs(expected).max()
        assert np.abs(spline(last + 2.0, 2, True) - change - 2.0 * third).max() < 1e-9


def test_a_constant_rotation_goes_on_where_it_is_extrapolated():
    turns = rotations.from_axis_angle([0, 0, 1], np.radians([0.0, 30.0, 60.0]))
    for method in METHODS.values():
        if method.rotations is not None and method.name not in NOT_EVEN:
            spline = method.rotations(Keys([0, 10, 20], turns))
            expected = rotations.from_axis_angle([0, 0, 1], np.radians([-30.0, 90.0]))
            assert rotations.angle_between(spline([-10, 30], 0, True), expected).max() < 1e-12


def test_one_key_is_held_however_it_is_evaluated():
    spline = tcb.VectorSpline(Keys([4], [7.0]))
    assert (spline([0, 4, 9], 0, True) == 7.0).all()
    assert spline(9.0, 0, True) == 7.0
    assert (spline([0, 4, 9], 1, True) == 0.0).all()


def test_runs_are_extrapolated_at_their_ends():
    runs = [tcb.VectorSpline(Keys([0, 10], [0, 1])), tcb.VectorSpline(Keys([20, 30], [5, 6]))]
    assert np.allclose(PiecewiseSpline(runs)([-10, 15, 40], 0, True).ravel(), [-1.0, 1.0, 7.0], atol=1e-14)
    ending_with_one_key = PiecewiseSpline([*runs, tcb.VectorSpline(Keys([40], [2.0]))])
    assert np.allclose(ending_with_one_key([-10, 50], 0, True).ravel(), [-1.0, 2.0], atol=1e-14)


@pytest.mark.parametrize("between", [None, linear.VectorSpline(Keys([0, 4, 6], [[3.0], [1.0], [5.0]])).prepared.curve])
def test_runs_of_one_key_are_held_at_their_ends(between):
    runs = [tcb.VectorSpline(Keys(*keys)) for keys in (([0], [3]), ([4, 5], [1, 2]), ([6], [5]))]
    spline = PiecewiseSpline(runs, between)
    at = np.array([-2.0, -1e-9, 0.0, 6.0, 6.5, 9.0])
    assert (spline(at, 0, True).ravel() == [3.0, 3.0, 3.0, 5.0, 5.0, 5.0]).all()
    for nu in range(3):
        expected = spline(at, nu)
        assert (spline(at, nu, True) == expected).all()
        assert (np.array([spline(frame, nu, True) for frame in at.tolist()]) == expected).all()
        assert (evaluate_many([spline, PiecewiseSpline(runs[:2])], at, nu, True)[0] == expected).all()
    assert spline(5.5, 0, True) == spline(5.5)
