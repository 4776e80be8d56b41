# SPDX-License-Identifier: GPL-3.0-or-later
"""A decorator that caches results of array functions.

Most tracks of a character have keys at the same frames, so their intermediate results can be shared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_MAX_RESULTS = 16
"""Number of results to cache per function."""


def memoized(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Cache the latest results of a function of arrays and hashable values. Returned arrays become read-only.

    Only the bytes of arrays are compared, so each argument must always have the same type and number of dimensions.
    Arrays must not change after they are passed, because calls with the same objects are recognized first.
    """
    results: dict[Hashable, _Result] = {}
    results_by_ids: dict[tuple[int, ...], tuple[tuple[object, ...], _Result]] = {}
    """The arguments, which keep their ids as long as they exist, and the result."""

    @wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        arguments = (*args, *kwargs.values())
        ids = tuple(map(id, arguments))
        found = results_by_ids.get(ids)
        if found is None:
            key = tuple([value.tobytes() if isinstance(value, np.ndarray) else value for value in arguments])
            if key not in results:
                result = function(*args, **kwargs)
                for value in result if isinstance(result, tuple) else (result,):
                    if isinstance(value, np.ndarray):
                        value.flags.writeable = False
                _add(results, key, result)
            found = arguments, results[key]
            _add(results_by_ids, ids, found)
        return found[1]

    return call


def _add(cache: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    """Add a result to a cache. If the cache is full, remove its oldest result."""
    if len(cache) == _MAX_RESULTS:
        del cache[next(iter(cache))]
    cache[key] = value
