# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that Reduce changes keys only within a range of frames."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.animation.curves import bits, channels, fcurves, key_densely, new_object, track_keys

FIRST, LAST = 31.0, 70.0
FRAMES = np.arange(1.0, 101.0)
OUTSIDE = np.concatenate([np.arange(1.0, FIRST + 0.01, 0.125), np.arange(LAST, 100.01, 0.125)])


def set_keys(obj, interpolation, smoothing):
    for curve in fcurves(obj):
        curve.auto_smoothing = smoothing
        for point in curve.keyframe_points:
            point.interpolation = interpolation
            point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        curve.update()


@pytest.fixture(params=["XYZ", "QUATERNION", "AXIS_ANGLE"])
def thing(scene, request):
    """Return an object that moves and turns with some noise, in one of the rotation modes."""
    obj = new_object("Thing")
    obj.rotation_mode = request.param
    random, t = np.random.default_rng(7), (FRAMES[:, np.newaxis] - 1.0) / 15.0
    key_densely(obj, "location", np.hstack([np.sin(t), np.cos(1.3 * t), 0.2 * t]) + 2e-4 * random.normal(size=(100, 3)))
    angles = np.hstack([0.5 + 0.4 * np.sin(t), 0.3 * np.cos(1.7 * t), 0.2 * t]) + 1e-4 * random.normal(size=(100, 3))
    turned = Rotation.from_euler("XYZ", angles)
    if request.param == "XYZ":
        key_densely(obj, "rotation_euler", angles)
    elif request.param == "QUATERNION":
        key_densely(obj, "rotation_quaternion", -1.1 * turned.as_quat()[:, [3, 0, 1, 2]])
    else:
        vectors = turned.as_rotvec()
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        key_densely(obj, "rotation_axis_angle", np.hstack([length, vectors / length]))
    return obj


def played(obj, frames):
    return {key: np.array([curve.evaluate(frame) for frame in frames]) for key, curve in channels(obj).items()}


def beside(obj, types=True):
    """Return all data of the keys outside the range for each channel, except identities."""
    found = {}
    for key, curve in channels(obj).items():
        names = ["co", "handle_left", "handle_right", "interpolation", "easing", "type", "select_control_point"]
        names += ["handle_left_type", "handle_right_type"] if types else []
        found[key] = [
            [
                tuple(value) if name.startswith(("co", "handle")) and "type" not in name else value
                for name in names
                for value in [getattr(point, name)]
            ]
            for point in curve.keyframe_points
            if not FIRST <= point.co[0] <= LAST
        ]
    return found


@pytest.mark.parametrize(
    ("thing", "interpolation", "smoothing"),
    [
        ("XYZ", "LINEAR", "NONE"),
        ("QUATERNION", "BEZIER", "NONE"),
        ("AXIS_ANGLE", "BEZIER", "CONT_ACCEL"),
        ("XYZ", "BEZIER", "NONE"),
        ("QUATERNION", "SINE", "NONE"),
    ],
    indirect=["thing"],
)
def test_keys_beside_the_range_stay_and_play_as_before(animation, thing, interpolation, smoothing):
    set_keys(thing, interpolation, smoothing)
    original, kept = thing.animation_data.action, [bits(curve) for curve in fcurves(thing)]
    wanted, keys, inside = played(thing, OUTSIDE), beside(thing, smoothing == "NONE"), played(thing, FRAMES)
    result = animation.reduce(thing, error=0.004, angle=math.radians(0.3), frame_range=(FIRST, LAST))
    assert result.reached
    assert result.diamonds < result.diamonds_before / 2 == 20
    assert beside(thing, smoothing == "NONE") == keys
    for key, values in played(thing, OUTSIDE).items():
        assert np.array_equal(values, wanted[key]), key
    now = played(thing, FRAMES)
    off = [now["location", i] - inside["location", i] for i in range(3)]
    assert np.linalg.norm(off, axis=0).max() <= 0.004
    for verb in (animation.restore, animation.remove):
        verb(thing)
        for key, values in played(thing, OUTSIDE).items():
            assert np.array_equal(values, wanted[key]), (verb, key)
        assert beside(thing, smoothing == "NONE") == keys
    thing.animation_data.action = original
    assert [bits(curve) for curve in fcurves(thing)] == kept


@pytest.mark.parametrize("thing", ["XYZ", "QUATERNION", "AXIS_ANGLE"], indirect=True)
def test_tcb_keys_of_a_range_are_within_the_error_and_join_what_is_beside(animation, thing):
    set_keys(thing, "BEZIER", "NONE")
    wanted, inside = played(thing, OUTSIDE), played(thing, FRAMES)
    result = animation.reduce(thing, error=0.004, angle=math.radians(0.3), frame_range=(FIRST, LAST), method="TCB")
    assert result.reached
    assert result.diamonds < result.diamonds_before / 2 == 20
    for key, values in played(thing, OUTSIDE).items():
        assert np.array_equal(values, wanted[key]), key
    now = played(thing, FRAMES)
    off = [now["location", i] - inside["location", i] for i in range(3)]
    assert np.linalg.norm(off, axis=0).max() <= 0.004
    assert animation.find_track(thing, "location").settings.method == "TCB"


