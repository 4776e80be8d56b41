# SPDX-License-Identifier: GPL-3.0-or-later
"""Equivalent key values: the same orientations, with values closest to the previous key.

A quaternion and its negative represent the same orientation. The same applies to an axis and angle that are both
negated, to the two solutions for Euler angles, and to angles with additional full turns. Each of these changes
multiplies a channel by 1 or -1 and adds a constant. If also applied to the handles of a key, the change preserves the
motion on both sides of the key.

Arrays have shape (n, c), with one row per key, in order, and one column per channel. The channels are Blender's: w, x,
y, z, or angle, x, y, z, or x, y, z in radians.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arguments import checked_numbers
from ..key_batch import BoolArray
from ..keys import Float64Array
from .representations import rotation_representation

UNKNOWN_ORDER = "EULER"
"""The name for Euler angles of unknown order, for which only full turns are known to be equivalent."""
GAIN = 1e-5
"""The smallest reduction of the distance that counts, because float32 keys round half turns to either side."""


class Maps(NamedTuple):
    """Changes to key values that preserve orientations, one row per key: values * factors + terms."""

    factors: Float64Array
    """1 or -1, shape (n, c)."""
    terms: Float64Array
    """0 or a multiple of pi, shape (n, c)."""

    def applied(self, values: npt.ArrayLike) -> Float64Array:
        """Return the equivalent values, shape (n, c), of keys or handles.

        Values that do not change keep every bit, including the sign of a zero.
        """
        scaled = checked_numbers("values", values) * self.factors
        result: Float64Array = np.where(self.terms == 0.0, scaled, scaled + self.terms)
        return result

    @property
    def changed(self) -> BoolArray:
        """Return a mask of the channels and keys that change, shape (n, c)."""
        changed: BoolArray = (self.factors != 1.0) | (self.terms != 0.0)
        return changed

    def of_keys(self, keys: BoolArray) -> Maps:
        """Return the changes restricted to a mask of keys, shape (n,). The values of the other keys do not change."""
        rows = keys[:, np.newaxis]
        return Maps(np.where(rows, self.factors, 1.0), np.where(rows, self.terms, 0.0))


def nearest_maps(name: str, values: npt.ArrayLike, before: npt.ArrayLike) -> Maps:
    """Return the changes that bring values closest to the previous values, with no change if none is closer.

    Parameters
    ----------
    name : str
        "QUATERNION", "AXIS_ANGLE", an Euler order, or `UNKNOWN_ORDER`.
    values, before : array_like, shape (n, c)
        The values of the keys, and for each key the values to approach.

    Notes
    -----
    Source: docs/formulas, "Equivalent keys".

    Examples
    --------
    >>> angles = np.radians([[-170, 0, 0], [190, 170, 180]])
    >>> maps = equivalent.nearest_maps("XYZ", angles, np.radians([[170, 0, 0], [0, 0, 0]]))
    >>> np.degrees(maps.applied(angles))
    array([[190.,   0.,   0.],
           [ 10.,  10.,   0.]])
    """
    key_values, targets = checked_numbers("values", values), checked_numbers("before", before)
    if name == UNKNOWN_ORDER:
        maps = Maps(np.ones_like(key_values), 2.0 * np.pi * np.rint((targets - key_values) / (2.0 * np.pi)))
    else:
        factors, terms = rotation_representation(name).map_to_nearest(key_values.T, targets.T)
        maps = Maps(factors.T, terms.T)
    distances = np.linalg.norm(key_values - targets, axis=-1)
    new_distances = np.linalg.norm(maps.applied(key_values) - targets, axis=-1)
    return maps.of_keys(distances - new_distances > GAIN)


def chained(steps: Maps) -> Maps:
    """Return the changes to whole sequences. Each row of `steps` relates a key to the unchanged previous key.

    The first row relates the first key to itself.

    Examples
    --------
    >>> angles = np.radians([[170, 0, 0], [-170, 0, 0], [-150, 0, 0]])
    >>> steps = equivalent.nearest_maps("XYZ", angles, angles[[0, 0, 1]])
    >>> np.degrees(equivalent.chained(steps).applied(angles)[:, 0])
    array([170., 190., 210.])
    """
    # A change preserves distances. If the previous key changes, the same change brings the next key close to it.
    # Changes are therefore multiplied.
    factors: Float64Array = np.multiply.accumulate(steps.factors, axis=0)
    terms = steps.terms.copy()
    terms[1:] *= factors[:-1]
    return Maps(factors, np.pi * np.rint(np.cumsum(terms, axis=0) / np.pi))
