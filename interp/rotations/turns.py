# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of any size from key to key, each with an angle and an axis, as 3D Studio stores rotations.

Products of turns are orientations, and orientations are connected by the shortest turns. Curves of Euler angles, or of
an axis and an angle, are followed in steps to count full turns.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from ..arguments import checked_choice, checked_numbers
from ..keys import Float64Array, IndexArray, KeysError
from ..messages import n_
from .euler import Order, from_euler, wrapped
from .quaternions import (
    checked_unit_quaternions,
    conjugate,
    from_axis_angle,
    multiply,
    normalise,
    shorter,
    to_axis_angle,
    to_rotation_vector,
    unit_vectors,
)

Convention = Literal["BLENDER", "3DS"]

_IDENTITY = (1.0, 0.0, 0.0, 0.0)
# Turns below this angle determine no axis, because the rounding error is 1e-16 / 1e-10, a millionth of a radian.
_NO_TURN = 1e-10
# The length of steps in which a path between keys is followed to count its turns. For one axis, any step below half a
# turn would suffice.
_STEP = np.pi / 8.0
# About 12,000 turns from key to key. More turns are a mistake, and following them would exhaust the memory.
_MAX_STEPS = 200_000


def turn_sign(convention: str) -> float:
    """Return the sign of turn angles in a convention, which is 1 for Blender.

    Examples
    --------
    >>> rotations.turn_sign("3DS")
    -1.0
    """
    return 1.0 if checked_choice("convention", convention, get_args(Convention)) == "BLENDER" else -1.0


def turns_to_rotations(
    angles: npt.ArrayLike,
    axes: npt.ArrayLike,
    convention: Convention = "BLENDER",
    first: npt.ArrayLike = _IDENTITY,
) -> Float64Array:
    """Convert turns from the previous key to orientations.

    Parameters
    ----------
    angles : array_like, shape (n,), or a number
        Angles in radians, of any size.
    axes : array_like, shape (n, 3), or (3,)
        Axes in the parent frame, of any length. A zero axis means no turn.
    convention : "BLENDER" or "3DS"
        ``q[n] = exp(axis angle / 2) q[n-1]``, or with -angle, as in .3ds files.
    first : array_like, shape (4,)
        The orientation before key 0. By default, key 0 is absolute, as in .3ds files.

    Returns
    -------
    ndarray, shape (n, 4), or (4,)
        Orientations with the signs of the products, so that arcs between neighbors are the literal turns of up to 360
        degrees.

    Notes
    -----
    The sign and the order of products were measured on real files. Source: docs/formulas, "Relative keys".

    Examples
    --------
    >>> rotations.turns_to_rotations([0, np.pi, np.pi], [[0, 0, 1]] * 3)
    array([[ 1.,  0.,  0.,  0.],
           [ 0.,  0.,  0.,  1.],
           [-1.,  0.,  0.,  0.]])
    """
    signed_angles = turn_sign(convention) * checked_numbers("angles", angles)
    axis_rows = _one_per_angle(signed_angles, checked_numbers("axes", axes, 3))
    w, x, y, z = checked_unit_quaternions("first", first).tolist()
    turns = np.atleast_2d(from_axis_angle(axis_rows, signed_angles))
    orientations = np.empty_like(turns)
    # Each product needs the previous one, and a NumPy call per key would cost more than arithmetic with Python floats.
    for row, (a, b, c, d) in enumerate(turns.tolist()):
        w, x, y, z = (
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        )
        orientations[row] = w, x, y, z
    return normalise(orientations[0] if axis_rows.ndim == 1 else orientations)


def rotations_to_turns(
    q: npt.ArrayLike, convention: Convention = "BLENDER", path: Literal["SHORTEST", "AS_KEYED"] = "SHORTEST"
) -> tuple[Float64Array, Float64Array]:
    """Convert keys to turns from the previous key, the inverse of `turns_to_rotations`.

    Parameters
    ----------
    q : array_like, shape (n, 4), or (4,)
        Unit quaternions.
    convention : "BLENDER" or "3DS"
        See `turns_to_rotations`.
    path : "SHORTEST" or "AS_KEYED"
        Shortest turns (at most 180 degrees), or literal turns of up to 360 degrees between the quaternions. The turn of
        key 0 is always the shortest.

    Returns
    -------
    angles : ndarray, shape (n,), or ()
        Angles in radians, nonnegative in Blender's convention and nonpositive in 3D Studio's.
    axes : ndarray, shape (n, 3), or (3,)
        Unit axes. The axis of a zero turn is z.

    Examples
    --------
    >>> quarters = rotations.from_axis_angle([0, 0, 1], np.radians([0, 90, 180]))
    >>> angles, axes = rotations.rotations_to_turns(quarters)
    >>> np.degrees(angles)
    array([ 0., 90., 90.])
    """
    checked_choice("path", path, ("SHORTEST", "AS_KEYED"))
    array = checked_numbers("q", q, 4)
    turns = shorter(array)
    if array.ndim > 1:
        turns[1:] = multiply(array[1:], conjugate(array[:-1]))
    if path == "SHORTEST":
        turns = shorter(turns)
    axes, angles = to_axis_angle(turns)
    return turn_sign(convention) * angles, axes


