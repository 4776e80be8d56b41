# SPDX-License-Identifier: GPL-3.0-or-later
"""Install and uninstall the extension in a separate Blender: `python lifecycle.py ZIP OUT`, run by test_lifecycle.py.

The script installs the zip, enables and disables it many times, loads factory settings, clears handlers and uninstalls
it. It writes the state at each stage to OUT as JSON.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

PACKAGE = "bl_ext.user_default.tcb_animation"
REPOSITORY = "user_default"
CYCLES = 10
SPACES = ("SpaceView3D", "SpaceGraphEditor", "SpaceDopeSheetEditor")
_draw_callbacks: dict[Any, str] = {}
"""The draw callbacks in Blender, by handle. Blender does not list them."""


def watch_draw_callbacks() -> None:
    """Record the draw callbacks added to and removed from spaces."""
    import bpy

    for name in SPACES:
        space = getattr(bpy.types, name)
        add, remove = space.draw_handler_add, space.draw_handler_remove

        def noting_add(function: Any, *rest: Any, name: str = name, add: Any = add) -> Any:
            handle = add(function, *rest)
            _draw_callbacks[handle] = f"{name}: {function.__module__}.{function.__qualname__}"
            return handle

        def noting_remove(handle: Any, *rest: Any, remove: Any = remove) -> None:
            remove(handle, *rest)
            del _draw_callbacks[handle]

        space.draw_handler_add, space.draw_handler_remove = staticmethod(noting_add), staticmethod(noting_remove)


def registered() -> dict[str, list[str]]:
    """Return the registrations of extensions, and all types, properties, operators and shortcuts."""
    import bpy

    types = {name: getattr(bpy.types, name) for name in dir(bpy.types)}
    properties = [
        f"{name}.{prop}"
        for name, blender_type in types.items()
        if hasattr(blender_type, "bl_rna")
        for prop in blender_type.bl_rna.properties.keys()  # noqa: SIM118 - iterating gives the properties themselves
    ]
    operators = [f"{module}.{name}" for module in dir(bpy.ops) for name in dir(getattr(bpy.ops, module))]
    handlers = [
        f"{name}: {handler.__module__}.{handler.__qualname__}"
        for name in dir(bpy.app.handlers)
        if isinstance(getattr(bpy.app.handlers, name), list)
        for handler in getattr(bpy.app.handlers, name)
        # Blender's own add-ons register their handlers twice with factory settings.
        if handler.__module__.startswith("bl_ext.")
    ]
    menu_entries = [
        f"{name}: {function.__module__}.{function.__qualname__}"
        for name, blender_type in types.items()
        for function in getattr(getattr(blender_type, "draw", None), "_draw_funcs", ())
        if function.__module__.startswith("bl_ext.")
    ]
    window_manager = bpy.context.window_manager
    assert window_manager is not None
    assert window_manager.keyconfigs.addon is not None
    shortcuts = [
        f"{keymap.name}: {item.idname}"
        for keymap in window_manager.keyconfigs.addon.keymaps
        for item in keymap.keymap_items
    ]
    found = {
        "types": list(types),
        "properties": properties,
        "operators": operators,
        "handlers": handlers,
        "menu entries": menu_entries,
        "shortcuts": shortcuts,
        "draw callbacks": list(_draw_callbacks.values()),
        "preset folders": bpy.utils.preset_paths("tcb_animation/key"),
    }
    return {kind: sorted(names) for kind, names in found.items()}


def seen() -> dict[str, Any]:
    """Return the current state of the extension."""
    import addon_utils
    import bpy

    _default, enabled = addon_utils.check(PACKAGE)
    folder = Path(bpy.utils.user_resource("EXTENSIONS", path=REPOSITORY)) / "tcb_animation"
    return {"enabled": bool(enabled), "on_disk": folder.exists(), "registered": registered()}


def clear_handlers() -> int:
    """Remove the extension's handlers, as when Blender's lists are cleared. Return the number of handlers removed."""
    import bpy

    count = 0
    for name in dir(bpy.app.handlers):
        handlers = getattr(bpy.app.handlers, name)
        if isinstance(handlers, list):
            others = [handler for handler in handlers if not handler.__module__.startswith(PACKAGE)]
            count += len(handlers) - len(others)
            handlers[:] = others
    return count


def second_copy() -> str:
    """Copy the installed extension into another repository, and return the name of its package there."""
    import bpy

    preferences = bpy.context.preferences
    assert preferences is not None
    repository = preferences.extensions.repos.new(name="Other", module="other")
    installed = Path(bpy.utils.user_resource("EXTENSIONS", path=REPOSITORY)) / "tcb_animation"
    shutil.copytree(installed, Path(repository.directory) / "tcb_animation")
    return "bl_ext.other.tcb_animation"


def refusal(package: str) -> str:
    """Return the error when a package is enabled."""
    import bpy

    try:
        bpy.ops.preferences.addon_enable(module=package)
    except RuntimeError as error:
        return str(error)
    return ""


def found() -> dict[str, Any]:
    """Return the results of both methods in docs/automate: a name, and True if functions are returned."""
    pages = Path(__file__).parents[2] / "docs" / "automate"
    function, *_ = re.findall(r"```python\n(.*?)```", (pages / "importers.md").read_text(encoding="utf-8"), re.DOTALL)
    lines, *_ = re.findall(r"^package = .*\n.*$", (pages / "python.md").read_text(encoding="utf-8"), re.MULTILINE)
    names: dict[str, Any] = {}
    exec(function, names)
    try:
        exec(lines, names)
    except StopIteration:
        names |= {"package": "", "animation": None}
    return {"package": names["package"], "same": names["tcb_animation"]() is names["animation"]}


def live(archive: str) -> dict[str, Any]:
    import bpy

    watch_draw_callbacks()
    assert bpy.context.preferences is not None
    repositories = [repository.module for repository in bpy.context.preferences.extensions.repos]
    stages = {}
    bpy.ops.extensions.package_install_files(filepath=archive, repo=REPOSITORY, enable_on_install=False)
    stages["installed"] = seen()
    for time in range(1, CYCLES + 1):
        bpy.ops.preferences.addon_enable(module=PACKAGE)
        if time in (1, CYCLES):
            stages[f"enabled, {time}"] = seen()
        bpy.ops.preferences.addon_disable(module=PACKAGE)
        if time in (1, CYCLES):
            stages[f"disabled, {time}"] = seen()
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    cleared = clear_handlers()
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    stages["disabled after handlers were cleared"] = {"cleared": cleared, **seen()}
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    other = second_copy()
    stages["second copy refused"] = {"reason": refusal(other), **seen(), "found": found()}
    bpy.ops.preferences.addon_disable(module=other)
    stages["second copy disabled"] = seen()
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    bpy.ops.preferences.addon_enable(module=other)
    stages["second copy enabled"] = {"reason": refusal(PACKAGE), **seen(), "found": found()}
    bpy.ops.preferences.addon_disable(module=other)
    stages["both disabled"] = {**seen(), "found": found()}
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    bpy.ops.wm.read_factory_settings()
    stages["factory settings loaded"] = seen()
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    stages["enabled after factory settings"] = seen()
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    stages["disabled after factory settings"] = seen()
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    bpy.ops.extensions.package_uninstall(repo_index=repositories.index(REPOSITORY), pkg_id="tcb_animation")
    stages["uninstalled"] = seen()
    return stages


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as user_folder:
        # Set this before bpy is imported. For this reason, functions import bpy.
        os.environ["BLENDER_USER_RESOURCES"] = user_folder
        Path(sys.argv[2]).write_text(json.dumps(live(sys.argv[1])), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # Blender 4.2 as a module may crash while the process ends (see conftest.py)
