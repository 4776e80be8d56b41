# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's playback between keys with fitted handles, at ten samples per frame."""

from __future__ import annotations

import numpy as np
import pytest

from interp import Keys, rotations
from interp.fitting import Request
from interp.fitting.handles import fit_handles
from interp.splines import tcb
from tests.all_pairs import all_pairs
from tests.animation.curves import bag_of, new_object

FLOAT32 = 2.0**-23


def played(frames, numbers, fit, places):
    """Return Blender's values of all channels at the samples, shape (m, channels)."""
    curve = bag_of(new_object("handled")).fcurves.new("location")
    columns = []
    for channel in range(numbers.shape[1]):
        points = curve.keyframe_points
        points.clear()
        points.add(len(frames))
        co = np.stack([frames, numbers[:, channel] * fit.signs], axis=1).astype(np.float32)
        points.foreach_set("co", co.ravel())
        for name, handle in (("handle_left", fit.left), ("handle_right", fit.right)):
            points.foreach_set(name, np.where(np.isnan(handle[:, channel]), co, handle[:, channel]).ravel())
        for point in points:
            point.interpolation = "BEZIER"
            point.handle_left_type = point.handle_right_type = "FREE"
        columns.append([curve.evaluate(place) for place in places])
    return np.array(columns).T


def sampled(first, last):
    """Return samples that float32 represents exactly, ten per frame."""
    return np.unique(np.linspace(first, last, int(last - first) * 10 + 1).astype(np.float32)).astype(float)


def rotation(first, eased, step=0.5):
    generator = np.random.default_rng(20)
    turns = np.cumsum(generator.normal(size=(8, 3)) * step, axis=0)
    eases = generator.uniform(0.0, 0.8, (2, 8)) * eased
    frames = first + np.cumsum(generator.integers(10, 30, 8))
    parameters = generator.uniform(-0.7, 0.7, (3, 8))
    return tcb.RotationSpline(Keys(frames, rotations.from_rotation_vector(turns), *parameters, *eases))


def numbers_of(spline, held):
    """Return keys whose channel values are continuous."""
    frames = spline.keys.frames
    dense = np.linspace(frames[0], frames[-1], 50 * int(frames[-1] - frames[0]) + 1)
    rows = np.searchsorted(dense, frames - 1e-3)
    if held == "QUATERNION":
        return spline.keys.values
    if held == "AXIS_ANGLE":
        axes, angles = rotations.follow_axis_angle(spline(dense), *rotations.to_axis_angle(spline(dense[0])))
        return np.column_stack([angles, axes])[rows]
    return rotations.follow_euler(spline(dense), held)[rows]


def orientations(held, channels):
    if held == "QUATERNION":
        return rotations.normalise(channels)
    if held == "AXIS_ANGLE":
        return rotations.from_axis_angle(channels[:, 1:], channels[:, 0])
    return rotations.from_euler(channels, held)


@pytest.mark.parametrize(
    ("first", "eased", "held"),
    all_pairs([1, 1000, 10_000, 100_000], [False, True], ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"]),
)
def test_blender_plays_rotations_as_near_as_is_said(held, eased, first):
    spline = rotation(first, eased)
    numbers = numbers_of(spline, held)
    (fit,) = fit_handles([Request(spline, held, numbers)])
    places = sampled(*spline.keys.frames[[0, -1]])
    found = orientations(held, played(spline.keys.frames, numbers, fit, places))
    apart = rotations.angle_between(found, spline(places))
    begin = np.minimum(np.searchsorted(spline.keys.frames, places, side="right") - 1, len(numbers) - 2)
    rounding = 8.0 * FLOAT32 * max(1.0, np.abs(numbers).max())
    assert (apart <= 1.05 * fit.errors[begin, 0] + rounding).all()


@pytest.mark.parametrize(("first", "relative"), [(1, 1.2e-6), (1000, 4e-6), (10_000, 3e-5), (100_000, 2.4e-4)])
def test_values_without_ease_are_the_spline(first, relative):
    generator = np.random.default_rng(7)
    frames = first + np.cumsum(generator.integers(5, 25, 12))
    values = generator.normal(size=(12, 3)).astype(np.float32).astype(float)
    spline = tcb.VectorSpline(Keys(frames, values, *generator.uniform(-1.0, 1.0, (3, 12))))
    (fit,) = fit_handles([Request(spline)])
    places = sampled(frames[0], frames[-1])
    found = np.abs(played(frames, values, fit, places) - spline(places))
    assert (found.max(axis=0) <= relative * np.ptp(values, axis=0)).all()


@pytest.mark.parametrize("first", [1, 1000, 100_000])
def test_blender_plays_eased_values_as_near_as_is_said(first):
    generator = np.random.default_rng(8)
    frames = first + np.cumsum(generator.integers(5, 25, 12))
    values = generator.normal(size=(12, 2)).astype(np.float32).astype(float)
    eases = np.clip(generator.uniform(-0.5, 1.5, (2, 12)), 0.0, 1.0)
    spline = tcb.VectorSpline(Keys(frames, values, *generator.uniform(-1.0, 1.0, (3, 12)), *eases))
    (fit,) = fit_handles([Request(spline)])
    places = sampled(frames[0], frames[-1])
    off = np.abs(played(frames, values, fit, places) - spline(places))
    begin = np.minimum(np.searchsorted(frames, places, side="right") - 1, len(frames) - 2)
    assert (off <= 1.05 * fit.errors[begin] + 1e-5 * np.ptp(values)).all()