def turns_of_euler(angles: npt.ArrayLike, order: Order = "XYZ") -> tuple[Float64Array, Float64Array]:
    """Convert Euler keys to turns, including full turns, for `tcb.RotationSpline.from_turns`.

    Parameters
    ----------
    angles : array_like, shape (n, 3), or (3,)
        Angles of the keys about x, y, z. A change from 0 to 450 degrees about z is one and a quarter turns.
    order : str
        Blender's rotation order. See `from_euler`.

    Returns
    -------
    angles : ndarray, shape (n,), or ()
        Angles in radians. The turn of key 0 is the shortest turn to its orientation.
    axes : ndarray, shape (n, 3), or (3,)
        Unit axes in the parent's frame.

    Raises
    ------
    KeysError
        If values are not finite, or there are about 10,000 or more turns between two keys.

    Notes
    -----
    Between keys, the channels are interpolated linearly and their rotation vectors are summed. The result is the turn
    closest to this sum that ends at the key's exact orientation. If only one channel changes, the result is the turn of
    that channel.

    Examples
    --------
    >>> angles, axes = rotations.turns_of_euler([[0, 0, 0], [0, 0, np.radians(450)]])
    >>> np.degrees(angles)
    array([  0., 450.])
    """
    keys = checked_numbers("angles", angles, 3)
    if keys.ndim == 1:
        _check_finite(keys)
        return rotations_to_turns(from_euler(keys, order))
    walk = walk_euler(keys, order)
    return _turns_nearest_to_walk(from_euler(keys, order), walk)


def walk_euler(angles: npt.ArrayLike, order: Order = "XYZ") -> Float64Array:
    """Return the accumulated rotation between Euler keys, for `tcb.RotationSpline.from_walk`.

    Parameters
    ----------
    angles : array_like, shape (n, 3)
        Angles of the keys about x, y, z.
    order : str
        Blender's rotation order. See `from_euler`.

    Returns
    -------
    ndarray, shape (n - 1, 3)
        Sums of rotation vectors in the parent frame, over small steps of channels interpolated linearly between keys.
        If only one channel changes, the result is the turn of that channel.

    Raises
    ------
    KeysError
        See `turns_of_euler`.

    Examples
    --------
    >>> np.degrees(rotations.walk_euler([[0, 0, 0], [0, 0, np.radians(720)]]))
    array([[  0.,   0., 720.]])
    """
    keys = checked_numbers("angles", angles, 3)
    _check_finite(keys)
    change = np.diff(keys, axis=0)
    pair, share = _steps_along(np.abs(change).sum(axis=-1))
    return _sums_of_turns(from_euler(keys[pair] + change[pair] * share, order), pair)


def turns_of_axis_angle(angles: npt.ArrayLike, axes: npt.ArrayLike) -> tuple[Float64Array, Float64Array]:
    """Convert axis-angle keys to turns, including full turns, for `tcb.RotationSpline.from_turns`.

    Parameters
    ----------
    angles : array_like, shape (n,), or a number
        Angles in radians.
    axes : array_like, shape (n, 3), or (3,)
        The axes in the channels of the keys, of any length.

    Returns
    -------
    angles, axes
        Turns in the format of `turns_of_euler`, computed by the same method.

    Examples
    --------
    >>> angles, axes = rotations.turns_of_axis_angle([0, 5 * np.pi], [[0, 0, 1], [0, 0, 1]])
    >>> np.degrees(angles)
    array([  0., 900.])
    """
    key_angles = checked_numbers("angles", angles)
    key_axes = _one_per_angle(key_angles, checked_numbers("axes", axes, 3))
    if not key_angles.ndim:
        _check_finite(np.append(key_axes, key_angles))
        return rotations_to_turns(from_axis_angle(key_axes, key_angles))
    walk = walk_axis_angle(key_angles, key_axes)
    return _turns_nearest_to_walk(from_axis_angle(key_axes, key_angles), walk)


