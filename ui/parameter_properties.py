# SPDX-License-Identifier: GPL-3.0-or-later
"""Sliders for tension, continuity, bias and eases, as TCB parameters and as the numbers that 3ds Max displays."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.translations import contexts
from bpy.props import FloatProperty

from ..animation.store.parameters import LIMITS
from ..animation.store.table.rows import PARAMETERS
from . import preferences

DESCRIPTIONS = {
    "tension": ("Tension", "Curve tightness: high values slow the motion at the key, low values widen the curve"),
    "continuity": ("Continuity", "Smoothness at the key: low values make a corner, high values overshoot"),
    "bias": ("Bias", "Curve lean: high values overshoot after the key, low values before the key"),
    "ease_to": ("Ease To", "Slowdown before the key"),
    "ease_from": ("Ease From", "Slow start after the key"),
}
"""Label and tooltip of each parameter."""
DECIMALS = 3
"""Number of decimals of parameters."""


def parameter(name: str, **options: Any) -> Any:
    """Return a slider for one parameter in its range."""
    low, high = LIMITS[name]
    return _slider(name, min=low, max=high, default=0.0, step=5, precision=DECIMALS, **options)


def _slider(name: str, **declared: Any) -> Any:
    label, description = DESCRIPTIONS[name]
    return FloatProperty(name=label, description=description, translation_context=contexts.id_action, **declared)


_MAX_OF_50 = 50.0
"""Maximum of 3ds Max values."""


def of_50(name: str, value: float) -> float:
    """Convert a parameter to a 3ds Max value, from 0 to 50."""
    low, high = LIMITS[name]
    return (value - low) / (high - low) * _MAX_OF_50


def from_50(name: str, number: float) -> float:
    """Convert a 3ds Max value to a parameter."""
    low, high = LIMITS[name]
    return low + number / _MAX_OF_50 * (high - low)


def _parameter_of_50(name: str) -> Any:
    """Return a slider for the 3ds Max value of the parameter with this name in the same group."""
    return _slider(
        name,
        min=0.0,
        max=_MAX_OF_50,
        step=100,
        precision=1,
        get=lambda self: of_50(name, getattr(self, name)),
        set=lambda self, number: setattr(self, name, from_50(name, number)),
        options={"SKIP_SAVE"},
    )


class Of50:
    """The five parameters as 3ds Max values, for groups that have these parameters."""

    tension_of_50: _parameter_of_50("tension")
    continuity_of_50: _parameter_of_50("continuity")
    bias_of_50: _parameter_of_50("bias")
    ease_to_of_50: _parameter_of_50("ease_to")
    ease_from_of_50: _parameter_of_50("ease_from")


def slider_names(context: bpy.types.Context) -> dict[str, str]:
    """Return the name of the displayed slider for each parameter, in groups with `Of50`."""
    suffix = "_of_50" if preferences.shows_numbers_of_50(context) else ""
    return {name: name + suffix for name in PARAMETERS}
