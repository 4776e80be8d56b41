# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute with arrays of quaternions, and convert them to axes and angles, rotation vectors and matrices.

Components w, x, y, z are on the last axis, angles are in radians, and matrices are for column vectors. A product
``multiply(p, q)`` rotates by q first, then by p, both about the parent's axes. Functions broadcast over leading axes
unless noted otherwise. Results are accurate to a few units in the last place, even at angles close to zero.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arguments import checked_numbers
from ..keys import Float64Array
from . import sphere

# The sine of half the angle from gimbal lock, or from no turn, below which float32 keys determine no direction.
UNKNOWN = 1e-7


def components_first(array: Float64Array) -> Float64Array:
    """Return the array with its component axis first."""
    return array.transpose(-1, *range(array.ndim - 1))


def components_last(q: Float64Array) -> Float64Array:
    """Return the array with its component axis last."""
    return np.ascontiguousarray(q.transpose(*range(1, q.ndim), 0))


def multiply(p: npt.ArrayLike, q: npt.ArrayLike) -> Float64Array:
    """Return the products p q of quaternions, shape (…, 4), which rotate by q and then by p.

    Source: docs/formulas, "Conventions of quaternions".

    Examples
    --------
    >>> rotations.multiply([0, 1, 0, 0], [0, 0, 1, 0])  # i j = k
    array([0., 0., 0., 1.])
    """
    return components_last(
        sphere.product(components_first(checked_numbers("p", p, 4)), components_first(checked_numbers("q", q, 4)))
    )


def conjugate(q: npt.ArrayLike) -> Float64Array:
    """Return the conjugates of quaternions, shape (…, 4), which are the inverses of unit quaternions.

    Examples
    --------
    >>> rotations.conjugate([0.5, 0.5, 0.5, 0.5])
    array([ 0.5, -0.5, -0.5, -0.5])
    """
    return checked_numbers("q", q, 4) * (1.0, -1.0, -1.0, -1.0)


def normalise(q: npt.ArrayLike) -> Float64Array:
    """Return unit quaternions, shape (…, 4).

    Raises
    ------
    ValueError
        If a quaternion is zero or not finite.

    Examples
    --------
    >>> rotations.normalise([3, 0, 0, 4])
    array([0.6, 0. , 0. , 0.8])
    """
    return checked_unit_quaternions("q", q)


def checked_unit_quaternions(name: str, q: npt.ArrayLike) -> Float64Array:
    """Return the unit quaternions of an argument with the given name. Raises ValueError like `normalise`."""
    array = checked_numbers(name, q, 4)
    largest = np.abs(array).max(axis=-1, keepdims=True)
    if not ((largest > 0.0) & (largest < np.inf)).all():
        raise ValueError(f"{name}: a quaternion is zero or not finite")
    # Scale first, because squares can overflow or underflow.
    scaled = array / largest
    unit: Float64Array = scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)
    return unit


def slerp(p: npt.ArrayLike, q: npt.ArrayLike, t: npt.ArrayLike) -> Float64Array:
    """Return slerp(p, q, t) of unit quaternions for any real t, without changing signs to take the shortest path.

    Parameters
    ----------
    p, q : array_like, shape (…, 4)
    t : array_like
        Parameter, broadcast against the leading axes.

    Notes
    -----
    The angle is `2 atan2(|p-q|, |p+q|)`. The error is a few times 1e-16, multiplied by 1 / (pi - angle) near antipodal
    ends. Between exactly antipodal ends, an arbitrary arc is used. Source: docs/formulas, "Slerp".

    Examples
    --------
    >>> rotations.slerp([1, 0, 0, 0], [0, 0, 0, 1], 0.5)
    array([0.707107, 0.      , 0.      , 0.707107])
    """
    parameter = checked_numbers("t", t)
    start, end, _ = np.broadcast_arrays(
        checked_numbers("p", p, 4), checked_numbers("q", q, 4), parameter[..., np.newaxis]
    )
    return components_last(sphere.slerp(components_first(start), components_first(end), parameter))


