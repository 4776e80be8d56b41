# SPDX-License-Identifier: GPL-3.0-or-later
"""`animation`: that part of the installed package; `keys_of`: a track's keys and their parameters."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    import bpy


@pytest.fixture
def animation(tcb_animation: ModuleType, scene) -> ModuleType:
    return importlib.import_module(f"{tcb_animation.__name__}.animation")


@pytest.fixture
def keys_of(animation: ModuleType) -> Callable[[bpy.types.ID, str], tuple[np.ndarray, dict[str, np.ndarray]]]:
    """From a datablock and the path of a track to its keys' frames and the parameters of each, by name."""
    own_keys = importlib.import_module(f"{animation.__name__}.store.own_keys")
    parameters = importlib.import_module(f"{animation.__name__}.store.parameters")

    def find(datablock: bpy.types.ID, path: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        track = animation.find_track(datablock, path)
        frames = own_keys.key_frames(track)
        return frames, parameters.read_parameters(track, own_keys.read_own_keys(track), frames, {})

    return find
