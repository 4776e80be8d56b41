# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths edited with the mouse, through the tool in the 3D viewport."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .conftest import settle, turns
from .cube import CURVES
from .editors import TOP_VIEW

PACKAGE = "bl_ext.user_default.tcb_animation"

# Use a quarter of the viewport, because a full viewport is slow to redraw without a graphics card.
SMALL = """
def steps():
    for direction in ('VERTICAL', 'HORIZONTAL'):
        a = area('VIEW_3D')
        with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
            bpy.ops.screen.area_split(direction=direction, factor=.5)
        yield .2
        min((each for each in win().screen.areas if each.type == 'VIEW_3D'), key=lambda a: (a.x, a.y)).type = 'INFO'
        yield .2
    a = area('VIEW_3D')
    a.spaces.active.show_region_ui = a.spaces.active.show_region_toolbar = False
    yield from drawn()
"""

WITH_TOOL = """
def steps():
    cube = bpy.data.objects['Cube']
    bpy.ops.tcb.enable(keep_look=False)
    cube.animation_data.action.tcb_live = True
    a = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=a, region=region(a, 'WINDOW')):
        bpy.ops.wm.tool_set_by_id(name='tcb.path_tool')
    bpy.ops.ed.undo_push(message='tool')
    for _ in range(5):
        a.tag_redraw()
        yield 0.1
    return True
"""

ON_SCREEN = f"""
import sys
overlay = sys.modules['{PACKAGE}.panels.pictures.paths_in_viewport']
pick = sys.modules['{PACKAGE}.panels.pictures.path_pick']
def on_screen(points):
    a = area('VIEW_3D')
    r = region(a, 'WINDOW')
    places = pick.on_screen(points, a.spaces.active.region_3d.perspective_matrix, (r.width, r.height))
    return [(float(x) + r.x, win().height - 1 - r.y - float(y)) for x, y in places]
def kept():
    return next(iter(overlay.path_cache.state.paths.values())).path
"""

MIDDLE = """
r = region(area('VIEW_3D'), 'WINDOW')
result = r.x + r.width // 2, win().height - r.y - r.height // 2
"""

EVERYTHING = f"""{CURVES}
import json
action = bpy.data.objects['Cube'].animation_data.action
result = everything(), json.dumps(action['tcb_animation'].to_dict(), sort_keys=True)
"""


@pytest.fixture
def window(window: Any) -> Any:
    window.run(SMALL)
    window.run(TOP_VIEW)
    window.run(WITH_TOOL)
    settle(window)
    window.run("bpy.ops.ed.undo_push(message='live')")
    return window


def keys(window: Any) -> list[tuple[float, float]]:
    """Return the screen positions of the keys."""
    found: list[tuple[float, float]] = window.run(f"{ON_SCREEN}\nresult = on_screen(kept().keys)")
    return found


def everything(window: Any) -> Any:
    """Return all keys, including identities, and the table."""
    return window.run(EVERYTHING)


def cube(window: Any, frame: int = 20) -> tuple[float, float]:
    """Return the screen position at which Blender places the cube at a frame."""
    (at,) = window.run(f"""{ON_SCREEN}
scene = bpy.context.scene
before = scene.frame_current
scene.frame_set({frame})
place = tuple(bpy.data.objects['Cube'].matrix_world.translation)
scene.frame_set(before)
result = on_screen([place])
""")
    found: tuple[float, float] = at
    return found


def cube_now(window: Any) -> tuple[float, float]:
    """Return the screen position of the cube at the current frame."""
    (at,) = window.run(f"{ON_SCREEN}\nresult = on_screen([bpy.data.objects['Cube'].matrix_world.translation])")
    found: tuple[float, float] = at
    return found


def press(window: Any, at: tuple[float, float]) -> None:
    for beside in (4, 0):
        window.xdotool("mousemove", round(at[0]) - beside, round(at[1]))
        turns(window)
    window.xdotool("mousedown", 1)
    turns(window)


