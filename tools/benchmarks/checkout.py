# SPDX-License-Identifier: GPL-3.0-or-later
"""Load the extension of this checkout without installing it, in a Python that has Blender as a module."""

from __future__ import annotations

import importlib
from typing import Any

from tools import tcb

package = tcb.load(tcb.PACKAGE, "__init__.py", [str(tcb.ROOT)])


def module(name: str) -> Any:
    """Return a module of the extension."""
    return importlib.import_module(f"{package.__name__}.{name}")


animation = module("animation")
