# SPDX-License-Identifier: GPL-3.0-or-later
"""The parameters of LightWave and of Kochanek and Bartels, compared with independent implementations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import splines
from splines.quaternion import KochanekBartels, UnitQuaternion, _natural_control_quaternion

from interp import Keys, evaluate_many
from interp.splines import tcb
from interp.splines.lightwave_kochanek_bartels import (
    KochanekBartelsRotationSpline,
    KochanekBartelsSpline,
    LightWaveSpline,
)


def drawn(seed, count, even=False, components=2):
    generator = np.random.default_rng(seed)
    frames = np.cumsum(np.ones(count) if even else generator.uniform(0.5, 9.0, count))
    return frames, generator.normal(size=(count, components)), generator.uniform(-1.0, 1.0, (3, count))


def lightwave(frames, values, parameters, frame):
    """Return a value computed as in LightWave's sample code for envelopes (Ernie Wright, 2000), in exact fractions.

    Each tangent is the sum of both chords, weighted by T, C and B, times the span's fraction of both spans. At an end,
    only the existing chord and its weight are used.
    """
    t, y, (tension, continuity, bias) = (
        [Fraction(float(each)) for each in frames],
        [Fraction(float(each)) for each in values],
        [[Fraction(float(each)) for each in row] for row in parameters],
    )
    at = Fraction(float(frame))
    n = max(index for index in range(len(t) - 1) if t[index] <= at)
    rise = y[n + 1] - y[n]

    def weights(key, side):
        """Return the weights of the chords before and after the key. `side` is 1 for the outgoing tangent."""
        slack = 1 - tension[key]
        return (
            slack * (1 + side * continuity[key]) * (1 + bias[key]),
            slack * (1 - side * continuity[key]) * (1 - bias[key]),
        )

    before, own = weights(n, 1)
    leaving = own * rise
    if n > 0:
        leaving = (t[n + 1] - t[n]) / (t[n + 1] - t[n - 1]) * (before * (y[n] - y[n - 1]) + own * rise)
    own, after = weights(n + 1, -1)
    arriving = own * rise
    if n + 2 < len(t):
        arriving = (t[n + 1] - t[n]) / (t[n + 2] - t[n]) * (own * rise + after * (y[n + 2] - y[n + 1]))
    u = (at - t[n]) / (t[n + 1] - t[n])
    return float(y[n] + rise * (3 * u**2 - 2 * u**3) + leaving * (u**3 - 2 * u**2 + u) + arriving * (u**3 - u**2))


@pytest.mark.slow
@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4, 9])
def test_lightwave_is_its_own_sample_code(count, even):
    for seed in range(6):
        frames, values, parameters = drawn([seed, count], count, even)
        spline = LightWaveSpline(Keys(frames, values, *parameters))
        at = np.random.default_rng(seed).uniform(frames[0], frames[-1], 40)
        expected = [[lightwave(frames, column, parameters, frame) for column in values.T] for frame in at]
        assert np.abs(spline(at) - expected).max() < 1e-12


TICK = 1.0 / 3600.0
"""Seconds from an end of a track to the key with the same value that LightWave assumes beyond it."""
WRITTEN = {
    "robot.lws, head, heading": [
        (2.8, 0.0, 0.0, 0.0, 0.0),
        (3.0, 0.0, 0.0, -0.21205768, -0.21205768),
        (3.2, -0.42411536, -0.1400001, -0.17347096, -0.20816514),
        (3.44, -0.33476847, 1.0, 0.0, 0.0),
        (6.0, -0.33476847, 0.0, 0.0, 0.0),
    ],
    "robot.lws, body, pitch": [
        (0.0, 0.0, 0.0, 0.0, 0.0),
        (0.2, 0.0, 0.0, -0.043633211, -0.087266423),
        (0.6, -0.13089964, 0.0, 0.018907718, 0.0037815438),
        (0.68, 0.022689262, 1.0, 0.0, 0.0),
        (1.0, 0.047570676, 0.0, 0.023629073, 0.01476817),
        (1.2, 0.061086506, 1.0, 0.0, 0.0),
        (1.4, 0.0, 1.0, 0.0, 0.0),
    ],
    "robot.lws, left arm, pitch": [
        (0.2, 0.56656545, 0.0, 0.0, 0.0),
        (0.68, 0.56656545, 0.0, 0.0, 0.0),
        (1.0, 0.56656545, 0.0, -0.6008727, -0.75109088),
        (1.4, -0.78539813, 0.0, -0.32189608, -1.0300674),
        (2.68, -0.78539813, 1.0, 0.0, 0.0),
    ],
    "01_butterfly.lws, ride, x": [
        (0.0, 3.1712821, 0.0, 0.0, -1.40307),
        (43 / 30, 1.7679402, 0.0, -1.4033227, -0.032635413),
        (44 / 30, 1.7353239, 0.0, -0.032583654, -0.032583654),
        (45 / 30, 1.7027729, 0.0, -0.03254962, -0.03254962),
    ],
    "01_butterfly.lws, camera, heading": [
        (0.0, 0.078757346, 0.0, 0.0, -0.68241),
        (400 / 30, -0.6036669, 0.0, -0.68241, 0.0),
    ],
    "phare.05.anim.lws, camera, x": [
        (0.0, -18.742683, 0.0, 0.0, 2.3063488),
        (140 / 30, -16.436197, 0.0, 2.3063488, 0.0),
    ],
}
"""Time in seconds, value, tension, and both tangents of TCB keys in scenes saved by LightWave (LWSC 3).

