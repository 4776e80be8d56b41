# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in two windows with different scenes.

Handles follow the edits in either window, even if objects in both scenes share an action.
"""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from .conftest import PICTURES, settle, turns, wait_for

HALF = (800, 1000)
"""Each window has one half of the screen."""

SCENES = """
from bl_ext.user_default.tcb_animation import animation
cube, here = bpy.data.objects['Cube'], bpy.context.scene
there = bpy.data.scenes.new('There')
there.frame_end = 60
ball = bpy.data.objects.new('Ball', None)
for frame, location in ((1, (0, 0, 0)), (23, (4, 0, 2)), (50, (0, 3, 0))):
    ball.location = location
    ball.keyframe_insert('location', frame=frame)
twin = cube.copy()
twin.name = 'Twin'
for item in (ball, twin):
    there.collection.objects.link(item)
for item in (cube, ball):
    animation.bake(item, output='HANDLES', keep_look=False)
    item.animation_data.action.tcb_live = True
assert twin.animation_data.action == cube.animation_data.action
"""

SECOND_WINDOW = """
def steps():
    with bpy.context.temp_override(window=win()):
        bpy.ops.wm.window_new_main()
    yield from drawn()
    second = bpy.context.window_manager.windows[1]
    second.scene = bpy.data.scenes['There']
    yield from drawn()
    for item in second.scene.objects:
        item.select_set(True, view_layer=second.view_layer)
    second.view_layer.objects.active = bpy.data.objects['Ball']
    bpy.data.objects['Cube'].select_set(True, view_layer=win().view_layer)
    bpy.ops.ed.undo_push(message='windows')
    return len(bpy.context.window_manager.windows)
"""

SIZES = "result = [(each.width, each.height) for each in bpy.context.window_manager.windows]"

SHOW = """
def steps():
    each = bpy.context.window_manager.windows[{number}]
    big = max(each.screen.areas, key=lambda a: a.width * a.height)
    big.type, big.ui_type = {kind!r}, {mode!r}
    big.spaces.active.show_region_ui = False
    yield from drawn()
    with bpy.context.temp_override(window=each, area=big, region=region(big, 'WINDOW')):
        (bpy.ops.action if {kind!r} == 'DOPESHEET_EDITOR' else bpy.ops.view3d).view_all()
    bpy.ops.ed.undo_push(message='editor')
    yield from drawn()
    return True
"""

PLACE = """
each = bpy.context.window_manager.windows[{number}]
big = max(each.screen.areas, key=lambda a: a.width * a.height)
r = region(big, 'WINDOW')
frame, x, y = {frame}, r.width // 2, r.height // 2
if frame is not None:
    x, y = r.view2d.view_to_region(frame, 0, clip=False)[0], r.height - 36
result = (r.x + x, each.height - (r.y + y))
"""

RUNNING = """
windows = bpy.context.window_manager.windows
result = any(each.bl_idname.startswith('TRANSFORM') for one in windows for each in one.modal_operators)
"""

ACTIONS = """
from bl_ext.user_default.tcb_animation import animation

def channels(item):
    found = item.animation_data
    if bpy.app.version < (4, 4):
        return found.action.fcurves
    return found.action.layers[0].strips[0].channelbag(found.action_slot).fcurves

def played(item):
    def plain(value):
        return value if isinstance(value, (str, float)) else tuple(value)
    names = ('co', 'handle_left', 'handle_right', 'interpolation', 'type')
    return [(c.data_path, c.array_index, [[plain(getattr(key, name)) for name in names] for key in c.keyframe_points])
            for c in channels(item)]

def differs(item):
    whole = item.copy()
    action = whole.animation_data.action = item.animation_data.action.copy()
    if bpy.app.version >= (4, 4):
        whole.animation_data.action_slot = action.slots[0]
    action.tcb_live = False
    animation.bake(whole, output='HANDLES')
    result = [a[:2] for a, b in zip(played(whole), played(item), strict=True) if a != b]
    bpy.data.actions.remove(action)
    bpy.data.objects.remove(whole)
    return result