def shorter(q: npt.ArrayLike) -> Float64Array:
    """Return the equivalent quaternions with nonnegative w, which represent turns of at most 180 degrees.

    Examples
    --------
    >>> rotations.shorter([-0.5, 0.5, 0.5, 0.5])
    array([ 0.5, -0.5, -0.5, -0.5])
    """
    array = checked_numbers("q", q, 4)
    return np.where(array[..., :1] < 0.0, -array, array)


def angle_between(p: npt.ArrayLike, q: npt.ArrayLike) -> Float64Array:
    """Return the angles from 0 to pi between orientations, given as unit quaternions (…, 4).

    Examples
    --------
    >>> rotations.angle_between([1, 0, 0, 0], [[0, 0, 0, 1], [-1, 0, 0, 0]])
    array([3.141593, 0.      ])
    """
    a, b = map(components_first, np.broadcast_arrays(checked_numbers("p", p, 4), checked_numbers("q", q, 4)))
    difference, total = sphere.length(b - a), sphere.length(b + a)
    angle: Float64Array = 4.0 * np.arctan2(np.minimum(difference, total), np.maximum(difference, total))
    return angle


def unroll_signs(q: npt.ArrayLike) -> Float64Array:
    """Choose the sign that brings each quaternion (…, m, 4) closer to the previous quaternion.

    The first quaternion keeps its sign, and so does a single quaternion (4,).

    Examples
    --------
    >>> rotations.unroll_signs([[0.6, 0, 0, 0.8], [-0.5, -0.5, -0.5, -0.5]])
    array([[0.6, 0. , 0. , 0.8],
           [0.5, 0.5, 0.5, 0.5]])
    """
    array = checked_numbers("q", q, 4).copy()
    if array.ndim == 1:
        return array
    dots = np.einsum("...i,...i->...", array[..., 1:, :], array[..., :-1, :])
    if (dots < 0.0).any():
        array[..., 1:, :] *= cumulative_signs(dots)[..., np.newaxis]
    return array


def cumulative_signs(dots: Float64Array) -> Float64Array:
    """Return cumulative signs from the dot products of neighbors."""
    return np.multiply.accumulate(np.where(dots < 0.0, -1.0, 1.0), axis=-1)


def from_rotation_vector(v: npt.ArrayLike) -> Float64Array:
    """Convert rotation vectors (…, 3), axis times angle in radians, to quaternions (…, 4).

    The sign of a quaternion accounts for turns above 360 degrees. Source: docs/formulas, "Exponential and logarithm".

    Examples
    --------
    >>> rotations.from_rotation_vector([0, 0, np.pi])
    array([0., 0., 0., 1.])
    """
    return components_last(sphere.exp(components_first(checked_numbers("v", v, 3)) / 2.0))


def to_rotation_vector(q: npt.ArrayLike) -> Float64Array:
    """Convert unit quaternions (…, 4) to rotation vectors (…, 3) of length 0 to 2 pi.

    Vectors are not reduced to the shortest turn. Source: docs/formulas, "Exponential and logarithm".

    Examples
    --------
    >>> rotations.to_rotation_vector([0, 0, 0, 1])
    array([0.      , 0.      , 3.141593])
    """
    return components_last(2.0 * sphere.log(components_first(checked_numbers("q", q, 4))))


def from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike) -> Float64Array:
    """Convert axes (…, 3) of any length and angles (…) in radians to quaternions (…, 4).

    A zero axis gives the identity, as in Blender. Source: docs/formulas, "Conventions of quaternions".

    Examples
    --------
    >>> rotations.from_axis_angle([0, 0, 2], np.pi)
    array([0., 0., 0., 1.])
    """
    half = checked_numbers("angle", angle) / 2.0
    unit, length = unit_vectors(checked_numbers("axis", axis, 3))
    cosine = np.where(length > 0.0, np.cos(half), 1.0)
    return np.concatenate([cosine[..., np.newaxis], unit * np.sin(half)[..., np.newaxis]], axis=-1)