Continuity and bias are 0 in all keys. The scenes are from the public repository astrofra/legacy-lightwave-projects.
"""


@pytest.mark.parametrize("name", WRITTEN)
def test_tangents_are_those_that_lightwave_wrote_into_scenes(name):
    """Both tangents of inner keys agree. At the ends, LightWave's assumed key one tick beyond shortens the tangents."""
    seconds, values, tension, incoming, outgoing = np.array(WRITTEN[name]).T
    length = np.diff(seconds)
    a, b, c, _ = LightWaveSpline(Keys(seconds, values, tension)).to_ppoly().c[..., 0]
    leaving, arriving = c * length, (3.0 * a * length**2 + 2.0 * b * length + c) * length
    leaving[0] *= length[0] / (length[0] + TICK)
    arriving[-1] *= length[-1] / (length[-1] + TICK)
    rounding = min(1e-7, 3e-7 * np.abs(values).max())
    assert np.abs(leaving[1:] - outgoing[1:-1]).max(initial=0.0) < rounding
    assert np.abs(arriving[:-1] - incoming[1:-1]).max(initial=0.0) < rounding
    if seconds[0] == 0.0:
        assert abs(leaving[0] - outgoing[0]) < rounding
    if len(seconds) == 2:
        assert abs(arriving[-1] - incoming[-1]) < rounding


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4, 9])
def test_kochanek_and_bartels_are_those_of_the_package_splines(count, even):
    for seed in range(6):
        frames, values, parameters = drawn([seed, count], count, even)
        theirs = (
            splines.KochanekBartels(values, frames, tcb=parameters.T[1:-1])
            if count > 2
            else (splines.KochanekBartels(values, frames))
        )
        spline = KochanekBartelsSpline(Keys(frames, values, *parameters))
        at = np.random.default_rng(seed).uniform(frames[0], frames[-1], 40)
        for nu in range(3):
            assert np.abs(spline(at, nu) - theirs.evaluate(at, nu)).max() < 1e-11
        assert np.abs(spline(at) - theirs.evaluate(at)).max() < 1e-12


@pytest.mark.parametrize("count", [4, 6])
def test_a_loop_is_a_closed_spline_of_the_package(count):
    frames, values, parameters = drawn(count, count)
    values[-1], parameters[:, -1] = values[0], parameters[:, 0]
    theirs = splines.KochanekBartels(values[:-1], frames, tcb=parameters.T[:-1], endconditions="closed")
    spline = KochanekBartelsSpline(Keys(frames, values, *parameters), "LOOP")
    at = np.linspace(frames[0], frames[-1], 50)[:-1]
    assert np.abs(spline(at) - theirs.evaluate(at)).max() < 1e-12


def in_the_package(values):
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return [UnitQuaternion.from_unit_xyzw(np.roll(value, -1)) for value in values / lengths]


