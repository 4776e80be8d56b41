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
from ...rotations.quaternions import normalise, to_matrix, unroll_signs
from .key_sets import KeySet, Samples
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
    linear: Float64Array = field(init=False)
    """The linear parts of the replacement motion, shape (frames, 3, 3)."""

    def __post_init__(self) -> None:
        self.rotation = unroll_signs(self.rotation)
        self.channels = {LOCATION: self.location, ROTATION: self.rotation, SCALE: self.scale}
        self.linear = self._linear()

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
        self.linear = self._linear()

    def _linear(self) -> Float64Array:
        """Return the linear parts of the replacement motion."""
        rotation = self.channels[ROTATION]
        unit = rotation / np.sqrt(np.einsum("ij,ij->i", rotation, rotation))[:, np.newaxis]
        return to_matrix(unit) * self.channels[SCALE][:, np.newaxis]


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
    held, wanted : ndarray of float32, shape (3, p, frames)
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
    joint_values = values[:, link.columns]
    animated = {name: joint_values[:, columns].T for name, columns in link.joint.columns.items()}
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
    x, y, z = link.held.take(row, axis=2)
    squares = np.zeros(x.shape, dtype=np.float32)
    for line, start, wanted in zip(lines, offset, link.wanted, strict=True):
        deviation = line[0] * x
        deviation += line[1] * y
        deviation += line[2] * z
        deviation += start
        deviation -= wanted.take(row, axis=1)
        deviation *= deviation
        squares += deviation
    squares *= link.weights.take(row, axis=1)
    np.maximum(largest_squares, squares.max(axis=0, initial=0.0), out=largest_squares)


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
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        error: float,
        still: tuple[float, float] | None = None,
        together: Iterable[Sequence[int]] = (),
        shares: Float64Array | None = None,
    ) -> None:
        self.joints = joints
        self.error = error
        self._owner = np.repeat(np.arange(len(joints)), [len(joint.points) for joint in joints])
        self.under = self._points_under()
        self._poses: list[tuple[Float64Array, Float64Array]] = [(np.zeros(0), np.zeros(0))] * len(joints)
        self._first_points = np.searchsorted(self._owner, np.arange(len(joints)))
        self._points = np.empty((len(self._owner), len(joints[0].rotation), 3))
        self.update_poses(range(len(joints)))
        self.wanted = self._points.copy()
        self.limits = limits_while_still(np.full(self.wanted.shape[:2], error), self.wanted, still)
        """The maximum deviation of each point at each frame, shape (points, frames)."""
        if shares is not None:
            self.limits *= shares
        self.keys: dict[int, KeySet] = {}
        """The keys of each group."""
        self.groups = self._groups(together)
        """The moving joints of each group, which share their keys."""
        self.smooth: dict[int, Float64Array] = {}
        """The values (frames, d) of keys with tension and bias, by group. Empty for keys with velocities."""
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
            rest, location = joint.offset[:3, :3], joint.channels[LOCATION]
            linear, position = rest @ joint.linear, location @ rest.T + joint.offset[:3, 3]
            if joint.parent >= 0:
                parent_linear, parent_position = self._poses[joint.parent]
                position = (parent_linear @ position[..., np.newaxis])[..., 0] + parent_position
                linear = parent_linear @ linear
            self._poses[number] = linear, position
            points = (linear @ joint.points.T + position[..., np.newaxis]).transpose(2, 0, 1)
            self._points[self._first_points[number] :][: len(points)] = points

    def errors(self) -> Float64Array:
        """Return the deviation of each point relative to its limit, shape (points, frames)."""
        errors: Float64Array = np.linalg.norm(self._points - self.wanted, axis=2) / self.limits
        return errors

    def distances_of_points(self) -> Float64Array:
        """Return each joint's distance to its farthest point, as the 95th percentile over frames, shape (joints,)."""
        reach = np.zeros(len(self.joints))
        for number, under in enumerate(self.under):
            distances = np.linalg.norm(self.wanted[under] - self._poses[number][1], axis=2)
            reach[number] = np.percentile(distances, 95, axis=1).max(initial=0.0)
        return reach

    def samples(self, groups: Sequence[int], is_strict: bool = False) -> Samples:
        """Return the samples of a batch's groups, whose errors are the deviations of all points that they move.

        The other groups play their current keys. A point may deviate by more than its limit if it already does, but its
        deviation must not increase. If `is_strict`, no deviation may exceed its limit.
        """
        limits = self.limits
        if not is_strict:
            limits = np.maximum(limits, np.linalg.norm(self._points - self.wanted, axis=2))
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
        smooth = np.stack([self.smooth[group] for group in groups]) if self.smooth else None
        return Samples(np.stack(values), measure, self.parts(groups[0]), np.stack(ends), smooth)

    def _links(self, group: int, limits: Float64Array) -> list[Link]:
        """Return the joints of a group as links, with the current positions of points and their limits."""
        numbers = self.groups[group]
        nearest = self._nearest(numbers)
        links: list[Link] = []
        for number, columns in self.columns(group):
            joint = self.joints[number]
            parent = int(nearest[joint.parent]) if joint.parent >= 0 else -1
            above, origin = self._transform_above(joint, numbers[parent] if parent >= 0 else None)
            own_points = np.flatnonzero((nearest[self._owner] == len(links)) & self._is_measured)
            linear, position = self._poses[number]
            held = (np.linalg.inv(linear) @ (self._points[own_points] - position)[..., np.newaxis])[..., 0]
            wanted = self.wanted[own_points] - position
            weights = 1.0 / (limits[own_points] ** 2)
            links.append(
                Link(
                    joint,
                    parent,
                    is_scaled=SCALE in joint.animated or bool((joint.scale != 1.0).any()),
                    above=np.ascontiguousarray(above.transpose(1, 2, 0)),
                    origin=np.ascontiguousarray(origin.T),
                    columns=columns,
                    center=np.ascontiguousarray(position.T),
                    held=np.ascontiguousarray(held.transpose(2, 0, 1), dtype=np.float32),
                    wanted=np.ascontiguousarray(wanted.transpose(2, 0, 1), dtype=np.float32),
                    weights=weights.astype(np.float32),
                )
            )
        return links

    def _transform_above(self, joint: Joint, ancestor: int | None) -> tuple[Float64Array, Float64Array]:
        """Return the linear part and position of a joint's rest axes, relative to an ancestor or to the world."""
        linear, position = joint.offset[:3, :3], joint.offset[:3, 3]
        if joint.parent >= 0:
            parent_linear, parent_position = self._poses[joint.parent]
            linear, position = parent_linear @ linear, parent_linear @ position + parent_position
        frames = len(joint.rotation)
        linear, position = np.broadcast_to(linear, (frames, 3, 3)), np.broadcast_to(position, (frames, 3))
        if ancestor is not None:
            ancestor_linear, ancestor_position = self._poses[ancestor]
            to_ancestor = np.linalg.inv(ancestor_linear)
            position = (to_ancestor @ (position - ancestor_position)[..., np.newaxis])[..., 0]
            linear = to_ancestor @ linear
        return linear, position

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
