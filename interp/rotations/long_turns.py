# SPDX-License-Identifier: GPL-3.0-or-later
"""Add long turns to a curve on the sphere, which cannot represent them. Source: docs/formulas, "Long turns".

The turn of each segment is a chord, given as a rotation vector. The chords of a track have tangents like any vector
track. Along the axis of the segment, the turn runs from 0 to the full chord, and across the axis from 0 back to 0.
``q(u) = exp(along / 2) exp(across / 2) p(u)`` passes through the keys if p(1) is the next key without the chord. The
curve q is C1 at the keys where p is C1. For rotation about one axis, the motion is the vector spline of the angle.
"""

from __future__ import annotations

import numpy as np

from ..hermite_basis import hermite_weights
from ..key_batch import BoolArray, IndexArray
from ..keys import Float64Array
from . import sphere
from .exponential import acceleration_of_exp, cross, turned, velocity_of_exp


class LongTurns:
    """The turns added to the segments of several tracks.

    `chords` are the rotation vectors (3, K) of the segments in the parent's frame, or 0 for no turn. `outgoing` and
    `incoming` are the tangents (3, K) at the start and end of each segment. `axis` contains the unit axes (3, K) of the
    chords, or 0 for no turn.
    """

    def __init__(self, chords: Float64Array, outgoing: Float64Array, incoming: Float64Array) -> None:
        self._length = sphere.length(chords)
        self.axis = np.divide(chords, self._length, out=np.zeros_like(chords), where=self._length > 0.0)
        self._leaving, self._arriving = sphere.dot(self.axis, outgoing), sphere.dot(self.axis, incoming)
        self._start = outgoing - self.axis * self._leaving
        # The turn along the axis is applied after the turn across the axis, and therefore rotates the end of that turn.
        self._end = turned(-chords, incoming - self.axis * self._arriving)
        self._turns: BoolArray = np.logical_or.reduce((chords, outgoing, incoming)).any(axis=0)

    def turns(self, segment: IndexArray, u: Float64Array, nu: int = 0) -> tuple[Float64Array, Float64Array]:
        """Return the turns along and across the axis as rotation vectors (3, samples), or derivatives of order `nu`."""
        rise, leave, arrive = hermite_weights(u, nu)
        along = self._length[segment] * rise + self._leaving[segment] * leave + self._arriving[segment] * arrive
        return self.axis[:, segment] * along, self._start[:, segment] * leave + self._end[:, segment] * arrive

    def turned_since_key(self, turns: Float64Array, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the rotation vectors (samples, 3) from the segment's key, including long turns.

        `turns` (samples, 4) are the same rotations without full turns. The sum is exact for rotation about one axis,
        and otherwise accurate enough to count full turns.
        """
        along, across = self.turns(segment, u)
        winding = sphere.product(sphere.exp(along / 2.0), sphere.exp(across / 2.0))
        rest = 2.0 * sphere.log(sphere.product(sphere.conjugate(winding), turns.T))
        return (along + across + rest).T

    def add_to_values(self, values: Float64Array, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the quaternions with the turns added."""
        at = np.flatnonzero(self._turns[segment])
        if at.size:
            along, across = self.turns(segment[at], u[at])
            winding = sphere.product(sphere.exp(along / 2.0), sphere.exp(across / 2.0))
            values[:, at] = sphere.product(winding, values[:, at])
        return values

    def add_to_velocities(self, velocities: Float64Array, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the angular velocities with respect to u with the turns added."""
        at = np.flatnonzero(self._turns[segment])
        if at.size:
            along, across = self.turns(segment[at], u[at])
            along_rate, across_rate = self.turns(segment[at], u[at], 1)
            inner = velocity_of_exp(across, across_rate) + turned(across, velocities[:, at])
            velocities[:, at] = along_rate + turned(along, inner)
        return velocities

    def add_to_accelerations(
        self, accelerations: Float64Array, velocities: Float64Array, segment: IndexArray, u: Float64Array
    ) -> Float64Array:
        """Return the angular accelerations with respect to u with the turns added. `velocities` exclude the turns."""
        at = np.flatnonzero(self._turns[segment])
        if at.size:
            (along, across), (along_rate, across_rate), (along_change, across_change) = (
                self.turns(segment[at], u[at], nu) for nu in range(3)
            )
            turned_velocity = turned(across, velocities[:, at])
            winding = velocity_of_exp(across, across_rate)
            inner = turned(along, winding + turned_velocity)
            change = (
                acceleration_of_exp(across, across_rate, across_change)
                + cross(winding, turned_velocity)
                + turned(across, accelerations[:, at])
            )
            accelerations[:, at] = along_change + cross(along_rate, inner) + turned(along, change)
        return accelerations
