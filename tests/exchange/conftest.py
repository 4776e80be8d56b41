# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures.

`animation`: the subpackage of the installed extension. `keys_of`: a track's keys and their parameters. `give`: exports
of the scene. `said`: the reported messages.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest

from formats import three_ds

if TYPE_CHECKING:
    import bpy

Export = Callable[..., three_ds.Scene]


@pytest.fixture
def animation(tcb_animation: ModuleType, scene) -> ModuleType:
    return importlib.import_module(f"{tcb_animation.__name__}.animation")


@pytest.fixture
def keys_of(animation: ModuleType) -> Callable[[bpy.types.ID, str], tuple[np.ndarray, dict[str, np.ndarray]]]:
    """A function that returns a track's key frames and the parameters of each key, by name."""
    own_keys = importlib.import_module(f"{animation.__name__}.store.own_keys")
    parameters = importlib.import_module(f"{animation.__name__}.store.parameters")

    def find(datablock: bpy.types.ID, path: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        track = animation.find_track(datablock, path)
        frames = own_keys.key_frames(track)
        return frames, parameters.read_parameters(track, own_keys.read_own_keys(track), frames, {})

    return find


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
