# SPDX-License-Identifier: GPL-3.0-or-later
"""A slider for a value of several keys.

If the values differ, the slider shows their mean. A change makes all values equal, or shifts all by the same amount.
"""

from __future__ import annotations

import numpy as np

from ...animation.store.parameters import Numbers

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
