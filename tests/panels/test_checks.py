# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel Checks, drawn into a real layout."""

from __future__ import annotations

import bpy
import pytest

from tests.animation.curves import fcurves, key, new_object, set_selected
from tests.panels.layouts import drawn

pytestmark = pytest.mark.usefixtures("advanced")


def test_the_panel_offers_the_checks_and_shows_what_they_found(scene, tcb_animation):
    shown = drawn("TCB_PT_checks")
    assert [each for each in shown if each.startswith("bpy.ops.")] == [
        "bpy.ops.tcb.check()",
        "bpy.ops.tcb.joint_check()",
        "bpy.ops.tcb.fix_rotations()",
        "bpy.ops.tcb.relax()",
    ]
    item = new_object("Ball", "XYZ")
    key(item, "scale", [(10, (1, 1, 1)), (21, (1, -1, 1))])
    item.select_set(True)
    bpy.ops.tcb.check()
    shown = drawn("TCB_PT_checks")
    assert "Ball, frame 15.5" in shown
    assert "scale y passes through zero, which turns the object inside out" in " ".join(shown)
    assert "Scale" in shown
    assert "1 object, " in " ".join(shown)


def test_what_a_relaxation_said_stands_where_checks_say_theirs(scene, tcb_animation):
    scene.frame_end = 60
    foot = new_object("Foot", "XYZ")
    key(foot, "location", [(1, (0, 0, 3)), (20, (2, 0, 0)), (30, (4, 0, 0)), (60, (6, 0, 3))])
    foot.select_set(True)
    bpy.context.view_layer.objects.active = foot
    bpy.ops.tcb.bake(step=0.5, keep_look=False)
    for fcurve in fcurves(foot):
        for point in fcurve.keyframe_points:
            set_selected(point, point.co.x == 30)
    bpy.ops.tcb.relax(condition="ABOVE", height=-0.1)
    shown = " ".join(drawn("TCB_PT_checks"))
    assert '"Foot": maximum error before ' in shown
    assert "finding_show" not in shown
