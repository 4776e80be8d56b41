# SPDX-License-Identifier: GPL-3.0-or-later
"""A decorator that memoizes array functions.

Most tracks of a character have keys at the same frames, so their intermediate results can be shared.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_KEPT = 8


def memoized(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Cache the latest results of a function of arrays and hashable values. Returned arrays become read-only.

    Only the bytes of arrays are compared, so each argument must always have the same type and number of dimensions.
    """
    kept: OrderedDict[Hashable, _Result] = OrderedDict()

    @wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        given = (*args, *kwargs.values()) if kwargs else args
        key = tuple([each.tobytes() if isinstance(each, np.ndarray) else each for each in given])
        if key in kept:
            kept.move_to_end(key)
            return kept[key]
        result = function(*args, **kwargs)
        for each in result if isinstance(result, tuple) else (result,):
            if isinstance(each, np.ndarray):
                each.flags.writeable = False
        kept[key] = result
        if len(kept) > _KEPT:
            kept.popitem(last=False)
        return result

    return call
