# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender itself, as installed by users."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def installed_blender(extension_zip: Path, folder: Path) -> list[str]:
    """Return the command that starts Blender with the extension from its zip.

    Skip if tools/environment.sh finds none.
    """
    command = [str(ROOT / "tools" / "environment.sh"), "graphical", "env"]
    found = subprocess.run(command, capture_output=True, text=True).stdout
    variables = dict(line.split("=", 1) for line in found.splitlines() if "=" in line)
    if "BLENDER" not in variables:
        pytest.skip(found.strip())
    environment = {
        "GUI_BLENDER": variables["GUI_BLENDER"],
        "GUI_BLENDER_HOME": str(folder),
        "BLENDER_USER_RESOURCES": str(folder / "config"),
    }
    blender = ["env", *(f"{name}={value}" for name, value in environment.items()), variables["BLENDER"]]
    # An unpacked Blender that was not installed cannot find the Python for its helper processes.
    install = (
        "import bpy, os, sys; sys.executable = sys.executable or os.environ['GUI_BLENDER_PYTHON'];"
        f" bpy.ops.extensions.package_install_files(filepath={str(extension_zip)!r}, repo='user_default',"
        " enable_on_install=True); bpy.ops.wm.save_userpref()"
    )
    call = [*blender, "--background", "--python-exit-code", "3", "--python-expr", install]
    installed = subprocess.run(call, capture_output=True, text=True, timeout=120)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    return blender
