# SPDX-License-Identifier: GPL-3.0-or-later
"""Write Velocities on selected objects."""

from __future__ import annotations

import bpy
import pytest


def test_they_are_written_on_the_selected_objects_in_one_undo_step(keyed, curve):
    keyed("Cube")
    keyed("Ball")
    bpy.ops.tcb.enable()
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.tcb.velocities_write("EXEC_DEFAULT", True, step=0.5) == {"FINISHED"}
    for name in ("Cube", "Ball"):
        item = bpy.data.objects[name]
        assert len(curve(item, '["tcb_location_velocity"]', 2).keyframe_points) == 61
        assert len(item["tcb_rotation_angular_acceleration"]) == 3
    bpy.ops.ed.undo()
    assert curve(bpy.data.objects["Cube"], '["tcb_location_velocity"]') is None
    assert "tcb_location_velocity" not in list(bpy.data.objects["Cube"].keys())


def test_they_can_be_in_seconds(keyed, curve):
    cube = keyed("Cube")
    bpy.ops.tcb.enable(keep_look=False)
    bpy.context.scene.render.fps = 50
    bpy.ops.tcb.velocities_write(quantities={"SPEED"})
    a_frame = curve(cube, '["tcb_location_speed"]').evaluate(5)
    bpy.ops.tcb.velocities_write(quantities={"SPEED"}, unit="SECOND")
    a_second = curve(cube, '["tcb_location_speed"]')
    assert a_second.evaluate(5) == pytest.approx(50 * a_frame)


def test_with_no_quantity_they_are_taken_away(keyed, curve):
    cube = keyed("Cube")
    bpy.ops.tcb.enable()
    bpy.ops.tcb.velocities_write()
    assert bpy.ops.tcb.velocities_write(quantities=set()) == {"FINISHED"}
    assert curve(cube, '["tcb_location_speed"]') is None


def test_they_are_taken_away_after_tcb_was_removed_too(keyed, curve):
    cube = keyed("Cube")
    bpy.ops.tcb.enable()
    bpy.ops.tcb.velocities_write()
    bpy.ops.tcb.remove()
    assert curve(cube, '["tcb_location_speed"]') is not None
    assert bpy.ops.tcb.velocities_write.poll()
    assert bpy.ops.tcb.velocities_write(quantities=set()) == {"FINISHED"}
    assert curve(cube, '["tcb_location_speed"]') is None
    assert not [name for name in list(cube.keys()) if name.startswith(("tcb_location", "tcb_rotation"))]
    assert curve(cube, "location") is not None
    assert not bpy.ops.tcb.velocities_write.poll()


def test_in_pose_mode_they_are_the_selected_bones(posed, curve):
    bpy.ops.tcb.enable()
    assert bpy.ops.tcb.velocities_write() == {"FINISHED"}
    assert "tcb_rotation_angular_velocity" in posed.pose.bones["right"]
    assert "tcb_rotation_angular_velocity" not in posed.pose.bones["left"]


def test_without_a_tcb_track_it_is_greyed_and_refuses_bad_options(keyed):
    keyed("Cube")
    assert not bpy.ops.tcb.velocities_write.poll()
    bpy.ops.tcb.enable()
    with pytest.raises(RuntimeError, match="step 0 is not a positive number"):
        bpy.ops.tcb.velocities_write(step=0.0)
