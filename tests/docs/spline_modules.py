# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules of `interp.splines` and their classes."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from interp import splines

MODULES = [module.name for module in pkgutil.iter_modules(splines.__path__)]


def splines_of(module_name: str) -> set[str]:
    """Return the names of the splines that a module defines."""
    module = importlib.import_module(f"interp.splines.{module_name}")
    return {
        name
        for name, cls in vars(module).items()
        if inspect.isclass(cls) and name.endswith("Spline") and cls.__module__ == module.__name__
    }
