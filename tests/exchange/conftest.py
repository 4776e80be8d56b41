# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures.

`animation`: the subpackage of the installed extension. `give`: exports of the scene. `said`: the reported messages.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from formats import three_ds

Export = Callable[..., three_ds.Scene]


@pytest.fixture
def animation(tcb_animation: ModuleType, scene) -> ModuleType:
    return importlib.import_module(f"{tcb_animation.__name__}.animation")


@pytest.fixture
def give(scene, tmp_path: Path) -> Export:
    """A function that exports the scene with the operator's options and reads the file."""
    import bpy

    def give(**options) -> three_ds.Scene:
        bpy.ops.export_anim.tcb_3ds(filepath=str(tmp_path / "given.3ds"), **options)
        return three_ds.read((tmp_path / "given.3ds").read_bytes())

    return give


@pytest.fixture
def said(capfd) -> Callable[[], str]:
    return lambda: capfd.readouterr().out
