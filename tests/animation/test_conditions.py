# SPDX-License-Identifier: GPL-3.0-or-later
"""Violations are found at the frames at which Blender's evaluation shows them."""

from __future__ import annotations

import itertools
import math

import bpy
import numpy as np
import pytest

from tests.animation.curves import curve, key, new_object, new_rig, play, seen


def camera(name="Camera", **keys):
    """Return a camera object. `keys` contains pairs (frame, value) for each property of its data."""
    data = bpy.data.cameras.new(name)
    item = new_object(name, data=data)
    for path, rows in keys.items():
        key(data, path.replace("__", "."), rows)
    return item


def only(checks):
    (violation,) = checks.violations
    return violation


def test_clip_planes_that_cross_between_good_keys_are_found(animation):
    item = camera(clip_start=[(1, 20.0), (31, 20.0)], clip_end=[(1, 110.0), (11, 22.0), (16, 22.0), (31, 320.0)])
    animation.bake(item.data, step=0.25, keep_look=False)
    played = {}
    for frame in np.arange(1, 31.25, 0.25):
        play(frame)
        played[frame] = item.data.clip_start >= item.data.clip_end
    broken = [frame for frame, bad in played.items() if bad]
    violation = only(animation.check(item))
    assert 0 < len(broken) < 20
    assert not any(played[frame] for frame in (1, 11, 16, 31))
    assert (violation.start, violation.end) == (min(broken), max(broken))
    # The track is a path in every language.
    assert item.data.path_resolve(violation.track) == item.data.clip_end


def test_a_lens_that_overshoots_below_what_blender_plays_is_found(animation):
    item = camera(lens=[(1, 90.0), (11, 2.0), (16, 2.0), (31, 300.0)])
    animation.bake(item.data, keep_look=False)
    violation = only(animation.check(item))
    cut = []
    for frame in np.arange(1, 32, 0.25):
        play(frame)
        if item.data.lens == 1.0:
            cut.append(frame)
    assert (violation.condition, violation.start, violation.end) == ("LENS", min(cut), max(cut))


def test_an_orthographic_scale_of_zero_is_found_although_blender_plays_it(animation):
    item = camera(ortho_scale=[(1, 6.0), (21, 0.0)])
    assert animation.check(item).violations == []
    item.data.type = "ORTHO"
    violation = only(animation.check(item, frame_range=(1, 21)))
    assert (violation.condition, violation.track, violation.start, violation.end) == ("LENS", "ortho_scale", 21, 21)
    play(21)
    assert item.data.ortho_scale == 0.0


def test_a_focus_before_the_clip_start_counts_only_where_depth_of_field_is_on(animation):
    item = camera(dof__focus_distance=[(1, 10.0), (21, 0.05)])
    assert animation.check(item).violations == []
    item.data.dof.use_dof = True
    violation = only(animation.check(item))
    assert (violation.condition, violation.worst) == ("FOCUS", 21)


def tracked(kind, **settings):
    """Return a camera that flies in an arc over its target, straight above it at frame 11."""
    target = new_object("Target")
    item = camera()
    rows = [(frame, (5 * math.cos(a), 0.0, 5 * math.sin(a))) for frame, a in ((1, 0.3), (11, math.pi / 2), (21, 2.8))]
    key(item, "location", rows)
    constraint = item.constraints.new(kind)
    constraint.target = target
    for name, value in settings.items():
        setattr(constraint, name, value)
    return item


def turns(item, frames):
    """Return the angles, in radians, by which Blender rotates the object from each frame to the next."""
    matrices = [np.array(seen(frame, item).matrix_world)[:3, :3] for frame in frames]
    return [math.acos(np.clip((np.trace(b @ a.T) - 1) / 2, -1, 1)) for a, b in itertools.pairwise(matrices)]


