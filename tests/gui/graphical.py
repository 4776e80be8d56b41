# SPDX-License-Identifier: GPL-3.0-or-later
"""A graphical Blender with the extension installed from its zip, controlled by real clicks and keys.

BLENDER names the program that starts Blender. The module `drive` in the same folder clicks and types. See
`environment.sh graphical`.
"""

from __future__ import annotations

import ast
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

SIZE = (900, 800)
"""Size of the window in pixels. Without a graphics card, the time of a redraw is proportional to the pixels."""
_screens = count()
_POLL = 0.005
"""Seconds between two checks for Blender's answer."""
_DOUBLE_CLICK = 0.4
"""Seconds between presses. Blender interprets a second press within 0.35 seconds as a double click."""

# By default, the bridge looks for code ten times per second. Now it looks in every iteration of Blender's loop.
_OFTEN = """
bridge = win.__globals__
seldom = bridge['tick']
def often():
    wait = seldom()
    return 0.005 if bridge['running']['steps'] is None else wait
bpy.app.timers.unregister(seldom)
bpy.app.timers.register(often, persistent=True)
"""

# Turn off smooth view changes, and antialiasing, which draws each view eight times. The grid on the floor takes a third
# of the drawing time. Outlines of the selection, outlines of all objects, and smooth wires each take a sixth of the
# rest.
PLAIN_VIEWS = """
preferences = bpy.context.preferences
preferences.view.smooth_view = 0
preferences.system.viewport_aa = 'OFF'
preferences.system.use_overlay_smooth_wire = False
overlay = area('VIEW_3D').spaces.active.overlay
overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = overlay.show_outline_selected = False
area('VIEW_3D').spaces.active.shading.show_object_outline = False
"""

# For `steps` of code that runs in Blender: `yield from drawn()` waits until the current state is drawn.
_DRAWN = """
def drawn():
    for _turn_of_blenders_loop in range(4):
        yield 0.025
"""

_TURNS = """
def steps():
    for _turn_of_blenders_loop in range(3):
        yield 0.02
"""

# Wait until Blender has received the events and drawn the result, and Live has processed the edits, unless a running
# operator prevents it.
_DONE = """
def steps():
    import sys
    yield from drawn()
    updates = sys.modules.get('bl_ext.user_default.tcb_animation.ui.live.updates')
    for _turn_of_blenders_loop in range(24):
        if updates is None or not updates.is_pending():
            break
        yield 0.025
"""

_SIDEBAR = """
def steps():
    a = next((a for a in win().screen.areas if a.type == {area!r}), None) or area('VIEW_3D')
    if a.type != {area!r}:
        a.type = {area!r}
        a.tag_redraw()
        yield from drawn()
    if not a.spaces.active.show_region_ui:
        a.spaces.active.show_region_ui = True
        a.tag_redraw()
        # It slides in.
        width = 0
        while width != region(a, 'UI').width:
            width = region(a, 'UI').width
            yield from drawn()
    region(a, 'UI').active_panel_category = {category!r}
    a.tag_redraw()
    yield from drawn()
    bpy.ops.ed.undo_push(message='set up')
    return True
"""

_HOVER = """
def steps():
    a = area({area!r})
    ui = region(a, 'UI')
    x, top = ui.x + int(ui.width * {across}), ui.y + ui.height
    manager = bpy.context.window_manager
    calls = ((bpy.ops.ui.copy_python_command_button, {{}}), (bpy.ops.ui.copy_data_path_button, {{'full_path': True}}))
    rows = {{}}
    y, bottom = top - {top}, top - min(ui.height, {height})
    while y > bottom:
        # Two moves, as a button takes the first for the mouse that comes.
        for at in (x - 3, x):
            win().cursor_warp(at, y)
            yield 0.01
        with bpy.context.temp_override(window=win(), area=a, region=ui):
            for call, options in calls:
                manager.clipboard = ''
                if call.poll():
                    try:
                        call(**options)
                    except RuntimeError:
                        pass
                if manager.clipboard:
                    break
        found = manager.clipboard
        far = 2 if found and found not in rows else 1
        if found:
            rows.setdefault(found, []).append(win().height - y)
        # From near a button's top two steps lead to its end, or just into the next.
        y -= far * {step}
    return {{name: (x, sum(ys) // len(ys) if len(ys) > 1 else ys[0] + {step} // 2) for name, ys in rows.items()}}
"""


