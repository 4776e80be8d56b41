# SPDX-License-Identifier: GPL-3.0-or-later
"""Angular accelerations of rotation tracks, compared with differences at 50 digits and vector tracks."""

from __future__ import annotations

import itertools

import mpmath as mp
import numpy as np
import pytest

from interp import Keys, rotations
from interp.splines import tcb
from tests.all_pairs import all_pairs
from tests.interp import exact
from tests.interp.random_keys import random_parameters, random_rotations
from tests.interp.rotation_tracks import (
    AXIS,
    CONSTRUCTIONS,
    CYCLES,
    angular_acceleration,
    exact_rotation_track,
    one_axis,
)

# The bound in RotationSpline's docstring. It is multiplied by 1 / (pi - angle)³ for the flattest arc, and divided by
# the shortest ease and the square of the shortest segment.
BOUND = 1e-11
SHORTEST_EASE = 0.05


def parameters_with_long_eases(generator, keys):
    parameters = random_parameters(generator, keys)
    parameters[3:] = np.maximum(parameters[3:], SHORTEST_EASE)
    return parameters


@pytest.mark.slow
@pytest.mark.parametrize(
    ("construction", "cycle", "step"), all_pairs(CONSTRUCTIONS, CYCLES, [0.0, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 1.5, 3.0])
)
def test_angular_accelerations_agree_with_differences_at_50_digits(construction, cycle, step):
    generator = np.random.default_rng(21)
    frames = np.array([0.0, 4.0, 5.0, 12.0])
    q, parameters = random_rotations(generator, 4, step), parameters_with_long_eases(generator, 4)
    at = generator.uniform(-3.0, 20.0, 12)
    track = exact_rotation_track(frames, q, parameters, construction=construction, cycle=cycle)
    expected = exact.rows([angular_acceleration(track.rotation, frame) for frame in at])
    found = tcb.RotationSpline(Keys(frames, q, *parameters), cycle, construction=construction)(at, 2)
    np.testing.assert_allclose(found, expected, rtol=0, atol=BOUND / SHORTEST_EASE / track.flattest**3)


@pytest.mark.slow
@pytest.mark.parametrize("frames", [np.arange(4) * 1e-3, np.arange(4) * 1e6, np.array([0.0, 1e-3, 1e6, 1e6 + 1e-3])])
def test_the_bound_goes_with_the_square_of_the_segments_length(frames):
    generator = np.random.default_rng(5)
    q, parameters = random_rotations(generator, 4, 1.0), parameters_with_long_eases(generator, 4)
    track = exact_rotation_track(frames, q, parameters)
    for begin, end in itertools.pairwise(frames):
        at = np.linspace(begin, end, 7)[1:-1]
        expected = exact.rows(
            [angular_acceleration(lambda f, a=begin, b=end: track.rotation(a + (f - a)), frame) for frame in at]
        )
        found = tcb.RotationSpline(Keys(frames, q, *parameters))(at, 2)
        # Frames around 1e6 are rounded to 1e-10, or 1e-7 of the shortest segment's length of a thousandth of a frame.
        rounding = 100.0 * np.spacing(end) / (end - begin)
        bound = (BOUND + rounding) / SHORTEST_EASE / track.flattest**3 / (end - begin) ** 2
        np.testing.assert_allclose(found, expected, rtol=0, atol=bound)


