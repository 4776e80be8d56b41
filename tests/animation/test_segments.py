# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys as arrays, and segments of every interpolation and easing type, compared with Blender's own evaluation."""

from __future__ import annotations

import importlib

import bpy
import numpy as np
import pytest

from tests.all_pairs import all_pairs
from tests.animation.curves import curve, key, new_object

KINDS = [each.identifier for each in bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items]
EASINGS = [each.identifier for each in bpy.types.Keyframe.bl_rna.properties["easing"].enum_items]
START, END = 3.0, 40.5
PLACES = np.linspace(START, END, 76)[:-1]
"""Multiples of half a frame, which float32 represents exactly."""
BEZIER_KEYS = 40
FLOAT32 = 1e-5
"""Blender's rounding error on steep curves, as a fraction of the range of values."""


@pytest.fixture
def segments(animation):
    return importlib.import_module(f"{animation.__name__}.fcurves.segments")


@pytest.fixture
def read_and_write(animation):
    return importlib.import_module(f"{animation.__name__}.fcurves.read_and_write")


def one_segment(kind: str, easing: str, start: float, end: float, **numbers: float) -> bpy.types.FCurve:
    thing = new_object()
    key(thing, "location", [(START, (start, 0, 0)), (END, (end, 0, 0))], channels=[0])
    point = curve(thing, "location", 0).keyframe_points[0]
    point.interpolation, point.easing = kind, easing
    for name, number in numbers.items():
        setattr(point, name, number)
    return curve(thing, "location", 0)


NUMBERS = {
    "as they come": {},
    "large": {"back": 4.0, "amplitude": 7.0, "period": 9.0},
    "none": {"back": 0.0, "amplitude": 0.0, "period": 0.0},
}


@pytest.mark.parametrize(("numbers", "easing", "kind"), all_pairs(NUMBERS, EASINGS, KINDS))
def test_values_are_blenders(segments, read_and_write, kind: str, easing: str, numbers: str) -> None:
    for start, end in ((1.0, 4.0), (2.0, -3.0), (1.0, 1.0)):
        played = one_segment(kind, easing, start, end, **NUMBERS[numbers])
        if kind == "BEZIER":
            for point, side in zip(played.keyframe_points, ("handle_right", "handle_left"), strict=True):
                setattr(point, f"{side}_type", "FREE")
            played.keyframe_points[0].handle_right = (18, end)
            played.keyframe_points[1].handle_left = (31, start - 2)
        found = segments.evaluate(read_and_write.read(played), np.zeros(len(PLACES), int), PLACES)
        wanted = np.array([played.evaluate(frame) for frame in PLACES])
        # For Bezier segments, Blender solves a cubic in float32. Elastic segments have angles of hundreds of radians.
        room = {"BEZIER": 1e-5, "ELASTIC": 1e-5}.get(kind, 1e-6)
        assert np.abs(found - wanted).max() <= room * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("easing", EASINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_are_those_of_the_values(segments, read_and_write, kind: str, easing: str) -> None:
    keys = read_and_write.read(one_segment(kind, easing, 1.0, 4.0, amplitude=2.0, back=2.5, period=20.0))
    # Avoid frames close to corners and vertical tangents.
    at, step = PLACES + 0.1, 1e-4
    begin = np.zeros(len(at), int)
    for order in (1, 2):
        around = [segments.evaluate(keys, begin, at + way, order - 1) for way in (step, -step)]
        slope = (around[0] - around[1]) / (2 * step)
        found = segments.evaluate(keys, begin, at, order)
        assert np.abs(found - slope).max() <= 1e-5 * max(1.0, np.abs(slope).max()), order


def test_a_circle_s_upright_end_has_a_finite_derivative(segments, read_and_write) -> None:
    keys = read_and_write.read(one_segment("CIRC", "EASE_IN", 1.0, 4.0))
    velocity = segments.evaluate(keys, np.zeros(1, int), np.array([END]), 1)
    assert 10.0 < velocity[0] < np.inf


def curve_with(lengths, generator):
    """Return an F-curve with handles of these lengths, given as fractions of the adjacent segments."""
    thing = new_object()
    frames = np.cumsum(generator.integers(2, 30, BEZIER_KEYS)).astype(float)
    key(
        thing,
        "location",
        list(zip(frames, [(value, 0.0, 0.0) for value in generator.normal(size=BEZIER_KEYS)], strict=True)),
    )
    fcurve = curve(thing, "location")
    for row, point in enumerate(fcurve.keyframe_points):
        point.handle_left_type = point.handle_right_type = "FREE"
        before = frames[row] - frames[max(row - 1, 0)]
        after = frames[min(row + 1, BEZIER_KEYS - 1)] - frames[row]
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
def test_segments_play_what_blender_plays(segments, read_and_write, lengths):
    generator = np.random.default_rng(1)
    fcurve = curve_with(lengths, generator)
    keys = read_and_write.read(fcurve)
    assert segments.is_plain(keys).tolist() == [True] * (BEZIER_KEYS - 1) + [False]
    frames = generator.uniform(keys.frames[0] + 0.01, keys.frames[-1] - 0.01, 3000).astype(np.float32)
    begin = np.searchsorted(keys.frames, frames, side="right") - 1
    expected = np.array([fcurve.evaluate(frame) for frame in frames.tolist()])
    off = np.abs(segments.evaluate_beziers(keys, begin, frames) - expected)
    assert (off <= FLOAT32 * np.ptp(expected) + steepest(fcurve, frames)).all()


def test_segments_of_other_kinds_are_told_apart(segments, read_and_write):
    fcurve = curve_with(lambda generator, n: np.full(n, 0.3), np.random.default_rng(2))
    points = fcurve.keyframe_points
    points[3].interpolation = "LINEAR"
    points[5].handle_right.x = points[5].co.x - 1.0
    points[8].handle_left.x = points[8].co.x + 1.0
    points[11].handle_left.x = float("nan")
    plain = segments.is_plain(read_and_write.read(fcurve))
    assert np.flatnonzero(~plain).tolist() == [3, 5, 7, 10, BEZIER_KEYS - 1]
