# SPDX-License-Identifier: GPL-3.0-or-later
"""By hand in the Graph Editor and the Dope Sheet: parameters of several keys, presets, dragging with the mouse."""

from __future__ import annotations

import time
from typing import Any

from .conftest import PICTURES
from .test_main_path import CURVES, place

PARAMETER = """
found = [c for c in fcurves() if c.data_path == 'tcb_tracks["location"].{name}']
result = {{k.co.x: round(k.co.y, 4) for c in found for k in c.keyframe_points}}
"""
ONLY_LOCATION = """
for c in fcurves():
    c.hide = c.lock = 'location' not in c.data_path
"""


def parameter(window: Any, name: str) -> Any:
    """The companion's keys of the location: {frame: number}."""
    return window.run(CURVES + PARAMETER.format(name=name))


def everything(window: Any) -> Any:
    return window.run(f"{CURVES}\nresult = everything()")


def open_editor(window: Any, kind: str) -> Any:
    """Make the large area that editor with the tab TCB, all of it in view; the middle of it."""
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
    yield .5
    return (r.x + r.width // 2, win().height - (r.y + r.height // 2))
""")
    assert centre
    return centre


def test_a_bias_typed_in_the_graph_editor_goes_to_all_selected_keys(window):
    centre = open_editor(window, "GRAPH_EDITOR")
    window.key("a", at=centre)
    before = everything(window)
    buttons = window.buttons("GRAPH_EDITOR")
    window.type_value(place(buttons, "selected.bias"), "0.5")
    window.shot(PICTURES / "graph_editor.png")
    assert parameter(window, "bias") == {1.0: 0.5, 20.0: 0.5, 50.0: 0.5}
    set_ = everything(window)
    window.key("ctrl+z", at=centre)
    assert everything(window) == before
    window.key("ctrl+shift+z", at=centre)
    assert everything(window) == set_


def test_presets_menu_and_dragging_in_the_dope_sheet(window):
    centre = open_editor(window, "DOPESHEET_EDITOR")
    window.key("a", at=centre)
    before = everything(window)

    open_tcb_menu(window, centre)
    window.shot(PICTURES / "menu.png")
    window.key("p")
    window.shot(PICTURES / "presets.png")
    window.key("c")
    assert parameter(window, "tension") == {1.0: -0.5, 20.0: -0.5, 50.0: -0.5}
    assert parameter(window, "continuity") == {1.0: -1.0, 20.0: -1.0, 50.0: -1.0}
    window.key("ctrl+z", at=centre)
    assert everything(window) == before


def test_dragging_with_the_mouse_in_the_dope_sheet(window):
    window.run("bpy.ops.tcb.key_set(track='location', frame=1, bias=0.5)")
    centre = open_editor(window, "DOPESHEET_EDITOR")
    window.key("a", at=centre)
    window.shot(PICTURES / "mixed.png")
    before = everything(window)

    def start() -> None:
        open_tcb_menu(window, centre)
        window.key("d")
        window.key("b")

    def move(dx: int) -> None:
        for step in range(1, 11):
            window.xdotool("mousemove", centre[0] + dx * step // 10, centre[1])
        time.sleep(0.5)

    start()
    move(60)
    dragged = parameter(window, "bias")
    window.shot(PICTURES / "drag.png")
    assert dragged[1.0] > 0.5
    assert round(dragged[1.0] - dragged[20.0], 3) == 0.5
    assert dragged[20.0] == dragged[50.0]
    window.key("Escape")
    assert everything(window) == before

    start()
    move(60)
    for key in ("0", "period", "2", "5"):
        window.key(key)
    window.key("Return")
    assert parameter(window, "bias") == {1.0: 0.25, 20.0: 0.25, 50.0: 0.25}
    window.key("ctrl+z", at=centre)
    assert everything(window) == before


def open_tcb_menu(window: Any, at: Any) -> None:
    """The keys' context menu, and there TCB, by its underlined letter."""
    window.click(at, button=3)
    window.key("t")
