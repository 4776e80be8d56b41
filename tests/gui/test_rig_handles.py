# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig played by handles looks in the editors as a rig without TCB."""

from __future__ import annotations

from typing import Any

import numpy as np

from .conftest import settle
from .rig import FRAMES, RIG_CURVES, make_rig
from .screen import SAME, screen

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
    window.run(make_rig(bones=10))
    window.run("next(a for a in win().screen.areas if a.type == 'DOPESHEET_EDITOR').type = 'INFO'")
    settle(window)
    counts = window.run(f"{RIG_CURVES}\nresult = sorted({{len(curve.keyframe_points) for curve in fcurves()}})")
    assert counts == [len(FRAMES)]
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
