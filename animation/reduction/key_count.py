# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the error that leaves a requested number of keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

from ...interp.fitting.reduction import part_of_steps
from ..errors import AnimationError, Finding
from .write_new_keys import NewKeys

_TRIES = 8
"""The maximum number of errors to try."""
_ENOUGH = 0.98
"""A search ends when it reaches this fraction of the requested number of keys."""
_RESOLVED = 1.01
"""A search ends when the factors that leave too many keys and few enough keys have at most this ratio."""
_POWER = 2.5
"""The number of keys is roughly inversely proportional to this root of the error."""
_FARTHEST = 1e5
"""The largest factor by which a tried error may exceed or fall below the requested error."""


def as_many_keys(
    search: Callable[[float], Generator[float, None, list[NewKeys]]],
    count_of: Callable[[Sequence[NewKeys]], int],
    key_count: int,
    name: str,
) -> Generator[float, None, tuple[list[NewKeys], float]]:
    """Try different errors until the number of keys is close to `key_count`, but not greater.

    Return the keys and the error's factor. `search` finds the keys for a factor of the error, and `count_of` counts
    them.

    Raises AnimationError, with the `name` of the datablock, if every error leaves too many keys.
    """
    chosen: tuple[list[NewKeys], float] | None = None
    factor, too_many, few_enough = 1.0, _Tried(0.0, math.inf), _Tried(math.inf, 0.0)
    for number in range(_TRIES):
        keys = yield from part_of_steps(search(factor), number / _TRIES, 1.0 / _TRIES)
        count = count_of(keys)
        if count <= key_count:
            few_enough, chosen = _Tried(factor, count), (keys, factor)
        else:
            too_many = _Tried(factor, count)
        is_close = _ENOUGH * key_count <= count <= key_count or few_enough.factor < _RESOLVED * too_many.factor
        if (chosen and is_close) or not 1.0 / _FARTHEST < factor < _FARTHEST:
            break
        factor = _next_factor(too_many, few_enough, key_count)
    if chosen is None:
        raise AnimationError(Finding("REDUCE_TOO_FEW", name, arguments=(key_count, too_many.keys)))
    return chosen


class _Tried(NamedTuple):
    """A factor of the error, and the number of keys that it leaves."""

    factor: float
    keys: float


def _next_factor(too_many: _Tried, few_enough: _Tried, key_count: int) -> float:
    """Return the next factor to try, from the closest factors that left too many keys and few enough keys."""
    if not too_many.factor:
        return float(few_enough.factor * max(few_enough.keys / key_count, 0.2) ** _POWER / 1.05)
    if math.isinf(few_enough.factor):
        return float(too_many.factor * min(too_many.keys / key_count, 5.0) ** _POWER * 1.05)
    # The relation between the logarithms is roughly linear.
    span = math.log(too_many.keys / few_enough.keys)
    fraction = math.log(too_many.keys / ((1.0 + _ENOUGH) / 2.0 * key_count)) / span
    return float(too_many.factor * (few_enough.factor / too_many.factor) ** min(max(fraction, 0.1), 0.9))
