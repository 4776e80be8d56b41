# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators, which select data, check it, call `animation` or `exchange`, and report the result."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from . import (
    bake,
    checks,
    key_drag,
    key_select,
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
    keys,
    key_drag,
    key_select,
    preset,
    tracks,
    rotations,
    reduce,
    checks,
    relax,
    messages,
    three_ds,
    tables,
    restore_curves,
)


def _operators() -> Iterator[type[bpy.types.Operator]]:
    for module in _MODULES:
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, bpy.types.Operator) and each.__module__ == module.__name__:
                yield each


def register() -> None:
    for operator in _operators():
        bpy.utils.register_class(operator)
    preset.register()


def unregister() -> None:
    preset.unregister()
    for operator in reversed([*_operators()]):
        bpy.utils.unregister_class(operator)
