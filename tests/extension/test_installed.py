# SPDX-License-Identifier: GPL-3.0-or-later
"""All other tests in Blender run the installed package."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = "bl_ext.user_default.tcb_animation"


def test_the_package_is_the_installed_one_not_the_checkout(tcb_animation: ModuleType) -> None:
    assert tcb_animation.__name__ == PACKAGE
    assert tcb_animation.__file__ is not None
    assert not Path(tcb_animation.__file__).resolve().is_relative_to(ROOT)
