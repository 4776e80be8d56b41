# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole turns, laid over a curve on the sphere, which can't hold them (formulas.md, "Turns over half a turn").

Each segment's whole turns are a chord, 2 pi times their number along their axis; the chords of a track have tangents
like any vector track. Along the segment's own axis the turn runs from 0 to all of them, across it from 0 back to 0,
so that ``q(u) = exp(along / 2) exp(across / 2) p(u)`` meets the keys, is C1 there wherever p is, and about one axis
is the vector spline of the angle.
"""

from __future__ import annotations

import numpy as np

from . import sphere
from .keys import FloatArray
from .segments import IndexArray


class Windup:
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

    def __init__(self, count: FloatArray, axis: FloatArray, outgoing: FloatArray, incoming: FloatArray) -> None:
        self._whole = 2.0 * np.pi * count
        self._axis = axis
        self._outgoing = outgoing
        self._incoming = incoming
        self._turns = (count != 0.0) | outgoing.any(axis=0) | incoming.any(axis=0)

    def turns(self, segment: IndexArray, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the turns along and across the axis as rotation vectors (3, samples), and both derivatives by u."""
        axis, outgoing, incoming = self._axis[:, segment], self._outgoing[:, segment], self._incoming[:, segment]
        leaving, arriving = sphere.dot(axis, outgoing), sphere.dot(axis, incoming)
        v = 1.0 - u
        # Hermite's basis and its derivatives (seeds/001, "The Hermite Spline").
        rise, rise_rate = u * u * (3.0 - 2.0 * u), 6.0 * u * v
        leave, leave_rate = u * v * v, v * (1.0 - 3.0 * u)
        arrive, arrive_rate = -u * u * v, u * (3.0 * u - 2.0)
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

    def walked(self, turns: FloatArray, segment: IndexArray, u: FloatArray) -> FloatArray:
        """Return how far was turned since the segment's key, as rotation vectors (samples, 3).

        `turns` (samples, 4) are the same up to whole turns. The sum is exact about one axis and else near enough to
        count them.
        """
        along, across, _, _ = self.turns(segment, u)
        winding = sphere.product(sphere.exp(along / 2.0), sphere.exp(across / 2.0))
        rest = 2.0 * sphere.log(sphere.product(sphere.conjugate(winding), turns.T))
        return (along + across + rest).T

    def onto_values(self, values: FloatArray, segment: IndexArray, u: FloatArray) -> FloatArray:
        """Return the quaternions with whole turns laid over them."""
        at = np.flatnonzero(self._turns[segment])
        if at.size:
            along, across, _, _ = self.turns(segment[at], u[at])
            winding = sphere.product(sphere.exp(along / 2.0), sphere.exp(across / 2.0))
            values[:, at] = sphere.product(winding, values[:, at])
        return values

    def onto_velocities(self, velocities: FloatArray, segment: IndexArray, u: FloatArray) -> FloatArray:
        """Return the angular velocities by u with whole turns laid over them."""
        at = np.flatnonzero(self._turns[segment])
        if at.size:
            along, across, along_rate, across_rate = self.turns(segment[at], u[at])
            inner = _velocity_of_exp(across, across_rate) + _turned(across, velocities[:, at])
            velocities[:, at] = along_rate + _turned(along, inner)
        return velocities


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _turned(turn: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return vectors turned by rotation vectors."""
    q = sphere.exp(turn / 2.0)
    still = np.concatenate([np.zeros_like(vectors[:1]), vectors])
    return sphere.product(sphere.product(q, still), sphere.conjugate(q))[1:]


def _velocity_of_exp(turn: FloatArray, rate: FloatArray) -> FloatArray:
    """Return exp(turn(u) / 2)'s angular velocity in the parent's frame: the left Jacobian of SO(3) times the rate."""
    angle = sphere.length(turn)
    square = angle * angle
    # (angle - sin) / angle³ loses the digits of 1 / angle² near 0; there its series, whose next term is angle⁴ / 5040.
    small = angle < 1e-2
    cube = np.where(small, 1.0, square * angle)
    second = np.where(small, (1.0 - square / 20.0) / 6.0, (angle - np.sin(angle)) / cube)
    first = 0.5 * np.sinc(angle / (2.0 * np.pi)) ** 2
    turned = _cross(turn, rate)
    return rate + first * turned + second * _cross(turn, turned)
