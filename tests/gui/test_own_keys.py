# SPDX-License-Identifier: GPL-3.0-or-later
"""The animator's own keys on baked curves in the Graph Editor, as displayed on the screen."""

from __future__ import annotations

from typing import Any

import numpy as np

from .conftest import turns
from .cube import CURVES
from .editors import open_editor
from .screen import screen

PLACES = f"""{CURVES}
r = region(area('GRAPH_EDITOR'), 'WINDOW')
def at(frame, value):
    x, y = r.view2d.view_to_region(frame, value, clip=False)
    return round(r.x + x), round(win().height - 1 - r.y - y)
curve = fcurves()[0]
result = [at(frame, curve.evaluate(frame)) for frame in (1, 20, 50)], at(35, curve.evaluate(35))
"""
MARK = (255, 191, 51)


def is_marked(pixels: Any, at: tuple[int, int]) -> bool:
    """True if the color of marks is next to a position, at the corners of a diamond."""
    x, y = at
    part = pixels[y - 7 : y + 8, x - 7 : x + 8]
    return int((np.abs(part - MARK).max(axis=2) <= 40).sum()) >= 8


def test_own_keys_alone_are_marked_while_they_are_baked(window):
    window.run("bpy.ops.tcb.enable(live=False); bpy.ops.tcb.bake()")
    open_editor(window, "GRAPH_EDITOR")
    window.run(f"{CURVES}\nfor c in fcurves()[1:]:\n    c.hide = True\nbpy.context.scene.frame_set(5)")
    turns(window)
    own, between = window.run(PLACES)
    shown = screen(window)
    assert [is_marked(shown, at) for at in own] == [True] * 3
    assert not is_marked(shown, between)
    window.run("bpy.ops.tcb.free()")
    turns(window)
    freed = screen(window)
    assert not any(is_marked(freed, at) for at in own)