def walk_axis_angle(angles: npt.ArrayLike, axes: npt.ArrayLike) -> Float64Array:
    """Return the accumulated rotation between axis-angle keys, for `tcb.RotationSpline.from_walk`.

    Parameters
    ----------
    angles : array_like, shape (n,)
        Angles in radians.
    axes : array_like, shape (n, 3)
        The axes in the channels of the keys, of any length.

    Returns
    -------
    ndarray, shape (n - 1, 3)
        Rotation vectors in the format of `walk_euler`.

    Examples
    --------
    >>> np.degrees(rotations.walk_axis_angle([0, 4 * np.pi], [[0, 0, 1], [0, 0, 1]]))
    array([[  0.,   0., 720.]])
    """
    key_angles = checked_numbers("angles", angles)
    key_axes = _one_per_angle(key_angles, checked_numbers("axes", axes, 3))
    _check_finite(np.concatenate([key_angles[..., np.newaxis], key_axes], axis=-1))
    change, axis_change = np.diff(key_angles), np.diff(key_axes, axis=0)
    swing = 2.0 * np.linalg.norm(np.diff(unit_vectors(key_axes)[0], axis=0), axis=-1)
    pair, share = _steps_along(np.abs(change) + swing)
    step_axes = key_axes[pair] + axis_change[pair] * share
    return _sums_of_turns(from_axis_angle(step_axes, key_angles[pair] + change[pair] * share[:, 0]), pair)


def _turns_nearest_to_walk(q: Float64Array, walk: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the keys' turns, with the full turns that bring them closest to the accumulated rotation."""
    angles, axes = rotations_to_turns(q)
    angles[1:], axes[1:] = nearest_turns(angles[1:], axes[1:], walk)
    return angles, axes


def _one_per_angle(angles: Float64Array, axes: Float64Array) -> Float64Array:
    """Return the axes, or raise an error if the numbers of axes and angles differ."""
    if axes.shape[:-1] != angles.shape or axes.ndim > 2:
        raise ValueError(f"there must be one axis per angle, with shape {angles.shape}, not {axes.shape[:-1]}")
    return axes


def _check_finite(keys: Float64Array) -> None:
    """Raise KeysError for keys that are not finite."""
    is_finite = np.isfinite(keys).all(axis=-1)
    if not is_finite.all():
        raise KeysError(n_("the value is not finite"), int(np.argmin(is_finite)))


def _steps_along(lengths: Float64Array) -> tuple[IndexArray, Float64Array]:
    """Return the places at which to follow curves of given lengths, in radians, from key to key.

    The results are the pair of keys of each place, and its share of the way from the first key to the second, shape
    (places, 1). The places of a pair include both keys.
    """
    steps = np.maximum(np.ceil(lengths / _STEP), 1.0)
    is_too_long = steps > _MAX_STEPS
    if is_too_long.any():
        raise KeysError(n_("is too many turns from the previous key"), int(np.argmax(is_too_long)) + 1)
    counts = steps.astype(np.intp) + 1
    pair = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
    return pair, (place / steps[pair])[:, np.newaxis]


def _sums_of_turns(q: Float64Array, pair: IndexArray) -> Float64Array:
    """Return the sums of rotation vectors between the places of each pair of keys, shape (pairs, 3)."""
    if not len(pair):
        return np.empty((0, 3))
    # The last place of a pair and the first place of the next pair are the same key.
    turns = to_rotation_vector(shorter(multiply(q[1:], conjugate(q[:-1]))))
    return np.add.reduceat(turns, np.flatnonzero(np.diff(pair, prepend=-1)))


def nearest_turns(
    angles: npt.ArrayLike, axes: npt.ArrayLike, walked: npt.ArrayLike
) -> tuple[Float64Array, Float64Array]:
    """Add full turns to the given turns to bring them as close as possible to rotation vectors.

    Parameters
    ----------
    angles, axes : array_like, shape (n,) and (n, 3), or a number and (3,)
        Turns in radians about unit axes.
    walked : array_like, shape (n, 3), or (3,)
        Rotation vectors of any length.

    Returns
    -------
    angles, axes : ndarray, shape (n,) and (n, 3), or () and (3,)
        The closest turns. Turns that consist only of full turns get the axis of the rotation vector.

    Examples
    --------
    >>> angles, axes = rotations.nearest_turns([0.5 * np.pi], [[0, 0, 1]], [[0, 0, 14]])
    >>> np.degrees(angles)
    array([810.])
    """
    turn_angles, vectors = checked_numbers("angles", angles), checked_numbers("walked", walked, 3)
    turn_axes = _one_per_angle(turn_angles, checked_numbers("axes", axes, 3))
    vector_axes, vector_angles = unit_vectors(vectors)
    remainders = wrapped(turn_angles)
    has_no_axis = (np.abs(remainders) < _NO_TURN) & (vector_angles > np.pi)
    turn_axes = np.where(has_no_axis[..., np.newaxis], vector_axes, turn_axes)
    remainders = np.where(has_no_axis, 0.0, remainders)
    projections = np.einsum("...i,...i->...", vectors, turn_axes)
    return remainders + 2.0 * np.pi * np.rint((projections - remainders) / (2.0 * np.pi)), turn_axes
