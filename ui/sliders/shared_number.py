# SPDX-License-Identifier: GPL-3.0-or-later
"""Slider for a value shared by several keys: its displayed value, and the effect of a change.

If the values differ, the slider shows their mean. A change makes all values equal, or, with `relative`, shifts all by
the same amount. Blender sets a slider repeatedly during a drag. Each change therefore starts from the values before the
drag, so that clamping loses no differences.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

_ZERO = 5e-7
"""Numbers this small are shown as 0."""
_RESET_MARK = 1e-8
"""Value added to rounded numbers, so that a typed number differs from the number that Blender restores on Esc."""


@dataclass(frozen=True)
class _Change:
    """A change to the slider, or all changes so far in a drag."""

    keys: Hashable
    relative: bool
    start_numbers: Numbers
    """Values of the keys before the change."""
    start_shown: float
    """Value of the slider before the change."""
    end_numbers: npt.NDArray[np.float32]
    """Values of the keys after the change, as Blender stores them."""
    end_shown: float
    """Value to which the slider was set."""

    def is_current(self, keys: Hashable, numbers: Numbers) -> bool:
        """Return whether the keys still have the values of this change."""
        return self.keys == keys and np.array_equal(self.end_numbers, np.float32(numbers))


class SharedSlider:
    """Slider for a value of several keys, with its last change.

    In all methods, `keys` identifies the keys, and `numbers` contains their values, at least one. Means and values
    close to 0 are rounded to `decimals`, because Blender's fields show small values with more decimals, which leave no
    room for names.
    """

    def __init__(self, limits: tuple[float, float] = (-np.inf, np.inf), decimals: int | None = None) -> None:
        self._limits, self._decimals = limits, decimals
        self.last: _Change | None = None

    def shown(self, keys: Hashable, numbers: Numbers) -> float:
        """Return the value that the slider displays for the values of the keys."""
        change = self._last_if_current(keys, numbers)
        if change is not None:
            return change.end_shown
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

    def changed(
        self, keys: Hashable, numbers: Numbers, value: float, relative: bool, continues_drag: bool = False
    ) -> Numbers:
        """Return the values after the slider was set to `value`.

        `continues_drag` is true if the change belongs to the same drag as the last change.
        """
        last = self._last_if_current(keys, numbers)
        if last is not None and (last.relative == relative or continues_drag):
            start_numbers, start_shown = last.start_numbers, last.start_shown
        else:
            start_numbers, start_shown = numbers, self.shown(keys, numbers)
        if np.float32(value) == np.float32(start_shown):
            end_numbers = start_numbers
        elif relative:
            end_numbers = np.clip(start_numbers + (value - start_shown), *self._limits)
        else:
            end_numbers = np.full(len(numbers), value)
        self.last = _Change(keys, relative, start_numbers, start_shown, end_numbers.astype(np.float32), value)
        return end_numbers

    def _last_if_current(self, keys: Hashable, numbers: Numbers) -> _Change | None:
        """Return the last change if the keys still have its values."""
        return self.last if self.last is not None and self.last.is_current(keys, numbers) else None


def is_mixed(numbers: Numbers) -> bool:
    """Return whether the values differ.

    NaN marks keys that cannot be read. NaN differs from every number, but values that are all NaN do not differ.
    """
    return bool((numbers != numbers[0]).any()) and not bool(np.isnan(numbers).all())
