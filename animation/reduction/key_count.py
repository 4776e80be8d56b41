# SPDX-License-Identifier: GPL-3.0-or-later
"""The search for an error that leaves about as many keys as were asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence

from ..errors import AnimationError, Finding
from .new_keys import NewKeys

_TRIES = 8
"""The most errors that are tried for a number of keys."""
_ENOUGH = 0.98
"""So many of the keys that were asked for are as good as all of them."""
_POWER = 2.5
"""A number of keys falls about as this root of the error rises."""
_FARTHEST = 1e5
"""Errors are tried up to so many times what was asked for, and down to as small a part."""


def as_many_keys(
    search: Callable[[float], Generator[float, None, list[NewKeys]]],
    count_of: Callable[[Sequence[NewKeys]], int],
    most: int,
    name: str,
) -> Generator[float, None, tuple[list[NewKeys], float]]:
    """Try errors until there are about as many keys, and no more; return these, and the factor of the error.

    `search` finds the keys for so many times the error, `count_of` counts them.

    Raises AnimationError, with the `name` of the datablock, where
    there are more keys whatever the error.
    """
    chosen: tuple[list[NewKeys], float] | None = None
    factor, low, high = 1.0, (0.0, math.inf), (math.inf, 0.0)
    for number in range(_TRIES):
        steps = search(factor)
        while True:
            try:
                yield (number + next(steps)) / _TRIES
            except StopIteration as stop:
                found = stop.value
                break
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
    """Return a factor to try next, for that number of keys: `low` has too many, `high` none too many (factor, keys)."""
    if not low[0]:
        return float(high[0] * max(high[1] / most, 0.2) ** _POWER / 1.05)
    if math.isinf(high[0]):
        return float(low[0] * min(low[1] / most, 5.0) ** _POWER * 1.05)
    # Both are straight in logarithms, more or less.
    span = math.log(low[1] / high[1])
    part = math.log(low[1] / ((1.0 + _ENOUGH) / 2.0 * most)) / span
    return float(low[0] * (high[0] / low[0]) ** min(max(part, 0.1), 0.9))
