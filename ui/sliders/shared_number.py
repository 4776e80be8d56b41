# SPDX-License-Identifier: GPL-3.0-or-later
"""One slider for a number that each of several keys has: what it shows, and how a change sets the keys.

Where the numbers differ the slider shows their mean. A change gives all of them the same number, or where it is
`relative` shifts each by as much. While a slider is dragged Blender sets it again and again, and on Esc sets it to what
it showed before: each change therefore starts from the numbers as they were before the first, and none is lost by being
clamped on the way.

Which numbers are keys' own and which are defaults, a slider can't show: this is kept beside the number that the slider
showed at the start of the drag, so that Esc restores it too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Kept = TypeVar("Kept")
"""What is kept of the keys at the start of a drag."""

_NOTHING = 5e-7
_NOT_TYPED = 1e-8
"""A mean is shown this much too large, to tell Blender's reset on Esc from a person's typing the number."""


@dataclass(frozen=True)
class _Change(Generic[Kept]):
    keys: Hashable
    relative: bool
    before: Numbers
    shown_before: float
    after: npt.NDArray[np.float32]
    shown: float
    steps: dict[np.float32, Numbers]
    """The numbers of the keys for each number that the slider showed since the start of the drag."""
    start: tuple[np.float32, Kept] | None
    """The slider's number at the start of the drag, and what was kept of the keys then; None after the drag."""

    def is_of(self, keys: Hashable, numbers: Numbers) -> bool:
        """Check whether nothing else has changed the keys since."""
        return self.keys == keys and np.array_equal(self.after, np.float32(numbers))


class SharedSlider(Generic[Kept]):
    """Share a slider among several keys that have a number each, with its last change and the state of its drag.

    `keys` identifies the keys in all methods, and `numbers` are theirs, of which there is at least one.
    """

    def __init__(self, limits: tuple[float, float] = (-np.inf, np.inf)) -> None:
        self._limits = limits
        self._change: _Change[Kept] | None = None

    def shown(self, keys: Hashable, numbers: Numbers) -> float:
        """Return what the slider shows for the keys' numbers."""
        change = self._last(keys, numbers)
        if change is not None:
            return change.shown
        if not is_mixed(numbers):
            number = float(numbers[0])
            # A field would show what rounding has left of 0 as -0.000.
            return 0.0 if abs(number) < _NOTHING else number
        mean = np.float32(numbers.mean())
        return float(mean + max(np.float32(_NOT_TYPED), 2 * np.spacing(np.abs(mean))))

    def changed(
        self,
        keys: Hashable,
        numbers: Numbers,
        value: float,
        relative: bool,
        keep: Callable[[], Kept],
        held_on: bool = False,
        takes_back: bool = False,
    ) -> Numbers:
        """Return the numbers after the slider was set to the value.

        At the start of a drag `keep` returns what `kept` is to give back later, of the keys as they are before this
        change. `held_on`: the drag goes on since the last change, whether that was relative or not; `takes_back`: the
        value is one that the slider showed before.
        """
        last = self._last(keys, numbers)
        if last is not None and (last.relative == relative or held_on):
            before, shown_before = last.before, last.shown_before
        else:
            before, shown_before = numbers, self.shown(keys, numbers)
        start = None if last is None else last.start
        if start is None:
            start = np.float32(self.shown(keys, numbers)), keep()
        steps = {} if last is None else last.steps
        if is_mixed(numbers):
            steps[np.float32(self.shown(keys, numbers))] = numbers
        if takes_back and np.float32(value) in steps:
            after = steps[np.float32(value)]
        elif np.float32(value) == np.float32(shown_before):
            after = before
        elif relative:
            after = np.clip(before + (value - shown_before), *self._limits)
        else:
            after = np.full(len(numbers), value)
        self._change = _Change(keys, relative, before, shown_before, after.astype(np.float32), value, steps, start)
        return after

    def kept(self, keys: Hashable, numbers: Numbers, value: float) -> Kept | None:
        """Return what was kept of the keys at the start of the drag, if the slider showed the value then."""
        last = self._last(keys, numbers)
        if last is None or last.start is None or last.start[0] != np.float32(value):
            return None
        return last.start[1]

    def end_drag(self) -> None:
        """Forget what was kept at the start of the drag."""
        if self._change is not None:
            self._change = replace(self._change, steps={}, start=None)

    def _last(self, keys: Hashable, numbers: Numbers) -> _Change[Kept] | None:
        """Return the last change of the keys, if nothing else has changed them since."""
        return self._change if self._change is not None and self._change.is_of(keys, numbers) else None


def is_mixed(numbers: Numbers) -> bool:
    return bool((numbers != numbers[0]).any()) and not bool(np.isnan(numbers).all())
