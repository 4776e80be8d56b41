# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities that are given with the keys, for the methods that take them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .keys import FloatArray, Keys, KeysError, as_array
from .messages import n_


def checked_velocities(keys: Keys, velocities: npt.ArrayLike | None, components: int) -> FloatArray:
    """Return velocities, a frame, one row a key; all 0 for None.

    Raises
    ------
    KeysError
        For what is not numbers, not finite, or not of shape (n, components).
    """
    if velocities is None:
        return np.zeros((len(keys), components))
    try:
        rows = as_array(velocities).copy()
    except TypeError as error:
        raise KeysError(n_("velocities are not an array of numbers: {!s}", error)) from error
    if rows.shape != (len(keys), components):
        shape = len(keys), components
        raise KeysError(n_("velocities must have the shape {!s}, one row a key, not {!s}", shape, rows.shape))
    finite = np.isfinite(rows)
    if not finite.all():
        key, component = (int(index) for index in np.argwhere(~finite)[0])
        fault = n_("component {:d} of the velocity is {!s}, not a finite number", component, rows[key, component])
        raise keys.error(fault, key, component)
    return rows
