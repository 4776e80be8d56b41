# SPDX-License-Identifier: GPL-3.0-or-later
"""Cycles modifiers of F-curves: the animator's, and the one with which a bake as handles repeats a curve."""

from __future__ import annotations

from typing import Any

import bpy

_OURS = "TCB Cycles"
_PLAIN = "Cycles"
"""What Blender calls one."""
_REPEATS = {
    "mute": False,
    "mode_before": "REPEAT",
    "mode_after": "REPEAT",
    "cycles_before": 0,
    "cycles_after": 0,
    "use_restricted_range": False,
    "use_influence": False,
}
"""What a modifier of ours has, so that it repeats the whole curve for ever."""


def repeats(fcurve: bpy.types.FCurve) -> bool:
    """Tell whether a Cycles modifier of the animator's repeats the curve by itself."""
    return any(
        modifier.type == "CYCLES" and not modifier.mute and modifier.name != _OURS for modifier in fcurve.modifiers
    )


def can_repeat(fcurve: bpy.types.FCurve) -> bool:
    """Tell whether the curve can get a Cycles modifier of ours: that has to be the first."""
    return all(modifier.name == _OURS for modifier in fcurve.modifiers)


def repeat(fcurve: bpy.types.FCurve, wanted: bool) -> None:
    """Let a Cycles modifier of ours repeat the curve for ever, whatever became of it, or take it away."""
    ours = _ours(fcurve)
    for modifier in ours[1:] if wanted else ours:
        fcurve.modifiers.remove(modifier)
    if not wanted:
        return
    modifier = ours[0] if ours else fcurve.modifiers.new("CYCLES")
    for name, right in {"name": _OURS, **_REPEATS}.items():
        # Blender updates what is animated at each setting.
        if getattr(modifier, name) != right:
            setattr(modifier, name, right)


def give_away(fcurve: bpy.types.FCurve) -> None:
    """Let a modifier of ours be one like any other."""
    for modifier in _ours(fcurve):
        modifier.name = _PLAIN


def _ours(fcurve: bpy.types.FCurve) -> list[Any]:
    return [modifier for modifier in fcurve.modifiers if modifier.type == "CYCLES" and modifier.name == _OURS]
