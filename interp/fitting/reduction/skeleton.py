# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints of an armature, moving bones, and the deviation of their heads and tails.

Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array
from ...rotations.quaternions import normalise, unroll_signs
from .key_sets import KeySet, Method, Samples
from .standing_still import limits_while_still
from .window_equations import played_values

LOCATION, ROTATION, SCALE = "location", "rotation", "scale"
_WIDTHS = {LOCATION: 3, ROTATION: 4, SCALE: 3}


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
        return _transforms(*(self.channels[name].T for name in (LOCATION, ROTATION, SCALE)))


Float32Array = npt.NDArray[np.float32]


@dataclass(eq=False)
class Link:
    """A joint of a group, with the points for which it is the nearest joint of the group.

    Attributes
    ----------
    joint : Joint
    parent : int
        The nearest link above this joint, or -1 for none.
    above : ndarray, shape (3, 4, frames)
        The transforms from the axes of the joint's channels to the axes of the parent link's joint, or to world axes.
    columns : slice
        The columns of the group's samples.
    center : ndarray, shape (3, frames)
        The original position of the joint.
    held, wanted : ndarray of float32, shape (3, p, frames)
        The points in the axes of the joint, and their target positions relative to the center.
    weights : ndarray of float32, shape (p, frames)
        The weights of squared distances.
    """

    joint: Joint
    parent: int
    above: Float64Array
    columns: slice
    center: Float64Array
    held: Float32Array
    wanted: Float32Array
    weights: Float32Array


def largest_errors(links: Sequence[Link], row: IndexArray, values: Float64Array) -> Float64Array:
    """Return the largest errors (n,) of all points that links move, with values (n, d) at rows (n,)."""
    largest_squares = np.zeros(len(row), dtype=np.float32)
    transforms: list[Float64Array] = []
    for link in links:
        transform = _chained(link.above.take(row, axis=2), _local_transforms(link, row, values))
        if link.parent >= 0:
            transform = _chained(transforms[link.parent], transform)
        transforms.append(transform)
        _raise_to_errors(largest_squares, link, row, transform)
    errors: Float64Array = np.sqrt(largest_squares).astype(np.float64)
    return errors


def _local_transforms(link: Link, row: IndexArray, values: Float64Array) -> Float64Array:
    """Return the transforms (3, 4, n) of a joint relative to its parent, from the values if they animate a channel."""
    joint_values = values[:, link.columns]
    animated = {name: joint_values[:, columns].T for name, columns in link.joint.columns.items()}
    channels = (
        animated[name] if name in animated else link.joint.channels[name].T.take(row, axis=1)
        for name in (LOCATION, ROTATION, SCALE)
    )
    return _transforms(*channels)


def _raise_to_errors(largest_squares: Float32Array, link: Link, row: IndexArray, transforms: Float64Array) -> None:
    """Raise the largest squared errors (n,) to the errors of the points of one link."""
    # Positions relative to the original joint keep enough digits in float32.
    offset = (transforms[:, 3] - link.center.take(row, axis=1)).astype(np.float32)
    deviation = np.einsum("ijn,jpn->ipn", transforms[:, :3].astype(np.float32), link.held.take(row, axis=2))
    deviation += offset[:, np.newaxis]
    deviation -= link.wanted.take(row, axis=2)
    squares = np.einsum("ipn,ipn->pn", deviation, deviation)
    squares *= link.weights.take(row, axis=1)
    np.maximum(largest_squares, squares.max(axis=0, initial=0.0), out=largest_squares)


def _transforms(location: Float64Array, rotation: Float64Array, scale: Float64Array) -> Float64Array:
    """Return the transforms (3, 4, n) of channels (3, n), (4, n) and (3, n). Quaternions have any length.

    The last axis is the frames, because that is several times as fast as products of small matrices.
    """
    w, x, y, z = rotation
    twice = 2.0 / (w * w + x * x + y * y + z * z)
    tx, ty, tz = twice * x, twice * y, twice * z
    xx, yy, zz, xy, xz, yz = tx * x, ty * y, tz * z, tx * y, tx * z, ty * z
    wx, wy, wz = tx * w, ty * w, tz * w
    transforms = np.empty((3, 4, len(w)))
    transforms[0, :3] = 1.0 - yy - zz, xy - wz, xz + wy
    transforms[1, :3] = xy + wz, 1.0 - xx - zz, yz - wx
    transforms[2, :3] = xz - wy, yz + wx, 1.0 - xx - yy
    transforms[:, :3] *= scale
    transforms[:, 3] = location
    return transforms


