# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert sequences of orientations to Euler angles, or axes and angles, each closest to the previous values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..keys import Float64Array, numbers
from . import sphere
from .euler import Order, axes_of, euler_halves, euler_of_halves, from_euler, wrapped
from .quaternions import UNKNOWN, components_first, components_last, flips, to_axis_angle, unit_vectors, unroll_signs


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

    Notes
    -----
    The step between two samples has the same cost if both use their alternative triples. The choices are therefore a
    cumulative parity, which requires no loop over samples.

    Examples
    --------
    >>> turning = rotations.from_axis_angle([0, 0, 1], np.radians([0, 120, 240, 360]))
    >>> np.degrees(rotations.follow_euler(turning)[:, 2])
    array([  0., 120., 240., 360.])
    """
    i, j, k, sign = axes_of(order)
    samples = numbers("q", q, 4)
    if samples.ndim == 1:
        return follow_euler(samples[np.newaxis], order, start).reshape(3)
    begin = np.broadcast_to(numbers("start", start, 3), (*samples.shape[:-2], 3))
    principal, mirrored = begin.copy(), np.abs(wrapped(begin[..., j])) > np.pi / 2.0
    principal[mirrored] = _other_euler(components_first(begin[mirrored]), j).T
    sequence = components_first(
        unroll_signs(np.concatenate([from_euler(principal, order)[..., np.newaxis, :], samples], axis=-2))
    )
    middle, half_sum, half_difference, sum_unknown, difference_unknown = euler_halves(sequence, order)
    outer, inner = sign * principal[..., k] / 2.0, principal[..., i] / 2.0
    half_sum[..., 0], half_difference[..., 0] = outer + inner, outer - inner
    angles = euler_of_halves(
        middle, _filled_forward(half_sum, sum_unknown), _filled_forward(half_difference, difference_unknown), order
    )
    other = _other_euler(angles, j)
    stay = np.abs(wrapped(angles[..., 1:] - angles[..., :-1])).sum(axis=0)
    change = np.abs(wrapped(other[..., 1:] - angles[..., :-1])).sum(axis=0)
    exchanged = (np.cumsum(change < stay, axis=-1) + mirrored[..., np.newaxis]) % 2 == 1
    chosen = np.empty_like(angles)
    chosen[..., 0] = components_first(begin)
    chosen[..., 1:] = np.where(exchanged, other[..., 1:], angles[..., 1:])
    return components_last(np.unwrap(chosen, axis=-1)[..., 1:])


def _other_euler(angles: Float64Array, middle: int) -> Float64Array:
    """Return the alternative triples (3, …) of the same orientations."""
    other = angles + np.pi
    other[middle] = np.pi - angles[middle]
    return other


def _filled_forward(values: Float64Array, unknown: npt.NDArray[np.bool_]) -> Float64Array:
    """Replace unknown values with the previous known value on the last axis, or else with the first known value."""
    if not unknown.any():
        return values
    index = np.where(unknown, 0, np.arange(values.shape[-1]))
    return np.take_along_axis(values, np.maximum.accumulate(index, axis=-1), axis=-1)


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
    samples = numbers("q", q, 4)
    if samples.ndim == 1:
        axes, angles = follow_axis_angle(samples[np.newaxis], start_axis, start_angle)
        return axes[0], angles[0]
    axis, angle = to_axis_angle(samples)
    begin, size = unit_vectors(np.broadcast_to(numbers("start_axis", start_axis, 3), (*samples.shape[:-2], 3)))
    begin = np.where(size[..., np.newaxis] > 0.0, begin, np.array([0.0, 1.0, 0.0]))
    sine = sphere.length(components_first(samples)[1:])
    unknown = np.concatenate([np.zeros_like(sine[..., :1], dtype=np.bool_), sine < UNKNOWN], axis=-1)
    axes = components_first(np.concatenate([begin[..., np.newaxis, :], axis], axis=-2))
    axes = np.stack([_filled_forward(row, unknown) for row in axes])
    signs = flips(sphere.dot(axes[..., 1:], axes[..., :-1]))
    first = np.broadcast_to(numbers("start_angle", start_angle), samples.shape[:-2])[..., np.newaxis]
    angles = np.unwrap(np.concatenate([first, angle * signs], axis=-1), axis=-1)[..., 1:]
    return components_last(axes[..., 1:] * signs), angles