def to_axis_angle(q: npt.ArrayLike, default_axis: npt.ArrayLike = (0.0, 0.0, 1.0)) -> tuple[Float64Array, Float64Array]:
    """Convert unit quaternions (…, 4) to unit axes (…, 3) and angles (…) in [0, 2 pi].

    Angles are not reduced to the shortest turn. The axis of a zero turn is `default_axis`. Source: docs/formulas,
    "Axis and angle".

    Examples
    --------
    >>> rotations.to_axis_angle([[0, 0, 0, 1]])
    (array([[0., 0., 1.]]), array([3.141593]))
    """
    array = checked_numbers("q", q, 4)
    axis, sine = unit_vectors(array[..., 1:])
    axis = np.where(sine[..., np.newaxis] > 0.0, axis, checked_numbers("default_axis", default_axis, 3))
    angle: Float64Array = 2.0 * np.arctan2(sine, array[..., 0])
    return axis, angle


def unit_vectors(vectors: npt.ArrayLike) -> tuple[Float64Array, Float64Array]:
    """Return unit vectors (…, d), or zero vectors for zero length, and lengths (…).

    Examples
    --------
    >>> rotations.unit_vectors([[0, 3, 4], [0, 0, 0]])
    (array([[0. , 0.6, 0.8],
           [0. , 0. , 0. ]]), array([5., 0.]))
    """
    array = checked_numbers("vectors", vectors)
    if not array.ndim:
        raise ValueError("vectors must have components, but the argument is one number")
    largest = np.abs(array).max(axis=-1, keepdims=True)
    scaled = np.divide(array, largest, out=np.zeros_like(array), where=largest > 0.0)
    scaled_length = np.sqrt(np.einsum("...i,...i->...", scaled, scaled))[..., np.newaxis]
    unit = np.divide(scaled, scaled_length, out=scaled, where=scaled_length > 0.0)
    return unit, (scaled_length * largest)[..., 0]


def to_matrix(q: npt.ArrayLike) -> Float64Array:
    """Convert unit quaternions to matrices (…, 3, 3) for column vectors.

    Source: docs/formulas, "Conventions of quaternions".

    Examples
    --------
    >>> rotations.to_matrix([0, 0, 0, 1])
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    w, x, y, z = components_first(checked_numbers("q", q, 4))
    entries = [
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    ]
    return np.stack([np.stack(row, axis=-1) for row in entries], axis=-2)


def from_matrix(matrix: npt.ArrayLike) -> Float64Array:
    """Convert rotation matrices (…, 3, 3) for column vectors to unit quaternions (…, 4) with nonnegative w.

    The formula with the largest square root, one of four (Shepperd 1978), is used to avoid loss of digits.
    Source: docs/formulas, "Conventions of quaternions".

    Examples
    --------
    >>> rotations.from_matrix([[0, -1, 0], [1, 0, 0], [0, 0, 1]])  # a quarter turn about z
    array([0.707107, 0.      , 0.      , 0.707107])
    """
    array = checked_numbers("matrix", matrix, 3)
    if array.shape[-2:] != (3, 3):
        raise ValueError(f"matrix must have 3 rows and 3 columns on its last axes, but its shape is {array.shape}")
    m = np.moveaxis(array, (-2, -1), (0, 1))
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    # The products of the components, times four. Every row is the quaternion times one of its components.
    wx, wy, wz = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    ww, xx, yy, zz = 1.0 + trace, *(1.0 + 2.0 * m[i, i] - trace for i in range(3))
    rows = np.stack(
        [
            np.stack([ww, wx, wy, wz]),
            np.stack([wx, xx, xy, xz]),
            np.stack([wy, xy, yy, yz]),
            np.stack([wz, xz, yz, zz]),
        ]
    )
    largest = np.argmax(np.stack([ww, xx, yy, zz]), axis=0)
    row = np.take_along_axis(rows, largest[np.newaxis, np.newaxis], axis=0)[0]
    return shorter(components_last(row / sphere.length(row)))
