# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension installed from its zip as docs/start/install.md describes, by mouse and keyboard alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from .conftest import turns, wait_for
from .graphical import started

WINDOWS = "result = {w.screen.areas[0].type: (w.width, w.height) for w in bpy.context.window_manager.windows}"
CORNER = (100, 60)
SECTION = "result = bpy.context.preferences.active_section"
ENABLED = "result = [name for name in bpy.context.preferences.addons.keys() if name.endswith('tcb_animation')]"
TABS = """
result = sorted({panel.bl_category for panel in bpy.types.Panel.__subclasses__()
                 if panel.bl_space_type == 'VIEW_3D' and getattr(panel, 'bl_category', '') == 'TCB'})
"""


def test_install_from_disk(extension_zip: Path) -> None:
    if "BLENDER" not in os.environ:
        pytest.skip("BLENDER names no graphical Blender; make test-gui does")
    with started((1200, 800)) as gui:
        assert gui.run(ENABLED) == []
        gui.click((79, 13))
        gui.key("p")
        x, y, width, _height = window_of(gui, "PREFERENCES", "Preferences")
        open_section(gui, (x + 60, y), "EXTENSIONS")
        gui.click((x + width - 19, y + 19))
        gui.key("f")
        x, y, width, height = window_of(gui, "FILE_BROWSER", "File View")
        gui.click((x + width // 2, y + 20), times=2)
        gui.xdotool("key", "ctrl+a")
        gui.xdotool("type", "--delay", 30, "--", extension_zip)
        gui.key("Return")
        install = (x + width - 73, y + height - 21)
        for _click in range(3):
            # The first click may only leave the field.
            if not gui.run(ENABLED):
                gui.click(install)
                turns(gui)
        assert gui.run(ENABLED) == ["bl_ext.user_default.tcb_animation"]
        assert gui.run(TABS) == ["TCB"]


def window_of(gui: Any, kind: str, title: str) -> Any:
    """Return the rectangle of the editor's window, once it is entirely visible: left, top, width and height."""
    wait_for(gui, f"{WINDOWS}; result = {kind!r} in result")
    # There is no window manager to keep the window on the screen.
    gui.xdotool("search", "--onlyvisible", "--name", title, "windowmove", *CORNER)
    turns(gui)
    return (*CORNER, *gui.run(WINDOWS)[kind])


def open_section(gui: Any, corner: tuple[int, int], section: str) -> None:
    """Click the sections in the preferences in turn until the section is shown."""
    x, y = corner
    for step in range(40, 300, 16):
        gui.click((x, y + step))
        if gui.run(SECTION) == section:
            return
    raise AssertionError(f"no section {section}")
