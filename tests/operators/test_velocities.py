# SPDX-License-Identifier: GPL-3.0-or-later
"""Write Velocities on selected objects."""

from __future__ import annotations

import bpy
import pytest


def test_they_are_written_on_the_selected_objects(keyed, curve):
    keyed("Cube")
    keyed("Ball")
    bpy.ops.tcb.enable()
    assert bpy.ops.tcb.velocities_write() == {"FINISHED"}
    for name in ("Cube", "Ball"):
        item = bpy.data.objects[name]
        assert len(curve(item, '["tcb_location_velocity"]', 2).keyframe_points) == 31
        assert len(item["tcb_rotation_angular_acceleration"]) == 3


def test_they_are_taken_away_after_tcb_was_removed_too(keyed, curve):
    cube = keyed("Cube")
    bpy.ops.tcb.enable()
    bpy.ops.tcb.velocities_write()
    bpy.ops.tcb.remove()
    assert curve(cube, '["tcb_location_velocity"]') is not None
    assert bpy.ops.tcb.velocities_write(remove=True) == {"FINISHED"}
    assert curve(cube, '["tcb_location_velocity"]') is None
    assert not [name for name in list(cube.keys()) if name.startswith(("tcb_location", "tcb_rotation"))]
    assert curve(cube, "location") is not None
    with pytest.raises(RuntimeError, match="no velocities were written"):
        bpy.ops.tcb.velocities_write(remove=True)


def test_in_pose_mode_they_are_the_selected_bones(posed, curve):
    bpy.ops.tcb.enable()
    assert bpy.ops.tcb.velocities_write() == {"FINISHED"}
    assert "tcb_rotation_angular_velocity" in posed.pose.bones["right"]
    assert "tcb_rotation_angular_velocity" not in posed.pose.bones["left"]


def test_without_a_tcb_track_nothing_is_written(keyed):
    keyed("Cube")
    with pytest.raises(RuntimeError, match="no TCB track"):
        bpy.ops.tcb.velocities_write()
