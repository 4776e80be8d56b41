# SPDX-License-Identifier: GPL-3.0-or-later
"""Splines in runs of keys, against each run by itself; lines between them against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

from interp import Keys, b_spline, evaluate_many, rotations, tcb
from interp.fitting import Request, fit_many
from interp.handles import Request as HandlesRequest
from interp.handles import fit_handles
from interp.methods import METHODS
from interp.piecewise import PiecewiseSpline

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


def test_between_runs_the_value_is_that_of_the_last_key():
    values = random_values("values")
    spline = PiecewiseSpline(runs_of(tcb.VectorSpline, values, **parameters()))
    for frame, key in (
        (7.0, 1),
        (7.001, 1),
        (19.999, 1),
        (20.0, 2),
        (41.0, 4),
        (54.9, 4),
        (55.0, 5),
        (99.0, 5),
        (-5, 0),
    ):
        assert (spline(frame) == values[key]).all(), frame
        if frame not in FRAMES:
            assert not spline(frame, 1).any()


def test_a_run_is_a_spline_of_its_own():
    """Two keys with default parameters are a straight line: scipy's Hermite cubic with the chord at both ends."""
    values = random_values("values")
    spline = PiecewiseSpline(runs_of(tcb.VectorSpline, values, ((0, 2), (2, 4), (4, 6))))
    for a in (0, 2, 4):
        chord = (values[a + 1] - values[a]) / (FRAMES[a + 1] - FRAMES[a])
        line = CubicHermiteSpline(FRAMES[a : a + 2], values[a : a + 2], [chord, chord])
        at = np.linspace(FRAMES[a], FRAMES[a + 1], 9)
        assert np.abs(spline(at) - line(at)).max() < 1e-12


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
                # At the last key of a run its derivative is the one after it: the value is held.
                assert not found[row].any()
            else:
                assert (found[row] == run(frame, nu)).all(), (frame, nu)


def test_with_other_splines_it_is_the_same_to_the_bit():
    values = random_values("values")
    spline = PiecewiseSpline(runs_of(tcb.VectorSpline, values))
    whole = tcb.VectorSpline(Keys(FRAMES, values))
    together = evaluate_many([whole, spline, spline], AT)
    assert (together[1] == spline(AT)).all()
    assert (together[2] == spline(AT)).all()
    assert (together[0] == whole(AT)).all()


def test_values_go_straight_where_lines_are_asked_for():
    values = random_values("values")
    spline = PiecewiseSpline(runs_of(tcb.VectorSpline, values, **parameters()), [True, False])
    share = (AT - 7.0) / 13.0
    inside = (share > 0) & (share < 1)
    wanted = values[1] + share[inside, np.newaxis] * (values[2] - values[1])
    assert np.abs(spline(AT[inside]) - wanted).max() < 1e-15
    assert np.abs(spline(AT[inside], 1) - (values[2] - values[1]) / 13.0).max() < 1e-15
    assert (spline(47.0) == values[4]).all()


def test_rotations_turn_evenly_where_lines_are_asked_for():
    q = random_values("rotations")
    spline = PiecewiseSpline(runs_of(tcb.RotationSpline, q, **parameters()), [True, True])
    slerp = Slerp([7.0, 20.0], Rotation.from_quat(q[1:3], scalar_first=True))
    at = np.linspace(7.5, 19.5, 9)
    apart = (Rotation.from_quat(spline(at), scalar_first=True) * slerp(at).inv()).magnitude()
    assert apart.max() < 1e-12
    turn = Rotation.from_quat(q[2], scalar_first=True) * Rotation.from_quat(q[1], scalar_first=True).inv()
    assert np.abs(spline(at, 1) - turn.as_rotvec() / 13.0).max() < 1e-12


@pytest.mark.parametrize("kind", ["values", "rotations"])
def test_fits_leave_out_what_is_held(kind: str):
    values = random_values(kind)
    made, held = (tcb.VectorSpline, None) if kind == "values" else (tcb.RotationSpline, "QUATERNION")
    runs = runs_of(made, values, **parameters())
    (fit,) = fit_many([Request(PiecewiseSpline(runs), 1e-4, held)])
    alone = fit_many([Request(run, 1e-4, held) for run in runs])
    for channel, knots in enumerate(fit.knots):
        frames = np.concatenate([each.knots[channel].frames for each in alone])
        assert (knots.frames == frames).all()
        assert not ((frames > 7) & (frames < 20)).any()
        assert not ((frames > 40) & (frames < 55)).any()
    assert fit.reached
    (handles,) = fit_handles([HandlesRequest(PiecewiseSpline(runs), held)])
    for (a, b), each in zip(RUNS, fit_handles([HandlesRequest(run, held) for run in runs]), strict=True):
        assert np.array_equal(handles.left[a:b], each.left, equal_nan=True)
        assert np.array_equal(handles.right[a:b], each.right, equal_nan=True)


@pytest.mark.parametrize("nu", [0, 1])
@pytest.mark.parametrize("kind", ["values", "rotations"])
def test_a_cycle_plays_all_of_it_again_and_again(kind, nu):
    made = tcb.VectorSpline if kind == "values" else tcb.RotationSpline
    values, lines = random_values(kind), [True, False]
    spline = PiecewiseSpline(runs_of(made, values, **parameters()), lines, "REPEAT")
    single = PiecewiseSpline(runs_of(made, values, **parameters()), lines)
    inside = np.array([3.3, 9.0, 13.0, 25.0, 42.0, 54.0])
    for periods in (-2, 0, 1, 3):
        np.testing.assert_allclose(spline(inside + 55.0 * periods, nu), single(inside, nu), atol=1e-12)


def test_runs_that_cannot_follow_each_other_are_refused():
    values = random_values("values")
    first, second, _ = runs_of(tcb.VectorSpline, values)
    for runs, reason in (
        ([], "at least one"),
        ([first, b_spline.VectorSpline(second.keys)], "one method"),
        ([first, tcb.VectorSpline(second.keys, "LOOP")], "not cycle"),
        ([second, first], "after frame"),
        ([first, first], "after frame"),
    ):
        with pytest.raises(ValueError, match=reason):
            PiecewiseSpline(runs)
    with pytest.raises(ValueError, match="cycle must be one of SINGLE, REPEAT, not 'LOOP'"):
        PiecewiseSpline([first, second], cycle="LOOP")
    with pytest.raises(ValueError, match="one for each of 1 gaps"):
        PiecewiseSpline([first, second], [True, False])
