# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns that are added to the segments of a curve on the sphere, where they may exceed 360 degrees.

The turn of each segment is a chord, given as a rotation vector. The chords of a track have tangents like any vector
track. Along the axis of the segment, the turn runs from 0 to the full chord, and across the axis from 0 back to 0.
``q(u) = exp(along / 2) exp(across / 2) p(u)`` passes through the keys if p(1) is the next key without the chord. The
curve q is C1 at the keys where p is C1. For rotation about one axis, the motion is the vector spline of the angle.
Source: docs/formulas, "Long turns".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..cubics import hermite_weights
from ..key_batch import BoolArray, IndexArray
from ..keys import Float64Array
from . import sphere
from .exponential import motion_after_turn, turned


class LongTurns:
    """The turns added to the segments of several tracks.

    `chords` are the rotation vectors (3, K) of the segments in the parent's frame, or 0 for no turn. `outgoing` and
    `incoming` are the tangents (3, K) at the start and end of each segment. `axis` contains the unit axes (3, K) of the
    chords, or 0 for no turn.
    """

    def __init__(self, chords: Float64Array, outgoing: Float64Array, incoming: Float64Array) -> None:
        self._length = sphere.length(chords)
        self.axis = np.divide(chords, self._length, out=np.zeros_like(chords), where=self._length > 0.0)
        self._outgoing_along, self._incoming_along = sphere.dot(self.axis, outgoing), sphere.dot(self.axis, incoming)
        self._outgoing_across = outgoing - self.axis * self._outgoing_along
        # The turn along the axis is applied after the turn across the axis, and therefore rotates the end of that turn.
        self._incoming_across = turned(-chords, incoming - self.axis * self._incoming_along)
        self._has_turn: BoolArray = np.logical_or.reduce((chords, outgoing, incoming)).any(axis=0)

    def turns(self, segment: IndexArray, u: Float64Array, nu: int = 0) -> tuple[Float64Array, Float64Array]:
        """Return the turns along and across the axis as rotation vectors (3, samples), or derivatives of order `nu`."""
        weights = hermite_weights(u, nu)
        angle = weights.applied(self._length[segment], self._outgoing_along[segment], self._incoming_along[segment])
        across = self._outgoing_across[:, segment] * weights.leaving
        across += self._incoming_across[:, segment] * weights.arriving
        return self.axis[:, segment] * angle, across

    def add_to(self, motion: Sequence[Float64Array], nu: int, segment: IndexArray, u: Float64Array) -> None:
        """Add the turns in place to a motion.

        The motion consists of quaternions (nu = 0), of angular velocities with respect to u (nu = 1), or of angular
        velocities and accelerations (nu = 2). Each array has one column per sample.
        """
        samples = np.flatnonzero(self._has_turn[segment])
        if not samples.size:
            return
        orders = [self.turns(segment[samples], u[samples], order) for order in range(nu + 1)]
        turned_motion = [rows[:, samples] for rows in motion]
        # The turn across the axis comes first.
        for turn in list(zip(*orders, strict=True))[::-1]:
            if nu == 0:
                turned_motion = [sphere.after_turn(turn[0], turned_motion[0])]
            else:
                turned_motion = motion_after_turn(turn, turned_motion)
        for rows, turned_rows in zip(motion, turned_motion, strict=True):
            rows[:, samples] = turned_rows
