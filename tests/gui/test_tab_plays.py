# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab matches the playback: handles, rotation modes, strips, columns of keys, and the path at each redraw."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import settle
from .cube import CURVES, everything
from .editors import TOP_VIEW, open_editor, open_tcb_menu, unfold
from .graphical import place

LIVE = "bpy.ops.tcb.enable(live=True, keep_look=False); bpy.ops.ed.undo_push(message='live')"
# The values of the sliders in the Graph Editor's tab, and the sliders that have an effect.
SHOWN = """
from bl_ext.user_default.tcb_animation.ui import chosen_keys
big = max((a for a in win().screen.areas if a.type == {area!r}), key=lambda a: a.height)
with bpy.context.temp_override(window=win(), area=big, region=region(big, 'UI')):
    chosen = [(keys.track.path, keys.frames.tolist()) for keys in chosen_keys.chosen_keys(bpy.context)]
    played = sorted(chosen_keys.chosen_played(bpy.context).names) if chosen else []
    s = bpy.context.scene.tcb
    result = chosen, played, [round(number, 3) for number in (s.tension, s.bias)]
"""
ALL = ["bias", "continuity", "ease_from", "ease_to", "tension"]
ONE_KEY = f"""{CURVES}
for c in fcurves():
    c.hide, c.lock = (c.data_path, c.array_index) != ('location', 0), False
    for k in c.keyframe_points:
        k.select_control_point = k.select_left_handle = k.select_right_handle = False
curve = fcurves()[0]
k = curve.keyframe_points[1]
k.select_control_point = k.select_left_handle = k.select_right_handle = True
def steps():
    a = max((a for a in win().screen.areas if a.type == 'GRAPH_EDITOR'), key=lambda a: a.height)
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.graph.view_all()
    bpy.ops.ed.undo_push(message='one key')
    yield from drawn()
"""
# Compare the path drawn at each redraw with the curves at that time.
WATCH = """
import sys
overlay = sys.modules['bl_ext.user_default.tcb_animation.panels.pictures.paths_in_viewport']
updates = sys.modules['bl_ext.user_default.tcb_animation.ui.live.updates']
wm = bpy.types.WindowManager
off, drawn_paths = [], []
def compare():
    cube = bpy.data.objects.get('Cube')
    curves = fcurves()[:3]
    kept = next((k for (thing, _), k in overlay.path_cache.state.paths.items() if thing[0] == cube.session_uid), None)
    if kept is None:
        return
    path = kept.path
    played = [[c.evaluate(path.start + n) for c in curves] for n in range(len(path.points))]
    far = max(abs(a - b) for now, point in zip(played, path.points.tolist()) for a, b in zip(now, point))
    drawn_paths.append(path.points)
    if far > 1e-3:
        off.append(far)
handler = bpy.types.SpaceView3D.draw_handler_add(compare, (), 'WINDOW', 'POST_PIXEL')
sys.modules['watched_paths'] = (off, drawn_paths, handler)
"""
WATCHED = """
import sys
off, drawn_paths, _handler = sys.modules['watched_paths']
apart = lambda n: [float(abs(points - drawn_paths[n]).max()) for points in drawn_paths]
between = max(map(min, apart(0), apart(-1)))
result = list(off), apart(0)[-1], between, len(drawn_paths)
off.clear()
# What the next ones are compared with.
del drawn_paths[:-1]
"""
UNWATCH = """
import sys
_off, _drawn_paths, handler = sys.modules.pop('watched_paths')
bpy.types.SpaceView3D.draw_handler_remove(handler, 'WINDOW')
"""


def shown(window: Any, area: str) -> Any:
    settle(window)
    chosen, played, numbers = window.run(SHOWN.format(area=area))
    return [(path, frames) for path, frames in chosen], played, numbers


def types(window: Any, row: int = 1) -> Any:
    return window.run(
        f"{CURVES}\nk = fcurves()[0].keyframe_points[{row}]\nresult = [k.handle_left_type, k.handle_right_type]"
    )


