# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities that are given with the keys, for the methods that take them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .keys import FloatArray, Keys, KeysError


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
        rows = np.array(velocities, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise KeysError(f"velocities are not an array of numbers: {error}") from error
    if rows.shape != (len(keys), components):
        raise KeysError(f"velocities must have the shape {(len(keys), components)}, one row a key, not {rows.shape}")
    finite = np.isfinite(rows)
    if not finite.all():
        key, component = (int(index) for index in np.argwhere(~finite)[0])
        raise keys.error(f"component {component} of the velocity is {rows[key, component]}, not a finite number", key)
    return rows
