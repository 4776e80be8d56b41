# SPDX-License-Identifier: GPL-3.0-or-later
"""The exact motion before a bake, compared with Blender's evaluation after a bake as samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.animation.curves import bag_of, curve, key, new_object, new_rig, rotation_path
from tests.animation.rotations import values_of

FRAMES = np.arange(1.0, 51.0)
PLACES = [(1, (0, 0, 0)), (12, (3, 1, 0)), (25, (-2, 4, 1)), (40, (1, -3, 2)), (50, (2, 2, 2))]
TURNS = [(1, (0, 0, 0)), (20, (math.radians(170), 0, 0)), (50, (math.radians(100), math.radians(170), 0.4))]
NEAR = 1e-5


@pytest.fixture
def exact(animation) -> Callable[..., np.ndarray]:
    """A function exact(item, bone, frames) that returns the matrices of the exact motion."""
    module = import_module(f"{animation.__name__}.bake.exact_motion")

    def matrices(item, bone="", frames=FRAMES, defaults=()):
        return module.ExactSampler(frames, dict(defaults)).matrices(item, bone)

    return matrices


def played(item, bone="", frames=FRAMES) -> np.ndarray:
    """Return Blender's matrices of the object or bone."""
    matrices = []
    for frame in frames.tolist():
        bpy.context.scene.frame_set(int(frame // 1), subframe=frame % 1)
        placed = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrices.append(np.array(placed.matrix_world @ placed.pose.bones[bone].matrix if bone else placed.matrix_world))
    return np.array(matrices)


def off(animation, item, track="location", **choices) -> None:
    """Enable the object as a script does, so that its own curves play."""
    animation.enable(item, keep_look=False)
    if choices:
        animation.choose(item, track, **choices)


def placed(name="Ball"):
    item = new_object(name)
    key(item, "location", PLACES)
    return item


def turned(mode: str, name="Turned"):
    item = new_object(name, mode)
    rows = values_of(mode, [tuple(Euler(turn).to_quaternion()) for _, turn in TURNS])
    key(item, rotation_path(mode), list(zip([frame for frame, _ in TURNS], rows, strict=True)))
    return item


def approximated(animation, mode: str, name="Turned"):
    """Return a rotation that handles approximate."""
    item = turned(mode, name)
    animation.enable(item, keep_look=False)
    animation.key_set(item, "rotation", 20, ease_to=1.0, ease_from=1.0)
    animation.bake(item, output="HANDLES")
    assert animation.find_track(item, "rotation").state.error.is_approximate
    return item


def child_of(parent):
    """Return an unanimated child, whose location shows rotations of its parent."""
    child = new_object("Child")
    child.parent = parent
    child.location = (0, 3, 4)
    return child


def b_spline(animation):
    item = placed()
    off(animation, item, method="B_SPLINE")
    return item


def b_spline_rotation(animation):
    item = turned("QUATERNION")
    off(animation, item, "rotation", method="B_SPLINE")
    return item


def keyed_apart(animation):
    """Return an off track whose components have keys at different frames, and one component without keys."""
    item = new_object("Apart")
    for index, places in enumerate([PLACES, PLACES[:2] + PLACES[3:]]):
        fcurve = bag_of(item).fcurves.new("location", index=index)
        for frame, place in places:
            fcurve.keyframe_points.insert(frame, place[index])
    item.location.z = 7
    off(animation, item)
    animation.key_set(item, "location", 12, tension=-1)
    return item


def never_baked(animation):
    item = placed()
    off(animation, item)
    animation.key_set(item, "location", 25, tension=-1, continuity=0.5, bias=1)
    return item


def timed(level: str):
    def made(animation):
        item = never_baked(animation)
        owner, track = {"scene": (bpy.context.scene, ""), "object": (item, ""), "track": (item, "location")}[level]
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 50
        animation.retime(owner, "REVERSE", track=track)
        return item

    return made


def timed_rotation(animation):
    item = turned("XYZ")
    off(animation, item, "rotation")
    animation.retime(item, "REVERSE", track="rotation_euler")
    return item


def with_other_segments(animation):
    """Return an off track with a segment that Blender plays."""
    item = placed()
    for index in range(3):
        curve(item, "location", index).keyframe_points[1].interpolation = "BOUNCE"
    off(animation, item)
    return item


MOTIONS = {
    "B-spline": b_spline,
    "B-spline of a rotation": b_spline_rotation,
    "never baked": never_baked,
    "keyed apart": keyed_apart,
    "timed track": timed("track"),
    "timed object": timed("object"),
    "timed scene": timed("scene"),
    "timed rotation": timed_rotation,
    "other segments": with_other_segments,
    **{
        f"approximate {mode}": lambda animation, mode=mode: approximated(animation, mode)
        for mode in ("QUATERNION", "AXIS_ANGLE", "XYZ")
    },
}


@pytest.mark.parametrize("motion", MOTIONS)
def test_the_exact_motion_is_known_before_a_bake(animation, exact, motion):
    item = MOTIONS[motion](animation)
    child = child_of(item)
    before = exact(item), exact(child)
    assert np.abs(before[1] - played(child)).max() > 0.01
    animation.bake(item)
    for matrices, each in zip(before, (item, child), strict=True):
        assert np.abs(matrices - played(each)).max() < NEAR
        # Afterward, the F-curves play the exact motion.
        assert np.abs(exact(each) - matrices).max() < NEAR


def test_the_exact_motion_of_bones_includes_the_bones_above(animation, exact):
    rig = new_rig("hip", "arm")
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["arm"].parent = rig.data.edit_bones["hip"]
    bpy.ops.object.mode_set(mode="OBJECT")
    key(rig, "location", PLACES)
    rows = values_of("QUATERNION", [tuple(Euler(turn).to_quaternion()) for _, turn in TURNS])
    for bone in rig.pose.bones:
        key(rig, f'pose.bones["{bone.name}"].rotation_quaternion', list(zip((1, 20, 50), rows, strict=True)))
        key(rig, f'pose.bones["{bone.name}"].location', PLACES)
    animation.enable(rig, keep_look=False)
    animation.choose(rig, 'pose.bones["hip"].location', method="B_SPLINE")
    rig.pose.bones["hip"].name = "pelvis"
    before = {bone: exact(rig, bone) for bone in ("pelvis", "arm")}
    animation.bake(rig)
    for bone, matrices in before.items():
        assert np.abs(matrices - played(rig, bone)).max() < NEAR


@pytest.mark.parametrize("cycle", ["REPEAT", "LOOP"])
@pytest.mark.parametrize("made", [b_spline, lambda animation: approximated(animation, "QUATERNION")])
def test_a_cycle_continues_outside_the_keys(animation, exact, made, cycle):
    item = made(animation)
    animation.choose(item, "location" if made is b_spline else "rotation", cycle=cycle)
    child = child_of(item)
    frames = np.arange(-60.0, 120.0)
    before = exact(child, frames=frames)
    animation.bake(item, extend=(-60, 120))
    assert np.abs(before - played(child, frames=frames)).max() < NEAR


def test_outside_its_keys_a_track_is_where_its_curves_are(animation, exact):
    item = approximated(animation, "XYZ")
    for index in range(3):
        curve(item, "rotation_euler", index).extrapolation = "LINEAR"
    animation.bake(item, output="HANDLES")
    outside = np.concatenate((np.arange(-20.0, 1.0), np.arange(51.0, 70.0)))
    assert np.abs(exact(item, frames=outside) - played(item, frames=outside)).max() < NEAR


def test_defaults_are_parameters_of_keys_without_their_own(animation, exact):
    item = placed()
    off(animation, item)
    defaults = {"tension": -1.0, "bias": 0.5}
    before = exact(item, defaults=defaults.items())
    assert np.abs(before - exact(item)).max() > 0.1
    animation.bake(item, defaults=defaults)
    assert np.abs(before - played(item)).max() < NEAR


def test_a_dragged_handle_has_the_motion_that_its_parameters_give(animation, exact):
    item = approximated(animation, "XYZ")
    for index in range(3):
        point = curve(item, "rotation_euler", index).keyframe_points[0]
        point.handle_right.y += 1.0
        point.select_control_point, point.select_right_handle = False, True
    before = exact(item)
    animation.bake(item)
    assert np.abs(before - played(item)).max() < NEAR


def restored(animation):
    item = approximated(animation, "XYZ")
    animation.restore(item)
    return item


def freed_after_restore(animation):
    item = restored(animation)
    animation.bake(item)
    animation.free(item)
    return item


def with_modifiers(animation):
    item = b_spline(animation)
    curve(item, "location", 0).modifiers.new("NOISE")
    return item


def with_a_muted_channel(animation):
    item = b_spline(animation)
    curve(item, "location", 1).mute = True
    return item


def without_motion(animation):
    """Return an off track whose keys the method does not allow."""
    item = placed()
    off(animation, item, method="LOGARITHMIC")
    with pytest.raises(animation.AnimationError):
        animation.bake(item)
    return item


@pytest.mark.parametrize("made", [restored, freed_after_restore, with_modifiers, with_a_muted_channel, without_motion])
def test_other_tracks_that_are_off_have_the_motion_of_their_curves(animation, exact, made):
    item = made(animation)
    sampler = animation.sampling.transforms.TransformSampler(FRAMES)
    assert (exact(item) == sampler.matrices(item)).all()
    assert np.abs(exact(item) - played(item)).max() < NEAR
