# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a file's track, converted to scene frames."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..animation.fcurves.keyframes import BoolArray, Float64Array
from ..interp.base_spline import Cycle


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of a track, in scene frames.

    Attributes
    ----------
    frames : ndarray, shape (n,)
        Strictly increasing frames.
    values : ndarray, shape (n, d)
        Values. For rotations, turns from the previous key in Blender's convention: angle in radians, axis x, y, z.
    parameters : ndarray, shape (5, n)
        Tension, continuity, bias, ease to, ease from.
    cycle : "SINGLE", "REPEAT" or "LOOP"
        The motion outside the keys.
    """

    frames: Float64Array
    values: Float64Array
    parameters: Float64Array
    cycle: Cycle = "SINGLE"

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def has_parameters(self) -> BoolArray:
        """Return a mask of keys with a parameter other than 0, shape (n,)."""
        return np.asarray((self.parameters != 0).any(axis=0))

    @property
    def is_still(self) -> bool:
        """Return whether there is a single key with all parameters set to 0."""
        return len(self) == 1 and not self.has_parameters.any()

    def is_like(self, other: Keys) -> bool:
        """Check whether both tracks have the same keys in float32, the precision of Blender and files."""
        mine, others = ((keys.frames, keys.values, keys.parameters) for keys in (self, other))
        pairs = zip(mine, others, strict=True)
        return self.cycle == other.cycle and all(
            np.array_equal(a.astype(np.float32), b.astype(np.float32)) for a, b in pairs
        )

    def with_values(self, values: Float64Array) -> Keys:
        return replace(self, values=values)


def still(value: npt.ArrayLike) -> Keys:
    """Return a single key at frame 0 that holds a value, shape (d,) or a number, at all times."""
    return Keys(np.zeros(1), np.atleast_1d(value)[np.newaxis].astype(np.float64), np.zeros((5, 1)))
