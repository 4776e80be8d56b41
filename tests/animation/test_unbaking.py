# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce gives back the keys that dense curves were made from, as Blender plays them."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
import pytest

from tests.animation.curves import fcurves
from tests.animation.dense_copies import curves, drawn, frames_of, keyed, sampled


def between(obj, path, frames):
    """Return what Blender plays of a property, at whole frames and between them."""
    at = np.linspace(frames[0], frames[-1], 8 * (frames[-1] - frames[0]) + 1)
    return np.array(
        [[fcurve.evaluate(frame) for frame in at] for (own, _), fcurve in curves(obj).items() if own == path]
    )


@pytest.mark.parametrize("smoothing", ["NONE", "CONT_ACCEL"])
@pytest.mark.parametrize("handles", ["AUTO", "AUTO_CLAMPED"])
def test_automatic_handles_come_back_to_what_blender_plays_between_frames(animation, scene, handles, smoothing):
    random = np.random.default_rng(3)
    frames = drawn(random, 10)
    obj = keyed(random, {"location": frames})
    for fcurve in fcurves(obj):
        fcurve.auto_smoothing = smoothing
        for point in fcurve.keyframe_points:
            point.handle_left_type = point.handle_right_type = handles
        fcurve.update()
    other = sampled(obj)
    result = animation.reduce(other)
    assert frames_of(other, "location") == frames
    np.testing.assert_allclose(between(other, "location", frames), between(obj, "location", frames), atol=1e-4)
    assert result.error < 1e-5


def test_parameters_come_back_as_they_were_set(animation, scene):
    random = np.random.default_rng(4)
    frames = drawn(random, 8)
    obj = keyed(random, {"location": frames})
    animation.enable(obj)
    wanted = random.uniform(-0.9, 0.9, (len(frames), 3)).round(2)
    for frame, (tension, continuity, bias) in zip(frames, wanted.tolist(), strict=True):
        animation.key_set(obj, "location", frame, tension=tension, continuity=continuity, bias=bias)
    animation.bake(obj, output="SAMPLES")
    other = sampled(obj)
    animation.reduce(other)
    assert frames_of(other, "location") == frames
    found = parameters(animation, other, "location")
    np.testing.assert_allclose(found[1:-1], wanted[1:-1], atol=0.02)
    # The samples of a bake go straight from frame to frame.
    played, wanted = (between(each, "location", frames)[:, ::8] for each in (other, obj))
    np.testing.assert_allclose(played, wanted, atol=1e-5)


def parameters(animation, obj, path):
    """Return tension, continuity and bias of the keys of a track's first channel, shape (n, 3)."""
    store, channels = (import_module(f"{animation.__name__}.{name}") for name in ("store", "fcurves.channels"))
    found = import_module(f"{store.__name__}.tracks").find_tracks(obj, channels.channels_of(obj))
    (track,) = [each for each in found if each.path == path]
    (own,) = import_module(f"{store.__name__}.own_keys").read_all_own_keys([track])
    return own[0].numbers[:, :3]


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_rotations_by_tcb_come_back(animation, scene, mode):
    random = np.random.default_rng(5)
    frames = drawn(random, 7, 8, 18)
    path = "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"
    obj = keyed(random, {path: frames}, mode)
    animation.enable(obj)
    for frame in frames:
        animation.key_set(obj, path, frame, tension=random.uniform(-0.5, 0.5), bias=random.uniform(-0.5, 0.5))
    animation.bake(obj, output="SAMPLES")
    other = sampled(obj)
    result = animation.reduce(other, angle=math.radians(0.5))
    assert frames_of(other, path) == frames
    assert result.angle < math.radians(0.5)
    assert not any("not TCB" in str(note) for note in result.notes)


def test_an_angle_beyond_the_one_asked_for_is_told(animation, scene):
    random = np.random.default_rng(10)
    for mode in ("QUATERNION", "XYZ"):
        path = "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"
        frames = {each: drawn(random, 8, 4, 20) for each in ("location", path)}
        obj = keyed(random, frames, mode)
        animation.enable(obj)
        for each, at in frames.items():
            for frame in at:
                numbers = random.uniform(-0.8, 0.8, 3).tolist()
                chosen = dict(zip(("tension", "continuity", "bias"), numbers, strict=True))
                animation.key_set(obj, each, frame, **chosen)
    # Fast turns by Euler angles, which handles play channel by channel.
    animation.bake(obj, output="SAMPLES")
    result = animation.reduce(sampled(obj))
    assert result.angle > math.radians(5.0)
    assert not result.reached
    assert f"off by up to {math.degrees(result.angle):.1f}°" in str(result) or "off by up to <0.1°" in str(result)


def test_lines_and_steps_among_curves_are_linear_and_constant_keys_of_a_tcb_track(animation, scene):
    random = np.random.default_rng(6)
    frames = drawn(random, 9, 8, 16)
    obj = keyed(random, {"location": frames})
    animation.enable(obj)
    for fcurve in fcurves(obj):
        fcurve.keyframe_points[3].interpolation = "LINEAR"
        fcurve.keyframe_points[6].interpolation = "CONSTANT"
    animation.bake(obj, output="SAMPLES")
    other = sampled(obj)
    animation.reduce(other)
    assert frames_of(other, "location") == frames
    # The last two keys are alone after the step: TCB goes straight from the one to the other.
    for fcurve in fcurves(other):
        types = [point.interpolation for point in fcurve.keyframe_points]
        assert types == ["BEZIER"] * 3 + ["LINEAR"] + ["BEZIER"] * 2 + ["CONSTANT", "LINEAR", "BEZIER"]
    whole = slice(None, None, 8)
    played, wanted = (between(each, "location", frames)[:, whole] for each in (other, obj))
    np.testing.assert_allclose(played, wanted, atol=1e-4)
