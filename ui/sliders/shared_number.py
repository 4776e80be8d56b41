# SPDX-License-Identifier: GPL-3.0-or-later
"""Slider for a value shared by several keys: its displayed value, and the effect of a change.

If the values differ, the slider shows their mean. A change makes all values equal, or with `relative` shifts all by the
same amount. Blender sets a slider repeatedly during a drag. Each change therefore starts from the values before the
drag, so that clamping loses no differences.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

_NOTHING = 5e-7
_NOT_TYPED = 1e-8
"""Offset of a displayed rounded value, which distinguishes Blender's reset on Esc from a typed value."""


@dataclass(frozen=True)
class _Change:
    keys: Hashable
    relative: bool
    before: Numbers
    shown_before: float
    after: npt.NDArray[np.float32]
    shown: float

    def is_of(self, keys: Hashable, numbers: Numbers) -> bool:
        """Return whether nothing else has changed the keys since then."""
        return self.keys == keys and np.array_equal(self.after, np.float32(numbers))


class SharedSlider:
    """Slider for a value of several keys, with its last change.

    In all methods `keys` identifies the keys, and `numbers` are their values, at least one. Means and values close to 0
    are rounded to `decimals`, because Blender's fields show small values with more decimals, which leave no room for
    names.
    """

    def __init__(self, limits: tuple[float, float] = (-np.inf, np.inf), decimals: int | None = None) -> None:
        self._limits, self._decimals = limits, decimals
        self.last: _Change | None = None

    def shown(self, keys: Hashable, numbers: Numbers) -> float:
        """Return the displayed value of the slider for the values of the keys."""
        change = self._last(keys, numbers)
        if change is not None:
            return change.shown
        if not is_mixed(numbers):
            number = float(numbers[0])
            if abs(number) < _NOTHING:
                return 0.0
            # A field would show a small negative value as -0.000.
            is_shown = self._decimals is None or abs(number) >= 0.5 * 10.0**-self._decimals
            return number if is_shown else _NOT_TYPED
        mean = np.nanmean(numbers)
        mean = np.float32(mean if self._decimals is None else mean.round(self._decimals))
        return float(mean + max(np.float32(_NOT_TYPED), 2 * np.spacing(np.abs(mean))))

    def changed(self, keys: Hashable, numbers: Numbers, value: float, relative: bool, goes_on: bool = False) -> Numbers:
        """Return the values after the slider was set to `value`.

        `goes_on`: whether the change continues the drag of the last change, relative or not.
        """
        last = self._last(keys, numbers)
        if last is not None and (last.relative == relative or goes_on):
            before, shown_before = last.before, last.shown_before
        else:
            before, shown_before = numbers, self.shown(keys, numbers)
        if np.float32(value) == np.float32(shown_before):
            after = before
        elif relative:
            after = np.clip(before + (value - shown_before), *self._limits)
        else:
            after = np.full(len(numbers), value)
        self.last = _Change(keys, relative, before, shown_before, after.astype(np.float32), value)
        return after

    def _last(self, keys: Hashable, numbers: Numbers) -> _Change | None:
        """Return the last change of the keys if nothing else has changed them since then."""
        return self.last if self.last is not None and self.last.is_of(keys, numbers) else None


def is_mixed(numbers: Numbers) -> bool:
    """Return whether the values differ. NaN marks keys that can't be read."""
    return bool((numbers != numbers[0]).any()) and not bool(np.isnan(numbers).all())
