# SPDX-License-Identifier: GPL-3.0-or-later
"""Cycles modifiers of F-curves, added by the animator, or by the extension to repeat curves played by handles."""

from __future__ import annotations

from typing import Any

import bpy

_OWN_NAME = "TCB Cycles"
_BLENDERS_NAME = "Cycles"
"""Name that Blender gives to Cycles modifiers."""
_SETTINGS = {
    "name": _OWN_NAME,
    "mute": False,
    "mode_before": "REPEAT",
    "mode_after": "REPEAT",
    "cycles_before": 0,
    "cycles_after": 0,
    "use_restricted_range": False,
    "use_influence": False,
}
"""Settings of our modifier, which repeats the entire curve endlessly."""


def repeats(fcurve: bpy.types.FCurve) -> bool:
    """Return whether a Cycles modifier added by the animator repeats the curve."""
    return any(
        modifier.type == "CYCLES" and not modifier.mute and modifier.name != _OWN_NAME for modifier in fcurve.modifiers
    )


def can_repeat(fcurve: bpy.types.FCurve) -> bool:
    """Return whether our Cycles modifier can be added. Blender requires a Cycles modifier to be the first modifier."""
    return all(modifier.name == _OWN_NAME for modifier in fcurve.modifiers)


def repeat(fcurve: bpy.types.FCurve, wanted: bool) -> bool:
    """Add or reset the Cycles modifier with which the extension repeats the curve endlessly.

    If the modifier is not `wanted`, remove it. Return whether the curve had the modifier.
    """
    if not wanted and not len(fcurve.modifiers):
        return False
    own_modifiers = _own_modifiers(fcurve)
    for modifier in own_modifiers[1:] if wanted else own_modifiers:
        fcurve.modifiers.remove(modifier)
    if not wanted:
        return bool(own_modifiers)
    modifier = own_modifiers[0] if own_modifiers else fcurve.modifiers.new("CYCLES")
    for name, setting in _SETTINGS.items():
        # Each assignment triggers an animation update.
        if getattr(modifier, name) != setting:
            setattr(modifier, name, setting)
    return bool(own_modifiers)


def remove_cycles(fcurve: bpy.types.FCurve) -> None:
    """Turn our Cycles modifier into an ordinary modifier by renaming it."""
    for modifier in _own_modifiers(fcurve):
        modifier.name = _BLENDERS_NAME


def _own_modifiers(fcurve: bpy.types.FCurve) -> list[Any]:
    return [modifier for modifier in fcurve.modifiers if modifier.type == "CYCLES" and modifier.name == _OWN_NAME]
