# SPDX-License-Identifier: GPL-3.0-or-later
"""File dialogs, used with the mouse and the keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .conftest import turns


def in_viewport(call: str) -> str:
    """Code that calls an operator as if in the 3D viewport, and waits for the window that it opens."""
    return f"""
def steps():
    bpy.context.preferences.view.filebrowser_display_type = 'SCREEN'
    at = area('VIEW_3D')
    with bpy.context.temp_override(window=win(), area=at, region=region(at, 'WINDOW')):
        {call}
    yield from drawn()
"""


def middle_of(window: Any, kind: str, from_right: int | None = None) -> tuple[int, int]:
    """Return a screen position: the center of a region in the dialog, or a distance from its right edge."""
    x, y, width, height, high = window.run(
        f"r = region(area('FILE_BROWSER'), {kind!r}); result = (r.x, r.y, r.width, r.height, win().height)"
    )
    return x + (width // 2 if from_right is None else width - from_right), high - y - height // 2


def type_name(window: Any, name: str) -> None:
    """Type the file name into the field left of the two buttons. Enter alone would close the dialog."""
    window.click(middle_of(window, "EXECUTE", from_right=500), times=2)
    for keys in (("key", "ctrl+a"), ("type", "--delay", "40", "--", name), ("key", "Return")):
        window.xdotool(*keys)
        turns(window)


def show_folder(window: Any, folder: Path) -> None:
    window.run(f"area('FILE_BROWSER').spaces.active.params.directory = {str(folder).encode()!r}")
    turns(window)
