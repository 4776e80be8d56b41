# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints of an armature, and the deviation of the points that they move.

Transforms have the shape (3, 4, n), with n frames on the last axis, because that is several times as fast as products
of small matrices. Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ...keys import Float32Array, Float64Array, IndexArray
from ...rotations.quaternions import normalise, unroll_signs

LOCATION, ROTATION, SCALE = "location", "rotation", "scale"
_CHANNELS = (LOCATION, ROTATION, SCALE)
_WIDTHS = {LOCATION: 3, ROTATION: 4, SCALE: 3}
_UNMOVED = {ROTATION: np.array([[1.0], [0.0], [0.0], [0.0]]), SCALE: np.ones((3, 1))}
_Float = TypeVar("_Float", np.float32, np.float64)


@dataclass(eq=False)
class Joint:
    """A bone, or the object above all bones.

    Attributes
    ----------
    parent : int
        The number of the parent joint, which is less than this joint's own number, or -1 if there is no parent.
    offset : ndarray, shape (4, 4)
        The rest matrix, in the rest axes of the parent.
    location, rotation, scale : ndarray, shape (frames, 3) or (frames, 4)
        The channels, one sample per frame. Rotations are unit quaternions.
    animated : sequence of str
        The names of the channels to reduce. The others do not change.
    points : ndarray, shape (p, 3)
        The head and tail, in the axes of the joint.
    ends : dict of str to ndarray, shape (2, 3) or (2, 4)
        The required derivatives of the animated channels per frame at both ends. NaN marks an end that is free for all
        channels. If empty, both ends are free.
    """

    parent: int
    offset: Float64Array
    location: Float64Array
    rotation: Float64Array
    scale: Float64Array
    animated: Sequence[str]
    points: Float64Array
    ends: dict[str, Float64Array] = field(default_factory=dict)
    channels: dict[str, Float64Array] = field(init=False)
    """The motion that replaces location, rotation and scale."""
    transform: Float64Array = field(init=False)
    """The transforms of the replacement motion, shape (3, 4, frames)."""

    def __post_init__(self) -> None:
        self.rotation = unroll_signs(self.rotation)
        self.channels = {LOCATION: self.location, ROTATION: self.rotation, SCALE: self.scale}
        self.transform = self._transform()

    @property
    def samples(self) -> Float64Array:
        """Return the numbers to reduce, side by side, shape (frames, d)."""
        return np.concatenate([getattr(self, name) for name in self.animated], axis=1)

    @property
    def played(self) -> Float64Array:
        """Return the replacement motion, with rotations as unit quaternions, shape (frames, d)."""
        channels = [
            normalise(self.channels[name]) if name == ROTATION else self.channels[name] for name in self.animated
        ]
        return np.concatenate(channels, axis=1)

    @property
    def given_ends(self) -> Float64Array:
        """Return the required derivatives per frame at both ends, shape (2, d), with NaN at a free end."""
        free = {name: np.full((2, _WIDTHS[name]), np.nan) for name in self.animated}
        return np.concatenate([self.ends.get(name, free[name]) for name in self.animated], axis=1)

    @property
    def columns(self) -> dict[str, slice]:
        """Return the columns of each animated channel."""
        columns, start = {}, 0
        for name in self.animated:
            columns[name] = slice(start, start := start + _WIDTHS[name])
        return columns

    def parts(self, start: int) -> list[tuple[slice, bool]]:
        """Return the columns of each animated channel, offset by `start`, and whether the channel is a rotation."""
        return [
            (slice(start + columns.start, start + columns.stop), name == ROTATION)
            for name, columns in self.columns.items()
        ]

    def play(self, values: Float64Array) -> None:
        """Replace the samples with values (frames, d)."""
        for name, columns in self.columns.items():
            self.channels[name] = values[:, columns]
        self.transform = self._transform()

    def _transform(self) -> Float64Array:
        """Return the transforms of the replacement motion."""
        return transforms(*(self.channels[name].T for name in _CHANNELS))

    @property
    def animated_transform(self) -> Float64Array:
        """Return the transforms up to the last animated channel. The channels after it never change."""
        count = 1 + max(_CHANNELS.index(name) for name in self.animated)
        channels = [self.channels[name].T for name in _CHANNELS[:count]]
        return transforms(*channels, *(_UNMOVED[name] for name in _CHANNELS[count:]))


class Link(NamedTuple):
    """A joint of a group, with the points for which it is the nearest joint of the group.

    Positions are relative to the joint, because float32 has too few digits for positions in the world.
    """

    joint: Joint
    columns: slice
    """The columns of the group's samples."""
    parent: int
    """The nearest link above this joint, or -1 for none."""
    above: Float32Array
    """The transforms from the axes of the joint's channels to the parent link or the world, shape (3, 4, frames).

    The translations are the positions with the location of the samples.
    """
    shift: Float32Array
    """The position of the parent link relative to this joint, shape (3, frames)."""
    points: Float32Array
    """Homogeneous coordinates of the points in the axes of the joint, and their target positions in world axes.

    Both are divided by the limits. The shape is (7, points, frames).
    """