def _chained(outer: Float64Array, inner: Float64Array) -> Float64Array:
    """Return the transforms (3, 4, n) that apply first `inner`, then `outer`."""
    transforms: Float64Array = np.einsum("ijn,jkn->ikn", outer[:, :3], inner)
    transforms[:, 3] += outer[:, 3]
    return transforms


def _inverse(transforms: Float64Array) -> Float64Array:
    """Return the inverse transforms (3, 4, n), or zeros where the scale is 0."""
    rows = transforms[:, :3]
    columns = [
        rows[(i + 1) % 3][[1, 2, 0]] * rows[(i + 2) % 3][[2, 0, 1]]
        - rows[(i + 1) % 3][[2, 0, 1]] * rows[(i + 2) % 3][[1, 2, 0]]
        for i in range(3)
    ]
    determinant = (rows[0] * columns[0]).sum(axis=0)
    inverse = np.empty_like(transforms)
    inverse[:, :3] = np.stack(columns, axis=1)
    inverse[:, :3] *= np.divide(1.0, determinant, out=np.zeros_like(determinant), where=determinant != 0.0)
    inverse[:, 3] = -np.einsum("ijn,jn->in", inverse[:, :3], transforms[:, 3])
    return inverse


_SAME = 1e-9
"""Points closer than this fraction of the total size are the same point."""


