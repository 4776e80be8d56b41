# SPDX-License-Identifier: GPL-3.0-or-later
"""A graphical Blender with the extension installed from its zip, driven by real clicks and keys.

`window`: it, with an animated cube and the sidebar's tab open. Screenshots go to build/gui.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.graphical import installed

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "build" / "gui"

ANIMATED_CUBE = """
from mathutils import Euler
cube = bpy.data.objects['Cube']
cube.rotation_mode = 'QUATERNION'
for frame, location, rotation in ((1, (0, 0, 0), (0, 0, 0)), (20, (4, 0, 2), (1, .5, 0)), (50, (0, 3, 0), (0, 2, 1))):
    cube.location = location
    cube.rotation_quaternion = Euler(rotation).to_quaternion()
    cube.keyframe_insert('location', frame=frame)
    cube.keyframe_insert('rotation_quaternion', frame=frame)
scene = bpy.context.scene
scene.frame_end = 60
scene.frame_set(20)
"""


SETTLE = """
def steps():
    from bl_ext.user_default.tcb_animation import handlers
    for _turn_of_blenders_loop in range(3):
        yield 0.1
    while handlers._state.marked or handlers._state.unsure:
        yield 0.05
"""


def settle(window: Any) -> None:
    """Wait until Blender has done what was clicked and typed, and Live has looked at all that this changed."""
    window.run(SETTLE)


@pytest.fixture
def window(extension_zip: Path) -> Iterator[Any]:
    if "BLENDER" not in os.environ:
        pytest.skip("BLENDER names no graphical Blender; make test-gui does")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with installed(extension_zip) as gui:
        gui.run(ANIMATED_CUBE)
        gui.open_sidebar("VIEW_3D", "TCB")
        yield gui
