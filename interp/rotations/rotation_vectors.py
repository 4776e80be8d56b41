# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation tracks whose segments are given by polynomial rotation vectors: ``q(u) = exp(h(u) / 2) q[n]``.

Methods of this kind differ only in h, a rotation vector in the parent's frame. It runs from 0 at a key to the turn to
the next key. Source: docs/formulas, "Cubics of rotation vectors".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ..base_spline import end_to_end
from ..cubics import hermite_powers
from ..key_batch import IndexArray, KeyBatch
from ..keys import Float64Array
from . import sphere
from .base_rotation_spline import TurnedSpline, set_given_turns, signed_quaternions
from .exponential import acceleration_of_exp, rate_of_velocity, velocity_of_exp
from .long_turns import LongTurns

if TYPE_CHECKING:
    from typing import Self

# The factor by which segment lengths may differ if a solution is certain. At a factor of 15, some keys had none.
_EVEN = 10.0


class Turns(NamedTuple):
    """The turns of several tracks from key to key.

    `start` contains the quaternions of keys, shape (4, K), with signs that continue from key to key. `onward` contains
    the rotation vectors from each key to the next in the parent's frame, shape (3, K), including full turns. These
    vectors are 0 at the last key of a track: ``start[n+1] = exp(onward[n] / 2) start[n]``.
    """

    start: Float64Array
    onward: Float64Array

    @property
    def full(self) -> Float64Array:
        """The full turns in `onward`, as rotation vectors. The rest is at most half a turn."""
        angles = sphere.length(self.onward)
        full_angles = 2.0 * np.pi * np.rint(angles / (2.0 * np.pi))
        return self.onward * np.divide(full_angles, angles, out=np.zeros_like(angles), where=full_angles > 0.0)


def turns_between_keys(splines: Sequence[TurnedSpline], tracks: KeyBatch) -> Turns:
    """Return the turns from key to key of all splines."""
    start = signed_quaternions(splines, tracks)
    onward = 2.0 * sphere.log(sphere.product(start[:, tracks.segment_end], sphere.conjugate(start)))
    onward[:, tracks.last] = 0.0
    set_given_turns(onward, splines, tracks)
    return Turns(start, onward)


class RotationVectors:
    """Segments ``exp(h(u) / 2) q[n]`` of several tracks.

    `start` contains the quaternions (4, K) at which segments begin. `coefficients` (degree, 3, K) are the coefficients
    of the powers of u, first power first, in the rotation vector h in the parent's frame. Full turns may be added as
    `long_turns`.
    """

    def __init__(self, start: Float64Array, coefficients: Float64Array, long_turns: LongTurns | None = None) -> None:
        self._start = start
        self._coefficients = coefficients
        self._long_turns = long_turns

    @classmethod
    def through_keys(cls, turns: Turns, tracks: KeyBatch, velocities: Float64Array) -> RotationVectors:
        """Return cubic segments through keys with given angular velocities per frame in the parent's frame, (3, K).

        h is a Hermite cubic. The derivative of h at the end of a turn t is the inverse of the left Jacobian of SO(3)
        times the angular velocity. The inverse is unbounded near full turns, so h is the shortest rotation vector, at
        most half a turn, and the missing full turns are added. For rotation about one axis, both add up to the Hermite
        spline of the angle.
        """
        full_turns, lengths = turns.full, tracks.lengths
        shortest_turns = turns.onward - full_turns
        no_tangents = np.zeros_like(full_turns)
        long_turns = LongTurns(full_turns, no_tangents, no_tangents) if full_turns.any() else None
        end_rates = rate_of_velocity(shortest_turns, velocities[:, tracks.segment_end] * lengths)
        return cls(turns.start, hermite_powers(shortest_turns, velocities * lengths, end_rates), long_turns)

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        turn, rate, change = self._vectors(segment, u, nu)
        if nu == 0:
            motion = [sphere.after_turn(turn, self._start.take(segment, axis=1))]
        elif nu == 1:
            motion = [velocity_of_exp(turn, rate)]
        else:
            motion = [velocity_of_exp(turn, rate), acceleration_of_exp(turn, rate, change)]
        if self._long_turns is not None:
            self._long_turns.add_to(motion, nu, segment, u)
        return motion[-1]

    def _vectors(
        self, segment: IndexArray, u: Float64Array, nu: int
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return h and its first and second derivatives with respect to u, as far as `nu` needs them."""
        coefficients = self._coefficients.take(segment, axis=2)
        value, rate, half_change = coefficients[-1], np.zeros_like(coefficients[-1]), np.zeros_like(coefficients[-1])
        for coefficient in (*coefficients[-2::-1], 0.0):
            if nu > 1:
                half_change = half_change * u + rate
            if nu > 0:
                rate = rate * u + value
            value = value * u + coefficient
        return value, rate, 2.0 * half_change


class SolvedSpline(TurnedSpline):
    """Base class for splines of rotations that solve equations. The constructors raise KeysError without a solution.

    Attributes
    ----------
    certain_turn : float
        With turns of up to this angle, in radians, all tested keys had a solution if their segment lengths differed by
        a factor of up to 10. Such keys are solved together with other tracks, on first use. Other keys are solved by
        the constructor.
    """

    certain_turn: ClassVar[float]

    def check(self) -> None:
        """Raise KeysError if there is no solution."""
        turns = sphere.length(turns_between_keys([self], end_to_end([self])).onward)
        lengths = np.diff(self.keys.frames)
        is_even = lengths.max(initial=0.0) <= _EVEN * lengths.min(initial=np.inf)
        if turns.max() > self.certain_turn or not is_even:
            _ = self.prepared

    @classmethod
    def _keep_turns(cls, splines: Sequence[Self], turns: Float64Array) -> None:
        super()._keep_turns(splines, turns)
        for spline in splines:
            spline.check()
