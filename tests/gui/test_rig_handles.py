# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig played by handles: clicks, jumps and pose tools find the animator's own keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .conftest import PICTURES, settle
from .dope_sheet import diamond
from .rig import RIG, RIG_CURVES, SHOW
from .screen import SAME, screen

FRAMES = (1, 25, 40, 301, 601)
"""Frames of keys, far apart. With all frames in view, a frame is two pixels wide."""
LAYOUT = "next(a for a in win().screen.areas if a.type == 'DOPESHEET_EDITOR')"
ENABLE = "bpy.ops.tcb.enable(live=True)"
POSE_TOOLS = ("breakdown", "push", "relax", "blend_to_neighbor")


def rig(window: Any, bones: int) -> None:
    """Create the rig in Pose Mode with all bones selected, and play it with handles."""
    made = RIG.replace("range(10)", f"range({bones})").replace(str((1, 13, 25, 49)), str(FRAMES))
    made = made.replace("bpy.ops.tcb.enable()", ENABLE)
    window.run(f"bpy.data.objects.remove(bpy.data.objects['Cube'])\n{made[: made.index(LAYOUT)]}")
    window.run("bpy.context.scene.frame_set(200); bpy.ops.ed.undo_push(message='rig')")
    settle(window)
    counts = window.run(f"{RIG_CURVES}\nresult = sorted({{len(curve.keyframe_points) for curve in fcurves()}})")
    assert counts == [len(FRAMES)]
    assert window.run("result = bpy.data.objects['Rig'].animation_data.action.tcb_live") is True


def test_a_click_selects_the_key_under_it_at_two_pixels_a_frame(window: Any) -> None:
    rig(window, 100)
    window.run(f"{LAYOUT}.type = 'INFO'\narea('VIEW_3D').ui_type = 'DOPESHEET'")
    window.run(SHOW)
    pixels = diamond(window, 101)[0] - diamond(window, 1)[0]
    assert 100 <= pixels <= 250, pixels
    window.click(diamond(window, 25))
    window.shot(PICTURES / "rig_clicked.png")
    selected = window.run(f"""{RIG_CURVES}
result = sorted({{key.co.x for curve in fcurves() for key in curve.keyframe_points if key.select_control_point}})
""")
    assert selected == [25.0]
    window.key("g", at=diamond(window, 25))
    window.key("4")
    window.key("Return")
    settle(window)
    frames = window.run(f"{RIG_CURVES}\nresult = sorted({{k.co.x for c in fcurves() for k in c.keyframe_points}})")
    assert frames == [1.0, 29.0, 40.0, 301.0, 601.0]
    assert is_as_played(window)


def is_as_played(window: Any) -> bool:
    """True if a bake of handles would change nothing."""
    handles = f"""{RIG_CURVES}
def handles():
    return [[(*k.co, *k.handle_left, *k.handle_right) for k in c.keyframe_points] for c in fcurves()]
"""
    return bool(
        window.run(f"""{handles}
from bl_ext.user_default.tcb_animation import animation
before = handles()
animation.bake(bpy.data.objects['Rig'], output='HANDLES')
result = before == handles()
""")
    )


def test_jumps_and_pose_tools_go_by_own_keys(window: Any) -> None:
    rig(window, 10)
    centre = window.run("a = area('VIEW_3D'); r = region(a, 'WINDOW'); result = (r.x + 400, win().height - r.y - 300)")
    window.run("bpy.context.scene.frame_set(1); bpy.ops.ed.undo_push(message='frame')")
    visited = []
    onward, back = window.run("result = ('Down', 'Up') if bpy.app.version >= (5, 0) else ('Up', 'Down')")
    for _ in range(3):
        window.key(onward, at=centre)
        visited.append(window.run("result = bpy.context.scene.frame_current"))
    window.key(back, at=centre)
    visited.append(window.run("result = bpy.context.scene.frame_current"))
    assert visited == [25, 40, 301, 40]
    bone = "bpy.data.objects['Rig'].pose.bones['Bone 3'].location"
    poses = [window.run(f"bpy.context.scene.frame_set({frame}); result = tuple({bone})") for frame in (25, 40)]
    for tool in POSE_TOOLS:
        window.run(f"""
bpy.context.scene.frame_set(33)
a = area('VIEW_3D')
with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
    bpy.ops.pose.{tool}('INVOKE_DEFAULT')
""")
        window.key("Return", at=centre)
        found = window.run("""
done = bpy.context.window_manager.operators[-1]
result = (done.bl_idname, done.properties.prev_frame, done.properties.next_frame)
""")
        assert found == (f"POSE_OT_{tool}", 25, 40)
        if tool == "breakdown":
            middle = window.run(f"result = tuple({bone})")
            assert middle == pytest.approx([(a + b) / 2 for a, b in zip(*poses, strict=True)], abs=1e-4)
    window.shot(PICTURES / "rig_pose_tools.png")


EDITOR = """
def steps():
    a = max((a for a in win().screen.areas if a.type in {{'VIEW_3D', 'DOPESHEET_EDITOR', 'GRAPH_EDITOR'}}),
            key=lambda a: a.height)
    a.type, a.ui_type = {kind!r}, {mode!r}
    a.spaces.active.show_region_ui = False
    yield from drawn()
    for _level in range(3):
        with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
            bpy.ops.anim.channels_expand(all=True)
        yield from drawn()
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        (bpy.ops.graph if {kind!r} == 'GRAPH_EDITOR' else bpy.ops.action).view_all()
    yield from drawn()
    rows = region(a, 'CHANNELS')
    return a.x, win().height - a.y - a.height, a.width, a.height, rows.width
"""
EDITORS = (("DOPESHEET_EDITOR", "DOPESHEET"), ("GRAPH_EDITOR", "FCURVES"))


def editors(window: Any, name: str) -> list[Any]:
    """Return pictures of the Dope Sheet and of the Graph Editor's rows, shape (height, width, 3)."""
    pictures = []
    for kind, mode in EDITORS:
        x, y, width, height, rows = window.run(EDITOR.format(kind=kind, mode=mode))
        # Keep the mouse away from buttons.
        window.xdotool("mousemove", 5, 990)
        settle(window)
        if mode == "FCURVES":
            # The view range depends on the curves, which differ slightly from the earlier curves.
            width = rows
        pictures.append(screen(window, f"{name}_{mode.lower()}.png")[y : y + height, x : x + width])
    return pictures


def test_a_rig_looks_as_its_twin_without_tcb(window: Any) -> None:
    """The editors show the same keys in the same rows."""
    rig(window, 10)
    window.run(f"{LAYOUT}.type = 'INFO'")
    ours = editors(window, "rig_tcb")
    # Handles may play a quaternion with the opposite sign.
    keys = f"{RIG_CURVES}\nresult = [[(k.co.x, abs(k.co.y)) for k in c.keyframe_points] for c in fcurves()]"
    ours_keys = window.run(keys)
    # The Dope Sheet shows the handle type as the key's shape.
    window.run(f"""{RIG_CURVES}
from bl_ext.user_default.tcb_animation import animation
animation.remove(bpy.data.objects['Rig'])
for curve in fcurves():
    for key in curve.keyframe_points:
        key.handle_left_type = key.handle_right_type = 'FREE'
""")
    assert window.run("result = list(bpy.data.objects['Rig'].animation_data.action.keys())") == []
    theirs = editors(window, "rig_plain")
    assert window.run(keys) == ours_keys
    assert [int((np.abs(a - b).max(axis=2) > SAME).sum()) for a, b in zip(ours, theirs, strict=True)] == [0, 0]
