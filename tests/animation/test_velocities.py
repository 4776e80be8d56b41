# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities as custom properties, compared with the formulas at 50 digits and with Blender's playback."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.animation.action_users import linked
from tests.animation.curves import co, curve, differences, fcurves, key, new_object, new_rig, seen, snapshot
from tests.interp import exact

FRAMES = (1.0, 11.0, 14.0, 31.0)
PLACES = ((0, 0, 1), (5, -1, 2), (2, 4, 1), (3, 3, -2))
AXIS = np.array([2.0, -3.0, 6.0]) / 7.0


@pytest.fixture
def write(animation):
    return animation.write_velocities


@pytest.fixture
def moving(animation):
    """An object with TCB keys that have different parameters."""
    thing = new_object(mode="QUATERNION")
    key(thing, "location", list(zip(FRAMES, PLACES, strict=True)))
    animation.enable(thing, keep_look=False)
    animation.key_set(thing, "location", 11, tension=0.3, continuity=-0.4, bias=0.2, ease_from=0.3)
    return thing


def exact_location():
    parameters = np.zeros((5, 4))
    parameters[:, 1] = np.float32([0.3, -0.4, 0.2, 0.0, 0.3])
    return exact.Track(FRAMES, np.array(PLACES, dtype=float), parameters)


def turning(animation, angles, mode="QUATERNION"):
    thing = new_object(mode=mode)
    halves = np.asarray(angles) / 2
    turns = np.column_stack((np.cos(halves), np.sin(halves)[:, np.newaxis] * AXIS))
    key(thing, "rotation_quaternion", list(zip(FRAMES, turns.tolist(), strict=True)))
    animation.enable(thing, keep_look=False)
    return thing


def test_velocity_and_acceleration_are_the_splines_derivatives(moving, write):
    report = write(moving)
    assert (report.tracks, report.samples) == (1, 6 * 31)
    track = exact_location()
    for nu, name in ((1, "velocity"), (2, "acceleration")):
        for index in range(3):
            keys = co(curve(moving, f'["tcb_location_{name}"]', index))
            assert keys[:, 0].tolist() == np.arange(1.0, 32.0).tolist()
            for frame, value in keys[1:-1:3]:
                if frame not in FRAMES:
                    expected = float(exact.derivative(track.vector, float(frame), nu)[index])
                    assert value == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_rotations_have_angular_ones_in_the_parents_frame(animation, write):
    thing = turning(animation, [0.0, 1.0, 2.0, 2.5])
    write(thing)
    angle = exact.Track(FRAMES, np.array([[0.0], [1.0], [2.0], [2.5]]), np.zeros((5, 4)))
    for nu, name in ((1, "velocity"), (2, "acceleration")):
        keys = [co(curve(thing, f'["tcb_rotation_angular_{name}"]', index)) for index in range(3)]
        # Use an inner segment, because 3D Studio's ends differ from the ends of vector tracks.
        row = 11
        expected = float(exact.derivative(angle.vector, 12.0, nu)[0]) * AXIS
        assert keys[0][row, 0] == 12.0
        np.testing.assert_allclose([channel[row, 1] for channel in keys], expected, rtol=0, atol=2e-7)


def test_a_second_run_replaces_what_the_first_wrote(moving, write):
    write(moving)
    first = snapshot(moving)
    assert write(moving).counts == "1 object, 1 track, 4 keys, 186 samples"
    assert snapshot(moving) == first


def test_they_are_removed(moving, write, animation):
    before = snapshot(moving)
    write(moving)
    animation.choose(moving, "location", cycle="REPEAT")
    animation.choose(moving, "location", cycle="SINGLE")
    assert write(moving, remove=True).counts == "1 object, 1 track"
    assert snapshot(moving) == before
    assert not [name for name in list(moving.keys()) if name.startswith("tcb_location")]
    with pytest.raises(animation.AnimationError, match="no velocities were written"):
        write(moving, remove=True)


def written(datablock):
    return [state for state in snapshot(datablock) if '"tcb_location' in state["path"][0]]


def test_no_bake_restore_enable_or_remove_touches_them_and_they_harm_none(moving, write, animation):
    animation.remove(moving)
    own = snapshot(moving)
    animation.enable(moving, keep_look=False)
    write(moving)
    kept = written(moving)
    assert len(kept) == 6
    assert all(state["group"] == "TCB Velocities" for state in kept)
    report = animation.bake(moving, step=0.25)
    assert report.tracks == 1
    assert not any("tcb_location" in str(note) for note in report.notes)
    assert written(moving) == kept
    animation.restore(moving)
    assert written(moving) == kept
    animation.remove(moving)
    rest = [state for state in snapshot(moving) if state not in kept]
    assert rest == own
    assert animation.enable(moving, keep_look=False).tracks == 1
    assert written(moving) == kept


def test_a_bones_are_properties_of_the_bone(animation, write):
    rig = new_rig("left", "right", tail=(0, 1, 0))
    for name in ("left", "right"):
        rig.pose.bones[name]["grip"] = 0.0
        key(rig, f'pose.bones["{name}"]["grip"]', [(1, 0.0), (11, 5.0)])
        key(rig, f'pose.bones["{name}"].location', [(1, (0, 0, 0)), (11, (1, 2, 3))])
    animation.enable(rig, keep_look=False)
    write(rig, ['pose.bones["left"]'])
    assert rig.pose.bones["left"]["tcb_grip_velocity"] == 0.5
    assert list(rig.pose.bones["left"]["tcb_location_velocity"]) == pytest.approx([0.1, 0.2, 0.3])
    assert not [name for name in list(rig.pose.bones["right"].keys()) if name.startswith("tcb_grip")]
    assert not [name for name in list(rig.keys()) if name.startswith("tcb_")]
    played = seen(5.0, rig).pose.bones["left"]["tcb_location_velocity"]
    assert list(played) == pytest.approx([0.1, 0.2, 0.3], rel=1e-6)


