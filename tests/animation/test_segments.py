# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments of every interpolation and easing type in closed form, compared with Blender's evaluation of F-curves."""

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
"""Return multiples of half a frame, which float32 represents exactly."""


@pytest.fixture
def segments(animation):
    return importlib.import_module(f"{animation.__name__}.fcurves.segments")


@pytest.fixture
def read_keys(animation):
    return importlib.import_module(f"{animation.__name__}.fcurves.read_keys")


def fcurve(kind: str, easing: str, start: float, end: float, **numbers: float) -> bpy.types.FCurve:
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
def test_values_are_blenders(segments, read_keys, kind: str, easing: str, numbers: str) -> None:
    for start, end in ((1.0, 4.0), (2.0, -3.0), (1.0, 1.0)):
        played = fcurve(kind, easing, start, end, **NUMBERS[numbers])
        if kind == "BEZIER":
            for point, side in zip(played.keyframe_points, ("handle_right", "handle_left"), strict=True):
                setattr(point, f"{side}_type", "FREE")
            played.keyframe_points[0].handle_right = (18, end)
            played.keyframe_points[1].handle_left = (31, start - 2)
        found = segments.evaluate(read_keys.read(played), np.zeros(len(PLACES), int), PLACES)
        wanted = np.array([played.evaluate(frame) for frame in PLACES])
        # For Bezier segments, Blender solves a cubic in float32. Elastic segments have angles of hundreds of radians.
        room = {"BEZIER": 1e-5, "ELASTIC": 1e-5}.get(kind, 1e-6)
        assert np.abs(found - wanted).max() <= room * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("easing", EASINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_are_those_of_the_values(segments, read_keys, kind: str, easing: str) -> None:
    keys = read_keys.read(fcurve(kind, easing, 1.0, 4.0, amplitude=2.0, back=2.5, period=20.0))
    # Avoid frames close to corners and vertical tangents.
    at, step = PLACES + 0.1, 1e-4
    begin = np.zeros(len(at), int)
    for order in (1, 2):
        around = [segments.evaluate(keys, begin, at + way, order - 1) for way in (step, -step)]
        slope = (around[0] - around[1]) / (2 * step)
        found = segments.evaluate(keys, begin, at, order)
        assert np.abs(found - slope).max() <= 1e-5 * max(1.0, np.abs(slope).max()), order


def test_a_circle_s_upright_end_has_a_finite_derivative(segments, read_keys) -> None:
    keys = read_keys.read(fcurve("CIRC", "EASE_IN", 1.0, 4.0))
    velocity = segments.evaluate(keys, np.zeros(1, int), np.array([END]), 1)
    assert 10.0 < velocity[0] < np.inf
