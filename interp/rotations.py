# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations as arrays: quaternions w, x, y, z on the last axis, angles in radians, matrices for column vectors.

A product ``multiply(p, q)`` turns by q first, then by p, both about the parent's axes. Functions broadcast over leading
axes unless they say otherwise, and are exact to a few units in the last place, no worse near zero angles.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from . import sphere
from .keys import FloatArray, KeysError, numbers
from .words import n_

Convention = Literal["BLENDER", "3DS"]
Order = Literal["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]

_IDENTITY = (1.0, 0.0, 0.0, 0.0)
# Turns below this have no axis to speak of: rounding alone gives 1e-16 / 1e-10, a millionth of a radian.
_NO_TURN = 1e-10
# The sine of half an angle (to gimbal lock, to no turn) below which float32 keys leave its direction to chance.
_UNKNOWN = 1e-7
# Steps in which a path between keys is followed to count its turns; any below half a turn would do for one axis.
_STEP = np.pi / 8.0
# Some 12 000 turns from key to key: what has more is a mistake, and following it would fill the memory.
_MOST_STEPS = 200_000


def _rows(array: FloatArray) -> FloatArray:
    """Return the array with its component axis first."""
    return np.moveaxis(array, -1, 0)


def _columns(q: FloatArray) -> FloatArray:
    """Return the array with its component axis last."""
    return np.ascontiguousarray(np.moveaxis(q, 0, -1))


def multiply(p: npt.ArrayLike, q: npt.ArrayLike) -> FloatArray:
    """Return the products p q of quaternions, shape (…, 4)."""
    return _columns(sphere.product(_rows(numbers("p", p, 4)), _rows(numbers("q", q, 4))))


def conjugate(q: npt.ArrayLike) -> FloatArray:
    """Return the conjugates of quaternions, shape (…, 4): of unit ones, their inverses."""
    return numbers("q", q, 4) * (1.0, -1.0, -1.0, -1.0)


def normalise(q: npt.ArrayLike) -> FloatArray:
    """Return unit quaternions, shape (…, 4). Raises ValueError for one that is zero or not finite."""
    return _normalised("q", q)


def _normalised(name: str, q: npt.ArrayLike) -> FloatArray:
    array = numbers(name, q, 4)
    largest = np.abs(array).max(axis=-1, keepdims=True)
    if not ((largest > 0.0) & (largest < np.inf)).all():
        raise ValueError(f"{name}: a quaternion is zero or not finite")
    # Scaled first: squares of what a float holds can overflow or vanish.
    scaled = array / largest
    unit: FloatArray = scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)
    return unit


def slerp(p: npt.ArrayLike, q: npt.ArrayLike, t: npt.ArrayLike) -> FloatArray:
    """Return slerp(p, q, t) of unit quaternions, literal: no change of sign for the shorter way, any real t.

    Parameters
    ----------
    p, q : array_like, shape (…, 4)
    t : array_like
        Broadcast against the leading axes.

    Notes
    -----
    The angle is 2 atan2(|p-q|, |p+q|). The error is a few 1e-16, times 1 / (pi - angle) near antipodal ends; of exactly
    antipodal ends one of the many arcs is taken. Source: docs/formulas.md, "Slerp".
    """
    at = numbers("t", t)
    start, end, _ = np.broadcast_arrays(numbers("p", p, 4), numbers("q", q, 4), at[..., np.newaxis])
    return _columns(sphere.slerp(_rows(start), _rows(end), at))


def shorter(q: npt.ArrayLike) -> FloatArray:
    """Return the quaternions of the same orientations with w not negative: turns of at most half a turn."""
    array = numbers("q", q, 4)
    return np.where(array[..., :1] < 0.0, -array, array)


def angle_between(p: npt.ArrayLike, q: npt.ArrayLike) -> FloatArray:
    """Return the angles between orientations, 0 to pi, of unit quaternions (…, 4)."""
    a, b = (_rows(each) for each in np.broadcast_arrays(numbers("p", p, 4), numbers("q", q, 4)))
    apart, along = sphere.length(b - a), sphere.length(b + a)
    angle: FloatArray = 4.0 * np.arctan2(np.minimum(apart, along), np.maximum(apart, along))
    return angle


