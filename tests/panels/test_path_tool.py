# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a path under the mouse, and the tool's operators without a mouse."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from tests.animation.curves import curve, key, new_object, new_rig

SIZE = (200, 100)
"""A view with the identity matrix, so that x and y from -1 to 1 fill the region."""


@pytest.fixture
def pictures(scene, tcb_animation):
    return tcb_animation.panels.pictures


@pytest.fixture
def shown(pictures):
    """A path along x with keys at its ends and in the middle. The tangents at the middle key have length 0.1."""
    points = np.stack((np.linspace(-0.8, 0.8, 41), np.zeros(41), np.zeros(41)), axis=1).astype(np.float32)
    keys = points[[0, 20, 40]]
    away = np.array([(0, 0, 0), (0, 0.4, 0), (0, 0, 0)], dtype=np.float32)
    reach = np.array([[0, 20, 20], [20, 20, 0]], dtype=np.float64)
    frames = np.array([1.0, 21.0, 41.0])
    path = pictures.path_geometry.Path(1, points, np.ones(41, np.float32), frames, reach, keys, np.stack((-away, away)))
    trace = pictures.path_geometry.Trace("ORIGIN", "Z", 1.0, 1, 41)
    return pictures.path_pick.DrawnPath(SimpleNamespace(session_uid=7), "", trace, path)


@pytest.mark.parametrize(
    ("mouse", "part", "frame"),
    [
        ((103, 52), "KEY", 21.0),
        ((100, 72), "handle_right", 21.0),
        ((100, 28), "handle_left", 21.0),
        ((20, 50), "KEY", 1.0),
        ((60, 53), "PATH", 11.0),
        ((60, 70), "", 0.0),
    ],
)
def test_a_key_a_tangent_or_the_path_is_under_the_mouse(pictures, shown, mouse, part, frame):
    found = pictures.path_pick.pick([shown], np.eye(4), SIZE, mouse, 1.0)
    if not part:
        assert found is None
        return
    assert (found[0].owner, found[0].part) == ((7, ""), part)
    assert found[0].frame == pytest.approx(frame, abs=1e-4)


def test_what_is_behind_the_eye_is_not_hit(pictures, shown):
    behind = np.diag([1.0, 1.0, 1.0, -1.0])
    assert pictures.path_pick.pick([shown], behind, SIZE, (100, 50), 1.0) is None


def test_a_button_was_pressed_where_the_mouse_moved_to_last_when_blender_says_that_it_has_gone_on(pictures):
    def context(region):
        return SimpleNamespace(region=SimpleNamespace(as_pointer=lambda: region))

    def event(x, y, before=None):
        """An event at a position in the window. The region begins at (10, 20)."""
        there = {"mouse_x": x, "mouse_y": y, "mouse_region_x": x - 10, "mouse_region_y": y - 20}
        before_x, before_y = before or (x, y)
        return SimpleNamespace(mouse_prev_x=before_x, mouse_prev_y=before_y, **there)

    mouse_module = pictures.mouse_on_paths
    mouse_module.record_mouse(context(1), event(110, 120))
    late, at_rest = event(170, 150, before=(110, 120)), event(170, 150)
    assert mouse_module.pressed_at(context(1), late) == (100, 100)
    assert mouse_module.pressed_at(context(1), at_rest) == (160, 130)
    # The path was not shown in another viewport.
    assert mouse_module.pressed_at(context(2), late) == (160, 130)


def test_a_path_has_the_colour_of_its_bone(pictures):
    rig = new_rig("one", "two", "three")
    rig.pose.bones["one"].color.palette = "CUSTOM"
    rig.pose.bones["one"].color.custom.normal = (0.25, 0.5, 0.75)
    rig.data.bones["two"].color.palette = "THEME01"
    theme = bpy.context.preferences.themes[0].bone_color_sets[0].normal
    colours = [pictures.paths_in_viewport.path_color(bpy.context, rig, bone, False) for bone in ("one", "two", "three")]
    # Blender stores one byte per channel.
    assert colours[0][:3] == pytest.approx((0.25, 0.5, 0.75), abs=0.003)
    assert colours[1][:3] == tuple(theme)
    assert colours[2] == pictures.draw_paths.PATH_COLOR
    assert pictures.paths_in_viewport.path_color(bpy.context, rig, "three", True)[3] < colours[2][3]


def test_scripts_make_and_delete_keys_of_paths(scene, pictures):
    item = new_object()
    key(item, "location", [(1, (0, 0, 0)), (20, (4, 1, 2)), (50, (0, 3, 0))])
    area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0], area=area):
        assert bpy.ops.tcb.path_key_insert(object=item.name, frame=30) == {"FINISHED"}
        assert bpy.ops.tcb.path_key_delete(object=item.name, frame=20) == {"FINISHED"}
        with pytest.raises(RuntimeError, match="no key at this frame"):
            bpy.ops.tcb.path_key_delete(object=item.name, frame=20)
        with pytest.raises(RuntimeError, match='There is no object "Nothing"'):
            bpy.ops.tcb.path_key_delete(object="Nothing", frame=1)
        with pytest.raises(RuntimeError, match=f'"{item.name}" has no bone "arm"'):
            bpy.ops.tcb.path_key_delete(object=item.name, bone="arm", frame=1)
    assert [point.co.x for point in curve(item, "location").keyframe_points] == [1, 30, 50]
