# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for the error that leads to a requested number of keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence

from ...interp.fitting.reduction import part_of_steps
from ..errors import AnimationError, Finding
from .new_keys import NewKeys

_TRIES = 8
"""The maximum number of errors to try."""
_ENOUGH = 0.98
"""A search ends when it reaches this fraction of the requested number of keys."""
_POWER = 2.5
"""The number of keys is roughly inversely proportional to this root of the error."""
_FARTHEST = 1e5
"""The largest factor by which a tried error may exceed or fall below the requested error."""


def as_many_keys(
    search: Callable[[float], Generator[float, None, list[NewKeys]]],
    count_of: Callable[[Sequence[NewKeys]], int],
    most: int,
    name: str,
) -> Generator[float, None, tuple[list[NewKeys], float]]:
    """Try different errors until the number of keys is close to `most`, but not greater.

    Return the keys and the error's factor. `search` finds the keys for a factor of the error, and `count_of` counts
    them.

    Raises AnimationError, with the `name` of the datablock, if every error leaves too many keys.
    """
    chosen: tuple[list[NewKeys], float] | None = None
    factor, low, high = 1.0, (0.0, math.inf), (math.inf, 0.0)
    for number in range(_TRIES):
        found = yield from part_of_steps(search(factor), number / _TRIES, 1.0 / _TRIES)
        count = count_of(found)
        if count <= most:
            high, chosen = (factor, count), (found, factor)
        else:
            low = (factor, count)
        is_enough = chosen and ((count <= most and count >= _ENOUGH * most) or high[0] < 1.01 * low[0])
        if is_enough or not 1.0 / _FARTHEST < factor < _FARTHEST:
            break
        factor = _between(low, high, most)
    if chosen is None:
        raise AnimationError(Finding("REDUCE_TOO_FEW", name, arguments=(most, low[1])))
    return chosen


def _between(low: tuple[float, float], high: tuple[float, float], most: int) -> float:
    """Return the next factor to try. `low` and `high` are pairs (factor, keys). `low` has too many keys."""
    if not low[0]:
        return float(high[0] * max(high[1] / most, 0.2) ** _POWER / 1.05)
    if math.isinf(high[0]):
        return float(low[0] * min(low[1] / most, 5.0) ** _POWER * 1.05)
    # The relation between the logarithms is roughly linear.
    span = math.log(low[1] / high[1])
    part = math.log(low[1] / ((1.0 + _ENOUGH) / 2.0 * most)) / span
    return float(low[0] * (high[0] / low[0]) ** min(max(part, 0.1), 0.9))
