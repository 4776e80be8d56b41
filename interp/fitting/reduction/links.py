# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the errors of points that are moved by the joints of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...key_batch import IndexArray
from ...keys import Float64Array
from .joints import LOCATION, ROTATION, SCALE, Joint

Float32Array = npt.NDArray[np.float32]
_Linear = Sequence[Sequence[Float64Array]]
"""The three rows of matrices, each with three arrays (n,)."""
_Pose = tuple[_Linear, Sequence[Float64Array]]
"""The linear part of a transform, and the coordinates x, y and z of the position, each of shape (n,)."""


@dataclass(eq=False)
class Link:
    """A joint of a group, with the points for which it is the nearest joint of the group.

    Attributes
    ----------
    joint : Joint
    parent : int
        The nearest link above this joint, or -1 for none.
    is_scaled : bool
        True if scale matters.
    above, origin : ndarray, shape (3, 3, frames) and (3, frames)
        The transform from the axes of the joint's channels to the axes of the parent link's joint, or to world axes.
    columns : slice
        The columns of the group's samples.
    center : ndarray, shape (3, frames)
        The original position of the joint.
    held, wanted : ndarray of float32, shape (p, 3, frames)
        The points in the axes of the joint, and their target positions relative to the center.
    weights : ndarray of float32, shape (p, frames)
        The weights of squared distances.
    """

    joint: Joint
    parent: int
    is_scaled: bool
    above: Float64Array
    origin: Float64Array
    columns: slice
    center: Float64Array
    held: Float32Array
    wanted: Float32Array
    weights: Float32Array


def largest_errors(links: Sequence[Link], row: IndexArray, values: Float64Array) -> Float64Array:
    """Return the largest errors (n,) of all points that links move, with values (n, d) at rows (n,).

    Separate arrays for each coordinate are three times as fast as products of small matrices.
    """
    largest_squares = np.zeros(len(row), dtype=np.float32)
    poses: list[_Pose] = []
    for link in links:
        pose = _local_pose(link, row, values)
        above = [[coordinate.take(row) for coordinate in line] for line in link.above]
        pose = _chained((above, [*link.origin.take(row, axis=1)]), pose)
        if link.parent >= 0:
            pose = _chained(poses[link.parent], pose)
        poses.append(pose)
        _raise_to_errors(largest_squares, link, row, pose)
    errors: Float64Array = np.sqrt(largest_squares).astype(np.float64)
    return errors


def _local_pose(link: Link, row: IndexArray, values: Float64Array) -> _Pose:
    """Return the pose of a joint relative to its parent, from the values if they animate a channel."""
    animated = {name: values[:, columns].T for name, columns in link.joint.columns.items()}
    channels = link.joint.channels
    linear = _matrices(animated[ROTATION] if ROTATION in animated else channels[ROTATION].T.take(row, axis=1))
    if link.is_scaled:
        scale = animated[SCALE] if SCALE in animated else channels[SCALE].T.take(row, axis=1)
        linear = [[coordinate * size for coordinate, size in zip(line, scale, strict=True)] for line in linear]
    location = animated[LOCATION] if LOCATION in animated else channels[LOCATION].T.take(row, axis=1)
    return linear, [*location]


def _raise_to_errors(largest_squares: Float32Array, link: Link, row: IndexArray, pose: _Pose) -> None:
    """Raise the largest squared errors (n,) to the errors of the points of one link."""
    linear, position = pose
    # Positions relative to the original joint keep enough digits in float32.
    offset = [
        (coordinate - center.take(row)).astype(np.float32)
        for coordinate, center in zip(position, link.center, strict=True)
    ]
    lines = [[coordinate.astype(np.float32) for coordinate in line] for line in linear]
    for held, wanted, weights in zip(link.held, link.wanted, link.weights, strict=True):
        x, y, z = (coordinate.take(row) for coordinate in held)
        squares = np.zeros(len(row), dtype=np.float32)
        for line, start, target in zip(lines, offset, wanted, strict=True):
            deviation = line[0] * x
            deviation += line[1] * y
            deviation += line[2] * z
            deviation += start
            deviation -= target.take(row)
            deviation *= deviation
            squares += deviation
        squares *= weights.take(row)
        np.maximum(largest_squares, squares, out=largest_squares)


def _matrices(q: Float64Array) -> _Linear:
    """Return the rotation matrices of quaternions (4, n) of any length."""
    w, x, y, z = q
    twice = 2.0 / (w * w + x * x + y * y + z * z)
    tx, ty, tz = twice * x, twice * y, twice * z
    xx, yy, zz, xy, xz, yz = tx * x, ty * y, tz * z, tx * y, tx * z, ty * z
    wx, wy, wz = tx * w, ty * w, tz * w
    return [
        [1.0 - yy - zz, xy - wz, xz + wy],
        [xy + wz, 1.0 - xx - zz, yz - wx],
        [xz - wy, yz + wx, 1.0 - xx - yy],
    ]


def _chained(outer: _Pose, inner: _Pose) -> _Pose:
    """Return the pose `inner`, which is relative to the pose `outer`, in the outer axes."""
    lines, origin = outer
    inner_lines, position = inner
    columns = [*zip(*inner_lines, strict=True)]
    linear = [[line[0] * c[0] + line[1] * c[1] + line[2] * c[2] for c in columns] for line in lines]
    moved = [
        line[0] * position[0] + line[1] * position[1] + line[2] * position[2] + start
        for line, start in zip(lines, origin, strict=True)
    ]
    return linear, moved
