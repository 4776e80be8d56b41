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


@contextmanager
def started(size: tuple[int, int] = (1600, 1000)) -> Iterator[Any]:
    """Start Blender with factory settings, `size` pixels wide and high; give a `drive.GuiBlender`."""
    blender = Path(os.environ["BLENDER"])
    sys.path.insert(0, str(blender.parent))
    import drive

    screen = f":{100 + os.getpid() % 900}{next(_screens)}"
    with drive.GuiBlender(blender=blender, display=screen, size=size) as gui:
        gui.type_value = partial(_type_value, gui)
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
