# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab fits into the default layout, as measured on the screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import SharedBlender, set_up, settle
from .graphical import installed
from .rig import make_rig

SIZE = (1600, 1000)
WIDTHS = (180, 400)
"""Width of the sidebar in pixels at a resolution scale of 1."""
TO_END = 95
"""Distance in pixels from the bake toggle to the end of the tab, which is the heading of Paths."""
RESIZED = """
ui = region(area('VIEW_3D'), 'UI')
result = ui.x, win().height - ui.y - ui.height // 2, ui.width
"""
END = "ui = region(area('VIEW_3D'), 'UI'); result = win().height - ui.y"


def resize(window: Any, width: int) -> None:
    """Drag the edge of the sidebar."""
    x, y, now = window.run(RESIZED)
    window.xdotool("mousemove", x + 1, y, "mousemove", x, y)
    settle(window)
    window.xdotool("mousedown", 1)
    settle(window)
    for part in (0.5, 1.0):
        window.xdotool("mousemove", round(x + (now - width) * part), y)
        settle(window)
    window.xdotool("mouseup", 1)
    settle(window)


@pytest.fixture
def large_window(shared: SharedBlender, extension_zip: Path) -> Iterator[Any]:
    with installed(extension_zip, SIZE) as gui:
        set_up(gui)
        yield gui


def test_all_of_the_tab_is_in_sight_in_the_default_layout(large_window: Any) -> None:
    """Test two sidebar widths and two interface sizes with a TCB bone, because bones have the most rows."""
    window = large_window
    window.run(make_rig(bones=1))
    for scale in (1.0, 1.25):
        window.run(f"bpy.context.preferences.view.ui_scale = {scale}")
        settle(window)
        for width in WIDTHS:
            resize(window, round(width * scale))
            buttons = window.buttons("VIEW_3D", height=900, across=0.3, top=round(400 * scale))
            _, bake = next(at for name, at in buttons.items() if "tcb.bake(" in name)
            assert bake + TO_END * scale <= window.run(END)
