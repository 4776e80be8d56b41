# SPDX-License-Identifier: GPL-3.0-or-later
"""The pace of a drag whose steps may take longer than the mouse moves."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUICK, REST = 0.04, 0.1
"""Times in seconds. If a step takes longer than QUICK, the next steps wait for REST, and only the last of them is
shown."""


class Pace:
    """A rate limit for slow steps, so that the steps never queue up."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._rests_until = -math.inf

    @property
    def rest(self) -> float:
        """Return the number of seconds that the next step must wait."""
        return max(0.0, self._rests_until - self._clock())

    @contextmanager
    def step(self) -> Iterator[None]:
        """Measure the duration of a step. If the step was slow, delay the next steps."""
        start = self._clock()
        try:
            yield
        finally:
            end = self._clock()
            self._rests_until = end + REST if end - start > QUICK else -math.inf