@contextmanager
def started(size: tuple[int, int] = SIZE) -> Iterator[Any]:
    """Start Blender with factory settings and a window of `size` pixels. Yield a `drive.GuiBlender`."""
    blender = Path(os.environ["BLENDER"])
    sys.path.insert(0, str(blender.parent))
    import drive

    screen = f":{100 + os.getpid() % 900}{next(_screens)}"
    with drive.GuiBlender(blender=blender, display=screen, size=size) as gui:
        gui.run = partial(_run, gui)
        gui.click = partial(_click, gui)
        gui.key = partial(_key, gui)
        gui.open_sidebar = partial(_open_sidebar, gui)
        gui.type_value = partial(_type_value, gui)
        gui.buttons = partial(_buttons, gui)
        gui.pressed = (None, 0.0)
        gui.run(_OFTEN)
        try:
            yield gui
        finally:
            # On a busy machine, Blender may take long to quit.
            gui.processes[-1].kill()


def _run(gui: Any, code: str, timeout: float = 60.0) -> Any:
    """Run code in Blender, and return its `result`, or the return value of its generator `steps`."""
    folder = Path(gui.share)
    answer = folder / "cmd.out"
    answer.unlink(missing_ok=True)
    (folder / "cmd.tmp").write_text(_DRAWN + code)
    (folder / "cmd.tmp").rename(folder / "cmd.py")
    end = time.monotonic() + timeout
    while not answer.exists():
        if time.monotonic() > end:
            raise TimeoutError(f"Blender did not answer: {code}\n{(folder / 'blender.log').read_text()[-2000:]}")
        time.sleep(_POLL)
    text = answer.read_text()
    if "Traceback (most recent call last)" in text:
        raise RuntimeError(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _press(gui: Any, what: object, *words: object) -> None:
    """Press the key or button by xdotool, late enough that Blender does not see a double press."""
    before, at = gui.pressed
    if what == before:
        time.sleep(max(0.0, at + _DOUBLE_CLICK - time.monotonic()))
    gui.xdotool(*words)
    gui.pressed = (what, time.monotonic())


def _click(gui: Any, at: tuple[int, int], button: int = 1, times: int = 1) -> None:
    """Click the position, and wait until Blender has processed the click."""
    x, y = at
    for each in (x - 5, x):
        gui.xdotool("mousemove", each, y)
        gui.run(_TURNS)
    _press(gui, ("button", button), "click", "--repeat", times, "--delay", 60, button)
    gui.run(_DONE)


def _key(gui: Any, keys: str, at: tuple[int, int] | None = None) -> None:
    """Press keys with the mouse at the position, and wait until Blender has processed them."""
    if at is not None:
        gui.xdotool("mousemove", *at)
        gui.run(_TURNS)
    _press(gui, ("key", keys), "key", keys)
    gui.run(_DONE)


def _open_sidebar(gui: Any, area: str, category: str) -> Any:
    """Open the sidebar of the area and its tab. If the area does not exist, change the first 3D viewport to it."""
    return gui.run(_SIDEBAR.format(area=area, category=category))


def _type_value(gui: Any, at: tuple[int, int], text: str) -> None:
    """Press Enter over the slider, and type. With slow drawing, a double click could drag the slider."""
    x, y = at
    for each in (x - 5, x):
        gui.xdotool("mousemove", each, y)
        gui.run(_TURNS)
    for keys in (("key", "Return"), ("key", "ctrl+a"), ("type", "--delay", 40, "--", text), ("key", "Return")):
        gui.xdotool(*keys)
        gui.run(_TURNS)


def _buttons(
    gui: Any, area: str, height: int = 900, step: int = 8, across: float = 0.6, timeout: float = 60.0, top: int = 6
) -> dict[str, Any]:
    """Return the position of each button in the sidebar, by Python call or data path, as `drive` does.

    Blender itself moves the pointer over the sidebar, which is eight times as fast as another process. The pointer
    is at the fraction `across` of the sidebar's width, from `top` to `height` pixels below its upper edge.
    """
    return dict(gui.run(_HOVER.format(area=area, height=height, step=step, across=across, top=top), timeout=timeout))


@contextmanager
def installed(extension_zip: Path, size: tuple[int, int] = SIZE) -> Iterator[Any]:
    """Start Blender with the extension enabled."""
    with started(size) as gui:
        gui.run(
            f"bpy.ops.extensions.package_install_files(filepath={str(extension_zip)!r}, repo='user_default',"
            " enable_on_install=True)",
            timeout=180,
        )
        yield gui


def place(buttons: dict[str, Any], part: str) -> Any:
    """Return the position of the sidebar's button whose Python call, or data path, contains `part`."""
    name = next((name for name in buttons if part in name), None)
    assert name is not None, f"no button {part} among {sorted(buttons)}"
    return buttons[name]
