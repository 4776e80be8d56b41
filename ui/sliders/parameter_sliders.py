# SPDX-License-Identifier: GPL-3.0-or-later
"""Sliders of parameters, with ranges from -1 to 1 or from 0 to 50 as in 3ds Max, and sliders for several keys.

If the values of keys differ, a slider shows their mean. A change makes all values equal, or shifts all by the same
amount.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.app.translations import contexts
from bpy.props import FloatProperty

from ...animation.store.parameters import LIMITS, Numbers
from ...animation.store.table.rows import PARAMETERS
from .. import preferences

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
_DECIMALS_OF_50 = 1


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
        precision=_DECIMALS_OF_50,
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


def displayed(context: bpy.types.Context, name: str, value: float) -> tuple[float, int]:
    """Return the number that sliders display for the value of a parameter, and its number of decimals."""
    return (of_50(name, value), _DECIMALS_OF_50) if preferences.shows_numbers_of_50(context) else (value, DECIMALS)


def slider_names(context: bpy.types.Context) -> dict[str, str]:
    """Return the name of the displayed slider for each parameter, in groups with `Of50`."""
    suffix = "_of_50" if preferences.shows_numbers_of_50(context) else ""
    return {name: name + suffix for name in PARAMETERS}


_ZERO = 5e-7
"""Numbers this small are shown as 0."""
_RESET_MARK = 1e-8
"""Value added to rounded numbers, so that a typed number differs from the number that Blender restores on Esc."""


class SharedSlider:
    """Slider for a value of several keys.

    In all methods, arrays contain the values of the keys, at least one. Means and values close to 0 are rounded to
    `decimals`, because Blender's fields show small values with more decimals, which leave no room for names.
    """

    def __init__(self, limits: tuple[float, float] = (-np.inf, np.inf), decimals: int | None = None) -> None:
        self._limits, self._decimals = limits, decimals

    def shown(self, numbers: Numbers) -> float:
        """Return the value that the slider displays for the values of the keys."""
        if not is_mixed(numbers):
            number = float(numbers[0])
            if abs(number) < _ZERO:
                return 0.0
            # A field would show a small negative value as -0.000.
            has_digits = self._decimals is None or abs(number) >= 0.5 * 10.0**-self._decimals
            return number if has_digits else _RESET_MARK
        mean = np.nanmean(numbers)
        rounded = np.float32(mean if self._decimals is None else mean.round(self._decimals))
        # The mark alone would be lost in the rounding of a large float32.
        return float(rounded + max(np.float32(_RESET_MARK), 2 * np.spacing(np.abs(rounded))))

    def changed(self, start_numbers: Numbers, start_shown: float, value: float, relative: bool) -> Numbers:
        """Return the values after the slider was set to `value`.

        `start_numbers` and `start_shown` are the values of the keys and of the slider before the change or, during a
        drag, before the drag. `relative` shifts all values by the same amount.
        """
        # Blender stores the value of a slider as float32.
        if np.float32(value) == np.float32(start_shown if relative else self.shown(start_numbers)):
            return start_numbers
        if relative:
            return np.clip(start_numbers + (value - start_shown), *self._limits)
        return np.full(len(start_numbers), value)


def is_mixed(numbers: Numbers) -> bool:
    """Return whether the values differ.

    NaN marks keys that cannot be read. NaN differs from every number, but values that are all NaN do not differ.
    """
    return bool((numbers != numbers[0]).any()) and not bool(np.isnan(numbers).all())
