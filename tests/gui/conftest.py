# SPDX-License-Identifier: GPL-3.0-or-later
"""A graphical Blender with the extension installed from its zip, driven by real clicks and keys.

`window`: it, with an animated cube and the sidebar's tab open. Screenshots go to build/gui.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


@pytest.fixture
def window(extension_zip: Path) -> Iterator[Any]:
    if "BLENDER" not in os.environ:
        pytest.skip("BLENDER names no graphical Blender; make test-gui does")
    blender = Path(os.environ["BLENDER"])
    sys.path.insert(0, str(blender.parent))
    import drive

    PICTURES.mkdir(parents=True, exist_ok=True)
    with drive.GuiBlender(blender=blender, display=f":{90 + os.getpid() % 900}") as gui:
        gui.run(
            f"bpy.ops.extensions.package_install_files(filepath={str(extension_zip)!r}, repo='user_default',"
            " enable_on_install=True)",
            timeout=180,
        )
        gui.run(ANIMATED_CUBE)
        gui.open_sidebar("VIEW_3D", "TCB")
        yield gui
