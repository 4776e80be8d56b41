# SPDX-License-Identifier: GPL-3.0-or-later
"""A graphical Blender with the extension installed from its zip, controlled by real clicks and keys.

BLENDER names the program that starts it; beside it is the module `drive`, which clicks and types: see `environment.sh
graphical`.
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

_screens = count()
_POLL = 0.005
"""Seconds between two looks for Blender's answer."""
_DOUBLE_CLICK = 0.4
"""Seconds: Blender takes a second click, or the same key again, within 0.35 for a double one."""

# The bridge looks for code ten times a second; this lets it look in every turn of Blender's loop.
_OFTEN = """
bridge = win.__globals__
seldom = bridge['tick']
def often():
    wait = seldom()
    return 0.005 if bridge['running']['steps'] is None else wait
bpy.app.timers.unregister(seldom)
bpy.app.timers.register(often, persistent=True)
"""

# Views turn at once, and are drawn once: to smooth their edges Blender draws them eight times. Of drawing them once the
# grid on the floor takes a third; of the rest outlines of what is selected and of all objects, and smooth wires, each a
# sixth.
PLAIN_VIEWS = """
preferences = bpy.context.preferences
preferences.view.smooth_view = 0
preferences.system.viewport_aa = 'OFF'
preferences.system.use_overlay_smooth_wire = False
overlay = area('VIEW_3D').spaces.active.overlay
overlay.show_floor = overlay.show_axis_x = overlay.show_axis_y = overlay.show_outline_selected = False
area('VIEW_3D').spaces.active.shading.show_object_outline = False
"""

# For `steps` of code that runs in Blender: `yield from drawn()` waits until all is drawn as it is now.
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

# Blender has heard of what was pressed, and drawn what came of it; and Live has looked at it, unless an operator that
# still runs keeps it from that.
_DONE = """
def steps():
    import sys
    yield from drawn()
    handlers = sys.modules.get('bl_ext.user_default.tcb_animation.ui.live.handlers')
    for _turn_of_blenders_loop in range(24):
        if handlers is None or not handlers.is_pending():
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
def started(size: tuple[int, int] = (1600, 1000)) -> Iterator[Any]:
    """Start Blender with factory settings, `size` pixels wide and high; give a `drive.GuiBlender`."""
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
        yield gui


def _run(gui: Any, code: str, timeout: float = 60.0) -> Any:
    """Run code in Blender, and return what it leaves in `result`, or what its generator `steps` returns."""
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
    """Press that by xdotool, so late after the same that Blender takes it for no double press."""
    before, at = gui.pressed
    if what == before:
        time.sleep(max(0.0, at + _DOUBLE_CLICK - time.monotonic()))
    gui.xdotool(*words)
    gui.pressed = (what, time.monotonic())


def _click(gui: Any, at: tuple[int, int], button: int = 1, times: int = 1) -> None:
    """Click there, and wait until Blender is done with it."""
    x, y = at
    for each in (x - 5, x):
        gui.xdotool("mousemove", each, y)
        gui.run(_TURNS)
    _press(gui, ("button", button), "click", "--repeat", times, "--delay", 60, button)
    gui.run(_DONE)


def _key(gui: Any, keys: str, at: tuple[int, int] | None = None) -> None:
    """Press keys, with the mouse there, and wait until Blender is done with them."""
    if at is not None:
        gui.xdotool("mousemove", *at)
        gui.run(_TURNS)
    _press(gui, ("key", keys), "key", keys)
    gui.run(_DONE)


def _open_sidebar(gui: Any, area: str, category: str) -> Any:
    """Make the first 3D viewport that area where there is none, open its sidebar, and bring the tab to the front."""
    return gui.run(_SIDEBAR.format(area=area, category=category))


def _type_value(gui: Any, at: tuple[int, int], text: str) -> None:
    """Open the slider there by Enter, and type: where drawing is slow, a double click can drag it."""
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
    """Return the position of each button in the sidebar by its Python call or data path, as `drive` does.

    The pointer is moved over it by Blender itself, eight times as fast as from another process; at the part
    `across` of the sidebar's width, from `top` to `height` pixels below its upper edge.
    """
    return dict(gui.run(_HOVER.format(area=area, height=height, step=step, across=across, top=top), timeout=timeout))


@contextmanager
def installed(extension_zip: Path, size: tuple[int, int] = (1600, 1000)) -> Iterator[Any]:
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
