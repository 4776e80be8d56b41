# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare Blender's playback of fitted curves and fitted handles with the splines, at ten or more samples per frame."""

from __future__ import annotations

import numpy as np
import pytest

from interp import Keys, rotations
from interp.fitting import Request
from interp.fitting.curves import ROTATION_TOLERANCE, fit_many, handles
from interp.fitting.handles import fit_handles
from interp.splines import tcb
from tests.all_pairs import all_pairs
from tests.animation.curves import bag_of, new_object

FLOAT32 = 2.0**-23
FIRST_FRAMES = [1, 1000, 10_000, 100_000]
MODES = ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"]


def values_of_curve(places, co, left, right):
    """Return the values of an F-curve with FREE handles.

    The keys are set without `update`, which would sort and move them.
    """
    curve = bag_of(new_object("fitted")).fcurves.new("location")
    points = curve.keyframe_points
    points.add(len(co))
    for name, rows in (("co", co), ("handle_left", left), ("handle_right", right)):
        points.foreach_set(name, rows.ravel())
    for point in points:
        point.interpolation = "BEZIER"
        point.handle_left_type = point.handle_right_type = "FREE"
    return [curve.evaluate(place) for place in places]


def played_curves(numbers, keys, fit, frames):
    """Return Blender's values of all channels at `frames`, shape (m, channels). At jumps, return the earlier values."""
    columns = []
    for channel, knots in enumerate(fit.knots):
        every = np.concatenate([keys, knots.frames])
        order = np.argsort(every, kind="stable")
        every, values = every[order], np.concatenate([numbers[:, channel], knots.values])[order]
        incoming = np.concatenate([fit.incoming[:, channel], knots.derivatives])[order]
        outgoing = np.concatenate([fit.outgoing[:, channel], knots.derivatives])[order]
        co = np.stack([every, values], axis=1).astype(np.float32)
        columns.append(values_of_curve(frames, co, *handles(every, values, incoming, outgoing)))
    return np.array(columns).T


def played_handles(numbers, keys, fit, frames):
    """Return Blender's values of all channels at `frames`, shape (m, channels)."""
    columns = []
    for channel in range(numbers.shape[1]):
        co = np.stack([keys, numbers[:, channel] * fit.signs], axis=1).astype(np.float32)
        sides = [np.where(np.isnan(side[:, channel]), co, side[:, channel]) for side in (fit.left, fit.right)]
        columns.append(values_of_curve(frames, co, *sides))
    return np.array(columns).T


def sampled(first, last):
    """Return frames that float32 represents exactly, ten per frame."""
    return np.unique(np.linspace(first, last, int(last - first) * 10 + 1).astype(np.float32)).astype(float)


def rotation(first, mode, eased, step):
    """Return a spline and the channels of its keys, which continue from key to key without a jump."""
    generator = np.random.default_rng(20)
    turns = np.cumsum(generator.normal(size=(8, 3)) * step, axis=0)
    eases = generator.uniform(0.0, 0.8, (2, 8)) * eased
    parameters = generator.uniform(-0.7, 0.7, (3, 8))
    frames = first + np.cumsum(generator.integers(10, 30, 8))
    spline = tcb.RotationSpline(Keys(frames, rotations.from_rotation_vector(turns), *parameters, *eases))
    if mode == "QUATERNION":
        return spline, spline.keys.values
    dense = np.linspace(frames[0], frames[-1], 50 * int(frames[-1] - frames[0]) + 1)
    rows = np.searchsorted(dense, frames - 1e-3)
    if mode == "AXIS_ANGLE":
        axes, angles = rotations.follow_axis_angle(spline(dense), *rotations.to_axis_angle(spline(dense[0])))
        return spline, np.column_stack([angles, axes])[rows]
    return spline, rotations.follow_euler(spline(dense), mode)[rows]


def orientations(mode, channels):
    if mode == "QUATERNION":
        return rotations.normalise(channels)
    if mode == "AXIS_ANGLE":
        return rotations.from_axis_angle(channels[:, 1:], channels[:, 0])
    return rotations.from_euler(channels, mode)


# Curves with generated keys


@pytest.mark.parametrize(("first", "eased", "mode"), all_pairs(FIRST_FRAMES, [False, True], MODES))
def test_blender_plays_rotations_within_the_tolerance(mode, eased, first):
    spline, numbers = rotation(first, mode, eased, 0.25)
    (fit,) = fit_many([Request(spline, mode, numbers, tolerance=ROTATION_TOLERANCE)])
    assert fit.reached
    assert not fit.jumps.any()
    frames = sampled(*spline.keys.frames[[0, -1]])
    played = orientations(mode, played_curves(numbers, spline.keys.frames, fit, frames))
    found = rotations.angle_between(played, spline(frames)).max()
    assert found <= ROTATION_TOLERANCE
    assert found <= 1.05 * fit.error + 1e-6


@pytest.mark.parametrize("first", [*FIRST_FRAMES, 1_000_000])
@pytest.mark.parametrize("eased", [False, True])
@pytest.mark.parametrize("scale", [10.0, 0.01])
def test_blender_plays_vectors_within_the_tolerance(scale, eased, first):
    generator = np.random.default_rng(21)
    eases = generator.uniform(0.0, 1.0, (2, 8)) * eased
    values = generator.normal(size=(8, 2)) * scale
    frames = first + np.cumsum(generator.integers(10, 30, 8))
    spline = tcb.VectorSpline(Keys(frames, values, *generator.uniform(-0.7, 0.7, (3, 8)), *eases))
    tolerance = 1e-4 * np.ptp(values)
    (fit,) = fit_many([Request(spline, tolerance=tolerance)])
    places = sampled(*spline.keys.frames[[0, -1]])
    found = np.abs(played_curves(values, spline.keys.frames, fit, places) - spline(places)).max(axis=0)
    assert (found <= 1.05 * fit.errors.max(axis=0) + 1e-6 * np.abs(values).max(axis=0)).all()
    if fit.reached:
        assert (found <= tolerance).all()
    assert fit.reached or first == 1_000_000


# Handles of the keys themselves


@pytest.mark.parametrize(("first", "eased", "mode"), all_pairs(FIRST_FRAMES, [False, True], MODES))
def test_blender_plays_rotations_as_near_as_is_said(mode, eased, first):
    spline, numbers = rotation(first, mode, eased, 0.5)
    (fit,) = fit_handles([Request(spline, mode, numbers)])
    places = sampled(*spline.keys.frames[[0, -1]])
    found = orientations(mode, played_handles(numbers, spline.keys.frames, fit, places))
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
    found = np.abs(played_handles(values, frames, fit, places) - spline(places))
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
    off = np.abs(played_handles(values, frames, fit, places) - spline(places))
    begin = np.minimum(np.searchsorted(frames, places, side="right") - 1, len(frames) - 2)
    assert (off <= 1.05 * fit.errors[begin] + 1e-5 * np.ptp(values)).all()