def test_sliders_beside_aligned_handles_are_gray_and_make_free_lets_them_act(window):
    window.run(LIVE)
    settle(window)
    centre = open_editor(window, "GRAPH_EDITOR")
    window.run(ONE_KEY)
    assert shown(window, "GRAPH_EDITOR")[:2] == ([("location", [20.0])], ALL)
    before = window.run(f"{CURVES}\nresult = [fcurves()[0].evaluate(f) for f in range(1, 51)]")
    # This applies only to this channel. TCB places the handles in the other two, so the sliders have an effect.
    window.run(
        f"{CURVES}\nfor c in fcurves()[:3]:\n    c.hide = False\n    p = c.keyframe_points[1]\n"
        "    p.select_control_point = p.select_left_handle = p.select_right_handle = True"
    )
    window.key("v", at=centre)
    window.key("a")
    settle(window)
    assert types(window) == ["ALIGNED", "ALIGNED"]
    assert shown(window, "GRAPH_EDITOR")[1] == []
    buttons = window.buttons("GRAPH_EDITOR", height=400, across=0.75)
    free, tension = place(buttons, "tcb.handles_free"), place(buttons, "tcb.tension")
    assert free[1] < tension[1]
    window.click(free)
    settle(window)
    assert types(window) == ["FREE", "FREE"]
    assert shown(window, "GRAPH_EDITOR")[1] == ALL
    # No slider has moved.
    assert place(window.buttons("GRAPH_EDITOR", height=400, across=0.75), "tcb.tension") == tension
    after = window.run(f"{CURVES}\nresult = [fcurves()[0].evaluate(f) for f in range(1, 51)]")
    assert after == pytest.approx(before, abs=1e-4)
    window.key("ctrl+z", at=centre)
    settle(window)
    assert types(window) == ["ALIGNED", "ALIGNED"]


def test_the_path_drawn_is_the_motion_of_that_redraw(window):
    window.run(TOP_VIEW)
    window.run(LIVE)
    window.run("bpy.context.window_manager.tcb_show_paths = True; bpy.ops.ed.undo_push(message='path')")
    settle(window)
    viewport = window.run("r = region(area('VIEW_3D'), 'WINDOW'); result = (r.x + 60, win().height - r.y - 60)")
    window.run(f"{CURVES}{WATCH}")
    settle(window)
    window.run("area('VIEW_3D').tag_redraw()")
    settle(window)
    unfold(window, "VIEW_3D", "place")
    window.run(WATCHED)
    buttons = window.buttons("VIEW_3D", height=560, across=0.4, top=260)

    def off():
        settle(window)
        far, change, between, count = window.run(WATCHED)
        assert count > 1
        return far, change, between

    steps = {
        "typed value": lambda: window.type_value(place(buttons, "tcb.key_value[1]"), "2.5"),
        "undo": lambda: window.key("ctrl+z", at=viewport),
        "redo": lambda: window.key("ctrl+shift+z", at=viewport),
        "typed frame": lambda: window.type_value(place(buttons, "tcb.key_frame"), "30"),
        "undo the frame": lambda: window.key("ctrl+z", at=viewport),
        "Corner": lambda: window.run("bpy.ops.tcb.preset_apply(preset='corner')"),
        "insert": lambda: (
            window.run("bpy.context.scene.frame_set(28)"),
            window.key("i", at=viewport),
        ),
        "bake": lambda: window.run("bpy.ops.tcb.bake()"),
        "free": lambda: window.run("bpy.ops.tcb.free()"),
    }
    found = {}
    for name, step in steps.items():
        step()
        found[name] = off()
    window.run(UNWATCH)
    print(found)
    # An inserted key preserves the motion and the path, although its curve is round until Live has processed it.
    assert found.pop("insert")[2] < 1e-3
    assert not any(far for far, *_ in found.values()), found
    assert all(found[name][1] > 0.2 for name in ("typed value", "undo", "redo", "typed frame", "undo the frame"))
    assert everything(window)


def test_the_dialog_of_parameters_shows_the_numbers_of_the_tab_and_keeps_mixed_ones(window):
    window.run(LIVE)
    window.run("bpy.ops.tcb.key_set(track='location', frame=20, tension=0.5)")
    window.run("bpy.ops.tcb.key_set(track='location', frame=1, interpolation='LINEAR')")
    settle(window)
    centre = open_editor(window, "GRAPH_EDITOR")
    window.key("a", at=centre)
    settle(window)
    before = everything(window)
    open_tcb_menu(window, centre)
    window.key("s")
    window.key("Return")
    settle(window)
    assert everything(window) == before


def test_showing_paths_is_no_step_for_undo(window):
    window.run(TOP_VIEW)
    viewport = window.run("r = region(area('VIEW_3D'), 'WINDOW'); result = (r.x + 60, win().height - r.y - 60)")
    sliders = window.buttons("VIEW_3D", height=300, across=0.4)
    window.type_value(place(sliders, "tcb.tension"), "0.5")
    settle(window)
    window.click(place(window.buttons("VIEW_3D", across=0.12, top=400), "tcb_show_paths"))
    settle(window)
    shown = "bpy.context.window_manager.tcb_show_paths"
    assert window.run(f"result = [{shown}, round(bpy.context.scene.tcb.tension, 3)]") == [True, 0.5]
    window.key("ctrl+z", at=viewport)
    settle(window)
    assert window.run(f"result = [{shown}, round(bpy.context.scene.tcb.tension, 3)]") == [True, 0.0]