def unroll_signs(q: npt.ArrayLike) -> FloatArray:
    """Return quaternions (…, m, 4), each of the sign nearer to the one before it; the first keeps its own, as one does
    by itself, (4,)."""
    array = numbers("q", q, 4).copy()
    if array.ndim == 1:
        return array
    array[..., 1:, :] *= _flips(np.einsum("...i,...i->...", array[..., 1:, :], array[..., :-1, :]))[..., np.newaxis]
    return array


def _flips(dots: FloatArray) -> FloatArray:
    """Return running signs from the dot products of neighbours."""
    return np.multiply.accumulate(np.where(dots < 0.0, -1.0, 1.0), axis=-1)


def from_rotation_vector(v: npt.ArrayLike) -> FloatArray:
    """Return quaternions of rotation vectors (…, 3): axis times angle. Turns above 360 degrees keep their sign."""
    return _columns(sphere.exp(_rows(numbers("v", v, 3)) / 2.0))


def to_rotation_vector(q: npt.ArrayLike) -> FloatArray:
    """Return rotation vectors (…, 3) of unit quaternions, of length 0 to 2 pi: literal, no shorter way."""
    return _columns(2.0 * sphere.log(_rows(numbers("q", q, 4))))


def from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike) -> FloatArray:
    """Return quaternions of axes (…, 3), of any length, and angles (…). A zero axis turns nothing, as in Blender."""
    half = numbers("angle", angle) / 2.0
    unit, size = unit_vectors(numbers("axis", axis, 3))
    cosine = np.where(size > 0.0, np.cos(half), 1.0)
    return np.concatenate([cosine[..., np.newaxis], unit * np.sin(half)[..., np.newaxis]], axis=-1)


def to_axis_angle(q: npt.ArrayLike, default_axis: npt.ArrayLike = (0.0, 0.0, 1.0)) -> tuple[FloatArray, FloatArray]:
    """Return unit axes (…, 3) and angles (…) in [0, 2 pi] of unit quaternions: literal, no shorter way.

    Where there is no turn the axis is `default_axis`.
    """
    array = numbers("q", q, 4)
    axis, sine = unit_vectors(array[..., 1:])
    axis = np.where(sine[..., np.newaxis] > 0.0, axis, numbers("default_axis", default_axis, 3))
    angle: FloatArray = 2.0 * np.arctan2(sine, array[..., 0])
    return axis, angle


