# SPDX-License-Identifier: GPL-3.0-or-later
"""Equivalent numbers of keys: the same orientations, in the numbers closest to the previous key's.

A quaternion and its negative mean one orientation, and so do an axis with its angle and both negated, Euler angles and
their other solution, and all angles with whole turns more. Each of these changes multiplies a channel by 1 or -1 and
adds a constant. Applied to a key's handles, too, it keeps the motion beside the key.

Arrays have shape (n, c), with one row per key, in order, and one column per channel, as in Blender: w, x, y, z, or
angle, x, y, z, or x, y, z in radians.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..keys import Float64Array, numbers
from .representations import rotation_representation

BoolArray = npt.NDArray[np.bool_]

UNKNOWN_ORDER = "EULER"
"""The name of Euler angles whose order is not known: only whole turns are known to be equivalent."""
GAIN = 1e-5
"""Numbers that come closer by less than this are as good as before: float32 keys round half turns to either side."""


class Maps(NamedTuple):
    """Changes of numbers, one row per key, that keep orientations: numbers * factors + terms."""

    factors: Float64Array
    """Shape (n, c): 1 or -1."""
    terms: Float64Array
    """Shape (n, c): 0, or a multiple of pi."""

    def applied(self, values: npt.ArrayLike) -> Float64Array:
        """Return the equivalent numbers of values, shape (n, c), which may be values of handles.

        Numbers that don't change keep every bit, also the sign of a zero.
        """
        scaled = numbers("values", values) * self.factors
        result: Float64Array = np.where(self.terms == 0.0, scaled, scaled + self.terms)
        return result

    @property
    def changed(self) -> BoolArray:
        """Return whether each channel of each key is changed, shape (n, c)."""
        changed: BoolArray = (self.factors != 1.0) | (self.terms != 0.0)
        return changed

    def of_keys(self, keys: BoolArray) -> Maps:
        """Return the changes of these keys, shape (n,), and none of the others."""
        return Maps(np.where(keys[:, np.newaxis], self.factors, 1.0), np.where(keys[:, np.newaxis], self.terms, 0.0))


def nearest_maps(name: str, values: npt.ArrayLike, before: npt.ArrayLike) -> Maps:
    """Return the changes that bring numbers closest to the previous ones, and none where they come no closer.

    Parameters
    ----------
    name : str
        "QUATERNION", "AXIS_ANGLE", an Euler order, or `UNKNOWN_ORDER`.
    values, before : array_like, shape (n, c)
        The numbers of keys, and for each row the numbers to approach.

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
    own, chain = numbers("values", values), numbers("before", before)
    if name == UNKNOWN_ORDER:
        maps = Maps(np.ones_like(own), 2.0 * np.pi * np.rint((chain - own) / (2.0 * np.pi)))
    else:
        factors, terms = rotation_representation(name).map_to_nearest(own.T, chain.T)
        maps = Maps(factors.T, terms.T)
    gain = np.linalg.norm(own - chain, axis=-1) - np.linalg.norm(maps.applied(own) - chain, axis=-1)
    return maps.of_keys(gain > GAIN)


def chained(steps: Maps) -> Maps:
    """Return the changes of whole sequences: each row of `steps` relates a key to the unchanged key before it.

    The first row relates the first key to itself.

    Examples
    --------
    >>> angles = np.radians([[170, 0, 0], [-170, 0, 0], [-150, 0, 0]])
    >>> steps = equivalent.nearest_maps("XYZ", angles, angles[[0, 0, 1]])
    >>> np.degrees(equivalent.chained(steps).applied(angles)[:, 0])
    array([170., 190., 210.])
    """
    # A change keeps distances. So if the previous key is changed, the same change brings the next one close to it.
    # Changes are multiplied.
    factors: Float64Array = np.multiply.accumulate(steps.factors, axis=0)
    terms = steps.terms.copy()
    terms[1:] *= factors[:-1]
    return Maps(factors, np.pi * np.rint(np.cumsum(terms, axis=0) / np.pi))