def package_spline(values, frames, parameters):
    """Return the package's spline with natural ends, computed by its function from a segment's third control.

    Its class (0.3.3) passes the key to the function instead, so its ends differ from the value spline's about one axis.
    """
    if len(frames) == 2:
        return KochanekBartels(in_the_package(values), frames)
    made = KochanekBartels(in_the_package(values), frames, tcb=parameters.T[1:-1])
    start, _, third, end = made.segments[0]
    made.segments[0] = start, _natural_control_quaternion(start, third), third, end
    start, second, _, end = made.segments[-1]
    made.segments[-1] = start, second, _natural_control_quaternion(end, second), end
    return made


def off(found, theirs, at):
    """Return the largest difference from the package's quaternions at these frames, with either sign."""
    expected = np.array([np.roll(theirs.evaluate(float(frame)).xyzw, 1) for frame in at])
    return np.minimum(np.abs(found - expected).max(axis=1), np.abs(found + expected).max(axis=1)).max()


def velocity_at(theirs, frame, h=1e-5):
    """Return the angular velocity of the package's orientations, in radians per frame."""
    turn = theirs.evaluate(float(frame - h)).rotation_to(theirs.evaluate(float(frame + h)))
    return np.array(turn.log_map()) / h


@pytest.mark.slow
@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4, 9])
def test_rotations_by_kochanek_and_bartels_are_those_of_the_package_splines(count, even):
    for seed in range(6):
        frames, values, parameters = drawn([seed, count], count, even, components=4)
        theirs = package_spline(values, frames, parameters)
        spline = KochanekBartelsRotationSpline(Keys(frames, values, *parameters))
        at = np.random.default_rng(seed).uniform(frames[0], frames[-1], 40)
        assert off(spline(at), theirs, at) < 1e-11
        # The package's velocities are exact only about one axis. Differences of orientations are accurate to h² / 6.
        inner = at[np.abs(at[:, np.newaxis] - frames).min(axis=1) > 1e-4]
        velocities = np.array([velocity_at(theirs, frame) for frame in inner])
        assert np.abs(spline(inner, 1) - velocities).max(initial=0.0) < 1e-5 * max(1.0, np.abs(velocities).max())


@pytest.mark.parametrize("count", [4, 6])
def test_a_loop_of_rotations_is_a_closed_spline_of_the_package(count, monkeypatch):
    # The package uses the function's old NumPy name.
    monkeypatch.setattr(np, "row_stack", np.vstack, raising=False)
    frames, values, parameters = drawn(count, count, components=4)
    values[-1], parameters[:, -1] = values[0], parameters[:, 0]
    theirs = KochanekBartels(in_the_package(values[:-1]), frames, tcb=parameters.T[:-1], endconditions="closed")
    spline = KochanekBartelsRotationSpline(Keys(frames, values, *parameters), "LOOP")
    at = np.linspace(frames[0], frames[-1], 50)[:-1]
    assert off(spline(at), theirs, at) < 1e-11


@pytest.mark.parametrize("cls", [tcb.RotationSpline, KochanekBartelsRotationSpline])
def test_two_rotations_alike_make_a_spline(cls):
    """Based on tests/test_quaternion_kb.py of `splines` (MIT license, issue 44)."""
    same = UnitQuaternion.from_unit_xyzw([0, 0, 1, 0])
    theirs = KochanekBartels([same, same])
    ours = cls(Keys(theirs.grid, [[0, 0, 0, 1]] * 2))
    assert len(theirs.grid) == len(ours.keys) == 2
    assert np.abs(ours([0.0, 0.3, 1.0]) - [0, 0, 0, 1]).max() < 1e-15


@pytest.mark.parametrize("cls", [LightWaveSpline, KochanekBartelsSpline, KochanekBartelsRotationSpline])
def test_tracks_of_any_number_of_keys_and_cycle_go_together(cls):
    made = [
        cls(Keys(frames, values, *parameters), cycle)
        for count in range(1, 6)
        for cycle in ("SINGLE", "REPEAT", "LOOP")
        for frames, values, parameters in [drawn(count, count, components=4)]
    ]
    signs = [1.0, -1.0] if cls is KochanekBartelsRotationSpline else [1.0]
    at = np.linspace(-20.0, 60.0, 99)
    for spline, found in zip(made, evaluate_many(made, at), strict=True):
        assert np.isfinite(found).all()
        assert (found == spline(at)).all()
        met = [np.abs(spline(spline.keys.frames[:-1]) - sign * spline.keys.values[:-1]).max(axis=1) for sign in signs]
        assert np.minimum.reduce(met).max(initial=0.0) < 1e-15
