# SPDX-License-Identifier: GPL-3.0-or-later
"""A graphical Blender with the extension installed from its zip, driven by real clicks and keys.

`window`: Blender with a new file, an animated cube, an open tab in the sidebar, and the same preferences in each test.
A picture of the window in which a test failed is saved in build/gui.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .graphical import PLAIN_VIEWS, installed

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


TURNS = """
def steps():
    for _turn_of_blenders_loop in range(3):
        yield 0.02
"""


def turns(window: Any) -> None:
    """Wait until Blender has received the mouse and keyboard events."""
    window.run(TURNS)


SETTLE = """
def steps():
    from bl_ext.user_default.tcb_animation.animation.bake.drags import is_dragged
    from bl_ext.user_default.tcb_animation.ui.live import updates
    yield from drawn()
    for _turn_of_blenders_loop in range(800):
        # Live waits until a drag ends.
        if not updates.is_pending() or is_dragged(0.0):
            return True
        yield 0.025
"""


def settle(window: Any) -> None:
    """Wait until Blender has processed the clicks and keys, and Live has processed the resulting edits."""
    assert window.run(SETTLE), "Live does not come to rest"


def wait_for(window: Any, code: str, expected: object = True) -> None:
    """Wait until the code stores the expected value in `result`, because a busy machine is slow."""
    found = None
    for _turn in range(600):
        found = window.run(code)
        if found == expected:
            return
        turns(window)
    raise AssertionError(f"{found!r} instead of {expected!r}: {code}")


def pytest_report_header() -> str:
    """Report the Blender of this run. make test-gui uses the newest one that is set up, or GUI_BLENDER."""
    if "BLENDER" not in os.environ:
        return "graphical Blender: none"
    said = subprocess.run([os.environ["BLENDER"], "--version"], capture_output=True, text=True, check=False).stdout
    return f"graphical Blender: {said.partition(chr(10))[0]} ({os.environ.get('GUI_BLENDER', '')})"


@pytest.fixture(scope="session")
def shared(extension_zip: Path) -> Iterator[SharedBlender]:
    if "BLENDER" not in os.environ:
        pytest.skip("BLENDER names no graphical Blender; make test-gui does")
    blender = SharedBlender(extension_zip)
    yield blender
    blender.close()


# All editors are drawn again after each edit.
FEW_EDITORS = """
def steps():
    for kind in ('OUTLINER', 'PROPERTIES'):
        with bpy.context.temp_override(window=win(), area=area(kind)):
            bpy.ops.screen.area_close()
        yield from drawn()
"""
SAVE_START_FILE = """
bpy.ops.wm.save_as_mainfile(filepath={path!r}, copy=True)
"""
PREFERENCES = """
def preferences():
    given = bpy.context.preferences
    groups = (given.view, given.edit, given.addons['bl_ext.user_default.tcb_animation'].preferences)
    for group in groups:
        for setting in group.bl_rna.properties:
            is_one = not (getattr(setting, 'is_array', False) or getattr(setting, 'is_enum_flag', False))
            if is_one and not setting.is_readonly and setting.type in ('BOOLEAN', 'INT', 'FLOAT', 'ENUM'):
                yield group, setting.identifier
"""
"""Preferences outlive a file."""
READ_PREFERENCES = f"{PREFERENCES}\nresult = [getattr(group, name) for group, name in preferences()]"
START = f"""{PREFERENCES}
def steps():
    for (group, name), value in zip(preferences(), {{values}}, strict=True):
        if getattr(group, name) != value:
            setattr(group, name, value)
    bpy.ops.wm.read_homefile(filepath={{path!r}})
    yield from drawn()
    return bpy.data.filepath
"""


def set_up(gui: Any) -> None:
    gui.run(PLAIN_VIEWS)
    gui.run(ANIMATED_CUBE)
    gui.open_sidebar("VIEW_3D", "TCB")


class SharedBlender:
    """A Blender that is started on first use and stays open between tests, because starting takes longest."""

    def __init__(self, extension_zip: Path) -> None:
        self._zip = extension_zip
        self._open = ExitStack()
        self._gui: Any = None
        self._preferences: list[Any] = []

    def gui(self) -> Any:
        """Blender with a new file, the animated cube, the open tab and the first preferences."""
        if self._gui is None:
            self._gui = gui = self._open.enter_context(installed(self._zip))
            gui.run(FEW_EDITORS)
            set_up(gui)
            gui.run(SAVE_START_FILE.format(path=self._start))
            self._preferences = gui.run(READ_PREFERENCES)
        assert self._gui.run(START.format(values=self._preferences, path=self._start)) == ""
        return self._gui

    @property
    def _start(self) -> str:
        """The file with which each test starts."""
        return str(Path(self._gui.share) / "start.blend")

    def close(self) -> None:
        self._gui = None
        self._open.close()


@pytest.fixture
def window(shared: SharedBlender, request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.config.stash.get(FAILED, False):
        # It may have a pressed key, wait for an answer, or have quit.
        shared.close()
        request.config.stash[FAILED] = False
    gui = shared.gui()
    log = Path(gui.share) / "blender.log"
    printed = len(log.read_text())
    yield gui
    assert "Traceback" not in log.read_text()[printed:]


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.config.stash[FAILED] = True
        if "window" in getattr(item, "funcargs", {}):
            PICTURES.mkdir(parents=True, exist_ok=True)
            item.funcargs["window"].shot(PICTURES / f"{item.name}.png")
    return report