class _LongTurns:
    """Test docs/formulas, "Long turns", at 50 digits. All turns exceed half a turn, so no other path changes."""

    def __init__(self, spline, angles, axes, parameters):
        frames = spline.keys.frames
        self.starts = [[mp.mpf(float(x)) for x in q] for q in spline.keys.values]
        self.axes = axes[1:]
        self.chords = [
            [mp.mpf(float(angle)) * mp.mpf(float(x)) for x in axis]
            for angle, axis in zip(angles[1:], axes[1:], strict=True)
        ]
        self.wound = exact.Track(frames, np.zeros((len(frames), 3)), parameters)
        for key, chord in enumerate(self.chords):
            self.wound.p[key + 1] = [a + b for a, b in zip(self.wound.p[key], chord, strict=True)]

    def tangent(self, incoming, key):
        """Return the same as `exact.Track.tangent`, but with 3D Studio's rule for rotations at the ends."""
        if not self.wound.is_end(key):
            return [self.wound.tangent(incoming, key, i) for i in range(3)]
        t, c, b = self.wound.tcb(key)
        factor = (1 - t) * (1 + (c * b if key == 0 else -c * b))
        return [factor * x for x in self.chords[min(key, len(self.chords) - 1)]]

    def rotation(self, frame):
        n, u = self.wound.at(frame)
        axis = [mp.mpf(float(x)) for x in self.axes[n]]
        leave, arrive = u * (1 - u) ** 2, -u * u * (1 - u)
        outgoing, incoming = self.tangent(False, n), self.tangent(True, n + 1)
        whole = exact.dot(self.chords[n], axis)
        leaving, arriving = exact.dot(axis, outgoing), exact.dot(axis, incoming)
        along = whole * (3 * u**2 - 2 * u**3) + leaving * leave + arriving * arrive
        start = [b - leaving * x for b, x in zip(outgoing, axis, strict=True)]
        end = self.turned_back([a - arriving * x for a, x in zip(incoming, axis, strict=True)], n)
        across = [a * leave + b * arrive for a, b in zip(start, end, strict=True)]
        outer, inner = ([mp.mpf(0), *(x / 2 for x in turn)] for turn in ([x * along for x in axis], across))
        return exact.multiply(exact.exp(outer), exact.multiply(exact.exp(inner), self.starts[n]))

    def turned_back(self, vector, n):
        back = exact.exp([mp.mpf(0), *(-x / 2 for x in self.chords[n])])
        forth = exact.exp([mp.mpf(0), *(x / 2 for x in self.chords[n])])
        return exact.multiply(back, exact.multiply([mp.mpf(0), *vector], forth))[1:]


@pytest.mark.slow
@pytest.mark.parametrize("construction", CONSTRUCTIONS)
# With tilts of less than 1e-6, rotations are about one axis.
@pytest.mark.parametrize("tilt", [0.0, 1e-5, 1e-4, 0.1, 1.0])
def test_long_turns_agree_with_differences_at_50_digits(construction, tilt):
    generator = np.random.default_rng(8)
    frames = np.array([0.0, 9.0, 15.0, 30.0])
    angles = np.array([1.0, 14.0, -8.0, 20.0])
    axes = AXIS + tilt * generator.normal(size=(4, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    parameters = generator.uniform(-0.3, 0.3, (5, 4))
    parameters[3:] = np.abs(parameters[3:]) + SHORTEST_EASE
    spline = tcb.RotationSpline.from_turns(frames, angles, axes, *parameters, construction=construction)
    exactly = _LongTurns(spline, angles, axes, parameters)
    at = generator.uniform(0.0, 30.0, 10)
    np.testing.assert_allclose(
        rotations.angle_between(spline(at), exact.rows([exactly.rotation(mp.mpf(frame)) for frame in at])),
        0,
        atol=1e-11,
    )
    expected = exact.rows([angular_acceleration(exactly.rotation, frame) for frame in at])
    np.testing.assert_allclose(spline(at, 2), expected, rtol=0, atol=BOUND / SHORTEST_EASE)


def test_it_holds_outside_the_keys_and_at_the_last_key_is_the_incoming_one():
    q = one_axis(np.radians([0, 40, 100]), [0, 0, 1])
    spline = tcb.RotationSpline(Keys([0, 10, 20], q, 0.5), ends="TANGENT")
    angle = tcb.VectorSpline(Keys([0, 10, 20], np.radians([0, 40, 100]), 0.5))
    at = np.array([-5.0, 0.0, 10.0, 20.0, 25.0])
    np.testing.assert_allclose(spline(at, 2)[:, 2], angle(at, 2)[:, 0], rtol=0, atol=1e-14)
    assert (spline([-5.0, 25.0], 2) == 0.0).all()
    assert np.abs(spline(20.0, 2)).max() > 1e-4
