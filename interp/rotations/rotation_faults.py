# SPDX-License-Identifier: GPL-3.0-or-later
"""Find faults in rotation keys: flips, jumps, turns of more than 180 degrees, and keys near gimbal lock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arguments import checked_numbers
from ..key_batch import BoolArray
from ..keys import Float64Array
from .equivalent import GAIN, UNKNOWN_ORDER, Maps, chained, nearest_maps
from .euler import axes_of

GIMBAL = np.radians(2.0)
"""Closer than this to gimbal lock, 1 degree of rotation can change the outer Euler angles by 30 degrees."""
_CLOSE = np.pi / 2.0
"""If equivalent values are this close in every channel, in radians, the key jumped."""
_ONE_FRAME = 1.001
"""Between keys that are at most this many frames apart, no frame can show a turn of more than 180 degrees."""


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
    >>> faults = rotation_faults.find_faults("QUATERNION", [1, 10], q, [True, True])
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