def unit_vectors(vectors: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return unit vectors (…, d), zero for zero, and lengths (…)."""
    array = numbers("vectors", vectors)
    if not array.ndim:
        raise ValueError("vectors must have components, and is one number")
    largest = np.abs(array).max(axis=-1, keepdims=True)
    scaled = np.divide(array, largest, out=np.zeros_like(array), where=largest > 0.0)
    size = np.sqrt(np.einsum("...i,...i->...", scaled, scaled))[..., np.newaxis]
    unit = np.divide(scaled, size, out=scaled, where=size > 0.0)
    return unit, (size * largest)[..., 0]


def to_matrix(q: npt.ArrayLike) -> FloatArray:
    """Return matrices (…, 3, 3) for column vectors of unit quaternions. Source: docs/formulas.md,
    "Conventions of quaternions"."""
    w, x, y, z = _rows(numbers("q", q, 4))
    entries = [
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    ]
    return np.stack([np.stack(row, axis=-1) for row in entries], axis=-2)


def from_matrix(matrix: npt.ArrayLike) -> FloatArray:
    """Return unit quaternions (…, 4), w not negative, of rotation matrices (…, 3, 3) for column vectors.

    Of the four ways to read it (Shepperd 1978), the one whose square root is largest, so no digits are lost anywhere.
    """
    array = numbers("matrix", matrix, 3)
    if array.shape[-2:] != (3, 3):
        raise ValueError(f"matrix must have 3 rows and 3 columns on its last axes, not the shape {array.shape}")
    m = np.moveaxis(array, (-2, -1), (0, 1))
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    # Four times the products of the quaternion's components, row by row; every row is the quaternion times one of them.
    wx, wy, wz = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    squares = [1.0 + trace] + [1.0 + 2.0 * m[i, i] - trace for i in range(3)]
    rows = np.stack(
        [
            np.stack([squares[0], wx, wy, wz]),
            np.stack([wx, squares[1], xy, xz]),
            np.stack([wy, xy, squares[2], yz]),
            np.stack([wz, xz, yz, squares[3]]),
        ]
    )
    largest = np.argmax(np.stack(squares), axis=0)
    row = np.take_along_axis(rows, largest[np.newaxis, np.newaxis], axis=0)[0]
    return shorter(_columns(row / sphere.length(row)))


def _axes_of(order: str) -> tuple[int, int, int, float]:
    """Return the axes that an Euler order turns about, first to last, and +1 for a cyclic order, -1 for the others."""
    if order not in get_args(Order):
        raise ValueError(f"order must be one of {', '.join(get_args(Order))}, not {order!r}")
    i, j, k = ("XYZ".index(letter) for letter in order)
    return i, j, k, 1.0 if (j - i) % 3 == 1 else -1.0


def from_euler(angles: npt.ArrayLike, order: Order = "XYZ") -> FloatArray:
    """Return quaternions (…, 4) of Euler angles (…, 3).

    Parameters
    ----------
    angles : array_like, shape (…, 3)
        Angles about x, y, z, in this sequence whatever the order, as Blender stores them.
    order : str
        Blender's: "XYZ" turns about x first, then y, then z, all the parent's axes: the matrix is Rz Ry Rx.
    """
    i, j, k, sign = _axes_of(order)
    half = _rows(numbers("angles", angles, 3)) / 2.0
    cosine, sine = np.cos(half), np.sin(half)
    q = np.empty((4, *half.shape[1:]))
    ci, cj, ck, si, sj, sk = cosine[i], cosine[j], cosine[k], sine[i], sine[j], sine[k]
    q[0] = ck * cj * ci + sign * sk * sj * si
    q[1 + i] = ck * cj * si - sign * sk * sj * ci
    q[1 + j] = ck * sj * ci + sign * sk * cj * si
    q[1 + k] = sk * cj * ci - sign * ck * sj * si
    return _columns(q)


def to_euler(q: npt.ArrayLike, order: Order = "XYZ") -> FloatArray:
    """Return Euler angles (…, 3) of unit quaternions, each by itself, the middle one in [-pi/2, pi/2].

    Of the two triples that mean the orientation the other has the middle angle pi - a. In gimbal lock the two outer
    turns are one: it is split evenly. For sequences see `follow_euler`. Source: docs/formulas.md,
    "Euler angles".
    """
    middle, half_sum, half_difference, locked_sum, locked_difference = _euler_halves(_rows(numbers("q", q, 4)), order)
    half_sum, half_difference = np.where(locked_sum, 0.0, half_sum), np.where(locked_difference, 0.0, half_difference)
    angles = _euler_of_halves(middle, half_sum, half_difference, order)
    return _columns(np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi)


def _euler_halves(
    q: FloatArray, order: str
) -> tuple[FloatArray, FloatArray, FloatArray, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the middle angle, half the outer angles' sum and difference, and where each of these two is not known.

    With half angles a/2, b/2, c/2 of an order i, j, k and its sign s, w -+ q[j] = (cos b/2 -+ sin b/2) cos((s c +-
    a)/2), and q[i], s q[k] give the sines: two polar pairs, whose lengths are b's and whose angles are the sum's and
    difference's.
    """
    i, j, k, sign = _axes_of(order)
    first, middle, last = q[1 + i], q[1 + j], sign * q[1 + k]
    sum_cosine, sum_sine = q[0] - middle, first + last
    difference_cosine, difference_sine = q[0] + middle, last - first
    sum_size, difference_size = np.hypot(sum_cosine, sum_sine), np.hypot(difference_cosine, difference_sine)
    return (
        2.0 * np.arctan2(difference_size, sum_size) - np.pi / 2.0,
        np.arctan2(sum_sine, sum_cosine),
        np.arctan2(difference_sine, difference_cosine),
        sum_size < _UNKNOWN,
        difference_size < _UNKNOWN,
    )


def _euler_of_halves(middle: FloatArray, half_sum: FloatArray, half_difference: FloatArray, order: str) -> FloatArray:
    i, j, k, sign = _axes_of(order)
    angles = np.empty((3, *middle.shape))
    angles[i], angles[j], angles[k] = half_sum - half_difference, middle, sign * (half_sum + half_difference)
    return angles


def follow_euler(q: npt.ArrayLike, order: Order = "XYZ", start: npt.ArrayLike = (0.0, 0.0, 0.0)) -> FloatArray:
    """Return Euler angles of sequences of orientations in which each triple is near the one before it.

    Parameters
    ----------
    q : array_like, shape (…, m, 4), or (4,)
        Unit quaternions of one sequence, or of several of one length; or one, which follows the start.
    order : str
        Blender's, as for `from_euler`.
    start : array_like, shape (3,) or (…, 3)
        The triple that the first one follows; the sequence keeps its whole turns.

    Returns
    -------
    ndarray, shape (…, m, 3), or (3,)
        About x, y, z. Of both triples that mean an orientation, and all whole turns of each, the one with the least
        sum of changes. In gimbal lock (within 2e-7 radian) the angle that is not known stays as it was.

    Notes
    -----
    The step from one sample's principal triple to the next costs the same if both are exchanged for their others, so
    the choices are a running parity, and no loop over samples is needed.
    """
    i, j, k, sign = _axes_of(order)
    samples = numbers("q", q, 4)
    if samples.ndim == 1:
        return follow_euler(samples[np.newaxis], order, start).reshape(3)
    begin = np.broadcast_to(numbers("start", start, 3), (*samples.shape[:-2], 3))
    principal, mirrored = begin.copy(), np.abs(_wrapped(begin[..., j])) > np.pi / 2.0
    principal[mirrored] = _other_euler(_rows(begin[mirrored]), j).T
    sequence = _rows(unroll_signs(np.concatenate([from_euler(principal, order)[..., np.newaxis, :], samples], axis=-2)))
    middle, half_sum, half_difference, sum_unknown, difference_unknown = _euler_halves(sequence, order)
    outer, inner = sign * principal[..., k] / 2.0, principal[..., i] / 2.0
    half_sum[..., 0], half_difference[..., 0] = outer + inner, outer - inner
    angles = _euler_of_halves(middle, _held(half_sum, sum_unknown), _held(half_difference, difference_unknown), order)
    other = _other_euler(angles, j)
    stay = np.abs(_wrapped(angles[..., 1:] - angles[..., :-1])).sum(axis=0)
    change = np.abs(_wrapped(other[..., 1:] - angles[..., :-1])).sum(axis=0)
    exchanged = (np.cumsum(change < stay, axis=-1) + mirrored[..., np.newaxis]) % 2 == 1
    chosen = np.empty_like(angles)
    chosen[..., 0] = _rows(begin)
    chosen[..., 1:] = np.where(exchanged, other[..., 1:], angles[..., 1:])
    return _columns(np.unwrap(chosen, axis=-1)[..., 1:])


def _wrapped(angles: FloatArray) -> FloatArray:
    """Return angles in [-pi, pi]."""
    return angles - 2.0 * np.pi * np.rint(angles / (2.0 * np.pi))


def _other_euler(angles: FloatArray, middle: int) -> FloatArray:
    """Return the other triples (3, …) of the same orientations."""
    other = angles + np.pi
    other[middle] = np.pi - angles[middle]
    return other


def _held(values: FloatArray, unknown: npt.NDArray[np.bool_]) -> FloatArray:
    """Return values along the last axis, where unknown those of the last sample before that is known or first."""
    if not unknown.any():
        return values
    index = np.where(unknown, 0, np.arange(values.shape[-1]))
    return np.take_along_axis(values, np.maximum.accumulate(index, axis=-1), axis=-1)


def follow_axis_angle(
    q: npt.ArrayLike, start_axis: npt.ArrayLike = (0.0, 1.0, 0.0), start_angle: npt.ArrayLike = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return axes and angles of sequences of orientations in which each is near the one before it.

    Parameters
    ----------
    q : array_like, shape (…, m, 4), or (4,)
        Unit quaternions of one sequence, or of several of one length; or one, which follows the start.
    start_axis, start_angle : array_like, shape (3,) or (…, 3), and () or (…)
        What the first one follows; the sequence keeps its whole turns.

    Returns
    -------
    axes : ndarray, shape (…, m, 3), or (3,)
        Unit axes. Where there is no turn (within 2e-7 radian) the axis stays as it was.
    angles : ndarray, shape (…, m), or ()
        Radians, of either sign and any size.
    """
    samples = numbers("q", q, 4)
    if samples.ndim == 1:
        axes, angles = follow_axis_angle(samples[np.newaxis], start_axis, start_angle)
        return axes[0], angles[0]
    axis, angle = to_axis_angle(samples)
    begin, size = unit_vectors(np.broadcast_to(numbers("start_axis", start_axis, 3), (*samples.shape[:-2], 3)))
    begin = np.where(size[..., np.newaxis] > 0.0, begin, np.array([0.0, 1.0, 0.0]))
    sine = sphere.length(_rows(samples)[1:])
    unknown = np.concatenate([np.zeros_like(sine[..., :1], dtype=np.bool_), sine < _UNKNOWN], axis=-1)
    axes = _rows(np.concatenate([begin[..., np.newaxis, :], axis], axis=-2))
    axes = np.stack([_held(row, unknown) for row in axes])
    signs = _flips(sphere.dot(axes[..., 1:], axes[..., :-1]))
    first = np.broadcast_to(numbers("start_angle", start_angle), samples.shape[:-2])[..., np.newaxis]
    angles = np.unwrap(np.concatenate([first, angle * signs], axis=-1), axis=-1)[..., 1:]
    return _columns(axes[..., 1:] * signs), angles


def turn_sign(convention: str) -> float:
    """Return the sign that a turn's angle has in a convention, Blender's being +1."""
    if convention not in get_args(Convention):
        raise ValueError(f"convention must be one of {', '.join(get_args(Convention))}, not {convention!r}")
    return 1.0 if convention == "BLENDER" else -1.0


def turns_to_rotations(
    angles: npt.ArrayLike,
    axes: npt.ArrayLike,
    convention: Convention = "BLENDER",
    first: npt.ArrayLike = _IDENTITY,
) -> FloatArray:
    """Return the orientations of keys that are turns from the key before.

    Parameters
    ----------
    angles : array_like, shape (n,), or a number
        Radians, of any size.
    axes : array_like, shape (n, 3), or (3,)
        In the parent's frame, of any length; a zero axis is no turn.
    convention : "BLENDER" or "3DS"
        ``q[n] = exp(axis angle / 2) q[n-1]``, or with -angle, as a .3ds file stores turns.
    first : array_like, shape (4,)
        The orientation from which key 0 turns; with none, key 0 is absolute, as in a .3ds file.

    Returns
    -------
    ndarray, shape (n, 4), or (4,)
        With the signs that the products have: neighbours' arcs are the turns themselves, up to 360 degrees.

    Notes
    -----
    Source: docs/formulas.md, "Relative keys", where sign and order were measured on real files.
    """
    turned = turn_sign(convention) * numbers("angles", angles)
    rows = _of_each(turned, numbers("axes", axes, 3))
    w, x, y, z = _normalised("first", first).tolist()
    turns = np.atleast_2d(from_axis_angle(rows, turned))
    orientations = np.empty_like(turns)
    # Plain floats: each product needs the one before, and NumPy's calls cost more than their work here.
    for row, (a, b, c, d) in enumerate(turns.tolist()):
        w, x, y, z = (
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        )
        orientations[row] = w, x, y, z
    return normalise(orientations[0] if rows.ndim == 1 else orientations)


def rotations_to_turns(
    q: npt.ArrayLike, convention: Convention = "BLENDER", path: Literal["SHORTEST", "AS_KEYED"] = "SHORTEST"
) -> tuple[FloatArray, FloatArray]:
    """Return keys as turns from the key before: the opposite of `turns_to_rotations`.

    Parameters
    ----------
    q : array_like, shape (n, 4), or (4,)
        Unit quaternions.
    convention : "BLENDER" or "3DS"
        As for `turns_to_rotations`.
    path : "SHORTEST" or "AS_KEYED"
        Turns of at most 180 degrees, or those of the quaternions as they are, up to 360. Key 0's is always the
        shortest.

    Returns
    -------
    angles : ndarray, shape (n,), or ()
        Radians, not negative in Blender's convention and not positive in the other.
    axes : ndarray, shape (n, 3), or (3,)
        Unit axes; z where there is no turn.
    """
    if path not in ("SHORTEST", "AS_KEYED"):
        raise ValueError(f"path must be one of SHORTEST, AS_KEYED, not {path!r}")
    array = numbers("q", q, 4)
    turns = shorter(array)
    if array.ndim > 1:
        turns[1:] = multiply(array[1:], conjugate(array[:-1]))
    if path == "SHORTEST":
        turns = shorter(turns)
    axes, angles = to_axis_angle(turns)
    return turn_sign(convention) * angles, axes


def turns_of_euler(angles: npt.ArrayLike, order: Order = "XYZ") -> tuple[FloatArray, FloatArray]:
    """Return the turns that Euler keys mean, whole turns counted, for `tcb.RotationSpline.from_turns`.

    Parameters
    ----------
    angles : array_like, shape (n, 3), or (3,)
        Keys about x, y, z: from 0 to 450 degrees about z is a turn and a quarter.
    order : str
        Blender's, as for `from_euler`.

    Returns
    -------
    angles : ndarray, shape (n,), or ()
        Radians. Key 0's turn is its orientation, by the shortest way.
    axes : ndarray, shape (n, 3), or (3,)
        Unit axes in the parent's frame.

    Raises
    ------
    KeysError
        For values that are not finite, and for some 10 000 turns and more from one key to the next.

    Notes
    -----
    Between keys the channels are followed in straight lines and the turn on the way is added up; of the turns that
    reach the key's orientation exactly the nearest to that sum is taken. Where one channel changes it is that
    channel's turn.
    """
    keys = numbers("angles", angles, 3)
    _check_finite(keys)
    if keys.ndim == 1:
        return rotations_to_turns(from_euler(keys, order))
    change = keys[1:] - keys[:-1]
    steps = _steps_for(np.abs(change).sum(axis=-1))
    pair, before, after = _steps_between(steps)
    walked = _added_up(
        from_euler(keys[pair] + change[pair] * before, order),
        from_euler(keys[pair] + change[pair] * after, order),
        steps,
    )
    return _nearest_to_walk(from_euler(keys, order), walked)


def turns_of_axis_angle(angles: npt.ArrayLike, axes: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the turns that axis-angle keys mean, whole turns counted, for `tcb.RotationSpline.from_turns`.

    Parameters
    ----------
    angles : array_like, shape (n,), or a number
        Radians.
    axes : array_like, shape (n, 3), or (3,)
        The keys' axes as their channels hold them, of any length.

    Returns
    -------
    angles, axes
        As `turns_of_euler` returns them, and found in the same way.
    """
    key_angles = numbers("angles", angles)
    key_axes = _of_each(key_angles, numbers("axes", axes, 3))
    _check_finite(np.concatenate([key_angles[..., np.newaxis], key_axes], axis=-1))
    if not key_angles.ndim:
        return rotations_to_turns(from_axis_angle(key_axes, key_angles))
    change, axis_change = key_angles[1:] - key_angles[:-1], key_axes[1:] - key_axes[:-1]
    unit = unit_vectors(key_axes)[0]
    swing = 2.0 * np.linalg.norm(unit[1:] - unit[:-1], axis=-1)
    steps = _steps_for(np.abs(change) + swing)
    pair, before, after = _steps_between(steps)
    walked = _added_up(
        from_axis_angle(key_axes[pair] + axis_change[pair] * before, key_angles[pair] + change[pair] * before[:, 0]),
        from_axis_angle(key_axes[pair] + axis_change[pair] * after, key_angles[pair] + change[pair] * after[:, 0]),
        steps,
    )
    return _nearest_to_walk(from_axis_angle(key_axes, key_angles), walked)


def _of_each(angles: FloatArray, axes: FloatArray) -> FloatArray:
    """Return the axes, if they are one for each of the angles."""
    if axes.shape[:-1] != angles.shape or axes.ndim > 2:
        raise ValueError(f"axes must be one for each of angles, of shape {angles.shape}, not of {axes.shape[:-1]}")
    return axes


def _check_finite(keys: FloatArray) -> None:
    finite = np.isfinite(keys).all(axis=-1)
    if not finite.all():
        raise KeysError(n_("the value is not finite"), int(np.argmin(finite)))


def _steps_for(way: FloatArray) -> npt.NDArray[np.intp]:
    """Return in how many steps to follow ways of some length, in radians, from each key to the next."""
    steps = np.maximum(np.ceil(way / _STEP), 1.0)
    if (steps > _MOST_STEPS).any():
        fault = n_("turns too often from the key before it to be counted")
        raise KeysError(fault, int(np.argmax(steps > _MOST_STEPS)) + 1)
    return steps.astype(np.intp)


def _steps_between(steps: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], FloatArray, FloatArray]:
    """Return for each step its pair of keys, and where it starts and ends between them, shape (steps, 1)."""
    pair = np.repeat(np.arange(len(steps)), steps)
    number = np.arange(len(pair)) - np.repeat(np.cumsum(steps) - steps, steps)
    count = steps[pair]
    return pair, (number / count)[:, np.newaxis], ((number + 1) / count)[:, np.newaxis]


def _added_up(before: FloatArray, after: FloatArray, steps: npt.NDArray[np.intp]) -> FloatArray:
    """Return the sums of the steps' rotation vectors, one a pair of keys, shape (pairs, 3)."""
    if not len(steps):
        return np.empty((0, 3))
    turns = to_rotation_vector(shorter(multiply(after, conjugate(before))))
    return np.add.reduceat(turns, np.cumsum(steps) - steps)


def _nearest_to_walk(q: FloatArray, walked: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return keys' turns, each the nearest to the rotation vector that was walked from the key before."""
    angles, axes = rotations_to_turns(q)
    angles[1:], axes[1:] = nearest_turns(angles[1:], axes[1:], walked)
    return angles, axes


def nearest_turns(angles: npt.ArrayLike, axes: npt.ArrayLike, walked: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return turns that differ from those given by whole turns, and are the nearest to some rotation vectors.

    Parameters
    ----------
    angles, axes : array_like, shape (n,) and (n, 3), or a number and (3,)
        Turns in radians, about unit axes.
    walked : array_like, shape (n, 3), or (3,)
        Rotation vectors of any length.

    Returns
    -------
    angles, axes : ndarray, shape (n,) and (n, 3), or () and (3,)
        Where nothing but whole turns is left, the axis is that of the rotation vector.
    """
    turned, vectors = numbers("angles", angles), numbers("walked", walked, 3)
    about = _of_each(turned, numbers("axes", axes, 3))
    along, size = unit_vectors(vectors)
    left = _wrapped(turned)
    bare = (np.abs(left) < _NO_TURN) & (size > np.pi)
    about = np.where(bare[..., np.newaxis], along, about)
    left = np.where(bare, 0.0, left)
    projected = np.einsum("...i,...i->...", vectors, about)
    return left + 2.0 * np.pi * np.rint((projected - left) / (2.0 * np.pi)), about
