# SPDX-License-Identifier: GPL-3.0-or-later
"""One slider for a number that each of several keys has: what it shows, and how a change sets the keys.

Where the numbers differ the slider shows their mean. A change gives all of them the same number, or where it is
`relative` shifts each by as much. While a slider is dragged Blender sets it again and again: each change therefore
starts from the numbers as they were before the first, and none is lost by being clamped on the way.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

_NOTHING = 5e-7
_NOT_TYPED = 1e-8
"""A rounded number is shown this much too large, to tell Blender's reset on Esc from a person's typing the number."""


@dataclass(frozen=True)
class _Change:
    keys: Hashable
    relative: bool
    before: Numbers
    shown_before: float
    after: npt.NDArray[np.float32]
    shown: float

    def is_of(self, keys: Hashable, numbers: Numbers) -> bool:
        """Check whether nothing else has changed the keys since."""
        return self.keys == keys and np.array_equal(self.after, np.float32(numbers))


class SharedSlider:
    """Share a slider among several keys that have a number each, with its last change.

    `keys` identifies the keys in all methods, and `numbers` are theirs, of which there is at least one. Means
    and numbers near 0 are rounded to `decimals`: Blender's fields give small numbers more, and the names have no room.
    """

    def __init__(self, limits: tuple[float, float] = (-np.inf, np.inf), decimals: int | None = None) -> None:
        self._limits, self._decimals = limits, decimals
        self.last: _Change | None = None

    def shown(self, keys: Hashable, numbers: Numbers) -> float:
        """Return what the slider shows for the keys' numbers."""
        change = self._last(keys, numbers)
        if change is not None:
            return change.shown
        if not is_mixed(numbers):
            number = float(numbers[0])
            if abs(number) < _NOTHING:
                return 0.0
            # A field would show a small negative number as -0.000.
            is_shown = self._decimals is None or abs(number) >= 0.5 * 10.0**-self._decimals
            return number if is_shown else _NOT_TYPED
        mean = np.float32(numbers.mean() if self._decimals is None else numbers.mean().round(self._decimals))
        return float(mean + max(np.float32(_NOT_TYPED), 2 * np.spacing(np.abs(mean))))

    def changed(self, keys: Hashable, numbers: Numbers, value: float, relative: bool, goes_on: bool = False) -> Numbers:
        """Return the numbers after the slider was set to the value.

        `goes_on`: the drag of the last change goes on, whether that was relative or not.
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
        """Return the last change of the keys, if nothing else has changed them since."""
        return self.last if self.last is not None and self.last.is_of(keys, numbers) else None


def is_mixed(numbers: Numbers) -> bool:
    return bool((numbers != numbers[0]).any()) and not bool(np.isnan(numbers).all())
