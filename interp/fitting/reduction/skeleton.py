# SPDX-License-Identifier: GPL-3.0-or-later
"""Moving bones, and the deviation of their heads and tails from the original motion.

Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...key_batch import BoolArray, IndexArray
from ...keys import Float64Array
from .joints import LOCATION, SCALE, Joint
from .key_sets import KeySet, Samples
from .links import Link, largest_errors
from .segment_samples import played_values
from .standing_still import limits_while_still

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
        self._poses = self._compute_poses()
        self.wanted = self._points()
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

    def _compute_poses(self) -> list[tuple[Float64Array, Float64Array]]:
        """Return the linear parts (frames, 3, 3) and positions (frames, 3) of all joints."""
        poses: list[tuple[Float64Array, Float64Array]] = []
        for joint in self.joints:
            rest, location = joint.offset[:3, :3], joint.channels[LOCATION]
            linear, position = rest @ joint.linear(), location @ rest.T + joint.offset[:3, 3]
            if joint.parent >= 0:
                parent_linear, parent_position = poses[joint.parent]
                position = (parent_linear @ position[..., np.newaxis])[..., 0] + parent_position
                linear = parent_linear @ linear
            poses.append((linear, position))
        return poses

    def _points(self) -> Float64Array:
        """Return the positions of all points in the replacement motion, shape (points, frames, 3)."""
        by_joint = [
            (linear @ joint.points.T + position[..., np.newaxis]).transpose(2, 0, 1)
            for joint, (linear, position) in zip(self.joints, self._poses, strict=True)
        ]
        return np.concatenate(by_joint)

    def errors(self) -> Float64Array:
        """Return the deviation of each point relative to its limit, shape (points, frames)."""
        errors: Float64Array = np.linalg.norm(self._points() - self.wanted, axis=2) / self.limits
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
        points = self._points()
        limits = self.limits
        if not is_strict:
            limits = np.maximum(limits, np.linalg.norm(points - self.wanted, axis=2))
        links_of_groups = [self._links(group, points, limits) for group in groups]

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

    def _links(self, group: int, points: Float64Array, limits: Float64Array) -> list[Link]:
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
            held = (np.linalg.inv(linear) @ (points[own_points] - position)[..., np.newaxis])[..., 0]
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
                    held=np.ascontiguousarray(held.transpose(0, 2, 1), dtype=np.float32),
                    wanted=np.ascontiguousarray(wanted.transpose(0, 2, 1), dtype=np.float32),
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
        self.update_poses()

    def remove_keys(self, group: int) -> None:
        """Make the joints of a group play their samples, without keys."""
        del self.keys[group]
        for number in self.groups[group]:
            self.joints[number].play(self.joints[number].samples)
        self.update_poses()

    def update_poses(self) -> None:
        """Compute the poses of all joints from their channels."""
        self._poses = self._compute_poses()

    def keys_of(self, groups: Sequence[int]) -> KeySet:
        """Return the keys of a batch's groups."""
        key_sets = [self.keys[group] for group in groups]
        track = np.repeat(np.arange(len(groups)), [len(keys.rows) for keys in key_sets])
        arrays = (
            np.concatenate([getattr(keys, name) for keys in key_sets]) for name in ("rows", "values", "velocities")
        )
        return KeySet(track, *arrays)
