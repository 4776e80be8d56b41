# SPDX-License-Identifier: GPL-3.0-or-later
"""One slider for a number that several keys have each for itself: what it shows, and what a change of it means.

Where the numbers differ the slider shows their mean. A change gives all of them the same number, or where it is
`relative` shifts each by as much. While a slider is dragged Blender sets it again and again, and at Esc sets it to what
it showed before: each change therefore starts from the numbers as they were before the first, and none is lost by being
clamped on the way.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

_NOT_TYPED = 1e-8
"""A mean is shown this much too large: so Blender's own setting it back at Esc differs from somebody's typing it."""


@dataclass(frozen=True)
class _Change:
    keys: Hashable
    relative: bool
    before: Numbers
    shown_before: float
    after: npt.NDArray[np.float32]
    shown: float

    def is_of(self, keys: Hashable, numbers: Numbers) -> bool:
        """Whether nothing else has changed them since."""
        return self.keys == keys and np.array_equal(self.after, np.float32(numbers))


_changes: dict[str, _Change] = {}
"""The last change of each parameter."""


def shown(name: str, keys: Hashable, numbers: Numbers) -> float:
    """What the slider of the parameter `name` shows of the keys' numbers, of which there is at least one.

    `keys` tells these keys from others.
    """
    change = _changes.get(name)
    if change is not None and change.is_of(keys, numbers):
        return change.shown
    if not is_mixed(numbers):
        return float(numbers[0])
    mean = np.float32(numbers.mean())
    return float(mean + max(np.float32(_NOT_TYPED), 2 * np.spacing(np.abs(mean))))


def changed(
    name: str, keys: Hashable, numbers: Numbers, value: float, limits: tuple[float, float], relative: bool
) -> Numbers:
    """The numbers after the slider of the parameter `name` was set to the value."""
    last = _changes.get(name)
    if last is not None and last.relative == relative and last.is_of(keys, numbers):
        before, shown_before = last.before, last.shown_before
    else:
        before, shown_before = numbers, shown(name, keys, numbers)
    if np.float32(value) == np.float32(shown_before):
        after = before
    elif relative:
        after = np.clip(before + (value - shown_before), *limits)
    else:
        after = np.full(len(numbers), value)
    _changes[name] = _Change(keys, relative, before, shown_before, after.astype(np.float32), value)
    return after


def is_mixed(numbers: Numbers) -> bool:
    return bool((numbers != numbers[0]).any())