"""


class Windows:
    """Two windows side by side. Window 0 has the scene "Scene", and window 1 has "There"."""

    def __init__(self, window: Any) -> None:
        self.gui = window
        before = self._windows()
        window.run(SCENES)
        assert window.run(SECOND_WINDOW) == 2
        (new,) = self._windows() - before
        (old,) = before
        self.handles = (old, new)
        for number, handle in enumerate(self.handles):
            window.xdotool("windowsize", handle, *HALF)
            window.xdotool("windowmove", handle, number * HALF[0], 0)
        wait_for(window, SIZES, [HALF] * 2)
        for number in (0, 1):
            self.show(number, "DOPESHEET_EDITOR", "DOPESHEET")

    def _windows(self) -> set[str]:
        """Return Blender's windows that have a picture."""
        said = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--name", "Blender"],
            env=self.gui.env,
            capture_output=True,
            text=True,
            check=False,
        )
        return set(said.stdout.split())

    def show(self, number: int, kind: str, mode: str) -> None:
        assert self.gui.run(SHOW.format(number=number, kind=kind, mode=mode))

    def place(self, number: int, frame: float | None = None) -> tuple[int, int]:
        """Return the middle of the window's large editor, or the position of the summary's diamond at the frame."""
        self.gui.xdotool("windowfocus", self.handles[number])
        x, y = self.gui.run(PLACE.format(number=number, frame=frame))
        return number * HALF[0] + x, y

    def key(self, number: int, keys: str, times: int = 1) -> None:
        """Press the keys with the mouse over the center of the window's large editor."""
        x, y = self.place(number)
        # A new editor receives the mouse position when the mouse moves.
        for at in (x - 5, x):
            self.gui.xdotool("mousemove", at, y)
            turns(self.gui)
        for _ in range(times):
            self.gui.key(keys)

    def confirm(self, *keys: str) -> None:
        """Type input for the running operator, and wait for it, because a busy machine is slow."""
        for key in keys:
            self.gui.key(key)
        for _ in range(5):
            self.gui.key("Return")
            for _ in range(20):
                if not self.gui.run(RUNNING):
                    return
                turns(self.gui)
        raise AssertionError("the operator does not end")

    def own_frames(self, item: str, path: str = "location", index: int = 0) -> list[float]:
        settle(self.gui)
        frames = self.gui.run(f"""{ACTIONS}
found = next(c for c in channels(bpy.data.objects[{item!r}]) if (c.data_path, c.array_index) == ({path!r}, {index}))
result = [key.co.x for key in found.keyframe_points]
""")
        return [round(frame, 3) for frame in frames]

    def unlike_a_bake(self, item: str) -> list[Any]:
        """Return the curves whose handles differ from a bake of handles."""
        settle(self.gui)
        return list(self.gui.run(f"{ACTIONS}\nresult = differs(bpy.data.objects[{item!r}])"))

    def everything(self) -> Any:
        settle(self.gui)
        return self.gui.run(
            f"{ACTIONS}\nresult = [played(bpy.data.objects[name]) for name in ('Cube', 'Ball', 'Twin')]"
        )

    def move(self, number: int, frame: float, by: str) -> None:
        """Click the diamond at the frame, and move its keys by a number of frames."""
        self.gui.click(self.place(number, frame))
        self.gui.key("g")
        self.confirm(*({"-": "minus"}.get(character, character) for character in by))


@pytest.fixture
def windows(own_window: Any) -> Windows:
    return Windows(own_window)


def as_baked(windows: Windows) -> dict[str, list[Any]]:
    """Return each object's differences from a bake of handles."""
    return {item: windows.unlike_a_bake(item) for item in ("Cube", "Ball", "Twin")}


RIGHT: dict[str, list[Any]] = {"Cube": [], "Ball": [], "Twin": []}


def test_keys_dragged_in_either_window_are_followed_by_their_handles(windows):
    assert as_baked(windows) == RIGHT
    states = [windows.everything()]

    windows.move(1, 23, "4")
    assert windows.own_frames("Ball") == [1, 27, 50]
    assert windows.own_frames("Cube") == [1, 20, 50]
    assert as_baked(windows) == RIGHT
    states.append(windows.everything())

    windows.move(0, 20, "5")
    assert windows.own_frames("Cube") == windows.own_frames("Twin") == [1, 25, 50]
    assert as_baked(windows) == RIGHT
    windows.gui.shot(PICTURES / "live_windows.png")
    states.append(windows.everything())

    # An object in both scenes, edited from the other scene's window.
    windows.move(1, 25, "-2")
    assert windows.own_frames("Cube") == windows.own_frames("Twin") == [1, 23, 50]
    assert windows.own_frames("Ball") == [1, 27, 50]
    assert as_baked(windows) == RIGHT
    states.append(windows.everything())

    # A click that selects a key is also an undo step.
    for number, times, state in ((1, 1, states[2]), (0, 2, states[1]), (1, 2, states[0])):
        windows.key(number, "ctrl+z", times)
        assert windows.everything() == state
    for number, times, state in ((0, 1, states[1]), (1, 2, states[2]), (0, 2, states[3])):
        windows.key(number, "ctrl+shift+z", times)
        assert windows.everything() == state

    windows.gui.run("""
with bpy.context.temp_override(window=bpy.context.window_manager.windows[1]):
    bpy.ops.wm.window_close()
""")
    wait_for(windows.gui, "result = len(bpy.context.window_manager.windows)", 1)
    windows.move(0, 23, "4")
    assert windows.own_frames("Cube") == [1, 27, 50]
    assert as_baked(windows) == RIGHT
