# SPDX-License-Identifier: GPL-3.0-or-later
"""`animation`: that part of the installed package, in a new, empty file."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest


@pytest.fixture
def animation(tcb_animation: ModuleType, scene) -> ModuleType:
    return importlib.import_module(f"{tcb_animation.__name__}.animation")
