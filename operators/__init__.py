# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators, which select data, check it, call `animation` or `exchange`, and report the result."""

from __future__ import annotations

import bpy

from ..ui import classes_in
from . import (
    bake,
    checks,
    frame_function,
    key_drag,
    key_set,
    keys,
    messages,
    preset,
    reduce,
    relax,
    restore_curves,
    rotations,
    tables,
    three_ds,
    tracks,
)

_MODULES = (
    bake,
    checks,
    frame_function,
    key_drag,
    key_set,
    keys,
    messages,
    preset,
    reduce,
    relax,
    restore_curves,
    rotations,
    tables,
    three_ds,
    tracks,
)


def register() -> None:
    for operator in classes_in(_MODULES):
        bpy.utils.register_class(operator)
    preset.register()


def unregister() -> None:
    preset.unregister()
    for operator in reversed([*classes_in(_MODULES)]):
        bpy.utils.unregister_class(operator)
