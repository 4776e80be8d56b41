# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the tab have fixed positions, and the tab fits into the default layout, as measured on the screen."""

from __future__ import annotations

from typing import Any

from .conftest import PICTURES, settle
from .cube import CURVES
from .editors import open_editor
from .graphical import place
from .rig import make_rig

SLIDERS = ("tcb.tension", "tcb.ease_from", "tcb.key_copy")


def places(window: Any, area: str) -> list[Any]:
    """Return the positions of the first and last sliders, the Copy button and the bake toggle."""
    window.run(f"area({area!r}).tag_redraw()")
    settle(window)
    buttons = window.buttons(area, height=560, across=0.45, top=140)
    bake = next(name for name in buttons if "tcb.bake(" in name or "tcb.free(" in name)
    return [*(place(buttons, name) for name in SLIDERS), buttons[bake]]


def test_no_row_of_an_animation_editor_moves_where_numbers_are_mixed(window: Any) -> None:
    editor = "GRAPH_EDITOR"
    centre = open_editor(window, editor)
    window.key("a", at=centre)
    found = [places(window, editor)]
    for code in (
        "bpy.ops.tcb.enable(live=True)",
        "bpy.ops.tcb.key_set(track='location', frame=20, bias=0.5)",
        "bpy.ops.tcb.bake()",
    ):
        window.run(f"{code}\nbpy.ops.ed.undo_push(message='state')")
        settle(window)
        found.append(places(window, editor))
    window.shot(PICTURES / "layout_mixed.png")
    assert found == found[:1] * 4
    assert window.run(f"{CURVES}\nresult = sorted(set(numbers('bias').values()))")[-1] == 0.5


WIDTHS = (180, 280, 400)
"""Width of the sidebar in pixels at a resolution scale of 1."""
TO_END = 95
"""Distance in pixels from the bake toggle to the end of the tab, which is the heading of Paths."""
RESIZED = """
ui = region(area('VIEW_3D'), 'UI')
result = ui.x, win().height - ui.y - ui.height // 2, ui.width
"""
END = "ui = region(area('VIEW_3D'), 'UI'); result = win().height - ui.y"


def resize(window: Any, width: int) -> None:
    """Drag the edge of the sidebar."""
    x, y, now = window.run(RESIZED)
    window.xdotool("mousemove", x + 1, y, "mousemove", x, y)
    settle(window)
    window.xdotool("mousedown", 1)
    settle(window)
    for part in (0.5, 1.0):
        window.xdotool("mousemove", round(x + (now - width) * part), y)
        settle(window)
    window.xdotool("mouseup", 1)
    settle(window)


def test_all_of_the_tab_is_in_sight_in_the_default_layout(own_window: Any) -> None:
    """Test three sidebar widths and two interface sizes with a TCB bone, because bones have the most rows."""
    window = own_window
    window.run(make_rig(bones=1))
    for scale in (1.0, 1.25):
        window.run(f"bpy.context.preferences.view.ui_scale = {scale}")
        settle(window)
        for width in WIDTHS:
            resize(window, round(width * scale))
            window.shot(PICTURES / f"fits_{scale}_{width}.png")
            buttons = window.buttons("VIEW_3D", height=900, across=0.3, top=round(400 * scale))
            _, bake = next(at for name, at in buttons.items() if "tcb.bake(" in name)
            assert bake + TO_END * scale <= window.run(END)