@pytest.mark.parametrize(
    ("kind", "settings", "beside", "least"),
    [
        ("TRACK_TO", {"track_axis": "TRACK_NEGATIVE_Z", "up_axis": "UP_Y"}, 0.0, 2.0),
        ("LOCKED_TRACK", {"track_axis": "TRACK_X", "lock_axis": "LOCK_Z"}, 0.0, 2.0),
        # Blender rotates it once about its own axis within the frames in which it passes straight behind the target.
        ("DAMPED_TRACK", {"track_axis": "TRACK_Z"}, 0.03, 1.0),
    ],
)
def test_a_tracked_camera_that_comes_over_its_target_rolls_over_where_it_is_said(
    animation, kind, settings, beside, least
):
    item = tracked(kind, **settings)
    key(item, "location", [(frame, (0, beside, 0)) for frame in (1, 11, 21)], channels=[1])
    violation = only(animation.check(item))
    frames = np.arange(1, 21.25, 0.25)
    turned = turns(item, frames)
    worst = int(np.argmax(turned))
    assert turned[worst] > least
    assert frames[worst] - 0.3 <= violation.worst <= frames[worst + 1] + 0.3
    assert violation.condition == "VIEW"


@pytest.mark.parametrize("directions", [[(1.0, 0.0, 1.0), (1.1, 0.0, 200.0), (1.0, 0.0, 1.0)], [(1.1, 0.0, 200.0)]])
def test_the_least_angle_from_an_axis_includes_the_angles_at_frames(animation, directions):
    """The direction at a frame can be nearest to the axis although all lines are farther away at their feet."""
    cameras = animation.checks.cameras
    view = cameras._View(np.array(directions), np.array([0.0, 0.0, 1.0]), "Z")
    assert cameras._angles_beside_frames(view).min() == pytest.approx(math.atan2(1.1, 200.0), rel=1e-12)


def test_a_tracked_camera_that_passes_beside_its_target_is_not_blamed(animation):
    item = tracked("TRACK_TO", track_axis="TRACK_NEGATIVE_Z", up_axis="UP_Y")
    key(item, "location", [(1, (0, 1.0, 0)), (11, (0, 1.0, 0)), (21, (0, 1.0, 0))], channels=[1])
    assert animation.check(item).violations == []


def test_a_constraint_without_influence_is_not_blamed(animation):
    item = tracked("TRACK_TO", track_axis="TRACK_NEGATIVE_Z", up_axis="UP_Y")
    item.constraints[0].influence = 0.0
    assert animation.check(item).violations == []


def test_a_scale_that_passes_through_zero_between_keys_is_found_where_it_is_zero(animation):
    item = new_object("Ball", "XYZ")
    key(item, "scale", [(1, (1, 1, 1)), (21, (-2, 1, 1))])
    for point in curve(item, "scale").keyframe_points:
        point.interpolation = "LINEAR"
    violation = only(animation.check(item))
    play(violation.worst)
    assert abs(item.scale.x) < 1e-3
    assert (violation.condition, violation.track) == ("SCALE", "scale")
    assert violation.message.startswith("scale x passes")


def test_a_driven_scale_may_jump_to_its_mirror_image_too(animation):
    item = new_object("Ball", "XYZ")
    item.driver_add("scale", 0).driver.expression = "1 if frame < 10 else -1"
    assert animation.check(item).violations == []


def test_components_that_pass_through_zero_together_are_one_violation(animation):
    item = new_object("Ball", "XYZ")
    key(item, "scale", [(1, (1, 2, 1)), (20, (-1, -2, 1))])
    assert only(animation.check(item)).message.startswith("scale x, y passes")


def test_a_scale_that_is_zero_for_a_while_is_one_violation(animation):
    item = new_object("Ball", "XYZ")
    key(item, "scale", [(1, (1, 1, 1)), (11, (0, 0, 0)), (21, (0, 0, 0)), (31, (1, 1, 1))])
    violation = only(animation.check(item))
    assert (violation.start, violation.end) == (11, 21)


def test_a_bones_scale_is_looked_at(animation):
    item = new_rig("arm")
    key(item, 'pose.bones["arm"].scale', [(1, (1, 1, 1)), (21, (1, -1, 1))])
    assert only(animation.check(item)).track == 'pose.bones["arm"].scale'


