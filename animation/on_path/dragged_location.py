# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag a point of a path by changing a key of the location."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..edit.recorded_tracks import record_tracks, revert_tracks
from ..report import Report
from .keyed_track import KeyedTrack
from .point_in_world import PointInWorld
from .points import Spot, Vector

_LOCATION_STEP = 1e-2
"""Location change with which to measure the effect of constraints, small but larger than rounding errors."""
_NO_EFFECT = 1e-9
"""Singular values of the effect below this, relative to the largest, count as 0, because a component has no effect."""


class DraggedLocation:
    """A point that is moved by changing a location key."""

    def __init__(self, spot: Spot, track: KeyedTrack) -> None:
        self.track = track
        locks = spot.owner.lock_location if track.track.path.removeprefix(spot.prefix) == "location" else [False] * 3
        self._free = [index for index in track.components if not locks[index]]
        if not self._free:
            raise track.track.error("POINT_LOCKED", frame=spot.frame)
        self._world = PointInWorld(spot, track)
        self._values = track.values()
        self._position = spot.followed.at(self._world.initial_matrices, spot.tail)[0]
        self.effect = self._measured_effect()
        """The derivative of the point's position with respect to each component of the location, shape (3, 3)."""
        self._inverse = np.linalg.pinv(self.effect, rcond=_NO_EFFECT)

    def position(self) -> Vector:
        """Return the world position of the point at the key's frame."""
        return self._world.now()

    def move_to(self, target: Vector) -> Report:
        """Move the key so that the point reaches the target, or comes as close as possible. Update a live track."""
        displacement = target - self._position
        values = self._values + self._inverse @ displacement
        self.track.write(values)
        if self._world.is_computable:
            return self.track.play()
        computed = values
        values = self._world.write_nearest(target, displacement, lambda miss: computed + self._inverse @ miss)
        report = self.track.play()
        self._values, self._position = values, self._world.now()
        return report

    def _measured_effect(self) -> npt.NDArray[np.float64]:
        effect = np.zeros((3, 3))
        is_computable = self._world.is_computable
        step = 1.0 if is_computable else _LOCATION_STEP
        start = self._world.with_values(self._values) if is_computable else self._position
        recorded = [] if is_computable else record_tracks([(self.track.datablock, self.track.track)])
        for index in self._free:
            changed = self._values.copy()
            changed[index] += step
            effect[:, index] = (self._world.with_values(changed) - start) / step
        if recorded:
            revert_tracks(recorded)
            self.track.refresh()
        return effect
