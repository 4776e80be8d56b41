# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab by mouse and keyboard: frame and value fields, shortcuts, presets as pictures, tangents in the diagram."""

from __future__ import annotations

from typing import Any

import pytest

from tools.graphical import place

from .conftest import PICTURES, settle, turns
from .cube import CURVES, everything
from .editors import hold_slider, open_editor, take_back
from .top_view import log

PARAMETERS = "s = bpy.context.scene.tcb; result = [round(each, 3) for each in (s.tension, s.continuity, s.bias)]"
PLAYHEAD = "result = bpy.context.scene.frame_current"

# A viewport hardly wider than its sidebar: drawn without a graphics card, it takes its time. A place in it.
NARROW = """
def steps():
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.screen.area_split(direction='VERTICAL', factor=.62)
    yield from drawn()
    min((each for each in win().screen.areas if each.type == 'VIEW_3D'), key=lambda each: each.x).type = 'INFO'
    yield from drawn()
    a = area('VIEW_3D')
    a.spaces.active.show_region_toolbar = False
    region(a, 'UI').active_panel_category = 'TCB'
    a.tag_redraw()
    yield from drawn()
    return a.x + 60, win().height - a.y - a.height // 2
"""
# The same half as high, so that the tab is longer; where the middle of the scroll bar's upper half is, and of the tabs.
SHORT = """
def steps():
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.screen.area_split(direction='HORIZONTAL', factor=.5)
    yield .3
    min((each for each in win().screen.areas if each.type == 'VIEW_3D'), key=lambda each: each.y).type = 'INFO'
    yield .3
    ui = region(area('VIEW_3D'), 'UI')
    ui.active_panel_category = 'TCB'
    ui.tag_redraw()
    yield from drawn()
    top = win().height - ui.y - ui.height
    return (ui.x + ui.width - 26, top + 40), (ui.x + ui.width - 10, top + 20)
"""
# How far the tab is scrolled, and which it is.
SCROLLED = """
ui = region(area('VIEW_3D'), 'UI')
result = round(-ui.height - ui.view2d.region_to_view(0, 0)[1]), ui.active_panel_category
"""
# On the screen, the ends of the tangents in the diagram of the tab.
TANGENTS = """
from bl_ext.user_default.tcb_animation.panels.pictures import diagram, find_picture

def steps():
    ui = region(area({area!r}), 'UI')
    search = find_picture.search(ui)
    for _turn in range(100):
        yield 0.05
        if search.pixels is not None:
            break
    sidebar = bpy.context.scene.tcb
    with bpy.context.temp_override(window=win(), area=area({area!r}), region=ui):
        numbers = {{name: getattr(sidebar, name) for name in diagram.PARAMETERS}}
    size = diagram.size_drawn()
    corner = find_picture.find(search.pixels, diagram.bitmap(numbers, size, (0,) * 4, (0,) * 4).pixels)
    if corner is None:
        return None
    ends = [diagram.placed(diagram.shown_at(end), size) for end in diagram.ends_of_tangents(numbers)]
    return [(round(ui.x + corner[0] + x), win().height - round(ui.y + corner[1] + y)) for x, y in ends]
"""


def keys(window: Any, path: str = "location") -> Any:
    """Frames and values of the keys of each component."""
    return window.run(f"{CURVES}\nresult = [[k[0] for k in c[3]] for c in everything() if c[0] == {path!r}]")


