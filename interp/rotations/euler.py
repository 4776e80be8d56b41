# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert orientations to Euler angles and back, one by one and in continuous sequences."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from ..arguments import checked_choice, checked_numbers
from ..keys import BoolArray, Float64Array
from . import sphere
from .quaternions import (
    UNKNOWN,
    components_first,
    components_last,
    cumulative_signs,
    to_axis_angle,
    unit_vectors,
    unroll_signs,
)

Order = Literal["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]


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
    half = components_first(checked_numbers("angles", angles, 3)) / 2.0
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
    halves = euler_halves(components_first(checked_numbers("q", q, 4)), order)
    determined = halves._replace(
        half_sum=np.where(halves.sum_unknown, 0.0, halves.half_sum),
        half_difference=np.where(halves.difference_unknown, 0.0, halves.half_difference),
    )
    return components_last(np.remainder(determined.angles(order) + np.pi, 2.0 * np.pi) - np.pi)


def follow_euler(q: npt.ArrayLike, order: Order = "XYZ", start: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Float64Array:
    """Convert sequences of orientations to continuous Euler angles.

    Parameters
    ----------
    q : array_like, shape (…, m, 4), or (4,)
        Unit quaternions: one sequence, several sequences of equal length, or a single quaternion.
    order : str
        Blender's rotation order. See `from_euler`.
    start : array_like, shape (3,) or (…, 3)
        The angles from which the result continues, including their full turns.

    Returns
    -------
    ndarray, shape (…, m, 3), or (3,)
        Angles about x, y, z. The result is the triple with the smallest sum of changes, among both triples for each
        orientation with any full turns added. In gimbal lock (within 2e-7 radians), the undetermined angle does not
        change.

    Examples
    --------
    >>> turning = rotations.from_axis_angle([0, 0, 1], np.radians([0, 120, 240, 360]))
    >>> np.degrees(rotations.follow_euler(turning)[:, 2])
    array([  0., 120., 240., 360.])
    """
    middle = axes_of(order)[1]
    samples = checked_numbers("q", q, 4)
    if samples.ndim == 1:
        return follow_euler(samples[np.newaxis], order, start).reshape(3)
    start_angles = np.broadcast_to(checked_numbers("start", start, 3), (*samples.shape[:-2], 3))
    # The path is first computed with middle angles from -90 to 90 degrees, where `euler_halves` finds them.
    starts_at_other = np.abs(wrapped(start_angles[..., middle])) > np.pi / 2.0
    principal_start = start_angles.copy()
    principal_start[starts_at_other] = other_euler(components_first(start_angles[starts_at_other]), middle).T
    angles = _principal_path(samples, principal_start, order)
    other = other_euler(angles, middle)
    is_other = _are_others_closer(angles, other, starts_at_other)
    chosen = np.empty_like(angles)
    chosen[..., 0] = components_first(start_angles)
    chosen[..., 1:] = np.where(is_other, other[..., 1:], angles[..., 1:])
    return components_last(_unwrapped(chosen)[..., 1:])


def follow_axis_angle(
    q: npt.ArrayLike, start_axis: npt.ArrayLike = (0.0, 1.0, 0.0), start_angle: npt.ArrayLike = 0.0
) -> tuple[Float64Array, Float64Array]:
    """Convert sequences of orientations to continuous axes and angles.

    Parameters
    ----------
    q : array_like, shape (…, m, 4), or (4,)
        Unit quaternions: one sequence, several sequences of equal length, or a single quaternion.
    start_axis, start_angle : array_like, shape (3,) or (…, 3), and () or (…)
        The axis and angle from which the result continues, including full turns.

    Returns
    -------
    axes : ndarray, shape (…, m, 3), or (3,)
        Unit axes. Without a turn (within 2e-7 radians), the axis does not change.
    angles : ndarray, shape (…, m), or ()
        Angles in radians, of either sign and any size.

    Examples
    --------
    >>> turning = rotations.from_axis_angle([0, 0, 1], np.radians([0, 120, 240, 360]))
    >>> axes, angles = rotations.follow_axis_angle(turning, start_axis=(0, 0, 1))
    >>> np.degrees(angles)
    array([  0., 120., 240., 360.])
    """
    samples = checked_numbers("q", q, 4)
    if samples.ndim == 1:
        axes, angles = follow_axis_angle(samples[np.newaxis], start_axis, start_angle)
        return axes[0], angles[0]
    sample_axes, sample_angles = to_axis_angle(samples)
    first_axis, length = unit_vectors(
        np.broadcast_to(checked_numbers("start_axis", start_axis, 3), (*samples.shape[:-2], 3))
    )
    first_axis = np.where(length[..., np.newaxis] > 0.0, first_axis, np.array([0.0, 1.0, 0.0]))
    sine = sphere.length(components_first(samples)[1:])
    is_unknown = np.concatenate([np.zeros_like(sine[..., :1], dtype=np.bool_), sine < UNKNOWN], axis=-1)
    axes = components_first(np.concatenate([first_axis[..., np.newaxis, :], sample_axes], axis=-2))
    axes = np.stack([_filled_forward(component, is_unknown) for component in axes])
    signs = cumulative_signs(sphere.dot(axes[..., 1:], axes[..., :-1]))
    first_angle = np.broadcast_to(checked_numbers("start_angle", start_angle), samples.shape[:-2])[..., np.newaxis]
    angles = _unwrapped(np.concatenate([first_angle, sample_angles * signs], axis=-1))[..., 1:]
    return components_last(axes[..., 1:] * signs), angles


def axes_of(order: str) -> tuple[int, int, int, float]:
    """Return the rotation axes of an Euler order, first to last, and +1 for a cyclic order, otherwise -1."""
    i, j, k = ("XYZ".index(letter) for letter in checked_choice("order", order, get_args(Order)))
    return i, j, k, 1.0 if (j - i) % 3 == 1 else -1.0


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


def _unwrapped(angles: Float64Array) -> Float64Array:
    """Return angles (…, m) plus full turns, so that no angle is more than half a turn from the previous angle.

    `np.unwrap` takes three times as long.
    """
    turns = np.rint((angles[..., 1:] - angles[..., :-1]) / (2.0 * np.pi))
    if turns.any():
        angles = angles.copy()
        angles[..., 1:] -= 2.0 * np.pi * np.cumsum(turns, axis=-1)
    return angles


def _principal_path(samples: Float64Array, start: Float64Array, order: Order) -> Float64Array:
    """Return angles (3, …, m + 1) of a start (…, 3) and samples (…, m, 4), with middle angles in [-pi/2, pi/2].

    In gimbal lock, the undetermined angle keeps its previous value.
    """
    i, _, k, sign = axes_of(order)
    start_quaternions = from_euler(start, order)[..., np.newaxis, :]
    halves = euler_halves(components_first(unroll_signs(np.concatenate([start_quaternions, samples], axis=-2))), order)
    # The start keeps its own angles, including full turns.
    outer, inner = sign * start[..., k] / 2.0, start[..., i] / 2.0
    halves.half_sum[..., 0], halves.half_difference[..., 0] = outer + inner, outer - inner
    return halves._replace(
        half_sum=_filled_forward(halves.half_sum, halves.sum_unknown),
        half_difference=_filled_forward(halves.half_difference, halves.difference_unknown),
    ).angles(order)


def _are_others_closer(angles: Float64Array, other: Float64Array, starts_at_other: BoolArray) -> BoolArray:
    """Return a mask (…, m) of the samples whose other angles continue the path of m + 1 samples (3, …, m + 1).

    A step between two samples costs the same if both use their other angles. The choice is therefore the parity of the
    number of steps that cost less with one exchange.
    """
    change = np.abs(wrapped(angles[..., 1:] - angles[..., :-1])).sum(axis=0)
    change_with_exchange = np.abs(wrapped(other[..., 1:] - angles[..., :-1])).sum(axis=0)
    exchange_count = np.cumsum(change_with_exchange < change, axis=-1) + starts_at_other[..., np.newaxis]
    is_other: BoolArray = exchange_count % 2 == 1
    return is_other


def _filled_forward(values: Float64Array, is_unknown: BoolArray) -> Float64Array:
    """Replace unknown values with the previous known value on the last axis, or else with the first value."""
    if not is_unknown.any():
        return values
    known_index = np.where(is_unknown, 0, np.arange(values.shape[-1]))
    return np.take_along_axis(values, np.maximum.accumulate(known_index, axis=-1), axis=-1)
