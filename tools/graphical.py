# SPDX-License-Identifier: GPL-3.0-or-later
"""A graphical Blender with the extension installed from its zip, controlled by real clicks and keys.

BLENDER names the program that starts it; beside it is the module `drive`, which clicks and types: see `environment.sh
graphical`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

_screens = count()
_TURNS = """
def steps():
    for _turn_of_blenders_loop in range(3):
        yield 0.05
"""

_HOVER = """
def steps():
    a = area({area!r})
    ui = region(a, 'UI')
    x, top = ui.x + int(ui.width * .6), ui.y + ui.height
    manager = bpy.context.window_manager
    calls = ((bpy.ops.ui.copy_python_command_button, {{}}), (bpy.ops.ui.copy_data_path_button, {{'full_path': True}}))
    rows = {{}}
    for y in range(top - 6, top - min(ui.height, {height}), -{step}):
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
                    rows.setdefault(manager.clipboard, []).append(win().height - y)
                    break
    return {{name: (x, sum(ys) // len(ys)) for name, ys in rows.items()}}
"""


@contextmanager
def started(size: tuple[int, int] = (1600, 1000)) -> Iterator[Any]:
    """Start Blender with factory settings, `size` pixels wide and high; give a `drive.GuiBlender`."""
    blender = Path(os.environ["BLENDER"])
    sys.path.insert(0, str(blender.parent))
    import drive

    screen = f":{100 + os.getpid() % 900}{next(_screens)}"
    with drive.GuiBlender(blender=blender, display=screen, size=size) as gui:
        gui.type_value = partial(_type_value, gui)
        gui.buttons = partial(_buttons, gui)
        yield gui


def _type_value(gui: Any, at: tuple[int, int], text: str) -> None:
    """Open the slider there by Enter, and type: where drawing is slow, a double click can drag it."""
    x, y = at
    for each in (x - 5, x):
        gui.xdotool("mousemove", each, y)
        gui.run(_TURNS)
    for keys in (("key", "Return"), ("key", "ctrl+a"), ("type", "--delay", 40, "--", text), ("key", "Return")):
        gui.xdotool(*keys)
        gui.run(_TURNS)


def _buttons(gui: Any, area: str, height: int = 900, step: int = 8) -> dict[str, Any]:
    """Return the position of each button in the sidebar by its Python call or data path, as `drive` does.

    The pointer is moved over it by Blender itself, eight times as fast as from another process.
    """
    return dict(gui.run(_HOVER.format(area=area, height=height, step=step)))


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
