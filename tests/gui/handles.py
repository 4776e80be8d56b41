# SPDX-License-Identifier: GPL-3.0-or-later
"""Handles in a window, compared with the handles from a bake."""

from __future__ import annotations

from typing import Any

from .conftest import settle
from .cube import CURVES

AT_REST = """
for fcurve in fcurves():
    for point in fcurve.keyframe_points:
        point.interpolation = 'LINEAR'
bpy.ops.ed.undo_push(message='linear')
"""


def handles(window: Any) -> Any:
    """Return the positions of all keys and handles."""
    return window.run(f"""{CURVES}
result = [[tuple(round(n, 6) for n in (*k.co, *k.handle_left, *k.handle_right)) for k in c.keyframe_points]
          for c in fcurves()]
""")


def value_at(window: Any, frame: float, index: int = 0) -> float:
    return float(window.run(f"{CURVES}\nresult = fcurves()[{index}].evaluate({frame})"))


def is_as_played(window: Any) -> bool:
    """True if all handles are at the positions where a bake of handles places them."""
    settle(window)
    before = handles(window)
    window.run("bpy.ops.tcb.bake(output='HANDLES')")
    return bool(before == handles(window))
