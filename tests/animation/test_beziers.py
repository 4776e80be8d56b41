# SPDX-License-Identifier: GPL-3.0-or-later
"""Bezier segments are evaluated in the same way as in Blender."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tests.animation.curves import curve, key, new_object

KEYS = 40
FLOAT32 = 1e-5
"""Blender's rounding error on steep curves, as a fraction of the range of values."""


@pytest.fixture
def modules(tcb_animation, scene):
    name = f"{tcb_animation.__name__}.animation.fcurves"
    return importlib.import_module(f"{name}.segments"), importlib.import_module(f"{name}.read_keys")


def curve_with(lengths, generator):
    """Return an F-curve with handles of these lengths, given as fractions of the adjacent segments."""
    thing = new_object()
    frames = np.cumsum(generator.integers(2, 30, KEYS)).astype(float)
    key(thing, "location", list(zip(frames, [(value, 0.0, 0.0) for value in generator.normal(size=KEYS)], strict=True)))
    fcurve = curve(thing, "location")
    for row, point in enumerate(fcurve.keyframe_points):
        point.handle_left_type = point.handle_right_type = "FREE"
        before = frames[row] - frames[max(row - 1, 0)]
        after = frames[min(row + 1, KEYS - 1)] - frames[row]
        left, right = lengths(generator, 2)
        point.handle_left = (frames[row] - left * before, point.co.y + generator.normal())
        point.handle_right = (frames[row] + right * after, point.co.y + generator.normal())
    return fcurve


def steepest(fcurve, frames):
    """Return the largest change of the curve within the float32 resolution of a frame."""
    near = np.abs(np.spacing(frames.astype(np.float32))) * 2
    return np.array([abs(fcurve.evaluate(f + n) - fcurve.evaluate(f - n)) for f, n in zip(frames, near, strict=True)])


@pytest.mark.parametrize(
    "lengths",
    [
        pytest.param(lambda generator, n: np.full(n, 1.0 / 3.0), id="thirds"),
        pytest.param(lambda generator, n: generator.uniform(0.0, 0.5, n), id="apart"),
        pytest.param(lambda generator, n: generator.uniform(0.4, 1.0, n), id="overlapping"),
        pytest.param(lambda generator, n: generator.uniform(0.8, 3.0, n), id="longer_than_the_segment"),
        pytest.param(lambda generator, n: np.zeros(n), id="on_their_frames"),
    ],
)
def test_segments_play_what_blender_plays(modules, lengths):
    segments, read_keys = modules
    generator = np.random.default_rng(1)
    fcurve = curve_with(lengths, generator)
    keys = read_keys.read(fcurve)
    assert segments.is_plain(keys).tolist() == [True] * (KEYS - 1) + [False]
    frames = generator.uniform(keys.frames[0] + 0.01, keys.frames[-1] - 0.01, 3000).astype(np.float32)
    begin = np.searchsorted(keys.frames, frames, side="right") - 1
    expected = np.array([fcurve.evaluate(frame) for frame in frames.tolist()])
    off = np.abs(segments.evaluate_beziers(keys, begin, frames) - expected)
    assert (off <= FLOAT32 * np.ptp(expected) + steepest(fcurve, frames)).all()


def test_segments_of_other_kinds_are_told_apart(modules):
    segments, read_keys = modules
    fcurve = curve_with(lambda generator, n: np.full(n, 0.3), np.random.default_rng(2))
    points = fcurve.keyframe_points
    points[3].interpolation = "LINEAR"
    points[5].handle_right.x = points[5].co.x - 1.0
    points[8].handle_left.x = points[8].co.x + 1.0
    points[11].handle_left.x = float("nan")
    plain = segments.is_plain(read_keys.read(fcurve))
    assert np.flatnonzero(~plain).tolist() == [3, 5, 7, 10, KEYS - 1]