def test_custom_properties_named_like_a_property_have_their_own_velocities(animation, write):
    rig = new_rig("Arm", tail=(0, 1, 0))
    bone = rig.pose.bones["Arm"]
    bone.rotation_mode = "XYZ"
    for name, change in (("location", 5.0), ("rotation", 10.0)):
        bone[name] = 0.0
        key(rig, f'pose.bones["Arm"]["{name}"]', [(1, 0.0), (11, change)])
    key(rig, 'pose.bones["Arm"].location', [(1, (0, 0, 0)), (11, (2, 0, 0))])
    key(rig, 'pose.bones["Arm"].rotation_euler', [(1, (0, 0, 0)), (11, (0.3, 0, 0))])
    animation.enable(rig, keep_look=False)
    write(rig)
    found = {
        name: value if isinstance(value, float) else value[0]
        for name, value in bone.items()
        if name.startswith("tcb_") and name.endswith("_velocity")
    }
    assert found["tcb_location_velocity"] == pytest.approx(0.2)
    assert found["tcb_rotation_angular_velocity"] == pytest.approx(0.03)
    assert sorted(found.values()) == pytest.approx([0.03, 0.2, 0.5, 1.0])


def test_what_is_no_tcb_track_is_refused_and_nothing_written(animation, write):
    thing = new_object()
    key(thing, "location", [(1, (0, 0, 0)), (11, (1, 2, 3))])
    before = snapshot(thing)
    with pytest.raises(animation.AnimationError, match="no TCB track"):
        write(thing)
    animation.enable(thing, keep_look=False)
    curve(thing, "location").lock = True
    with pytest.raises(animation.AnimationError, match="locked"):
        write(thing)
    curve(thing, "location").lock = False
    assert differences(before, snapshot(thing), identities=False) == []


def test_an_ordinary_property_is_still_a_track(animation):
    thing = new_object()
    for name in ("tcb_speed_limit", "velocity", "tcb_velocity"):
        thing[name] = 0.0
        key(thing, f'["{name}"]', [(1, 0.0), (5, 1.0)])
    assert animation.enable(thing, keep_look=False).tracks == 3
    assert len(fcurves(thing)) == 3


def test_too_many_samples_are_refused(moving, write, animation, monkeypatch):
    monkeypatch.setattr(animation.edit.velocities, "SAMPLE_LIMIT", 185)
    with pytest.raises(animation.AnimationError, match="more than 185 samples are needed"):
        write(moving)
    assert not [name for name in list(moving.keys()) if name.startswith("tcb_location")]


def test_names_are_short_enough_for_blender_and_tell_tracks_apart(write, animation):
    tree = bpy.data.node_groups.new("Paint", "ShaderNodeTree")
    mix = tree.nodes.new("ShaderNodeMath")
    mix.name = "A rather long name of a node, to be sure that it does not fit"
    names = set()
    for index in (0, 1):
        key(tree, f'nodes["{mix.name}"].inputs[{index}].default_value', [(1, 0.0), (5, 1.0)])
    animation.enable(tree, keep_look=False)
    assert write(tree).tracks == 2
    names = {name for name in list(tree.keys()) if name.endswith("_velocity")}
    assert len(names) == 2
    assert all(len(name) <= 63 for name in names)
    assert write(tree, remove=True).tracks == 2


def told(item, name):
    """Return the frames and values, shape (n, 3), of a written quantity."""
    curves = [curve(item, f'["{name}"]', index) for index in range(3)]
    return co(curves[0])[:, 0], np.stack([co(each)[:, 1] for each in curves], axis=1)


def test_an_ease_of_a_frame_function_is_in_the_velocities(write, animation):
    """The motion is a line of (4, -2, 1) in 40 frames, with F(t) = 1 + 40 (3 s s - 2 s s s) and s = (t - 1) / 40."""
    item = new_object()
    key(item, "location", [(1, (0, 0, 0)), (41, (4, -2, 1))])
    animation.enable(item, keep_look=False)
    function = animation.retime(item, "AS_IT_IS").curve
    for point, (left, right) in zip(
        function.keyframe_points, [(1 - 40 / 3, 1 + 40 / 3), (41 - 40 / 3, 41 + 40 / 3)], strict=True
    ):
        point.interpolation = "BEZIER"
        point.handle_left_type = point.handle_right_type = "FREE"
        point.handle_left, point.handle_right = (left, point.co.y), (right, point.co.y)
    function.extrapolation = "CONSTANT"
    function.update()
    write(item)
    frames, velocity = told(item, "tcb_location_velocity")
    acceleration = told(item, "tcb_location_acceleration")[1]
    s = (frames - 1.0) / 40.0
    way = np.array([4.0, -2.0, 1.0]) / 40.0
    assert velocity == pytest.approx((6.0 * s * (1.0 - s))[:, np.newaxis] * way, abs=1e-4)
    assert acceleration == pytest.approx((6.0 - 12.0 * s)[:, np.newaxis] / 40.0 * way, abs=1e-4)


def test_that_an_override_forgets_them_is_said(moving, write, tmp_path):
    assert not any("override" in str(note) for note in write(moving).notes)
    item = linked(moving, tmp_path / "library.blend").override_create()
    assert any("discards these custom properties" in str(note) for note in write(item).notes)
