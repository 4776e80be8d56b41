# SPDX-License-Identifier: GPL-3.0-or-later
"""Splines in runs of keys, compared with separate splines. Curves between them are compared with NumPy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from interp import Keys, evaluate_many, rotations
from interp.fitting import Request
from interp.fitting.curves import fit_many
from interp.fitting.handles import fit_handles
from interp.piecewise import PiecewiseSpline
from interp.splines import METHODS, b_spline, tcb

FRAMES = np.array([0.0, 7.0, 20.0, 31.0, 40.0, 55.0])
AT = np.array([-3.0, 0.0, 3.3, 7.0, 13.0, 19.999, 20.0, 25.0, 31.0, 33.0, 40.0, 47.0, 55.0, 60.0])
RUNS = ((0, 2), (2, 5), (5, 6))


def runs_of(made, values, bounds=RUNS, **parameters):
    return [made(Keys(FRAMES[a:b], values[a:b], **{n: p[a:b] for n, p in parameters.items()})) for a, b in bounds]


def random_values(kind: str):
    generator = np.random.default_rng(4)
    if kind == "values":
        return generator.normal(size=(len(FRAMES), 3))
    return rotations.from_rotation_vector(np.cumsum(generator.normal(size=(len(FRAMES), 3)) * 0.5, axis=0))


def parameters():
    generator = np.random.default_rng(5)
    signed = {name: generator.uniform(-1, 1, len(FRAMES)) for name in ("tension", "continuity", "bias")}
    return signed | {name: generator.uniform(0, 0.6, len(FRAMES)) for name in ("ease_to", "ease_from")}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", ["values", "rotations"])
def test_runs_of_every_method_are_evaluated_as_alone(name: str, kind: str):
    made = getattr(METHODS[name], kind)
    if made is None:
        return
    values = random_values(kind)
    if name == "LOGARITHMIC" and kind == "values":
        values = np.exp(values)
    if "velocities" in getattr(METHODS[name], "value_options" if kind == "values" else "rotation_options"):
        runs = [made(Keys(FRAMES[a:b], values[a:b]), velocities=np.ones((b - a, 3))) for a, b in RUNS]
    else:
        runs = runs_of(made, values, **parameters())
    spline = PiecewiseSpline(runs)
    for nu in range(min(spline.derivatives, 2) + 1):
        (found,) = evaluate_many([spline], AT, nu)
        for row, frame in enumerate(AT):
            run = runs[int(np.clip(np.searchsorted([20.0, 55.0], frame, side="right"), 0, 2))]
            if nu and frame in (7.0, 40.0):
                # At the last key of a run, the derivative is the derivative after it, where the value is held.
                assert not found[row].any()
            else:
                assert (found[row] == run(frame, nu)).all(), (frame, nu)


class Polynomials:
    """Curves between runs, with a polynomial of the local parameter for each segment and component."""

    def __init__(self, coefficients):
        self.polynomials = [[np.polynomial.Polynomial(each) for each in segment] for segment in coefficients]

    def evaluate(self, segment, u, nu):
        return np.array(
            [
                [self.polynomials[index][row].deriv(nu)(part) for index, part in zip(segment, u, strict=True)]
                for row in range(len(self.polynomials[0]))
            ]
        )


@pytest.mark.parametrize("name", ["TCB", "B_SPLINE", "HERMITE"])
def test_gaps_within_a_run_are_played_as_runs_of_one_key_are(name: str):
    made, values = METHODS[name].values, random_values("values")
    between = Polynomials(np.random.default_rng(6).normal(size=(4, 3, 4)))
    alone = PiecewiseSpline(runs_of(made, values, ((0, 2), (2, 3), (3, 4), (4, 5), (5, 6))), between)
    together = PiecewiseSpline(runs_of(made, values, ((0, 2), (2, 5), (5, 6))), between, gaps=[1, 2, 3, 4])
    assert together.is_gap.tolist() == alone.is_gap.tolist()
    for nu in (0, 1, 2):
        assert (together(AT, nu) == alone(AT, nu)).all()


def test_what_is_given_is_played_between_runs_and_nowhere_else():
    values = random_values("values")
    coefficients = np.random.default_rng(6).normal(size=(2, 3, 4))
    runs = runs_of(tcb.VectorSpline, values, **parameters())
    held, spline = PiecewiseSpline(runs), PiecewiseSpline(runs, Polynomials(coefficients))
    between = ((AT > 7) & (AT < 20)) | ((AT > 40) & (AT < 55))
    for nu in (0, 1, 2):
        played = spline(AT, nu)
        # At their ends, the curves determine the derivative.
        others = ~between & ~np.isin(AT, [7.0, 40.0, 55.0])
        assert (played[others] == held(AT, nu)[others]).all()
        for row in np.flatnonzero(between):
            gap, start, length = (0, 7.0, 13.0) if AT[row] < 30 else (1, 40.0, 15.0)
            way = [np.polynomial.Polynomial(each, (start, start + length), (0, 1)) for each in coefficients[gap]]
            wanted = [each.deriv(nu)(AT[row]) if nu else each(AT[row]) for each in way]
            assert np.abs(played[row] - wanted).max() < 1e-12


def test_each_of_several_splines_plays_its_own():
    values = random_values("values")
    coefficients = np.random.default_rng(6).normal(size=(3, 2, 3, 4))
    splines = [PiecewiseSpline(runs_of(tcb.VectorSpline, values), Polynomials(each)) for each in coefficients]
    splines.insert(1, PiecewiseSpline(runs_of(tcb.VectorSpline, values)))
    splines.insert(0, tcb.VectorSpline(Keys(FRAMES, values)))
    for nu in (0, 1, 2):
        for spline, found in zip(splines, evaluate_many(splines, AT, nu), strict=True):
            assert (found == spline(AT, nu)).all()


HELD = {"XYZ": "xyz", "ZXY": "zxy", "YXZ": "yxz"}


@pytest.mark.parametrize("held", ["QUATERNION", "AXIS_ANGLE", *HELD])
def test_channels_between_runs_turn_as_blender_has_them(held: str):
    """Compare orientations and derivatives from channel values with scipy, and with differences of its rotations."""
    numbers = 3 if held in HELD else 4
    coefficients = np.random.default_rng(7).normal(size=(2, numbers, 4))
    runs = runs_of(tcb.RotationSpline, random_values("rotations"))
    spline = PiecewiseSpline(runs, Polynomials(coefficients), held)

    def turned(frames):
        rows = np.array([[np.polynomial.Polynomial(c)((f - 7.0) / 13.0) for c in coefficients[0]] for f in frames])
        if held == "QUATERNION":
            return Rotation.from_quat(rows, scalar_first=True)
        if held == "AXIS_ANGLE":
            axes = rows[:, 1:] / np.linalg.norm(rows[:, 1:], axis=1, keepdims=True)
            return Rotation.from_rotvec(rows[:, :1] * axes)
        # Lowercase letters mean rotations about fixed axes, in this order.
        return Rotation.from_euler(HELD[held], rows[:, ["XYZ".index(letter) for letter in held]])

    at = np.linspace(7.5, 19.5, 9)
    assert (Rotation.from_quat(spline(at), scalar_first=True) * turned(at).inv()).magnitude().max() < 1e-14
    step = 1e-4
    velocity = (turned(at + step) * turned(at - step).inv()).as_rotvec() / (2 * step)
    assert np.abs(spline(at, 1) - velocity).max() < 1e-7
    change = (spline(at + step, 1) - spline(at - step, 1)) / (2 * step)
    assert np.abs(spline(at, 2) - change).max() < 1e-7


def test_a_quaternion_of_no_length_between_runs_is_what_blender_takes_it_for():
    runs = runs_of(tcb.RotationSpline, random_values("rotations"))
    spline = PiecewiseSpline(runs, Polynomials(np.zeros((2, 4, 1))), "QUATERNION")
    assert spline(10.0).tolist() == [0, 1, 0, 0]
    assert not spline(10.0, 1).any()


@pytest.mark.parametrize("kind", ["values", "rotations"])
def test_fits_leave_out_what_is_held(kind: str):
    values = random_values(kind)
    made, held = (tcb.VectorSpline, None) if kind == "values" else (tcb.RotationSpline, "QUATERNION")
    runs = runs_of(made, values, **parameters())
    (fit,) = fit_many([Request(PiecewiseSpline(runs), held, tolerance=1e-4)])
    alone = fit_many([Request(run, held, tolerance=1e-4) for run in runs])
    for channel, knots in enumerate(fit.knots):
        frames = np.concatenate([each.knots[channel].frames for each in alone])
        assert (knots.frames == frames).all()
        assert not ((frames > 7) & (frames < 20)).any()
        assert not ((frames > 40) & (frames < 55)).any()
    assert fit.reached
    (handles,) = fit_handles([Request(PiecewiseSpline(runs), held)])
    for (a, b), each in zip(RUNS, fit_handles([Request(run, held) for run in runs]), strict=True):
        assert np.array_equal(handles.left[a:b], each.left, equal_nan=True)
        assert np.array_equal(handles.right[a:b], each.right, equal_nan=True)


@pytest.mark.parametrize("nu", [0, 1])
@pytest.mark.parametrize("kind", ["values", "rotations"])
def test_a_cycle_plays_all_of_it_again_and_again(kind, nu):
    made, held, numbers = (tcb.VectorSpline, None, 3) if kind == "values" else (tcb.RotationSpline, "QUATERNION", 4)
    between = Polynomials(np.random.default_rng(8).normal(size=(2, numbers, 4)))
    runs = runs_of(made, random_values(kind), **parameters())
    spline, single = PiecewiseSpline(runs, between, held, "REPEAT"), PiecewiseSpline(runs, between, held)
    inside = np.array([3.3, 9.0, 13.0, 25.0, 42.0, 54.0])
    for periods in (-2, 0, 1, 3):
        np.testing.assert_allclose(spline(inside + 55.0 * periods, nu), single(inside, nu), atol=1e-12)


def test_runs_that_cannot_follow_each_other_are_refused():
    values = random_values("values")
    first, second, _ = runs_of(tcb.VectorSpline, values)
    for runs, reason in (
        ([], "at least one"),
        ([first, b_spline.VectorSpline(second.keys)], "the same method"),
        ([first, tcb.VectorSpline(second.keys, "LOOP")], "not cycle"),
        ([second, first], "follows frame"),
        ([first, first], "follows frame"),
    ):
        with pytest.raises(ValueError, match=reason):
            PiecewiseSpline(runs)
    with pytest.raises(ValueError, match="cycle must be one of SINGLE, REPEAT, not 'LOOP'"):
        PiecewiseSpline([first, second], cycle="LOOP")
