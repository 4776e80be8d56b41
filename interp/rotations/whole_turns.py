# SPDX-License-Identifier: GPL-3.0-or-later
"""Add whole turns to a curve on the sphere, where they have no length. Source: docs/formulas, "Whole turns".

Each segment's whole turns are a chord, 2 pi times their number along their axis; the chords of a track have tangents
like any vector track. Along the segment's own axis the turn runs from 0 to all of them, across it from 0 back to 0,
so that ``q(u) = exp(along / 2) exp(across / 2) p(u)`` meets the keys, is C1 there wherever p is, and about one axis
is the vector spline of the angle.
"""

from __future__ import annotations

import numpy as np

from ..batch import IndexArray
from ..hermite_basis import hermite_weights
from ..keys import Float64Array
from . import sphere
from .exponential import acceleration_of_exp, cross, turned, velocity_of_exp


class WholeTurns:
    """The whole turns of several tracks' segments.

    Parameters
    ----------
    count : ndarray, shape (K,)
        Whole turns of each segment.
    axis : ndarray, shape (3, K)
        Their unit axes; zero where there is none.
    outgoing, incoming : ndarray, shape (3, K)
        Tangents at each segment's start and end.
    """

    def __init__(self, count: Float64Array, axis: Float64Array, outgoing: Float64Array, incoming: Float64Array) -> None:
        self._whole = 2.0 * np.pi * count
        self._axis = axis
        self._outgoing = outgoing
        self._incoming = incoming
        self._turns = (count != 0.0) | outgoing.any(axis=0) | incoming.any(axis=0)

    def turns(
        self, segment: IndexArray, u: Float64Array
    ) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
        """Return the turns along and across the axis as rotation vectors (3, samples), and both derivatives by u."""
        axis, outgoing, incoming = self._axis[:, segment], self._outgoing[:, segment], self._incoming[:, segment]
        leaving, arriving = sphere.dot(axis, outgoing), sphere.dot(axis, incoming)
        (rise, leave, arrive), (rise_rate, leave_rate, arrive_rate) = hermite_weights(u), hermite_weights(u, 1)
        whole = self._whole[segment]
        along = whole * rise + leaving * leave + arriving * arrive
        along_rate = whole * rise_rate + leaving * leave_rate + arriving * arrive_rate
        start, end = outgoing - axis * leaving, incoming - axis * arriving
        return (
            axis * along,
            start * leave + end * arrive,
            axis * along_rate,
            start * leave_rate + end * arrive_rate,
        )

    def turn_changes(self, segment: IndexArray, u: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the second derivatives by u of the turns along and across the axis, both (3, samples)."""
        axis, outgoing, incoming = self._axis[:, segment], self._outgoing[:, segment], self._incoming[:, segment]
        leaving, arriving = sphere.dot(axis, outgoing), sphere.dot(axis, incoming)
        rise, leave, arrive = 6.0 - 12.0 * u, 6.0 * u - 4.0, 6.0 * u - 2.0
        along = self._whole[segment] * rise + leaving * leave + arriving * arrive
        return axis * along, (outgoing - axis * leaving) * leave + (incoming - axis * arriving) * arrive

    def turned_since_key(self, turns: Float64Array, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the rotation vectors (samples, 3) from the segment's key, whole turns included.

        `turns` (samples, 4) are the same up to whole turns. The sum is exact about one axis, and otherwise near enough
        to count them.
        """
        along, across, _, _ = self.turns(segment, u)
        winding = sphere.product(sphere.exp(along / 2.0), sphere.exp(across / 2.0))
        rest = 2.0 * sphere.log(sphere.product(sphere.conjugate(winding), turns.T))
        return (along + across + rest).T

    def add_to_values(self, values: Float64Array, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the quaternions with whole turns added."""
        at = np.flatnonzero(self._turns[segment])
        if at.size:
            along, across, _, _ = self.turns(segment[at], u[at])
            winding = sphere.product(sphere.exp(along / 2.0), sphere.exp(across / 2.0))
            values[:, at] = sphere.product(winding, values[:, at])
        return values

    def add_to_velocities(self, velocities: Float64Array, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the angular velocities by u with whole turns added."""
        at = np.flatnonzero(self._turns[segment])
        if at.size:
            along, across, along_rate, across_rate = self.turns(segment[at], u[at])
            inner = velocity_of_exp(across, across_rate) + turned(across, velocities[:, at])
            velocities[:, at] = along_rate + turned(along, inner)
        return velocities

    def add_to_accelerations(
        self, accelerations: Float64Array, velocities: Float64Array, segment: IndexArray, u: Float64Array
    ) -> Float64Array:
        """Return the angular accelerations by u with whole turns added; `velocities` are those without."""
        at = np.flatnonzero(self._turns[segment])
        if at.size:
            along, across, along_rate, across_rate = self.turns(segment[at], u[at])
            along_change, across_change = self.turn_changes(segment[at], u[at])
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
