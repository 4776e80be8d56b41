# SPDX-License-Identifier: GPL-3.0-or-later
"""Sliders in the tab are dragged, and canceled with Esc or released. The change plays during the drag."""

from __future__ import annotations

from typing import Any

from .conftest import settle, turns
from .cube import CURVES, parameter
from .editors import hold_slider, move_on, open_editor, take_back
from .graphical import place

LIVE = """
from bl_ext.user_default.tcb_animation import animation
cube = bpy.data.objects['Cube']
animation.enable(cube, keep_look=False)
animation.bake(cube, output='HANDLES')
cube.animation_data.action.tcb_live = {live}
"""
MIXED = """
for frame, numbers in ((1, dict(tension=-0.5, bias=0.25, ease_to=0.5)), (20, dict(tension=0.25, bias=-0.5)),
                       (50, dict(tension=0.75, ease_to=0.25, ease_from=0.5))):
    animation.key_set(cube, 'location', frame, **numbers)
"""
PUSH = """
bpy.ops.ed.undo_push(message='set up')
"""
STATE = f"""{CURVES}
action = bpy.data.objects['Cube'].animation_data.action
table = action.get('tcb_animation')
# Rows that no key has any more stay until the file is saved.
stored = {{name: each for name, each in table.to_dict().items() if name not in ('rows', 'stamp')}}
result = (everything(), sorted(stored.items()))
"""
IS_DRAGGED = """
from bl_ext.user_default.tcb_animation.animation.bake.drags import is_dragged
result = is_dragged(0.0)
"""
PLAYED = f"{CURVES}\nresult = [c.evaluate(frame) for c in fcurves() for frame in range(1, 51)]"


def state(window: Any) -> Any:
    """Return all F-curves, and the table without rows, bit for bit. Keys identify their rows, which never change."""
    return window.run(STATE)


def editor_of(window: Any, code: str) -> tuple[Any, dict[str, Any]]:
    """Select the three keys of the cube's location in the Graph Editor. Return its center and the tab's sliders."""
    window.run(code)
    settle(window)
    centre = open_editor(window, "GRAPH_EDITOR")
    window.key("a", at=centre)
    window.run(PUSH)
    settle(window)
    # A slider next to the range of mixed values is narrow.
    return centre, window.buttons("GRAPH_EDITOR", height=360, across=0.35)


def hold(window: Any, at: Any, steps: int) -> None:
    hold_slider(window, (at[0] + 60, at[1]), steps)
    settle(window)


def test_escape_and_the_release_that_wait_while_blender_is_busy_are_still_an_escape(window):
    _, buttons = editor_of(window, LIVE.format(live=True) + MIXED)
    before = state(window)
    hold(window, place(buttons, "tcb.tension"), 4)
    window.run("import time\nbpy.app.timers.register(lambda: time.sleep(1.5), first_interval=0.05)")
    window.xdotool("mousemove_relative", "--", 6, 0, "key", "Escape", "mouseup", 1)
    settle(window)
    assert state(window) == before


def test_a_slider_dragged_with_shift_and_released_is_one_undo_step_that_gives_every_bit_back(window):
    centre, buttons = editor_of(window, LIVE.format(live=True) + MIXED)
    before, played = state(window), window.run(PLAYED)
    hold(window, place(buttons, "tcb.tension"), 5)
    coarse = parameter(window, "tension")
    window.xdotool("keydown", "shift")
    move_on(window, 3)
    settle(window)
    held = parameter(window, "tension")
    window.xdotool("mouseup", 1)
    settle(window)
    window.xdotool("keyup", "shift")
    after = state(window)
    assert parameter(window, "tension") == held != coarse
    assert len(set(held.values())) == 1
    assert not window.run(IS_DRAGGED)
    assert window.run(PLAYED) != played
    # The next bake by Live does not change anything.
    window.run("from bl_ext.user_default.tcb_animation.ui.live import updates\nupdates.flush_all()")
    assert state(window) == after
    window.key("ctrl+z", at=centre)
    settle(window)
    assert state(window) == before
    window.key("ctrl+shift+z", at=centre)
    settle(window)
    assert state(window) == after


def test_several_sliders_are_dragged_at_once(window):
    """Press the mouse button on the first slider, move down over the others, then to the side."""
    centre, buttons = editor_of(window, LIVE.format(live=True) + MIXED)
    before = state(window)
    first, last = place(buttons, "tcb.tension"), place(buttons, "tcb.bias")
    for at in ((first[0] - 25, first[1]), (first[0] - 20, first[1])):
        window.xdotool("mousemove", *at)
        turns(window)
    window.xdotool("mousedown", 1)
    turns(window)
    for _step in range(4):
        window.xdotool("mousemove_relative", "--", 0, (last[1] - first[1]) // 4 + 1)
        turns(window)
    move_on(window, 8)
    held = [parameter(window, name) for name in ("tension", "continuity", "bias")]
    assert all(len(set(each.values())) == 1 and len(each) == 3 for each in held), held
    window.xdotool("mouseup", 1)
    settle(window)
    assert [parameter(window, name) for name in ("tension", "continuity", "bias")] == held
    window.key("ctrl+z", at=centre)
    settle(window)
    assert state(window) == before


def test_the_first_drag_on_a_plain_track_enables_it_in_one_undo_step_and_escape_makes_it_plain(window):
    plain = f"""{CURVES}
action = bpy.data.objects['Cube'].animation_data.action
result = (everything(), action.get('tcb_animation') is None, action.tcb_live)
"""
    window.run("bpy.context.window_manager.tcb_track = 'Object/Cube/location'\n" + PUSH)
    settle(window)
    before, played = window.run(plain), window.run(PLAYED)
    buttons = window.buttons("VIEW_3D", height=300, across=0.35)
    hold(window, place(buttons, "tcb.tension"), 8)
    take_back(window)
    assert window.run(plain) == before
    hold(window, place(buttons, "tcb.tension"), 8)
    held = window.run(PLAYED)
    assert held != played
    window.xdotool("mouseup", 1)
    settle(window)
    assert window.run(PLAYED) == held
    assert window.run("result = bpy.data.objects['Cube'].animation_data.action.tcb_live")
    viewport = window.run("r = region(area('VIEW_3D'), 'WINDOW'); result = (r.x + 80, 400)")
    window.key("ctrl+z", at=viewport)
    settle(window)
    assert window.run(plain) == before
