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

_MAX_RESULTS = 16
"""Number of results to cache per function."""


def memoized(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Cache the latest results of a function of arrays and hashable values. Returned arrays become read-only.

    Only the shapes and bytes of arrays are compared, so an argument must always have the same type.
    """
    results: dict[Hashable, _Result] = {}

    @wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        arguments = (*args, *kwargs, *kwargs.values())
        key = tuple([(value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value for value in arguments])
        if key not in results:
            result = function(*args, **kwargs)
            for value in result if isinstance(result, tuple) else (result,):
                if isinstance(value, np.ndarray):
                    value.flags.writeable = False
            if len(results) == _MAX_RESULTS:
                oldest = next(iter(results))
                del results[oldest]
            results[key] = result
        return results[key]

    return call
