# SPDX-License-Identifier: GPL-3.0-or-later
"""Equivalent key values, and rotation faults: flips, jumps, turns of more than 180 degrees, and keys near gimbal lock.

A quaternion and its negative represent the same orientation. The same applies to an axis and angle that are both
negated, to the two solutions for Euler angles, and to angles with additional full turns. Each of these changes
multiplies a channel by 1 or -1 and adds a constant. If also applied to the handles of a key, the change preserves the
motion on both sides of the key.

Arrays have shape (n, c), with one row per key, in order, and one column per channel. The channels are Blender's: w, x,
y, z, or angle, x, y, z, or x, y, z in radians.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arguments import checked_numbers
from ..keys import BoolArray, Float64Array
from .euler import axes_of
from .representations import rotation_representation

UNKNOWN_ORDER = "EULER"
"""The name for Euler angles of unknown order, for which only full turns are known to be equivalent."""
GAIN = 1e-5
"""The smallest reduction of the distance that counts, because float32 keys round half turns to either side."""
GIMBAL = np.radians(2.0)
"""Closer than this to gimbal lock, 1 degree of rotation can change the outer Euler angles by 30 degrees."""
_CLOSE = np.pi / 2.0
"""If equivalent values are this close in every channel, in radians, the key jumped."""
_ONE_FRAME = 1.001
"""Between keys that are at most this many frames apart, no frame can show a turn of more than 180 degrees."""


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


@dataclass(frozen=True)
class KeyFaults:
    """Faults in a sequence of keys, one element per key. A fault between two keys is attributed to the later key."""

    flips: BoolArray
    """The key has the opposite sign from the previous key, or the alternative Euler solution is closer to it."""
    turns: BoolArray
    """An angle changes by more than 180 degrees from the previous key, and equivalent values are closer."""
    jumps: BoolArray
    """The elements of `turns` that no frame can show, because the key jumps within a frame."""
    gimbal: BoolArray
    """The key is within 2 degrees of gimbal lock, which no equivalent values can avoid."""
    steps: Maps
    """The change of each key that brings it closest to the unchanged previous key."""

    def to_repair(self, turns: bool) -> BoolArray:
        """Return a mask of the keys to repair: flips and jumps or, if `turns` is true, flips and all turns."""
        return self.flips | (self.turns if turns else self.jumps)

    def repaired(self, turns: bool) -> Maps:
        """Return the changes that repair the keys in the mask `to_repair`."""
        return chained(self.steps.of_keys(self.to_repair(turns)))


def find_faults(name: str, frames: npt.ArrayLike, values: npt.ArrayLike, moves: npt.ArrayLike) -> KeyFaults:
    """Find the faults in a sequence of keys.

    Parameters
    ----------
    name : str
        The representation. See `nearest_maps`.
    frames : array_like, shape (n,)
        Frames in ascending order.
    values : array_like, shape (n, c)
        The values of the keys, in the order of Blender's channels.
    moves : array_like of bool, shape (n,)
        Mask of the keys followed by motion. Without motion, as after keys with constant interpolation, there is no
        fault.

    Notes
    -----
    Flips and jumps affect only the representation. Other turns of more than 180 degrees may be intended, for example
    for a wheel. The keys alone do not show the animator's intention. Source: docs/formulas, "Equivalent keys".

    Examples
    --------
    >>> q = [[1, 0, 0, 0], [-0.8, -0.6, 0, 0]]
    >>> faults = equivalent.find_faults("QUATERNION", [1, 10], q, [True, True])
    >>> faults.flips, faults.repaired(turns=False).applied(q)[1]
    (array([False,  True]), array([ 0.8,  0.6, -0. , -0. ]))
    """
    key_frames, key_values = checked_numbers("frames", frames), checked_numbers("values", values)
    previous = np.maximum(np.arange(len(key_values)) - 1, 0)
    previous_values = key_values[previous]
    steps = nearest_maps(name, key_values, previous_values).of_keys(np.asarray(moves, dtype=np.bool_)[previous])
    # Angles come first in the channels. A quaternion has none.
    angle_count = {"QUATERNION": 0, "AXIS_ANGLE": 1}.get(name, key_values.shape[-1])
    is_euler = angle_count == 3
    largest_change = np.abs(key_values - previous_values)[:, :angle_count].max(axis=-1, initial=0.0)
    is_close = np.abs(steps.applied(key_values) - previous_values).max(axis=-1) <= _CLOSE
    has_negation = (steps.factors < 0.0).any(axis=-1)
    # A change by a full turn or more may be a spin, and so may a distant other solution for Euler angles.
    flips = has_negation & (largest_change < 2.0 * np.pi) & (is_close | (not is_euler))
    turns = steps.changed.any(axis=-1) & (largest_change > np.pi + GAIN) & ~flips
    fast_turns = turns & (np.diff(key_frames, prepend=key_frames[:1]) <= _ONE_FRAME)
    jumps = fast_turns & is_close & ~_are_spinning(np.sign(steps.terms) * fast_turns[:, np.newaxis])
    gimbal = np.zeros(len(key_values), dtype=np.bool_)
    if is_euler and name != UNKNOWN_ORDER:
        gimbal = np.abs(np.cos(key_values[:, axes_of(name)[1]])) < np.sin(GIMBAL)
    return KeyFaults(flips, turns, jumps, gimbal, steps)


def _are_spinning(directions: Float64Array) -> BoolArray:
    """Return a mask of the keys next to a key with a turn in the same direction of an angle, from signs (n, c).

    A rotation that continues in one direction at every frame is spinning, so its turns are intended.
    """
    is_same = ((directions[1:] == directions[:-1]) & (directions[1:] != 0.0)).any(axis=-1)
    is_spinning: BoolArray = np.concatenate(([False], is_same)) | np.concatenate((is_same, [False]))
    return is_spinning
