# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's tools leave a live rig and its plain twin with the same keys. Undo and redo are exact, bit for bit.

The tests include a tool moved with the mouse, a tool that mirrors, and a tool in a strip's own time.
docs/measurements/blender_tools.md lists more tools.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import ROOT, settle, turns

PRELUDE = f"""
import sys
if {str(ROOT)!r} not in sys.path:
    sys.path.insert(0, {str(ROOT)!r})
from tests.gui import twin_rigs as rigs
"""
MOST_STEPS = 20
"""Maximum number of undo steps per tool."""


class Hands:
    """An animator's actions on both rigs in the window."""

    def __init__(self, window: Any) -> None:
        self.window = window

    def run(self, code: str) -> Any:
        return self.window.run(PRELUDE + code, timeout=180)

    def open(self, kind: str, mode: str = "") -> None:
        """Change the large area to the editor, show everything in it, and move the mouse to its center."""
        self.run(f"""
def steps():
    for a in win().screen.areas:
        if a.type == 'DOPESHEET_EDITOR' and a.height < 300:
            a.type = 'INFO'
    yield from drawn()
    big = max(win().screen.areas, key=lambda a: a.width * a.height)
    big.type = {kind!r}
    if {mode!r}:
        big.ui_type = {mode!r}
    yield from drawn()
    big = max(win().screen.areas, key=lambda a: a.width * a.height)
    with bpy.context.temp_override(window=win(), area=big, region=region(big, 'WINDOW')):
        if big.type == 'VIEW_3D':
            bpy.ops.view3d.view_axis(type='FRONT')
            big.spaces.active.shading.type = 'WIREFRAME'
        elif big.type == 'DOPESHEET_EDITOR':
            bpy.ops.action.view_all()
        else:
            bpy.ops.nla.view_all()
    rigs.push()
    yield from drawn()
""")
        self.point()

    def point(self, dx: int = 0) -> None:
        """Move the mouse to the center of the large area, or to a distance to the right of it."""
        x, y = self.run("""
big = max(win().screen.areas, key=lambda a: a.width * a.height)
r = region(big, 'WINDOW')
result = (r.x + r.width // 2, win().height - (r.y + r.height // 2))
""")
        for each in (x + dx + 3, x + dx):
            self.window.xdotool("mousemove", each, y)
        turns(self.window)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.window.xdotool("key", key)
            turns(self.window)
        settle(self.window)

    def frame(self, frame: int) -> None:
        self.run(f"bpy.context.scene.frame_set({frame}); rigs.push('frame')")
        settle(self.window)

    def turn(self, frame: int, degrees: str = "20") -> None:
        """Rotate the selection at the frame, with auto keying."""
        self.frame(frame)
        self.point(dx=100)
        self.press("r", *degrees, "Return")

    def move_keys(self, frame: int, *amount: str) -> None:
        """Move the keys at the frame in the Dope Sheet."""
        self.open("DOPESHEET_EDITOR", "DOPESHEET")
        self.run(f"rigs.select_keys({frame}); rigs.push('selected')")
        self.point()
        self.press("g", *amount, "Return")


def breakdowner(hands: Hands) -> None:
    """Use the tool between keys. The pose follows the mouse until the click."""
    hands.open("VIEW_3D")
    hands.frame(19)
    hands.point()
    hands.window.xdotool("key", "shift+e")
    turns(hands.window)
    for step in range(1, 5):
        hands.point(dx=30 * step)
    hands.window.xdotool("click", 1)
    settle(hands.window)


def auto_key_with_x_mirror(hands: Hands) -> None:
    hands.open("VIEW_3D")
    hands.run("""
for rig in rigs.rigs():
    rig.pose.use_mirror_x = True
rigs.pose_mode('Live', 'Plain', bones=('Arm.L', 'Hand.L'))
rigs.push('bones')
""")
    hands.turn(19, "30")


def tweak_mode(hands: Hands) -> None:
    """Put both actions in moved strips, then pose and move keys in tweak mode."""
    hands.open("NLA_EDITOR")
    hands.run("""
for rig in rigs.rigs():
    data = rig.animation_data
    action, slot = data.action, getattr(data, 'action_slot', None)
    data.action = None
    strip = data.nla_tracks.new().strips.new(action.name, 1, action)
    if slot is not None:
        strip.action_slot = slot
    strip.select = True
    data.nla_tracks[0].select = True
rigs.push('strips')
""")
    settle(hands.window)
    hands.open("NLA_EDITOR")
    hands.press("g", "8", "Return")
    hands.press("Tab")
    assert hands.run("result = [rig.animation_data.use_tweak_mode for rig in rigs.rigs()]") == [True, True]
    hands.open("VIEW_3D")
    hands.turn(28)
    hands.move_keys(25, "4")


@pytest.mark.parametrize("tool", [breakdowner, auto_key_with_x_mirror, tweak_mode], ids=lambda tool: tool.__name__)
def test_a_tool_does_to_a_live_rig_what_it_does_to_a_plain_one(window: Any, tool: Callable[[Hands], None]) -> None:
    hands = Hands(window)
    hands.run("rigs.stage(); rigs.push('stage')")
    settle(window)
    hands.run("rigs.save('before')")
    assert hands.run("result = rigs.differences()") == []
    tool(hands)
    hands.run("rigs.save('after')")
    assert hands.run("result = rigs.changes_since('before', 'Plain')"), "the tool did nothing"
    assert hands.run("result = rigs.differences()") == []
    assert hands.run("result = rigs.stale_channels()") == []

    hands.open("VIEW_3D")
    steps = 0
    while hands.run("result = rigs.changes_since('before', 'Plain')"):
        assert steps < MOST_STEPS, "the twin was not as before"
        hands.press("ctrl+z")
        steps += 1
    assert hands.run("result = rigs.changes_since('before', 'Live')") == []
    for _step in range(steps):
        hands.press("ctrl+shift+z")
    assert hands.run("result = rigs.changes_since('after', 'Live')") == []
