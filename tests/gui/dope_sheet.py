# SPDX-License-Identifier: GPL-3.0-or-later
"""Positions and drags of keys in the Dope Sheet."""

from __future__ import annotations

from typing import Any

from .conftest import settle
from .cube import CURVES


def everything(window: Any) -> Any:
    settle(window)
    return window.run(f"{CURVES}\nresult = everything()")


def own_frames(window: Any, path: str = "location") -> list[float]:
    """Return the frames of the first channel's keys."""
    frames = window.run(f"""{CURVES}
channel = next(c for c in fcurves() if c.data_path == {path!r})
result = [k.co.x for k in channel.keyframe_points]
""")
    return [round(frame, 3) for frame in frames]


def open_dope_sheet(window: Any) -> None:
    window.run("""
def steps():
    next(a for a in win().screen.areas if a.type == 'DOPESHEET_EDITOR').type = 'INFO'
    area('VIEW_3D').ui_type = 'DOPESHEET'
    yield from drawn()
    big = area('DOPESHEET_EDITOR')
    with bpy.context.temp_override(window=win(), area=big, region=region(big, 'WINDOW')):
        bpy.ops.action.view_all()
    bpy.ops.ed.undo_push(message='editor')
    yield from drawn()
    return True
""")


def diamond(window: Any, frame: float) -> Any:
    """Return the window position of the summary's diamond at a frame."""
    return window.run(f"""
big = area('DOPESHEET_EDITOR')
r = region(big, 'WINDOW')
x, _ = r.view2d.view_to_region({frame}, 0, clip=False)
result = (r.x + x, win().height - (r.y + r.height) + 36)
""")


def drag(window: Any, by: str) -> None:
    """Move the selection by a number of frames."""
    window.key("g")
    for character in by:
        window.key({"-": "minus"}.get(character, character))
    window.key("Return")