class Skeleton:
    """Joints with their original motion and the replacement motion.

    Parameters
    ----------
    joints : sequence of Joint
        The joints, each after its parent.
    error : float
        The maximum deviation of points.
    still : tuple of float, or None
        A radius, and the maximum deviation of points that do not move, if less than the error. See `stand_still`.
    together : iterable of sequences of int
        Groups of joints that share their keys. All other joints have separate keys.
    shares : ndarray, shape (points, frames), or None
        The fraction of these limits that is allowed for each point at each frame. If None, the full limits apply.
    method : "HERMITE" or "TCB"
        The type of the keys.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        error: float,
        still: tuple[float, float] | None = None,
        together: Iterable[Sequence[int]] = (),
        shares: Float64Array | None = None,
        method: Method = "HERMITE",
    ) -> None:
        self.joints = joints
        self.method: Method = method
        self.error = error
        self._owner = np.repeat(np.arange(len(joints)), [len(joint.points) for joint in joints])
        self.under = self._points_under()
        self._transforms = [np.zeros((3, 4, 0))] * len(joints)
        """The transforms of the joints in world axes."""
        self._first_points = np.searchsorted(self._owner, np.arange(len(joints)))
        self._points = np.empty((len(self._owner), 3, len(joints[0].rotation)))
        self.update_poses(range(len(joints)))
        self.wanted = self._points.copy()
        limits = np.full((len(self.wanted), len(joints[0].rotation)), error)
        self.limits = limits_while_still(limits, self.wanted.transpose(0, 2, 1), still)
        """The maximum deviation of each point at each frame, shape (points, frames)."""
        if shares is not None:
            self.limits *= shares
        self.keys: dict[int, KeySet] = {}
        """The keys of each group."""
        self.groups = self._groups(together)
        """The moving joints of each group, which share their keys."""
        self._is_measured = self._measured_points()

    def _groups(self, together: Iterable[Sequence[int]]) -> list[list[int]]:
        """Return the joints of each group. A joint belongs to the first group that contains it."""
        ungrouped = dict.fromkeys(number for number, joint in enumerate(self.joints) if joint.animated)
        groups = []
        for joints in together:
            group = sorted(number for number in set(joints) if number in ungrouped)
            for number in group:
                del ungrouped[number]
            if group:
                groups.append(group)
        return sorted([*groups, *([number] for number in ungrouped)])

    def batches(self) -> list[list[int]]:
        """Return lists of groups to search together, with the root first.

        The groups of a list have the same channels and the same depth, so no group moves the points of another group.
        """
        depths: list[int] = []
        for joint in self.joints:
            depths.append(0 if joint.parent < 0 else depths[joint.parent] + 1)
        batches: dict[tuple[object, ...], list[int]] = {}
        for group in self.keys:
            first, *others = self.groups[group]
            # A group of several joints is a batch of its own.
            alike = (depths[first], group) if others else (depths[first], -1, *self.joints[first].animated)
            batches.setdefault(alike, []).append(group)
        return [batches[alike] for alike in sorted(batches, key=lambda alike: (alike[0], batches[alike][0]))]

    def _points_under(self) -> list[IndexArray]:
        """Return the indices of the points that each joint moves."""
        moves = np.eye(len(self.joints), dtype=np.bool_)
        for number in range(len(self.joints) - 1, -1, -1):
            if (parent := self.joints[number].parent) >= 0:
                moves[parent] |= moves[number]
        return [np.flatnonzero(moved_joints[self._owner]) for moved_joints in moves]

    def _measured_points(self) -> BoolArray:
        """Return a mask of the points that the search measures. A head at the parent's tail is omitted."""
        is_measured = np.ones(len(self._owner), dtype=np.bool_)
        distance = _SAME * max(float(np.abs(self.wanted).max(initial=0.0)), np.finfo(np.float64).tiny)
        for point, number in enumerate(self._owner.tolist()):
            joint = self.joints[number]
            if LOCATION in joint.animated or joint.parent < 0:
                continue
            of_parent = np.flatnonzero(self._owner == joint.parent)
            is_same = np.abs(self.wanted[of_parent] - self.wanted[point]).max(axis=(1, 2)) <= distance
            is_same &= (self.limits[of_parent] <= self.limits[point]).all(axis=1)
            is_measured[point] = not is_same.any()
        return is_measured

    def moves_point(self, group: int, point: int) -> bool:
        """Return whether a joint of the group moves the point."""
        return any(point in self.under[number] for number in self.groups[group])

    def columns(self, group: int) -> list[tuple[int, slice]]:
        """Return the joints of a group, each with the columns of its channels in the group's samples."""
        columns, start = [], 0
        for number in self.groups[group]:
            columns.append((number, slice(start, start := start + self.joints[number].samples.shape[1])))
        return columns

    def parts(self, group: int) -> list[tuple[slice, bool]]:
        """Return the columns of all channels of a group, and whether they are rotations."""
        return [part for number, columns in self.columns(group) for part in self.joints[number].parts(columns.start)]

    def update_poses(self, numbers: Iterable[int]) -> None:
        """Compute the poses and points of joints whose channels have changed, and of all joints below them."""
        changed = set(numbers)
        for number, joint in enumerate(self.joints):
            if number not in changed and joint.parent not in changed:
                continue
            changed.add(number)
            transform = _chained(joint.offset[:3, :, np.newaxis], joint.transform)
            if joint.parent >= 0:
                transform = _chained(self._transforms[joint.parent], transform)
            self._transforms[number] = transform
            points = np.einsum("ijn,pj->pin", transform[:, :3], joint.points) + transform[:, 3]
            self._points[self._first_points[number] :][: len(points)] = points

    def errors(self) -> Float64Array:
        """Return the deviation of each point relative to its limit, shape (points, frames)."""
        return self._deviations() / self.limits

    def _deviations(self) -> Float64Array:
        """Return the deviation of each point, shape (points, frames)."""
        deviations: Float64Array = np.linalg.norm(self._points - self.wanted, axis=1)
        return deviations

    def distances_of_points(self) -> Float64Array:
        """Return each joint's distance to its farthest point, as the 95th percentile over frames, shape (joints,)."""
        reach = np.zeros(len(self.joints))
        for number, under in enumerate(self.under):
            distances = np.linalg.norm(self.wanted[under] - self._transforms[number][:, 3], axis=1)
            reach[number] = np.percentile(distances, 95, axis=1).max(initial=0.0)
        return reach

    def alike(self) -> list[list[int]]:
        """Return lists of groups whose joints have the same channels."""
        alike: dict[tuple[tuple[str, ...], ...], list[int]] = {}
        for group, numbers in enumerate(self.groups):
            alike.setdefault(tuple(tuple(self.joints[number].animated) for number in numbers), []).append(group)
        return [*alike.values()]

    def samples(self, groups: Sequence[int], share: float | None = None) -> Samples:
        """Return the samples of a batch's groups, whose errors are the deviations of all points that they move.

        The other groups play their current keys. A point may deviate by more than its limit if it already does, but its
        deviation must not increase. With a `share`, no deviation may exceed this fraction of its limit.
        """
        limits = np.maximum(self.limits, self._deviations()) if share is None else share * self.limits
        links_of_groups = [self._links(group, limits) for group in groups]

        def measure(track: IndexArray, row: IndexArray, values: Float64Array) -> Float64Array:
            errors = np.zeros(len(row))
            for number, links in enumerate(links_of_groups):
                of_group = np.flatnonzero(track == number) if len(groups) > 1 else slice(None)
                errors[of_group] = largest_errors(links, row[of_group], values[of_group])
            return errors

        joints_of_groups = [[self.joints[number] for number in self.groups[group]] for group in groups]
        values = [np.concatenate([joint.samples for joint in joints], axis=1) for joints in joints_of_groups]
        ends = [np.concatenate([joint.given_ends for joint in joints], axis=1) for joints in joints_of_groups]
        return Samples(np.stack(values), measure, self.parts(groups[0]), np.stack(ends), self.method)

    def _links(self, group: int, limits: Float64Array) -> list[Link]:
        """Return the joints of a group as links, with the current positions of points and their limits."""
        numbers = self.groups[group]
        nearest = self._nearest(numbers)
        links: list[Link] = []
        for number, columns in self.columns(group):
            joint = self.joints[number]
            parent = int(nearest[joint.parent]) if joint.parent >= 0 else -1
            own_points = np.flatnonzero((nearest[self._owner] == len(links)) & self._is_measured)
            transform = self._transforms[number]
            to_joint, center = _inverse(transform), transform[:, 3]
            offsets = self._points[own_points] - center
            wanted = self.wanted[own_points] - center
            links.append(
                Link(
                    joint,
                    parent,
                    above=self._transform_above(joint, numbers[parent] if parent >= 0 else None),
                    columns=columns,
                    center=center,
                    held=np.einsum("ijn,pjn->ipn", to_joint[:, :3], offsets).astype(np.float32),
                    wanted=np.ascontiguousarray(wanted.transpose(1, 0, 2), dtype=np.float32),
                    weights=(1.0 / limits[own_points] ** 2).astype(np.float32),
                )
            )
        return links

    def _transform_above(self, joint: Joint, ancestor: int | None) -> Float64Array:
        """Return the transforms (3, 4, frames) from a joint's rest axes to the axes of an ancestor or the world."""
        above = np.repeat(joint.offset[:3, :, np.newaxis], len(joint.rotation), axis=2)
        if joint.parent >= 0:
            above = _chained(self._transforms[joint.parent], above)
        return above if ancestor is None else _chained(_inverse(self._transforms[ancestor]), above)

    def _nearest(self, numbers: Sequence[int]) -> IndexArray:
        """Return the nearest of the given joints at or above each joint, as an index into `numbers`, or -1 for none."""
        nearest = np.full(len(self.joints), -1, dtype=np.intp)
        for number, joint in enumerate(self.joints):
            if number in numbers:
                nearest[number] = numbers.index(number)
            elif joint.parent >= 0:
                nearest[number] = nearest[joint.parent]
        return nearest

    def set_keys(self, groups: Sequence[int], keys: KeySet, samples: Samples) -> None:
        """Make a batch's groups play these keys."""
        values = played_values(samples, keys)
        for track, group in enumerate(groups):
            group_keys = keys.take(keys.track == track)
            self.keys[group] = KeySet(
                np.zeros_like(group_keys.track), group_keys.rows, group_keys.values, group_keys.velocities
            )
            for number, columns in self.columns(group):
                self.joints[number].play(values[track][:, columns])
        self.update_poses(number for group in groups for number in self.groups[group])

    def remove_keys(self, group: int) -> None:
        """Make the joints of a group play their samples, without keys."""
        del self.keys[group]
        for number in self.groups[group]:
            self.joints[number].play(self.joints[number].samples)
        self.update_poses(self.groups[group])

    def keys_of(self, groups: Sequence[int]) -> KeySet:
        """Return the keys of a batch's groups."""
        key_sets = [self.keys[group] for group in groups]
        track = np.repeat(np.arange(len(groups)), [len(keys.rows) for keys in key_sets])
        arrays = (
            np.concatenate([getattr(keys, name) for keys in key_sets]) for name in ("rows", "values", "velocities")
        )
        return KeySet(track, *arrays)
