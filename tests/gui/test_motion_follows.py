# SPDX-License-Identifier: GPL-3.0-or-later
"""While a dialog is open, the motion played by handles follows its fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import settle, turns
from .cube import AT_REST, CURVES, everything
from .editors import open_editor, open_tcb_menu

KEY = 20
"""The frame of the cube's middle key."""


@pytest.fixture
def playing(window: Any) -> Any:
    """The window with linear keys without parameters, played with handles."""
    window.run(f"{CURVES}{AT_REST}bpy.ops.tcb.enable(live=True)\nbpy.ops.ed.undo_push(message='handles')")
    settle(window)
    return window


def parameters(window: Any, path: str, frame: float) -> dict[str, float]:
    """Return the parameters set on the key."""
    code = CURVES.replace("'location'", repr(path))
    return dict(
        window.run(f"""{code}
names = ('tension', 'continuity', 'bias', 'ease_to', 'ease_from')
result = {{name: numbers(name)[{frame}] for name in names if {frame} in numbers(name)}}
""")
    )


def comes(window: Any, read: Callable[[Any], Any], state: Any) -> bool:
    """True if the value is read soon, because undo takes time on a busy machine."""
    return any(read(window) == state for _try in range(10))


def all_of_it(window: Any) -> Any:
    """Return the exact keys and their parameters."""
    return everything(window), [parameters(window, "location", frame) for frame in (1, KEY, 50)]


def played(window: Any) -> list[float]:
    code = f"{CURVES}\nresult = [c.evaluate(frame) for c in fcurves()[:3] for frame in (10, 35)]"
    return list(window.run(code))


def number_under_the_mouse(window: Any) -> str:
    window.run("bpy.context.window_manager.clipboard = ''")
    window.xdotool("key", "ctrl+c")
    turns(window)
    return str(window.run("result = 'is ' + bpy.context.window_manager.clipboard"))


def field_with(window: Any, centre: Any, number: str) -> Any:
    """Return the position of the field that shows this number in the open dialog."""
    x, y = centre[0] - 76, centre[1]
    found = []
    for at in range(y - 70, y + 130, 6):
        window.xdotool("mousemove", x, at)
        turns(window)
        if number_under_the_mouse(window) == f"is {number}":
            found.append(at)
        elif found:
            break
    assert found, f"no {number} in the dialog"
    at = sum(found) // len(found)
    window.xdotool("mousemove", x, at)
    turns(window)
    return x, at


def test_the_motion_follows_the_dialog_and_escape_gives_all_back(playing):
    centre = open_editor(playing, "DOPESHEET_EDITOR")
    playing.run("""
for frame in (1, 20, 50):
    bpy.ops.tcb.key_set(track='location', frame=frame, bias=0.875)
bpy.ops.ed.undo_push(message='bias')
""")
    playing.key("a", at=centre)
    settle(playing)
    before, rest = all_of_it(playing), played(playing)
    open_tcb_menu(playing, centre)
    playing.key("s")
    x, y = field_with(playing, centre, "0.875")
    playing.xdotool("mousedown", 1)
    turns(playing)
    seen = []
    for step in range(1, 17):
        playing.xdotool("mousemove_relative", "--", -3, 0)
        turns(playing)
        if step % 8 == 0:
            seen.append(played(playing))
    # The mouse button is still pressed.
    assert seen[0] != pytest.approx(rest, abs=1e-3)
    assert seen[1] != pytest.approx(seen[0], abs=1e-3)
    playing.xdotool("mouseup", 1)
    turns(playing)
    playing.key("Escape")
    settle(playing)
    assert comes(playing, all_of_it, before)

    open_tcb_menu(playing, centre)
    playing.key("s")
    # Enter could confirm a dialog, so it is not used.
    playing.click((x, y), times=2)
    playing.xdotool("key", "ctrl+a")
    playing.xdotool("type", "--delay", 40, "--", "0.75")
    playing.key("Return")
    settle(playing)
    typed = played(playing)
    assert typed != pytest.approx(rest, abs=1e-3)
    playing.key("Return")
    settle(playing)
    assert parameters(playing, "location", KEY) == {"bias": 0.75}
    assert played(playing) == pytest.approx(typed, abs=1e-6)
    after = everything(playing)
    playing.key("ctrl+z", at=centre)
    assert comes(playing, all_of_it, before)
    playing.key("ctrl+shift+z", at=centre)
    assert comes(playing, everything, after)


def test_a_dialog_that_is_canceled_without_a_change_leaves_an_unkeyed_pose(window):
    centre = open_editor(window, "DOPESHEET_EDITOR")
    window.key("a", at=centre)
    settle(window)
    window.run("bpy.context.object.location.y = 7.0")
    open_tcb_menu(window, centre)
    window.key("s")
    turns(window)
    window.key("Escape")
    settle(window)
    assert window.run("result = bpy.context.object.location.y") == 7.0
