# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab with mouse and keyboard: frame and value fields, shortcuts, presets as pictures."""

from __future__ import annotations

from typing import Any

from .conftest import settle
from .cube import CURVES, everything
from .editors import SHORTCUTS, VIEWPORT, hold_slider, take_back, unfold
from .graphical import place

PARAMETERS = "s = bpy.context.scene.tcb; result = [round(each, 3) for each in (s.tension, s.continuity, s.bias)]"
PLAYHEAD = "result = bpy.context.scene.frame_current"


def keys(window: Any, path: str = "location") -> Any:
    """Return the frames and values of each component's keys."""
    return window.run(f"{CURVES}\nresult = [[k[0] for k in c[3]] for c in everything() if c[0] == {path!r}]")


def test_fields_shortcuts_and_presets_of_the_key_in_the_viewport(window):
    viewport = window.run(VIEWPORT)
    window.run(SHORTCUTS)
    window.run("bpy.ops.tcb.enable(live=True); bpy.ops.tcb.preset_apply(preset='smooth')")
    window.run("bpy.ops.ed.undo_push(message='enabled')")
    settle(window)
    before = everything(window)
    unfold(window, "VIEW_3D", "place")
    buttons = window.buttons("VIEW_3D", height=560, top=260)

    # Type the frame and a value. Each change is one undo step.
    window.type_value(place(buttons, "tcb.key_frame"), "26")
    settle(window)
    assert [[frame for frame, _ in curve] for curve in keys(window)] == [[1.0, 26.0, 50.0]] * 3
    assert window.run(PLAYHEAD) == 26
    window.type_value(place(buttons, "tcb.key_value[2]"), "-1.5")
    settle(window)
    assert keys(window)[2][1] == (26.0, -1.5)
    for _ in range(2):
        window.key("ctrl+z", at=viewport)
    settle(window)
    assert everything(window) == before
    assert window.run(PLAYHEAD) == 20

    # Drag the frame, and press Esc.
    hold_slider(window, place(buttons, "tcb.key_frame"), 4)
    assert keys(window)[0][1][0] > 20.0
    take_back(window)
    assert everything(window) == before

    # Use shortcuts with the mouse over the viewport.
    window.key("shift+alt+Right", at=viewport)
    assert window.run(PLAYHEAD) == 50
    window.key("shift+alt+Left")
    window.key("shift+alt+Left")
    assert window.run(PLAYHEAD) == 1
    window.key("shift+alt+Right")
    window.key("shift+alt+b")
    for key in ("0", "period", "5", "Return"):
        window.key(key)
    settle(window)
    assert window.run(PARAMETERS) == [0.0, 0.0, 0.5]
    window.key("shift+alt+p")
    window.key("c")
    settle(window)
    assert window.run(PARAMETERS) == [-0.5, -1.0, 0.0]

    # The row of presets closes after a choice, so the viewport gets the next Space.
    left = window.run("result = region(area('VIEW_3D'), 'UI').x")
    curve = (left + 30, place(buttons, "tcb.ease_from")[1] + 36)
    window.click(curve)
    # The seventh of eight pictures, which end at the edge of the window.
    window.click((window.size[0] - 143, curve[1] + 60))
    settle(window)
    assert window.run("result = bpy.context.scene.tcb_presets.preset") == "Overshoot"
    assert window.run(PARAMETERS) == [0.0, 0.0, 1.0]
    window.key("space", at=viewport)
    assert window.run("result = bpy.context.screen.is_animation_playing") is True
    window.key("Escape")
    assert window.run("result = bpy.context.screen.is_animation_playing") is False
    window.key("ctrl+z")
    settle(window)
    assert window.run(PARAMETERS) == [-0.5, -1.0, 0.0]
