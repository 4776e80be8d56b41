# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators, which select data, check it, call `animation` or `exchange`, and report the result."""

from __future__ import annotations

import importlib
import pkgutil

import bpy

from ..ui import classes_in
from . import preset

_MODULES = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
"""All modules in this folder."""


def register() -> None:
    for operator in classes_in(_MODULES):
        bpy.utils.register_class(operator)
    preset.register()


def unregister() -> None:
    preset.unregister()
    for operator in reversed([*classes_in(_MODULES)]):
        bpy.utils.unregister_class(operator)
