# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures. Tests in Blender use the extension, installed from its zip into an empty folder.

`tcb_animation`: the installed package. `scene`: the scene of a new, empty file. `numbers`: the parameters of keys.
`event`: sets the event that changes a slider.
`extension_zip`: the zip. `blender_itself`: Blender as users have it. `shared_data`: the folder of real .3ds files.
Tests that need no Blender, such as the tests of `interp`, run without it.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.metadata
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    import bpy

ROOT = Path(__file__).resolve().parent.parent
INSTALLED_PACKAGE = "bl_ext.user_default.tcb_animation"
SHARED = Path(os.environ.get("TCB_SHARED", ROOT.parent / "shared")).resolve()


def pytest_configure(config: pytest.Config) -> None:
    # Blender reads this variable on import, and a test module may import Blender during collection.
    folder = tempfile.TemporaryDirectory(prefix="tcb-blender-user-", ignore_cleanup_errors=True)
    os.environ["BLENDER_USER_RESOURCES"] = folder.name
    config.add_cleanup(folder.cleanup)
    # A busy machine is slow, which is not an error.
    hypothesis.settings.register_profile("without deadline", hypothesis.settings(deadline=None))
    hypothesis.settings.load_profile("without deadline")


def pytest_sessionfinish(session: pytest.Session) -> None:
    # Blender 4.2 and 4.5 as Python modules crash or hang when the process ends, if an add-on has registered a property
    # with an update function. The result is known by now, so exit before Blender's own exit code runs.
    if "bpy" in sys.modules:
        atexit.register(_leave, session)


def _leave(session: pytest.Session) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(session.exitstatus))


def pytest_report_header() -> list[str]:
    try:
        blender = importlib.metadata.version("bpy")
    except importlib.metadata.PackageNotFoundError:
        blender = "not installed, so what needs it is skipped"
    data = "found" if (SHARED / "data").is_dir() else "not there, so tests on real .3ds files are skipped"
    return [f"bpy: {blender}", f"shared data: {data}"]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real .3ds files. Without it, tests that need it are skipped."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the shared data folder is not there (TCB_SHARED names its parent)")
    return SHARED / "data"


@pytest.fixture(scope="session")
def extension_zip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension's zip, built and validated by Blender's own tool."""
    pytest.importorskip("bpy")
    folder = tmp_path_factory.mktemp("zip")
    build = [sys.executable, str(ROOT / "tools" / "build_zip.py"), str(folder)]
    result = subprocess.run(build, capture_output=True, text=True)
    if result.returncode:
        pytest.fail(f"the zip could not be built:\n{result.stderr}", pytrace=False)
    return Path(result.stdout.strip())


@pytest.fixture(scope="session")
def blender_itself(extension_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that starts Blender, not the module, with the extension installed.

    Skips the test if there is none.
    """
    from tests.cli.graphical import installed_blender

    return installed_blender(extension_zip, tmp_path_factory.mktemp("user"))


@pytest.fixture(scope="session")
def tcb_animation(extension_zip: Path) -> ModuleType:
    """The package, installed from the zip and enabled, as for a user."""
    import addon_utils
    import bpy

    try:
        bpy.ops.extensions.package_install_files(
            filepath=str(extension_zip), repo="user_default", enable_on_install=True
        )
    except RuntimeError as error:
        pytest.fail(f"the extension could not be installed or enabled: {error}", pytrace=False)
    _default, enabled = addon_utils.check(INSTALLED_PACKAGE)
    if not enabled:
        pytest.fail("the extension was installed but is not enabled (see what Blender printed)", pytrace=False)
    return importlib.import_module(INSTALLED_PACKAGE)


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory, tcb_animation: ModuleType) -> str:
    """The path of a file like Blender's startup file, but without objects."""
    import bpy

    path = str(tmp_path_factory.mktemp("empty") / "empty.blend")
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True, compress=False)
    return path


@pytest.fixture
def scene(empty_file: str) -> bpy.types.Scene:
    """The scene of a new, empty file, with the extension enabled."""
    import bpy

    # read_factory_settings would disable every extension. Blender's own startup file would take twice as long.
    bpy.ops.wm.read_homefile(filepath=empty_file)
    assert bpy.context.scene is not None
    return bpy.context.scene


@pytest.fixture
def numbers(tcb_animation: ModuleType) -> Callable[..., dict[float, float]]:
    """numbers(datablock, path, name, component=0): {frame: number} for the keys on which the parameter is set.

    The numbers are read from the file, from the identities in the keys and the table of the action. For `name`
    "velocity", `component` selects the component. All channels with a key at a frame have the same numbers, except
    velocities of values, which differ by channel.
    """
    import numpy as np

    animation = tcb_animation.animation
    store = animation.store

    def read(datablock: bpy.types.ID, path: str, name: str, component: int = 0) -> dict[float, float]:
        channels = animation.fcurves.channels.channels_of(datablock)
        table = store.table.custom_property.read_table(channels.action)
        assert not table.error
        state = table.state(channels.slot_handle, path)
        found: dict[float, float] = {}
        of_one = name == "velocity" and "rotation_" not in path
        column = store.table.rows.column_of(f"velocity[{0 if of_one else component}]" if name == "velocity" else name)
        for fcurve in (fcurve for fcurve in channels if fcurve.data_path == path):
            if state is None or (of_one and fcurve.array_index != component):
                continue
            keys = animation.fcurves.read_and_write.read(fcurve)
            at = store.table.rows.find(
                table.rows["identity"], store.table.key_identity.identities_in(keys.amplitude, keys.period)
            )
            for frame, row in zip(keys.frames[at >= 0].tolist(), table.rows[at[at >= 0]], strict=True):
                number = float(row["numbers"][column]) if row["given"] & np.uint32(1 << column) else None
                assert found.setdefault(frame, number) == number
        return {frame: pytest.approx(number, abs=1e-6) for frame, number in found.items() if number is not None}

    return read


@pytest.fixture
def preferences(tcb_animation):
    """The extension's preferences, reset to the defaults after the test."""
    import bpy

    given = bpy.context.preferences.addons[tcb_animation.__name__].preferences
    yield given
    for name in ("numbers", "advanced", "use_shortcuts"):
        given.property_unset(name)


@pytest.fixture
def advanced(preferences):
    """Show the advanced panels and choices."""
    preferences.advanced = True


@pytest.fixture
def event(tcb_animation: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """event(presses=True): set the mouse and keyboard event for subsequent changes to fields."""

    def happen(**what: bool) -> None:
        found = tcb_animation.ui.sliders.slider_drag.LastEvent(**what)
        sliders = tcb_animation.ui.sliders
        for module in (sliders.key_fields, sliders.slider_drag):
            monkeypatch.setattr(module, "last_event", lambda _context: found)

    # On a busy machine too, no step of a drag waits for the previous step.
    monkeypatch.setattr(tcb_animation.animation.edit.parameter_drag, "QUICK", math.inf)
    return happen