class PointErrors:
    """The errors of the points that groups of joints move. The links of all groups have the same structure."""

    def __init__(self, links_of_groups: Sequence[Sequence[Link]]) -> None:
        self._links = [*zip(*links_of_groups, strict=True)]
        self._frame_count = links_of_groups[0][0].above.shape[2]
        self._above = [np.concatenate([link.above for link in links], axis=2) for links in self._links]
        self._shifts = [np.concatenate([link.shift for link in links], axis=1) for links in self._links]
        self._locations, self._rotations = (
            [np.concatenate([getattr(link.joint, name) for link in links]).T for links in self._links]
            for name in (LOCATION, ROTATION)
        )

    def __call__(self, track: IndexArray, row: IndexArray, values: Float64Array) -> Float64Array:
        """Return the largest errors (n,) of all points, for values (n, d) at rows (n,) of groups (n,)."""
        order = np.argsort(track, kind="stable")
        track, row, values = track.take(order), row.take(order), values.take(order, axis=0)
        sample = track * self._frame_count + row
        group_ends = np.searchsorted(track, np.arange(len(self._links[0]) + 1)).tolist()
        squares = np.zeros(len(row), dtype=np.float32)
        moved: list[Float32Array] = []
        for number, links in enumerate(self._links):
            transform = self._transform(number, sample, values)
            if links[0].parent >= 0:
                transform = chained(moved[links[0].parent], transform)
                transform[:, 3] += self._shifts[number].take(sample, axis=1)
            moved.append(transform)
            for link, (start, end) in zip(links, pairwise(group_ends), strict=True):
                if end > start:
                    points = link.points.take(row[start:end], axis=2)
                    of_link = _largest_squares(transform[..., start:end], points)
                    squares[start:end] = np.maximum(squares[start:end], of_link)
        errors = np.empty(len(row))
        errors[order] = np.sqrt(squares)
        return errors

    def _transform(self, number: int, sample: IndexArray, values: Float64Array) -> Float32Array:
        """Return the transforms (3, 4, n) of links relative to their parents, for the groups' values (n, d)."""
        link = self._links[number][0]
        animated = {name: values[:, link.columns][:, columns].T for name, columns in link.joint.columns.items()}
        transform = self._above[number].take(sample, axis=2)
        axes = transform[:, :3]
        if LOCATION in animated:
            change = animated[LOCATION] - self._locations[number].take(sample, axis=1)
            transform[:, 3] += np.einsum("ijn,jn->in", axes, change.astype(np.float32))
        if ROTATION in animated or SCALE in animated:
            if ROTATION not in animated:
                animated[ROTATION] = self._rotations[number].take(sample, axis=1)
            turned = _axes(animated[ROTATION].astype(np.float32))
            if SCALE in animated:
                turned *= animated[SCALE]
            transform[:, :3] = np.einsum("ijn,jkn->ikn", axes, turned)
        return transform


def _largest_squares(transform: Float32Array, points: Float32Array) -> Float32Array:
    """Return the largest squared errors (n,) of points (7, p, n) under transforms (3, 4, n)."""
    deviation = np.einsum("ijn,jpn->ipn", transform, points[:4])
    deviation -= points[4:]
    squares: Float32Array = np.einsum("ipn,ipn->pn", deviation, deviation).max(axis=0, initial=0.0)
    return squares


def _axes(rotation: npt.NDArray[_Float]) -> npt.NDArray[_Float]:
    """Return the rotation matrices (3, 3, n) of quaternions (4, n) with any length."""
    w, x, y, z = rotation
    twice = rotation.dtype.type(2.0) / (w * w + x * x + y * y + z * z)
    tx, ty, tz = twice * x, twice * y, twice * z
    xx, yy, zz, xy, xz, yz = tx * x, ty * y, tz * z, tx * y, tx * z, ty * z
    wx, wy, wz = tx * w, ty * w, tz * w
    axes = np.empty((3, 3, len(w)), dtype=rotation.dtype)
    axes[0] = 1.0 - yy - zz, xy - wz, xz + wy
    axes[1] = xy + wz, 1.0 - xx - zz, yz - wx
    axes[2] = xz - wy, yz + wx, 1.0 - xx - yy
    return axes


def transforms(location: Float64Array, rotation: Float64Array, scale: Float64Array) -> Float64Array:
    """Return the transforms (3, 4, n) of channels (3, n), (4, n) and (3, n). Quaternions have any length."""
    result = np.empty((3, 4, location.shape[1]))
    result[:, :3], result[:, 3] = _axes(rotation) * scale, location
    return result


def chained(outer: npt.NDArray[_Float], inner: npt.NDArray[_Float]) -> npt.NDArray[_Float]:
    """Return the transforms (3, 4, n) that apply first `inner`, then `outer`."""
    transforms: npt.NDArray[_Float] = np.einsum("ijn,jkn->ikn", outer[:, :3], inner)
    transforms[:, 3] += outer[:, 3]
    return transforms


def inverse(transforms: Float64Array) -> Float64Array:
    """Return the inverse transforms (3, 4, n), or zeros where the scale is 0."""
    rows = transforms[:, :3]
    columns = [
        rows[(i + 1) % 3][[1, 2, 0]] * rows[(i + 2) % 3][[2, 0, 1]]
        - rows[(i + 1) % 3][[2, 0, 1]] * rows[(i + 2) % 3][[1, 2, 0]]
        for i in range(3)
    ]
    determinant = (rows[0] * columns[0]).sum(axis=0)
    result = np.empty_like(transforms)
    result[:, :3] = np.stack(columns, axis=1)
    result[:, :3] *= np.divide(1.0, determinant, out=np.zeros_like(determinant), where=determinant != 0.0)
    result[:, 3] = -np.einsum("ijn,jn->in", result[:, :3], transforms[:, 3])
    return result
