# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert single orientations to Euler angles and back. Source: docs/formulas, "Euler angles"."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from ..keys import Float64Array, numbers
from .quaternions import UNKNOWN, components_first, components_last

Order = Literal["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]


def axes_of(order: str) -> tuple[int, int, int, float]:
    """Return the rotation axes of an Euler order, first to last, and +1 for a cyclic order, otherwise -1."""
    if order not in get_args(Order):
        raise ValueError(f"order must be one of {', '.join(get_args(Order))}, not {order!r}")
    i, j, k = ("XYZ".index(letter) for letter in order)
    return i, j, k, 1.0 if (j - i) % 3 == 1 else -1.0


def from_euler(angles: npt.ArrayLike, order: Order = "XYZ") -> Float64Array:
    """Convert Euler angles (…, 3) to quaternions (…, 4).

    Parameters
    ----------
    angles : array_like, shape (…, 3)
        Angles in radians about x, y, z, in this sequence for every order, as in Blender.
    order : str
        Blender's rotation order. "XYZ" turns about the parent's x axis first, then y, then z, so the matrix is Rz Ry
        Rx.

    Notes
    -----
    Source: docs/formulas, "Euler angles".

    Examples
    --------
    >>> rotations.from_euler([0, 0, np.pi / 2])
    array([0.707107, 0.      , 0.      , 0.707107])
    """
    i, j, k, sign = axes_of(order)
    half = components_first(numbers("angles", angles, 3)) / 2.0
    cosine, sine = np.cos(half), np.sin(half)
    q = np.empty((4, *half.shape[1:]))
    ci, cj, ck, si, sj, sk = cosine[i], cosine[j], cosine[k], sine[i], sine[j], sine[k]
    q[0] = ck * cj * ci + sign * sk * sj * si
    q[1 + i] = ck * cj * si - sign * sk * sj * ci
    q[1 + j] = ck * sj * ci + sign * sk * cj * si
    q[1 + k] = sk * cj * ci - sign * ck * sj * si
    return components_last(q)


def to_euler(q: npt.ArrayLike, order: Order = "XYZ") -> Float64Array:
    """Convert unit quaternions (…, 4) to Euler angles (…, 3), with the middle angle in [-pi/2, pi/2].

    The other triple for the same orientation has the middle angle pi - a, where a is the middle angle returned. In
    gimbal lock, the turn about the common axis is split evenly between the outer angles. For sequences, see
    `follow_euler`. For `order`, see `from_euler`. Source: docs/formulas, "Euler angles".

    Examples
    --------
    >>> np.degrees(rotations.to_euler([0.8, 0.6, 0, 0]))
    array([73.739795,  0.      ,  0.      ])
    """
    halves = euler_halves(components_first(numbers("q", q, 4)), order)
    determined = halves._replace(
        half_sum=np.where(halves.sum_unknown, 0.0, halves.half_sum),
        half_difference=np.where(halves.difference_unknown, 0.0, halves.half_difference),
    )
    return components_last(np.remainder(determined.angles(order) + np.pi, 2.0 * np.pi) - np.pi)


class EulerHalves(NamedTuple):
    """The middle angle of Euler angles, and half the sum and difference of the outer angles."""

    middle: Float64Array
    half_sum: Float64Array
    half_difference: Float64Array
    sum_unknown: npt.NDArray[np.bool_]
    difference_unknown: npt.NDArray[np.bool_]
    """Masks of orientations in gimbal lock, which do not determine the sum or the difference."""

    def angles(self, order: str) -> Float64Array:
        """Return the Euler angles, shape (3, …)."""
        i, j, k, sign = axes_of(order)
        angles = np.empty((3, *self.middle.shape))
        angles[i] = self.half_sum - self.half_difference
        angles[j] = self.middle
        angles[k] = sign * (self.half_sum + self.half_difference)
        return angles


def euler_halves(q: Float64Array, order: str) -> EulerHalves:
    """Return the middle angle and half the sum and difference of the outer angles for quaternions (4, …).

    Let a/2, b/2, c/2 be the half angles of an order i, j, k with sign s. Then w -+ q[j] = (cos b/2 -+ sin b/2) cos((s c
    +- a)/2), and q[i], s q[k] give the sines. The lengths of these two polar pairs determine b, and their angles
    determine the sum and difference.
    """
    i, j, k, sign = axes_of(order)
    first, middle, last = q[1 + i], q[1 + j], sign * q[1 + k]
    sum_cosine, sum_sine = q[0] - middle, first + last
    difference_cosine, difference_sine = q[0] + middle, last - first
    sum_size, difference_size = np.hypot(sum_cosine, sum_sine), np.hypot(difference_cosine, difference_sine)
    return EulerHalves(
        middle=2.0 * np.arctan2(difference_size, sum_size) - np.pi / 2.0,
        half_sum=np.arctan2(sum_sine, sum_cosine),
        half_difference=np.arctan2(difference_sine, difference_cosine),
        sum_unknown=sum_size < UNKNOWN,
        difference_unknown=difference_size < UNKNOWN,
    )


def other_euler(angles: Float64Array, middle: int) -> Float64Array:
    """Return the other Euler angles (3, …) of the same orientations. `middle` is the axis of the middle rotation."""
    other = angles + np.pi
    other[middle] = np.pi - angles[middle]
    return other


def wrapped(angles: Float64Array) -> Float64Array:
    """Return angles in [-pi, pi]."""
    return angles - 2.0 * np.pi * np.rint(angles / (2.0 * np.pi))
