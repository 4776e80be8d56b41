# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare Blender's playback of fitted keys with the splines, at ten or more samples per frame."""

from __future__ import annotations

import numpy as np
import pytest

from interp import Keys, rotations
from interp.fitting import Request
from interp.fitting.curves import ROTATION_TOLERANCE, fit_many, handles
from interp.splines import tcb
from tests.all_pairs import all_pairs
from tests.animation.curves import bag_of, new_object


def curve_of(frames, values, incoming, outgoing):
    """Return an F-curve with FREE handles. The keys are set without `update`, which would sort and move them."""
    curve = bag_of(new_object("fitted")).fcurves.new("location")
    points = curve.keyframe_points
    points.add(len(frames))
    left, right = handles(frames, values, incoming, outgoing)
    points.foreach_set("co", np.stack([frames, values], axis=1).astype(np.float32).ravel())
    points.foreach_set("handle_left", left.ravel())
    points.foreach_set("handle_right", right.ravel())
    for point in points:
        point.interpolation = "BEZIER"
        point.handle_left_type = point.handle_right_type = "FREE"
    return curve


def played(numbers, keys, fit, frames):
    """Return Blender's values of all channels at `frames`, shape (m, channels). At jumps, return the earlier values."""
    columns = []
    for channel, knots in enumerate(fit.knots):
        every = np.concatenate([keys, knots.frames])
        order = np.argsort(every, kind="stable")
        curve = curve_of(
            every[order],
            np.concatenate([numbers[:, channel], knots.values])[order],
            np.concatenate([fit.incoming[:, channel], knots.derivatives])[order],
            np.concatenate([fit.outgoing[:, channel], knots.derivatives])[order],
        )
        columns.append([curve.evaluate(frame) for frame in frames])
    return np.array(columns).T


def sampled(first, last):
    """Return frames that float32 represents exactly, ten per frame."""
    return np.unique(np.linspace(first, last, int(last - first) * 10 + 1).astype(np.float32)).astype(float)


def rotation(first, held, eased, step=0.5):
    generator = np.random.default_rng(20)
    turns = np.cumsum(generator.normal(size=(8, 3)) * step * 0.5, axis=0)
    eases = generator.uniform(0.0, 0.8, (2, 8)) * eased
    parameters = generator.uniform(-0.7, 0.7, (3, 8))
    frames = first + np.cumsum(generator.integers(10, 30, 8))
    spline = tcb.RotationSpline(Keys(frames, rotations.from_rotation_vector(turns), *parameters, *eases))
    if held == "QUATERNION":
        return spline, spline.keys.values
    # The channels of each key continue from the previous key without a jump.
    dense = np.linspace(frames[0], frames[-1], 50 * int(frames[-1] - frames[0]) + 1)
    rows = np.searchsorted(dense, frames - 1e-3)
    if held == "AXIS_ANGLE":
        axes, angles = rotations.follow_axis_angle(spline(dense), *rotations.to_axis_angle(spline(dense[0])))
        return spline, np.column_stack([angles, axes])[rows]
    return spline, rotations.follow_euler(spline(dense), held)[rows]


@pytest.mark.parametrize(
    ("first", "eased", "held"),
    all_pairs(
        [1, 1000, 10_000, 100_000],
        [False, True],
        ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"],
    ),
)
def test_blender_plays_rotations_within_the_tolerance(held, eased, first):
    spline, numbers = rotation(first, held, eased)
    (fit,) = fit_many([Request(spline, held, numbers, tolerance=ROTATION_TOLERANCE)])
    assert fit.reached
    assert not fit.jumps.any()
    frames = sampled(*spline.keys.frames[[0, -1]])
    channels = played(numbers, spline.keys.frames, fit, frames)
    if held == "QUATERNION":
        q = rotations.normalise(channels)
    elif held == "AXIS_ANGLE":
        q = rotations.from_axis_angle(channels[:, 1:], channels[:, 0])
    else:
        q = rotations.from_euler(channels, held)
    found = rotations.angle_between(q, spline(frames)).max()
    assert found <= ROTATION_TOLERANCE
    assert found <= 1.05 * fit.error + 1e-6


@pytest.mark.parametrize("first", [1, 1000, 10_000, 100_000, 1_000_000])
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
    found = np.abs(played(values, spline.keys.frames, fit, places) - spline(places)).max(axis=0)
    assert (found <= 1.05 * fit.errors.max(axis=0) + 1e-6 * np.abs(values).max(axis=0)).all()
    if fit.reached:
        assert (found <= tolerance).all()
    assert fit.reached or first == 1_000_000


@pytest.mark.parametrize(("first", "relative"), [(1, 6e-7), (1000, 2e-6), (10_000, 1.5e-5), (100_000, 1.2e-4)])
def test_vectors_without_ease_are_exact_but_for_the_frames_of_handles(first, relative):
    generator = np.random.default_rng(22)
    values = generator.normal(size=(8, 1))
    frames = first + np.cumsum(generator.integers(10, 30, 8))
    spline = tcb.VectorSpline(Keys(frames, values))
    (fit,) = fit_many([Request(spline, tolerance=1e-3 * np.ptp(values))])
    assert len(fit.knots[0].frames) == 0
    places = sampled(*spline.keys.frames[[0, -1]])
    found = np.abs(played(values, spline.keys.frames, fit, places) - spline(places)).max()
    assert found <= relative * np.ptp(values)
