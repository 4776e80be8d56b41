# SPDX-License-Identifier: GPL-3.0-or-later
"""Animation editors with their sidebars, sliders and menus, used with the mouse."""

from __future__ import annotations

from typing import Any

from .conftest import settle, turns
from .cube import CURVES
from .graphical import place

HEADINGS = {"place": 35, "diagram": 61, "track": 87}
"""Distances in pixels from the Copy button down to the headings of panels, while the panels above are closed."""
VIEWPORT = "a = area('VIEW_3D'); r = region(a, 'WINDOW'); result = (r.x + 400, win().height - r.y - 350)"
"""The code for a position in the 3D viewport, away from its sidebar and toolbar."""
# A small cube, seen from above.
TOP_VIEW = """
def steps():
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.view3d.view_axis(type='TOP')
    view = a.spaces.active.region_3d
    view.view_distance, view.view_location = 11, (2.5, 1, 0)
    a.spaces.active.overlay.show_cursor = False
    bpy.data.objects['Cube'].scale = (0.1, 0.1, 0.1)
    bpy.ops.ed.undo_push(message='view')
    yield from drawn()
"""
SHORTCUTS = """
bpy.context.preferences.addons['bl_ext.user_default.tcb_animation'].preferences.use_shortcuts = True
"""

ONLY_LOCATION = """
for c in fcurves():
    c.hide = c.lock = 'location' not in c.data_path
"""


def open_editor(window: Any, kind: str) -> Any:
    """Change the large area to the editor with the TCB tab, show everything in it, and return its center."""
    window.run(
        f"{CURVES}{ONLY_LOCATION}\nnext(a for a in win().screen.areas if a.type == 'DOPESHEET_EDITOR').type = 'INFO'"
    )
    if kind == "DOPESHEET_EDITOR":
        window.run("area('VIEW_3D').ui_type = 'DOPESHEET'")
    window.open_sidebar(kind, "TCB")
    centre = window.run(f"""
def steps():
    a = max((a for a in win().screen.areas if a.type == {kind!r}), key=lambda a: a.height)
    r = region(a, 'WINDOW')
    with bpy.context.temp_override(window=win(), area=a, region=r):
        bpy.ops.{"graph" if kind == "GRAPH_EDITOR" else "action"}.view_all()
    bpy.ops.ed.undo_push(message='editor')
    yield from drawn()
    return (r.x + r.width // 2, win().height - (r.y + r.height // 2))
""")
    assert centre
    return centre


def unfold(window: Any, area: str, panel: str) -> None:
    """Click the heading of a panel in the tab to open the panel."""
    x, y = place(window.buttons(area, height=480, across=0.4, top=260), "tcb.key_copy")
    window.click((x, y + HEADINGS[panel]))


def hold_slider(window: Any, at: Any, steps: int) -> None:
    """Press the mouse button on the left part of a slider, and move the mouse a number of steps to the right."""
    x, y = at
    for place_ in ((x - 85, y), (x - 80, y)):
        window.xdotool("mousemove", *place_)
        turns(window)
    window.xdotool("mousedown", 1)
    turns(window)
    move_on(window, steps)


def move_on(window: Any, steps: int) -> None:
    for _step in range(steps):
        window.xdotool("mousemove_relative", 5, 0)
        turns(window)
    turns(window)


def take_back(window: Any) -> None:
    """Press Esc while the mouse button is held on a slider."""
    window.key("Escape")
    window.xdotool("mouseup", 1)
    settle(window)


def start_dragging_bias(window: Any, at: Any, dx: int) -> None:
    """Start the drag from the menu, and move the mouse by a number of pixels."""
    open_tcb_menu(window, at)
    window.key("d")
    window.key("b")
    for step in range(1, 11):
        window.xdotool("mousemove", at[0] + dx * step // 10, at[1])
        turns(window)


def open_tcb_menu(window: Any, at: Any) -> None:
    """Open TCB in the keys' context menu by its underlined letter."""
    window.click(at, button=3)
    window.key("t")
