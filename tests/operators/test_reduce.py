# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce for selected keys and for ranges, as started from menus and the tab."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.animation.curves import channels, key, key_densely, new_object, set_selected

FIRST, LAST = 21, 60


@pytest.fixture
def dense(scene):
    """Return a selected, active object with location and scale keys at every frame."""
    item = new_object("Dense")
    wave = np.sin(np.arange(100) / 9.0)
    key_densely(item, "location", np.outer(wave, [1.0, -2.0, 0.5]))
    key_densely(item, "scale", np.outer(wave + 3.0, [1.0, 1.0, 0.5]))
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    return item


def frames(item, path):
    return [point.co[0] for point in channels(item)[path, 0].keyframe_points]


def is_range_reduced(item, path):
    left = frames(item, path)
    outside = [*range(1, FIRST + 1), *range(LAST, 101)]
    return [frame for frame in left if not FIRST < frame < LAST] == outside and len(left) < len(outside) + 15


@pytest.mark.parametrize("kind", ["DOPESHEET", "FCURVES", "ACTION", "VIEW_3D"])
def test_selected_keys_are_reduced_and_others_stay(dense, choose, editor, kind):
    choose(dense, "location", *range(FIRST, LAST + 1))
    with editor(kind):
        assert bpy.ops.tcb.reduce(error=0.01, frames="SELECTED") == {"FINISHED"}
    assert is_range_reduced(dense, "location")
    assert len(frames(dense, "scale")) == 100


def test_a_track_whose_path_begins_with_the_path_of_a_selected_one_stays(dense, editor):
    wave = np.sin(np.arange(100) / 9.0)
    lamp = new_object("Lamp", data=bpy.data.lights.new("Lamp", "AREA"))
    for path in ("size", "size_y"):
        key_densely(lamp.data, path, wave + 2.0)
    for point in channels(lamp.data)["size_y", 0].keyframe_points:
        set_selected(point, False)
    dense.select_set(False)
    lamp.select_set(True)
    with editor("VIEW_3D"):
        assert bpy.ops.tcb.reduce(error=0.01, frames="SELECTED", use_data=True) == {"FINISHED"}
    assert len(frames(lamp.data, "size")) < 50
    assert len(frames(lamp.data, "size_y")) == 100


def test_the_handles_of_a_tcb_track_whose_path_begins_with_the_path_of_a_reduced_one_stay(dense, editor, tcb_animation):
    lamp = new_object("Lamp", data=bpy.data.lights.new("Lamp", "AREA"))
    key_densely(lamp.data, "size", np.sin(np.arange(100) / 9.0) + 2.0)
    key(lamp.data, "size_y", [(1, 1.0), (20, 3.0), (60, 2.0)])
    points = channels(lamp.data)["size_y", 0].keyframe_points
    for point in points:
        point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
    animation = tcb_animation.animation
    animation.bake(lamp.data, prefixes=["size_y"], output="HANDLES")
    for point in channels(lamp.data)["size_y", 0].keyframe_points:
        set_selected(point, False)
    dense.select_set(False)
    lamp.select_set(True)
    with editor("VIEW_3D"):
        assert bpy.ops.tcb.reduce(error=0.01, frames="SELECTED", use_data=True, method="TCB") == {"FINISHED"}
    assert len(frames(lamp.data, "size")) < 50
    animation.restore(lamp.data)
    points = channels(lamp.data)["size_y", 0].keyframe_points
    assert {side for point in points for side in (point.handle_left_type, point.handle_right_type)} == {"AUTO_CLAMPED"}


def test_an_editor_reduces_what_it_shows_of_objects_that_are_not_selected(dense, choose, editor):
    choose(dense, "location", *range(FIRST, LAST + 1))
    dense.select_set(False)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    with editor("DOPESHEET") as space:
        space.dopesheet.show_only_selected = False
        assert bpy.ops.tcb.reduce.poll()
        assert bpy.ops.tcb.reduce(error=0.01, frames="SELECTED") == {"FINISHED"}
    assert is_range_reduced(dense, "location")


def test_each_object_has_a_range_of_its_own(dense, choose, editor, scene):
    other = new_object("Other")
    key_densely(other, "location", np.outer(np.sin(np.arange(100) / 5.0), [1.0, 1.0, 1.0]))
    other.select_set(True)
    choose(dense, "location", *range(FIRST, LAST + 1))
    choose(other, "location", *range(1, 31))
    with editor("DOPESHEET"):
        assert bpy.ops.tcb.reduce(error=0.01, frames="SELECTED") == {"FINISHED"}
    assert is_range_reduced(dense, "location")
    assert [frame for frame in frames(other, "location") if frame >= 30.0] == [*range(30, 101)]
    assert len(frames(other, "location")) < 90


def test_without_selected_keys_it_says_so(dense, choose, editor):
    choose(dense, "location")
    action = dense.animation_data.action
    with editor("DOPESHEET"), pytest.raises(RuntimeError, match="Select keys"):
        bpy.ops.tcb.reduce(error=0.01, frames="SELECTED")
    assert dense.animation_data.action == action


def test_ranges_are_the_scenes_or_ones_own(dense, scene):
    original = dense.animation_data.action
    assert bpy.ops.tcb.reduce(error=0.01, frames="CUSTOM", frame_start=FIRST, frame_end=LAST) == {"FINISHED"}
    assert is_range_reduced(dense, "location")
    assert is_range_reduced(dense, "scale")
    dense.animation_data.action = original
    scene.frame_start, scene.frame_end = FIRST, LAST
    assert bpy.ops.tcb.reduce(error=0.01, frames="SCENE") == {"FINISHED"}
    assert is_range_reduced(dense, "location")
    with pytest.raises(RuntimeError, match="60 to 21 is empty"):
        bpy.ops.tcb.reduce(frames="CUSTOM", frame_start=LAST, frame_end=FIRST)


def test_all_keys_are_reduced_without_a_word_of_a_range(dense, choose, editor):
    choose(dense, "location", *range(FIRST, LAST + 1))
    with editor("DOPESHEET"):
        assert bpy.ops.tcb.reduce(error=0.01) == {"FINISHED"}
    assert len(frames(dense, "location")) < 25
    assert len(frames(dense, "scale")) < 25


def test_keys_are_counted_for_the_selected_ones(dense, choose):
    choose(dense, "location", *range(FIRST, LAST + 1))
    assert bpy.ops.tcb.reduce_compare(error=0.01, frames="SELECTED") == {"FINISHED"}
    assert {row.before for row in bpy.context.window_manager.tcb_key_counts} == {LAST - FIRST + 1}
