# SPDX-License-Identifier: GPL-3.0-or-later
"""The position of a path's point at the key's frame, for given values of the key."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..bake.exact_motion import ExactSampler
from ..sampling.beyond_fcurves import UnknownMotionError
from ..sampling.depsgraph import world_matrices
from ..sampling.transforms import Matrices, TransformSampler
from .keys import KeyedTrack, Values
from .points import Spot, Vector

_MOST_CORRECTIONS = 6
"""Number of attempts to reach the target if constraints or drivers move the point away from its computed position."""
_ROUNDING = 1e-6
"""Misses smaller than this fraction of the distance from the old position are rounding errors."""


class PointInWorld:
    """A point, whose position depends on the values of one track's key.

    If only F-curves and parents move the object or bone, the position for other values is computed. Otherwise, only
    Blender can evaluate it, after the values have been written into the key.
    """

    def __init__(self, spot: Spot, track: KeyedTrack) -> None:
        self._spot, self._track = spot, track
        self._frames = np.array([spot.frame])
        try:
            self._initial_sampler: TransformSampler | None = self._new_sampler()
            self.initial_matrices: Matrices = self._initial_sampler.matrices(spot.item, spot.bone)
            """World matrices of the object or bone from before any change, shape (1, 4, 4)."""
        except UnknownMotionError:
            self._initial_sampler, self.initial_matrices = None, self._evaluated_by_blender()

    @property
    def is_computable(self) -> bool:
        """Return whether only F-curves and parents move the object or bone."""
        return self._initial_sampler is not None

    def now(self) -> Vector:
        """Return the current position of the point."""
        if not self.is_computable:
            return self._point(self._evaluated_by_blender())
        return self._point(self._new_sampler().matrices(self._spot.item, self._spot.bone))

    def with_values(self, values: Values) -> Vector:
        """Return the position of the point for these values of the key.

        If the position is not computable, the values are written into the key.
        """
        if self._initial_sampler is None:
            self._track.write(values)
            if self._track.track.is_baked:
                self._track.play()
            return self._point(self._evaluated_by_blender())
        item, path = self._spot.item, self._track.track.path
        moved = {(item.session_uid, path): self._track.played(values)[np.newaxis]}
        return self._point(self._initial_sampler.with_moved(moved).matrices(item, self._spot.bone))

    def write_nearest(self, target: Vector, displacement: Vector, values_for: Callable[[Vector], Values]) -> Values:
        """Write and return the values that bring the point closest to the target.

        `values_for` returns the values for a correction, which is the sum of all previous misses. `displacement` is the
        vector from the old position to the target.
        """
        correction = np.zeros(3)
        values = best = values_for(correction)
        smallest_miss = np.inf
        for _ in range(_MOST_CORRECTIONS):
            miss = target - self.with_values(values)
            size = float(np.linalg.norm(miss))
            if size >= smallest_miss:
                break
            best, smallest_miss = values, size
            if size <= _ROUNDING * (1.0 + float(np.linalg.norm(displacement))):
                break
            correction = correction + miss
            values = values_for(correction)
        self._track.write(best)
        return best

    def _new_sampler(self) -> TransformSampler:
        return ExactSampler(self._frames, dict(self._spot.defaults))

    def _evaluated_by_blender(self) -> Matrices:
        return world_matrices(self._spot.scene, self._spot.item, self._spot.bone, self._frames)

    def _point(self, matrices: Matrices) -> Vector:
        """Return the position of the point for these matrices of its owner, shape (1, 4, 4)."""
        position: Vector = self._spot.followed.at(matrices, self._spot.tail)[0]
        return position