def move(window: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    for step in range(1, 5):
        x, y = (round(a + (b - a) * step / 4) for a, b in zip(start, end, strict=True))
        window.xdotool("mousemove", x, y)
        turns(window)


def release(window: Any) -> None:
    window.xdotool("mouseup", 1)
    turns(window)
    settle(window)


def dash(window: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag as fast as a hand can, and continue after the button is released. Blender gets all events at once."""
    way = [start, *(tuple(a + (b - a) * step / 4 for a, b in zip(start, end, strict=True)) for step in range(1, 5))]
    first, *rest = [("mousemove", round(x), round(y)) for x, y in way]
    window.xdotool(*first, "mousedown", 1, *(word for words in rest for word in words), "mouseup", 1)
    window.xdotool("mousemove", round(end[0]) + 60, round(end[1]) + 40)
    turns(window)
    settle(window)


def drag(window: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    press(window, start)
    move(window, start, end)
    release(window)


def test_a_cancelled_drag_leaves_everything_bit_for_bit(window):
    before = everything(window)
    start = keys(window)[1]
    press(window, start)
    move(window, start, (start[0] - 150, start[1] + 40))
    assert everything(window) != before
    window.key("Escape")
    window.xdotool("mouseup", 1)
    settle(window)
    assert everything(window) == before
    assert np.abs(np.subtract(cube_now(window), start)).max() <= 1.0


def test_a_press_on_the_path_selects_nothing_and_one_beside_it_does(window):
    selected = "result = bpy.data.objects['Cube'].select_get(), bpy.context.scene.frame_current"
    knob = window.run(f"{ON_SCREEN}\npath = kept()\nresult = on_screen(path.keys + path.tangents[1])[1]")
    on_path = window.run(f"{ON_SCREEN}\nresult = on_screen(kept().points[9:10])[0]")
    window.run("bpy.context.window_manager.tcb_track = 'Object/Cube/rotation_quaternion'")
    for at, frame in ((keys(window)[2], 50), (knob, 50), (on_path, 50), (keys(window)[0], 1)):
        for times in (1, 2) if frame == 1 else (1,):
            window.click((round(at[0]), round(at[1])), times=times)
            settle(window)
            assert window.run(selected) == (True, frame)
    # The tab shows the track of the keys.
    assert window.run("result = bpy.context.window_manager.tcb_track") == "Object/Cube/location"
    start, end = knob, (knob[0] + 30, knob[1] - 30)
    drag(window, start, end)
    # The tab shows the dragged key at its frame.
    assert window.run(selected) == (True, 20)
    assert (
        window.run("result = 'VIEW3D_OT_select' in [each.bl_idname for each in bpy.context.window_manager.operators]")
        is False
    )
    window.click((round(end[0]) + 10, round(end[1]) - 120))
    settle(window)
    assert window.run(selected) == (False, 20)


def test_a_tangent_a_time_a_new_key_and_a_deleted_one(window):
    frames = "o = bpy.data.objects['Cube']\nfrom bl_ext.user_default.tcb_animation import animation\n"
    frames += "result = animation.edit.track_keys.keys_of(o, animation.find_track(o, 'location')).frames.tolist()"
    knob = window.run(f"{ON_SCREEN}\npath = kept()\nresult = on_screen(path.keys + path.tangents[1])[1]")
    drag(window, knob, (knob[0] + 14, knob[1] - 14))
    set_ = window.run(
        "from bl_ext.user_default.tcb_animation import animation\n"
        "item = bpy.data.objects['Cube']\n"
        "keys = animation.edit.track_keys.keys_of(item, animation.find_track(item, 'location'))\n"
        "result = [float(each[1]) for each in keys.parameters({}).values()]"
    )
    assert any(abs(number) > 0.05 for number in set_[:3])
    moved = window.run(f"{ON_SCREEN}\npath = kept()\nresult = on_screen(path.keys + path.tangents[1])[1]")
    assert abs(moved[0] - knob[0] - 14) < 3
    assert abs(moved[1] - knob[1] + 14) < 3

    start = keys(window)[1]
    along = window.run(f"{ON_SCREEN}\nresult = on_screen(kept().points[29:30])[0]")
    window.xdotool("keydown", "ctrl")
    press(window, start)
    move(window, start, along)
    # The key and the button are released together.
    window.xdotool("keyup", "ctrl", "mouseup", 1)
    turns(window)
    settle(window)
    assert window.run(frames) == [1.0, 30.0, 50.0]

    start, ends = keys(window)[1], window.run(f"{ON_SCREEN}\nresult = on_screen(kept().points[33:35])")
    window.xdotool("keydown", "ctrl", "keydown", "shift")
    drag(window, start, tuple(np.mean(ends, axis=0)))
    window.xdotool("keyup", "shift", "keyup", "ctrl")
    settle(window)
    (_, at, _) = window.run(frames)
    assert 34.2 < at < 34.8

    between = window.run(f"{ON_SCREEN}\nresult = on_screen(kept().points[9:10])[0]")
    window.click((round(between[0]), round(between[1])), times=2)
    settle(window)
    assert window.run(frames) == [1.0, 10.0, at, 50.0]
    window.key("x", at=(round(between[0]), round(between[1])))
    settle(window)
    assert window.run(frames) == [1.0, at, 50.0]


def test_numbers_move_the_key_and_a_swift_hand_loses_nothing(window):
    places = "cube = bpy.data.objects['Cube'].animation_data.action\n"
    places += f"{CURVES}result = [tuple(c.keyframe_points[1].co) for c in fcurves() if c.data_path == 'location']"
    (frame, x), (_, y), (_, z) = window.run(places)
    states = [everything(window)]
    start = keys(window)[1]
    press(window, start)
    move(window, start, (start[0] - 50, start[1] + 50))
    for key in ("y", "minus", "1", "period", "5", "Return"):
        window.key(key)
    window.xdotool("mouseup", 1)
    settle(window)
    assert window.run(places) == [(frame, x), (frame, pytest.approx(y - 1.5, abs=1e-6)), (frame, z)]
    states.append(everything(window))

    # Every drag ends under the cursor and is one undo step. Redo restores it bit for bit.
    random = np.random.default_rng(7)
    middle = window.run(MIDDLE)
    for move_key in (drag, dash, dash):
        start = keys(window)[1]
        end = (middle[0] + int(random.integers(-180, 180)), middle[1] + int(random.integers(-90, 90)))
        move_key(window, start, end)
        assert np.abs(np.subtract(cube(window), end)).max() <= 1.0
        states.append(everything(window))
    for state in states[-2::-1]:
        window.key("ctrl+z", at=(700, 700))
        settle(window)
        assert everything(window) == state
    for state in states[1:]:
        window.key("ctrl+shift+z", at=(700, 700))
        settle(window)
        assert everything(window) == state