def test_what_blender_plays_beside_a_range_is_shown_as_such(animation, scene):
    obj = new_object("Shown")
    key_densely(obj, "location", np.outer(np.sin((FRAMES - 1.0) / 9.0), [1.0, -2.0, 0.5]))
    set_keys(obj, "BEZIER", "NONE")
    animation.reduce(obj, error=0.01, frame_range=(FIRST, LAST), method="TCB")
    key_sides, keys = animation.checks.shown_key, track_keys(animation, obj, "location")
    inner = next(point.co[0] for point in fcurves(obj)[0].keyframe_points if point.co[0] > FIRST)
    frames = np.array([10.0, FIRST, inner, LAST], dtype=np.float32)
    kind, spline = animation.fcurves.keyframes.INTERPOLATION["BEZIER"], key_sides.SPLINE
    expected = [[kind, kind], [kind, spline], [spline, spline], [spline, kind]]
    assert key_sides.interpolations_beside(keys.track, keys.own, frames).tolist() == expected


@pytest.mark.parametrize(("smoothing", "kind"), [("CONT_ACCEL", "FREE"), ("NONE", "AUTO_CLAMPED")])
def test_handles_beside_a_range_that_become_free_are_reported(animation, scene, smoothing, kind):
    obj = new_object("Handles")
    key_densely(obj, "location", np.outer(np.sin((FRAMES - 1.0) / 9.0), [1.0, -2.0, 0.5]))
    set_keys(obj, "BEZIER", smoothing)
    result = animation.reduce(obj, error=0.01, frame_range=(FIRST, LAST))
    assert {point.handle_left_type for point in fcurves(obj)[0].keyframe_points if point.co[0] < FIRST} == {kind}
    assert bool([note for note in result.notes if "now Free" in str(note)]) == (kind == "FREE")


def test_other_outputs_play_what_is_beside_as_before_too(animation, thing):
    set_keys(thing, "BEZIER", "NONE")
    wanted = played(thing, OUTSIDE)
    animation.reduce(thing, error=0.01, angle=math.radians(0.3), frame_range=(FIRST, LAST))
    for output in ("SAMPLES", "CURVES", "HANDLES"):
        report = animation.bake(thing, output=output)
        assert not [note for note in report.notes if "handle types" in str(note)]
        for key, values in played(thing, OUTSIDE).items():
            assert np.array_equal(values, wanted[key]), (output, key)


def test_a_bezier_segment_beside_becomes_one_of_the_spline_where_that_is_chosen(animation, scene):
    obj = new_object("Chosen")
    key_densely(obj, "location", np.outer(np.sin((FRAMES - 1.0) / 9.0), [1.0, -2.0, 0.5]))
    set_keys(obj, "BEZIER", "NONE")
    animation.reduce(obj, error=0.01, frame_range=(FIRST, LAST))
    before = played(obj, [85.5])["location", 0][0]
    animation.key_set(obj, "location", 85.0, velocity=(2.0, 0.0, 0.0))
    animation.bake(obj, output="HANDLES")
    assert played(obj, [85.5])["location", 0][0] == before
    animation.key_set(obj, "location", 85.0, interpolation="BEZIER")
    animation.bake(obj, output="HANDLES")
    # The Hermite cubic starts with the key's velocity, and is at rest at the next key, which has no velocity.
    start, end = (curves[0] for curves in (played(obj, [85.0])["location", 0], played(obj, [86.0])["location", 0]))
    assert played(obj, [85.5])["location", 0][0] == pytest.approx(0.5 * (start + end) + 2.0 / 8.0, abs=1e-5)
    assert played(obj, [84.5, 86.5])["location", 0] == pytest.approx([np.sin(83.5 / 9.0), np.sin(85.5 / 9.0)], abs=2e-3)


def test_tracks_that_new_keys_can_not_go_on_from_stay_with_a_note(animation, scene):
    obj = new_object("Apart")
    key_densely(obj, "location", np.outer(np.sin((FRAMES - 1.0) / 9.0), [1.0, -2.0, 0.5]))
    key_densely(obj, "scale", np.outer(2.0 + np.cos((FRAMES - 1.0) / 9.0), [1.0, 2.0, 0.5]))
    turned = np.hstack(
        [np.tile([0.0, 0.0], (100, 1)), np.where(FRAMES < 50, FRAMES / 20.0, FRAMES / 20.0 - 2 * np.pi)[:, np.newaxis]]
    )
    key_densely(obj, "rotation_euler", turned)
    set_keys(obj, "LINEAR", "NONE")
    for curve in fcurves(obj):
        if curve.data_path == "scale":
            points = curve.keyframe_points
            points.remove(next(point for point in points if point.co[0] == FIRST))
    before = beside(obj), played(obj, FRAMES)
    result = animation.reduce(obj, error=0.01, frame_range=(FIRST, LAST))
    assert len([note for note in result.notes if "is kept in the file" not in str(note)]) == 2
    assert any("no key at frame 31" in str(note) and "Scale" in str(note) for note in result.notes)
    assert any("jump by a full turn" in str(note) and "Euler Rotation" in str(note) for note in result.notes)
    now = played(obj, FRAMES)
    for (path, index), values in before[1].items():
        if path != "location":
            assert np.array_equal(now[path, index], values)
    with pytest.raises(animation.AnimationError, match="no key at frame 31"):
        animation.reduce(obj, ["scale"], frame_range=(FIRST, LAST))
    with pytest.raises(animation.AnimationError, match="from frame 200 to 300"):
        animation.reduce(obj, frame_range=(200.0, 300.0))
