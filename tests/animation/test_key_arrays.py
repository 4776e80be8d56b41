# SPDX-License-Identifier: GPL-3.0-or-later
"""Conversion of arrays to keys of a track, and back."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from interp import Keys, tcb
from interp.splines.lightwave_kochanek_bartels import KochanekBartelsSpline, LightWaveSpline
from tests.animation.curves import curve, fcurves, key, new_object, new_rig, snapshot
from tests.formats.motionbuilder_tcb import TCB_KEYS, TCB_VALUES

FRAMES = np.array([1.0, 5.0, 12.5, 20.0, 31.0])
VALUES = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32).astype(np.float64)
PARAMETERS = {name: np.random.default_rng(2).uniform(-0.5, 0.5, 5).astype(np.float32) for name in ("tension", "bias")}
PLACES = np.linspace(1.0, 31.0, 121)


@pytest.fixture
def box(scene: Any) -> bpy.types.Object:
    return new_object("Box")


def played(item: bpy.types.Object, path: str = "location") -> np.ndarray:
    curves = [each for each in fcurves(item) if each.data_path == path]
    return np.array([[curve.evaluate(frame) for curve in curves] for frame in PLACES])


def test_keys_of_3d_studio_are_played_and_come_back_bit_for_bit(box: Any, animation: Any) -> None:
    given = {**PARAMETERS, "continuity": PARAMETERS["bias"][::-1]}
    report = animation.set_keys(box, "location", FRAMES, VALUES, **given)
    assert (report.tracks, report.keys) == (1, 5)
    np.testing.assert_allclose(played(box), tcb.VectorSpline(Keys(FRAMES, VALUES, **given))(PLACES), atol=2e-6)
    found = animation.get_keys(box, "location")
    np.testing.assert_array_equal(found.frames, FRAMES)
    np.testing.assert_array_equal(found.values, VALUES)
    for name, numbers in given.items():
        np.testing.assert_array_equal(getattr(found, name), numbers)
    assert found.tangents_in is None


def test_baked_keys_come_back_as_they_were_set(box: Any, animation: Any) -> None:
    kinds = ["BEZIER", "LINEAR", "CONSTANT", "BEZIER", "BEZIER"]
    animation.set_keys(box, "location", FRAMES, VALUES, interpolation=kinds, ease_to=0.25)
    before = animation.get_keys(box, "location")
    animation.bake(box)
    after = animation.get_keys(box, "location")
    assert after.interpolation == kinds
    for name in ("frames", "values", "ease_to"):
        assert getattr(after, name).tobytes() == getattr(before, name).tobytes()


@pytest.mark.parametrize(("dialect", "spline"), [("LIGHTWAVE", LightWaveSpline), ("KB", KochanekBartelsSpline)])
def test_other_dialects_play_as_their_programs_do(box: Any, animation: Any, dialect: str, spline: Any) -> None:
    given = {**PARAMETERS, "continuity": PARAMETERS["tension"][::-1]}
    animation.set_keys(box, "location", FRAMES, VALUES, dialect=dialect, **given)
    np.testing.assert_allclose(played(box), spline(Keys(FRAMES, VALUES, **given))(PLACES), atol=2e-6)


def test_keys_of_fbx_play_what_motionbuilder_plays(box: Any, animation: Any) -> None:
    ticks, values, parameters = TCB_KEYS
    tension, continuity, bias = np.array(parameters).T
    frames = np.array(ticks) / 46186158000 * 24.0
    report = animation.set_keys(
        box,
        "color",
        frames,
        np.tile(values, (4, 1)).T,
        tension=tension,
        continuity=continuity,
        bias=bias,
        dialect="FBX",
    )
    assert report.errors == []
    curve = fcurves(box)[0]
    np.testing.assert_allclose([curve.evaluate(frame) for frame in range(61)], TCB_VALUES, atol=1e-5)


def test_even_keys_of_another_dialect_become_tcb(box: Any, animation: Any) -> None:
    item = bpy.data.lights.new("Lamp", "POINT")
    animation.set_keys(item, "energy", [1, 11, 21, 31], [0, 2, 1, 3], tension=0.5, dialect="FBX")
    found = animation.get_keys(item, "energy")
    assert found.tangents_in is None
    np.testing.assert_allclose(found.tension[1:-1], 0.5, atol=1e-7)


def test_parameters_beyond_their_range_stay_plain_and_a_note_says_so(box: Any, animation: Any) -> None:
    report = animation.set_keys(box, "location", FRAMES, VALUES, tension=[0.0, 2.0, 0.0, 0.0, 0.0])
    assert [(note.code, note.object, note.track) for note in report.notes] == [("STAYS_PLAIN", "Box", "location")]
    # With a tension of 2, the tangent is the opposite of the tangent without tension.
    found, plain = animation.get_keys(box, "location"), tcb.VectorSpline(Keys(FRAMES, VALUES))
    np.testing.assert_allclose(found.tangents_out[1], -plain(FRAMES[1], nu=1), atol=1e-5)
    assert not animation.set_keys(box, "location", FRAMES, VALUES, tension=1.0).notes


def test_tangents_are_played_exactly_and_come_back(box: Any, animation: Any) -> None:
    slopes = np.random.default_rng(3).normal(size=(5, 3)) * 0.2
    animation.set_keys(box, "location", FRAMES, VALUES, tangents_in=slopes, tangents_out=slopes)
    np.testing.assert_allclose(played(box), CubicHermiteSpline(FRAMES, VALUES, slopes)(PLACES), atol=5e-6)
    found = animation.get_keys(box, "location")
    np.testing.assert_allclose(found.tangents_in, slopes, atol=1e-6)
    np.testing.assert_allclose(found.tangents_out, slopes, atol=1e-6)


def test_rotations_of_bones_are_keyed_whole(arm: Any, animation: Any) -> None:
    bone = arm.pose.bones[0]
    bone.rotation_mode = "QUATERNION"
    path = f'pose.bones["{bone.name}"].rotation_quaternion'
    turns = np.random.default_rng(4).normal(size=(5, 4)) * 0.2 + [1, 0, 0, 0]
    report = animation.set_keys(arm, path, FRAMES, turns, tension=0.2)
    assert (report.tracks, len(report.handles)) == (1, 1)
    np.testing.assert_array_equal(animation.get_keys(arm, path).values, turns.astype(np.float32))


def test_a_baked_track_whose_path_begins_with_the_path_stays_baked(scene: Any, animation: Any) -> None:
    lamp = bpy.data.lights.new("Lamp", "AREA")
    key(lamp, "size_y", [(1, 1.0), (10, 2.0), (20, 1.0)])
    animation.enable(lamp)
    animation.bake(lamp)
    animation.set_keys(lamp, "size", [1.0, 10.0, 20.0], [1.0, 3.0, 2.0], tension=0.5)
    assert animation.find_track(lamp, "size").is_played_by_handles
    assert animation.find_track(lamp, "size_y").is_baked


def test_a_negative_zero_frame_is_the_frame_0(box: Any, animation: Any) -> None:
    animation.set_keys(box, "location", [0.0, 10.0], np.zeros((2, 3)))
    animation.remove(box)
    fcurves(box)[1].keyframe_points[0].co.x = -0.0
    assert animation.get_keys(box, "location").frames.tolist() == [0.0, 10.0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"frames": [[1, 2]]}, "frames must be of shape"),
        ({"frames": [1, 1, 2, 3, 4]}, "must increase by more than"),
        ({"frames": [1, 2, 3, 4, np.nan]}, "frames"),
        ({"values": VALUES[:4]}, "values must be of shape"),
        ({"values": VALUES[:, :2]}, "have 3 components, not 2"),
        ({"tension": [0, 0]}, "tension must be a number or of shape"),
        ({"tangents_in": VALUES[:2]}, "tangents_in must be of shape"),
        ({"interpolation": "CUBIC"}, "interpolation must be one of BEZIER, LINEAR, CONSTANT, not 'CUBIC'"),
        ({"interpolation": ["LINEAR"]}, "a list of 5 names, not 1"),
        ({"dialect": "MAX"}, "dialect"),
        ({"ease_to": 0.5, "dialect": "KB"}, "ease_to"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_by_name(box: Any, animation: Any, arguments: Any, words: str) -> None:
    given = {"frames": FRAMES, "values": VALUES, **arguments}
    with pytest.raises((ValueError, TypeError), match=words):
        animation.set_keys(box, "location", given.pop("frames"), given.pop("values"), **given)
    assert box.animation_data is None


def test_an_unknown_property_is_refused(box: Any, animation: Any) -> None:
    with pytest.raises(animation.AnimationError, match="no float property with this path"):
        animation.set_keys(box, "nothing", FRAMES, VALUES)


def test_outer_tangents_come_back_and_extend_the_curve(box: Any, animation: Any) -> None:
    before, after = np.random.default_rng(5).normal(size=(2, 5, 3)).astype(np.float32)
    animation.set_keys(box, "location", FRAMES, VALUES, tangents_in=before, tangents_out=after)
    found = animation.get_keys(box, "location")
    np.testing.assert_allclose(found.tangents_in, before, atol=1e-6)
    np.testing.assert_allclose(found.tangents_out, after, atol=1e-6)
    for index, each in enumerate(fcurves(box)):
        each.extrapolation = "LINEAR"
        assert each.evaluate(-9.0) == pytest.approx(VALUES[0, index] - 10.0 * before[0, index], abs=1e-4)
        assert each.evaluate(41.0) == pytest.approx(VALUES[-1, index] + 10.0 * after[-1, index], abs=1e-4)


def test_outer_tangents_that_are_not_given_continue_the_curve(box: Any, animation: Any) -> None:
    unset = np.full((2, 3), np.nan)
    slopes = np.concatenate((unset[:1], VALUES[1:4], unset[:1]))
    animation.set_keys(box, "location", FRAMES, VALUES, tangents_in=slopes, tangents_out=VALUES)
    found = animation.get_keys(box, "location")
    np.testing.assert_allclose(found.tangents_in[0], VALUES[0], atol=1e-6)
    np.testing.assert_allclose(found.tangents_out[-1], VALUES[-1], atol=1e-6)


def test_both_tangents_of_a_single_key_stay_on_their_sides(box: Any, animation: Any) -> None:
    animation.set_keys(box, "location", [5], VALUES[:1], tangents_in=[[1, 1, np.nan]], tangents_out=[[2, np.nan, 2]])
    found = animation.get_keys(box, "location")
    np.testing.assert_allclose(found.tangents_in, [[1, 1, 2]], atol=1e-6)
    np.testing.assert_allclose(found.tangents_out, [[2, 1, 2]], atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "frame"),
    [
        ({"tangents_in": [[0.0] * 3, [0.0] * 3, [0.0, 1e300, 0.0]]}, 20.0),
        ({"tangents_out": [[0.0] * 3, [0.0, 1e38, 0.0], [0.0] * 3]}, 10.0),
        ({"tension": [0.0, 1e300, 0.0], "dialect": "FBX"}, 10.0),
        # The tangent of the first key depends on the second key.
        ({"tension": [0.0, 1e300, 0.0], "dialect": "KB"}, 1.0),
        ({"tension": [0.0, 1e300, 0.0], "bias": 1e300, "dialect": "KB"}, 1.0),
    ],
)
def test_handles_beyond_float32_are_refused_with_their_key_and_nothing_changes(
    box: Any, animation: Any, arguments: Any, frame: float
) -> None:
    frames, values = [1.0, 10.0, 20.0], VALUES[:3]
    animation.set_keys(box, "location", frames, values, tension=0.5)
    before = snapshot(box)
    with pytest.raises(animation.AnimationError, match="the handles are too long") as refusal:
        animation.set_keys(box, "location", frames, values, **arguments)
    (reason,) = refusal.value.findings
    assert (reason.object, reason.track, reason.frame) == ("Box", "location", frame)
    assert snapshot(box) == before


def test_channels_with_different_interpolation_are_refused(box: Any, animation: Any) -> None:
    animation.set_keys(box, "location", FRAMES, VALUES, interpolation="LINEAR")
    fcurves(box)[1].keyframe_points[2].interpolation = "CONSTANT"
    with pytest.raises(animation.AnimationError, match=r"frame 12\.5: channels have different interpolation"):
        animation.get_keys(box, "location")


def test_a_driven_component_is_refused_and_nothing_changes(box: Any, animation: Any) -> None:
    box.driver_add("location", 1)
    before = snapshot(box)
    with pytest.raises(animation.AnimationError, match="Y Location is driven"):
        animation.set_keys(box, "location", FRAMES, VALUES)
    assert snapshot(box) == before


def test_a_sampled_channel_is_refused(box: Any, animation: Any) -> None:
    animation.set_keys(box, "location", FRAMES, VALUES)
    fcurves(box)[1].convert_to_samples(1, 31)
    with pytest.raises(animation.AnimationError, match="sampled curve"):
        animation.get_keys(box, "location")


def test_a_track_without_keys_is_refused_as_that(box: Any, animation: Any) -> None:
    box.keyframe_insert("location", index=0)
    curve = fcurves(box)[0]
    curve.keyframe_points.remove(curve.keyframe_points[0])
    with pytest.raises(animation.AnimationError, match="no keys"):
        animation.get_keys(box, "location")


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("location", "Object Transforms"),
        ("rotation_euler", "Object Transforms"),
        ("delta_location", "Object Transforms"),
        ("delta_rotation_euler", "Object Transforms"),
        ("delta_scale", "Object Transforms"),
        ("color", None),
        ('pose.bones["Arm"].scale', "Arm"),
        ('pose.bones["Arm"]["grip"]', "Arm"),
        ('pose.bones["Arm"].constraints["Copy Location"].influence', None),
    ],
)
def test_new_curves_get_the_group_that_blender_chooses(animation: Any, path: str, group: str | None) -> None:
    rig = new_rig("Arm")
    rig.pose.bones["Arm"]["grip"] = 0.5
    rig.pose.bones["Arm"].constraints.new("COPY_LOCATION")
    if bpy.app.version >= (5, 0):
        rig.keyframe_insert(path)
        chosen = fcurves(rig)[0].group
        assert (chosen and chosen.name) == group
        rig.animation_data_clear()
    size = len(np.ravel(rig.path_resolve(path)))
    animation.set_keys(rig, path, [1], np.ones((1, size)))
    made = fcurves(rig)[0].group
    assert (made and made.name) == group


def test_components_with_different_parameters_give_their_mean(animation, box):
    key(box, "location", [(frame, (frame, 0, 0)) for frame in (1, 11, 21)], channels=[0, 1])
    key(box, "location", [(frame, (0, 0, frame)) for frame in (1, 21)], channels=[2])
    animation.enable(box, keep_look=False)
    animation.key_set(box, "location", 11, tension=0.6)
    curve(box, "location", 2).keyframe_points.insert(11, 5.0)
    np.testing.assert_allclose(animation.get_keys(box, "location").tension, [0.0, 0.4, 0.0], atol=1e-7)