def hold(window: Any, at: Any, dx: int, dy: int) -> None:
    """Press the mouse there, and move it so far."""
    x, y = at
    window.xdotool("mousemove", x - 3, y, "mousemove", x, y)
    turns(window)
    window.xdotool("mousedown", 1)
    turns(window)
    for step in (1, 2):
        window.xdotool("mousemove", x + dx * step // 2, y + dy * step // 2)
        turns(window)
    settle(window)


def let_go(window: Any) -> None:
    window.xdotool("mouseup", 1)
    settle(window)


def test_fields_shortcuts_presets_and_tangents_of_the_key_in_the_viewport(window):
    viewport = window.run(NARROW)
    window.run("bpy.ops.tcb.enable(live=True); bpy.ops.tcb.preset_apply(preset='smooth')")
    window.run("bpy.ops.ed.undo_push(message='enabled')")
    settle(window)
    before = everything(window)
    buttons = window.buttons("VIEW_3D", height=480)

    # The frame and a value, typed; each is one step of undo.
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

    # The frame dragged, and Esc.
    hold_slider(window, place(buttons, "tcb.key_frame"), 4)
    assert keys(window)[0][1][0] > 20.0
    take_back(window)
    assert everything(window) == before

    # Shortcuts, with the mouse over the viewport.
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

    # The row of presets closes after a choice: the next Space is the viewport's.
    left = window.run("result = region(area('VIEW_3D'), 'UI').x")
    curve = (left + 30, place(buttons, "tcb.ease_from")[1] + 36)
    window.click(curve)
    window.shot(PICTURES / "row_of_presets.png")
    # The sixth of eight, which end below the curve.
    window.click((curve[0] - 192, curve[1] + 60))
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

    # A tangent in the diagram: Esc gives back, the mouse's button keeps.
    window.run("bpy.ops.tcb.preset_apply(preset='smooth'); bpy.ops.ed.undo_push(message='smooth')")
    settle(window)
    smooth = everything(window)
    _, outgoing = window.run(TANGENTS.format(area="VIEW_3D"))
    hold(window, outgoing, 18, 0)
    assert window.run(PARAMETERS)[0] < -0.5
    assert everything(window) != smooth
    window.shot(PICTURES / "diagram_dragged.png")
    window.key("Escape")
    let_go(window)
    assert everything(window) == smooth
    hold(window, outgoing, 18, 0)
    # 21 pixels long at tension 0; bias and continuity stay as they are.
    dragged = window.run(PARAMETERS)
    assert dragged == pytest.approx([-18 / 21.3, 0.0, 0.0], abs=0.06)
    let_go(window)
    kept = everything(window)
    window.key("ctrl+z", at=viewport)
    settle(window)
    assert everything(window) == smooth
    window.key("ctrl+shift+z")
    settle(window)
    assert everything(window) == kept
    # Of a key at which both end, that to whose side the mouse goes.
    window.run("bpy.ops.tcb.preset_apply(preset='stop'); bpy.ops.ed.undo_push(message='stop')")
    settle(window)
    incoming, _ = window.run(TANGENTS.format(area="VIEW_3D"))
    hold(window, incoming, -21, 0)
    let_go(window)
    assert window.run(PARAMETERS)[0] == pytest.approx(0.0, abs=0.06)
    # Beside them nothing is dragged, and a click does nothing.
    stays = everything(window)
    hold(window, (incoming[0] + 50, incoming[1] + 20), 20, 10)
    let_go(window)
    assert everything(window) == stays
    assert "Traceback" not in log(window)


# Where the cube's F-curves have it at the current frame, where Blender shows it, and what its Location fields say.
BETWEEN_KEYS = f"""{CURVES}
cube, frame = bpy.data.objects['Cube'], bpy.context.scene.frame_current
shown = cube.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
result = [tuple(c.evaluate(frame) for c in fcurves() if c.data_path == 'location'), tuple(shown), tuple(cube.location)]
"""


def test_the_cube_between_two_keys_follows_each_change_of_a_parameter(window):
    viewport = window.run(NARROW)
    window.run("bpy.ops.tcb.enable(live=True); bpy.ops.tcb.preset_apply(preset='smooth')")
    window.run("bpy.context.scene.frame_set(30); bpy.ops.ed.undo_push(message='enabled')")
    settle(window)
    seen: list[Any] = []

    def check_it_follows() -> None:
        """The cube stands where its curves have it, which is not where it was last."""
        settle(window)
        played, *shown = window.run(BETWEEN_KEYS)
        assert shown == [pytest.approx(played, abs=1e-5)] * 2
        assert played not in seen[-1:]
        seen.append(played)

    check_it_follows()
    buttons = window.buttons("VIEW_3D", height=480)
    hold_slider(window, place(buttons, "tcb.tension"), 8)
    check_it_follows()
    let_go(window)
    window.type_value(place(buttons, "tcb.bias"), "-0.5")
    check_it_follows()
    for back in (1, 0):
        window.key("ctrl+z", at=viewport)
        check_it_follows()
        assert seen[-1] == pytest.approx(seen[back], abs=1e-5)
    window.key("shift+alt+b")
    for step in (30, 60):
        window.xdotool("mousemove", viewport[0] + step, viewport[1])
        turns(window)
    check_it_follows()
    window.key("Return")
    window.key("ctrl+z")
    check_it_follows()
    window.key("shift+alt+p")
    window.key("c")
    check_it_follows()
    window.run("bpy.ops.tcb.bake(output='SAMPLES'); bpy.ops.ed.undo_push(message='baked')")
    settle(window)
    window.type_value(place(window.buttons("VIEW_3D", height=480), "tcb.tension"), "0.9")
    check_it_follows()
    assert "Traceback" not in log(window)


def test_the_scroll_bar_and_the_tabs_beside_the_diagram_are_blenders(window):
    window.run(NARROW)
    bar, tab = window.run(SHORT)
    window.run("bpy.ops.tcb.enable(live=False); bpy.ops.tcb.preset_apply(preset='smooth')")
    settle(window)
    before = everything(window)
    assert window.run(SCROLLED) == (0, "TCB")
    hold(window, bar, 0, 100)
    let_go(window)
    scrolled, _ = window.run(SCROLLED)
    assert 250 < scrolled < 450
    assert everything(window) == before
    # The diagram has come into view, and its tangents are dragged there.
    _, outgoing = window.run(TANGENTS.format(area="VIEW_3D"))
    hold(window, outgoing, 18, 0)
    let_go(window)
    assert window.run(PARAMETERS) == pytest.approx([-18 / 21.3, 0.0, 0.0], abs=0.06)
    dragged = everything(window)
    assert dragged != before
    hold(window, (bar[0], bar[1] + 100), 0, -60)
    let_go(window)
    assert window.run(SCROLLED)[0] < scrolled - 100
    window.click(tab)
    assert window.run(SCROLLED)[1] == "Item"
    assert everything(window) == dragged
    assert "Traceback" not in log(window)


@pytest.mark.parametrize("editor", ["GRAPH_EDITOR", "DOPESHEET_EDITOR"])
def test_a_tangent_in_the_diagram_of_an_animation_editor_is_that_of_all_selected_keys(window, editor):
    centre = open_editor(window, editor)
    window.run("bpy.ops.tcb.enable(live=False)")
    window.key("a", at=centre)
    window.key("shift+alt+p")
    window.key("s")
    before = everything(window)
    incoming, _ = window.run(TANGENTS.format(area=editor))
    hold(window, incoming, -12, 0)
    let_go(window)
    tensions = window.run(f"{CURVES}\nresult = numbers('tension')")
    assert list(tensions) == [1.0, 20.0, 50.0]
    assert len(set(tensions.values())) == 1
    assert tensions[1.0] == pytest.approx(-12 / 21.3, abs=0.06)
    window.key("ctrl+z", at=centre)
    assert everything(window) == before
    assert "Traceback" not in log(window)