def test_a_driven_clip_end_is_stepped_through(animation):
    item = camera()
    item.data.driver_add("clip_end").driver.expression = "11.05 - frame"
    violation = next(each for each in animation.check(item).violations if "not below" in each.message)
    assert (violation.start, violation.end) == (11, 250)


def test_data_that_objects_show_is_looked_at_through_them(animation):
    item = camera(clip_end=[(1, 100.0), (21, 0.01)])
    assert only(animation.check(item.data)).name == item.name


def test_many_objects_are_checked_once_each(animation):
    bad, good = camera(clip_end=[(1, 100.0), (21, 0.01)]), camera("Good", clip_end=[(1, 100.0)])
    checks = animation.check_many(each for each in (bad, bad.data, good, bad))
    assert checks.objects == 2
    assert checks.violations == animation.check(bad).violations != []


def test_a_range_limits_what_is_looked_at(animation):
    item = camera(clip_end=[(1, 100.0), (21, 0.01)])
    assert animation.check(item, frame_range=(1, 10)).violations == []
    with pytest.raises(ValueError, match="empty"):
        animation.check(item, frame_range=(10, 1))


def test_what_was_not_looked_at_is_not_said_to_hold(animation):
    item, other = camera(clip_end=[(1, 100.0), (21, 0.01)]), camera("Long", clip_end=[(1, 100.0), (900_000, 100.0)])
    checks = animation.check(item, frame_range=(1, 1e9))
    assert (checks.objects, checks.samples, checks.holds) == (0, 0, False)
    assert checks.summary == "Violations: 0, not checked: 1, in 0 objects, 0 samples"
    bpy.context.scene.frame_end = 10
    item.data.animation_data_clear()
    both = animation.check_many([item, other])
    assert both.violations == []
    assert both.summary == "Violations: 0, not checked: 1, in 1 object, 37 samples"
    assert animation.check(item).summary == "All conditions hold: 1 object, 37 samples"
    with pytest.raises(ValueError, match=r"^frame_range\[1\] inf is not a finite number"):
        animation.check(item, frame_range=(1, math.inf))


def test_data_that_no_object_shows_is_not_said_to_hold(animation):
    assert animation.check(bpy.data.cameras.new("Unseen")).summary == "Nothing to check: no object"


def test_what_would_take_for_ever_is_left_out_with_a_word(animation):
    item = camera(clip_end=[(1, 100.0), (900_000, 0.01)])
    checks = animation.check(item)
    assert checks.violations == []
    assert "samples would be needed from frame" in str(checks.errors[0])
    assert len(animation.check(item, frame_range=(899_990, 900_000)).violations) == 1


def test_a_scale_that_is_no_number_is_not_said_to_hold(animation):
    thing = new_object("Thing")
    key(thing, "scale", [(1, (1, 1, 1)), (21, (1, 1, 2))])
    curve(thing, "scale", 2).keyframe_points[1].co.y = math.nan
    checks = animation.check(thing, frame_range=(1, 21))
    assert list(map(str, checks.errors)) == [
        '"Thing", Scale, frame 1.25: not checked: the motion has values that are not finite numbers'
    ]
    assert not checks.holds


def test_a_view_from_a_place_that_is_no_number_is_not_said_to_hold(animation):
    item, target = camera(), new_object("Target")
    constraint = item.constraints.new("TRACK_TO")
    constraint.target, constraint.track_axis, constraint.up_axis = target, "TRACK_NEGATIVE_Z", "UP_Y"
    key(target, "location", [(1, (0, 0, 1)), (21, (0, 3, 1))])
    curve(target, "location", 0).keyframe_points[1].co.y = math.nan
    checks = animation.check(item, frame_range=(1, 21))
    assert list(map(str, checks.notes)) == [
        '"Camera", constraints["Track To"]: not checked: the position is not a finite number'
    ]


def test_a_setting_of_a_constraint_that_is_called_scale_may_pass_through_zero(animation):
    item = new_rig("arm")
    item.pose.bones["arm"].constraints.new("TRANSFORM")
    key(item, 'pose.bones["arm"].constraints["Transformation"].from_min_x_scale', [(1, -1.0), (21, 1.0)])
    assert animation.check(item).violations == []
