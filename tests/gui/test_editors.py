# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters of several keys, presets and mouse drags in the Graph Editor and the Dope Sheet."""

from __future__ import annotations

import pytest

from .conftest import settle, turns
from .cube import everything, parameter
from .editors import hold_slider, move_on, open_editor, open_tcb_menu, start_dragging_bias, take_back
from .graphical import place


def test_a_bias_typed_in_the_graph_editor_goes_to_all_selected_keys(window):
    centre = open_editor(window, "GRAPH_EDITOR")
    window.key("a", at=centre)
    before = everything(window)
    buttons = window.buttons("GRAPH_EDITOR", height=360)
    window.type_value(place(buttons, "tcb.bias"), "0.5")
    assert parameter(window, "bias") == {1.0: 0.5, 20.0: 0.5, 50.0: 0.5}
    all_set = everything(window)
    window.key("ctrl+z", at=centre)
    assert everything(window) == before
    window.key("ctrl+shift+z", at=centre)
    assert everything(window) == all_set

    window.run("bpy.ops.tcb.key_set(track='location', frame=1, bias=-0.5); bpy.ops.ed.undo_push(message='mixed')")
    mixed = everything(window)
    slider = place(buttons, "tcb.bias")

    # With Alt, the drag shifts each value. If Alt is pressed later, the shift starts from the original values.
    window.xdotool("keydown", "alt")
    hold_slider(window, slider, 8)
    shifted = parameter(window, "bias")
    window.xdotool("mouseup", 1)
    window.xdotool("keyup", "alt")
    settle(window)
    assert parameter(window, "bias") == shifted
    assert shifted[20.0] == shifted[50.0] > 0.5
    assert shifted[1.0] - shifted[20.0] == pytest.approx(-1, abs=2e-4)
    window.key("ctrl+z", at=centre)
    assert everything(window) == mixed
    hold_slider(window, slider, 3)
    window.xdotool("keydown", "alt")
    move_on(window, 1)
    again = parameter(window, "bias")
    window.xdotool("keyup", "alt")
    take_back(window)
    assert again[1.0] - again[20.0] == pytest.approx(-1, abs=2e-4)
    assert everything(window) == mixed

    # The value is typed, with Alt held at Enter. The mean is 1/6, shown as 0.167.
    # The slider is narrower if the range is next to it.
    window.click((slider[0] - 80, slider[1]), times=2)
    window.xdotool("key", "ctrl+a")
    window.xdotool("type", "--delay", 40, "--", ".167+.2")
    window.xdotool("keydown", "alt")
    window.key("Return")
    window.xdotool("keyup", "alt")
    assert parameter(window, "bias") == {1.0: -0.3, 20.0: 0.7, 50.0: 0.7}


def test_the_menu_its_presets_and_dragging_in_the_dope_sheet(window):
    centre = open_editor(window, "DOPESHEET_EDITOR")
    window.key("a", at=centre)
    before = everything(window)
    open_tcb_menu(window, centre)
    window.key("p")
    window.key("c")
    assert parameter(window, "tension") == {1.0: -0.5, 20.0: -0.5, 50.0: -0.5}
    assert parameter(window, "continuity") == {1.0: -1.0, 20.0: -1.0, 50.0: -1.0}
    window.key("ctrl+z", at=centre)
    assert everything(window) == before

    window.run("bpy.ops.tcb.key_set(track='location', frame=1, bias=0.5); bpy.ops.ed.undo_push(message='mixed')")
    mixed = everything(window)
    start_dragging_bias(window, centre, 60)
    dragged = parameter(window, "bias")
    assert dragged[1.0] > 0.5
    assert round(dragged[1.0] - dragged[20.0], 3) == 0.5
    assert dragged[20.0] == dragged[50.0]
    window.key("Escape")
    assert everything(window) == mixed

    start_dragging_bias(window, centre, 60)
    for key in ("0", "period", "2", "5"):
        window.key(key)
    window.key("Return")
    assert parameter(window, "bias") == {1.0: 0.25, 20.0: 0.25, 50.0: 0.25}
    window.key("ctrl+z", at=centre)
    assert everything(window) == mixed

    # With Ctrl, the value changes in steps of 0.05. Confirming with Ctrl held does not change it.
    start_dragging_bias(window, centre, 43)
    window.xdotool("keydown", "ctrl")
    turns(window)
    in_steps = parameter(window, "bias")
    window.xdotool("key", "Return")
    window.xdotool("keyup", "ctrl")
    settle(window)
    assert in_steps[20.0] > 0.0
    assert in_steps[20.0] == pytest.approx(round(10.0 * in_steps[20.0]) / 10.0, abs=1e-6)
    assert parameter(window, "bias") == in_steps
    window.key("ctrl+z", at=centre)
    assert everything(window) == mixed


def test_one_redraw_of_the_tab_looks_at_the_tracks_once(window):
    looks = window.run("""
import bl_ext.user_default.tcb_animation.ui.sidebar_tracks as sidebar_tracks
looks, tracks_shown = [], sidebar_tracks.tracks_shown
sidebar_tracks.tracks_shown = lambda *arguments: looks.append(arguments) or tracks_shown(*arguments)
def steps():
    area('VIEW_3D').tag_redraw()
    yield from drawn()
    redrawn = len(looks)
    sliders = bpy.context.scene.tcb
    bpy.ops.tcb.key_set(track='location', frame=20, tension=0.5)
    now = sliders.tension
    sidebar_tracks.tracks_shown = tracks_shown
    return redrawn, now
""")
    assert looks == (1, 0.5)
