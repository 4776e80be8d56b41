# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of an armature, with their original motion and the motion of their reduced keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...keys import BoolArray, Float64Array, IndexArray
from .joints import LOCATION, Joint, Link, PointErrors, chained, inverse
from .noise_and_rest import limits_while_still
from .windows import KeySet, Method, Samples, played_values

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
            transform = chained(joint.offset[:3, :, np.newaxis], joint.transform)
            if joint.parent >= 0:
                transform = chained(self._transforms[joint.parent], transform)
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
        """Return lists of groups whose joints have the same channels and the same parents within the group."""
        alike: dict[tuple[tuple[int, tuple[str, ...]], ...], list[int]] = {}
        for group, numbers in enumerate(self.groups):
            channels = (tuple(self.joints[number].animated) for number in numbers)
            alike.setdefault(tuple(zip(self._parents(group), channels, strict=True)), []).append(group)
        return [*alike.values()]

    def samples(self, groups: Sequence[int], share: float | None = None) -> Samples:
        """Return the samples of a batch's groups, whose errors are the deviations of all points that they move.

        The other groups play their current keys. A point may deviate by more than its limit if it already does, but its
        deviation must not increase. With a `share`, no deviation may exceed this fraction of its limit.
        """
        limits = np.maximum(self.limits, self._deviations()) if share is None else share * self.limits
        measure = PointErrors([self._links(group, limits) for group in groups])
        joints_of_groups = [[self.joints[number] for number in self.groups[group]] for group in groups]
        values = [np.concatenate([joint.samples for joint in joints], axis=1) for joints in joints_of_groups]
        ends = [np.concatenate([joint.given_ends for joint in joints], axis=1) for joints in joints_of_groups]
        return Samples(np.stack(values), measure, self.parts(groups[0]), np.stack(ends), self.method)

    def _links(self, group: int, limits: Float64Array) -> list[Link]:
        """Return the joints of a group as links, with the current positions of points and their limits."""
        numbers = self.groups[group]
        nearest = self._nearest(numbers)
        links: list[Link] = []
        for (number, columns), parent in zip(self.columns(group), self._parents(group), strict=True):
            joint, center = self.joints[number], self._transforms[number][:, 3]
            above, shift = self._above(number), -center
            to_joint = inverse(chained(above, joint.animated_transform))
            if parent >= 0:
                ancestor = numbers[parent]
                above = chained(
                    inverse(chained(self._above(ancestor), self.joints[ancestor].animated_transform)), above
                )
                shift = self._transforms[ancestor][:, 3] - center
            above[:, 3] += np.einsum("ijn,nj->in", above[:, :3], joint.location)
            if parent < 0:
                above[:, 3] += shift
            own_points = np.flatnonzero((nearest[self._owner] == len(links)) & self._is_measured)
            held = np.einsum("ijn,pjn->ipn", to_joint[:, :3], self._points[own_points] - center)
            wanted = (self.wanted[own_points] - center).transpose(1, 0, 2)
            points = np.concatenate([held, np.ones_like(held[:1]), wanted]) / limits[own_points]
            arrays = (array.astype(np.float32) for array in (above, shift, points))
            links.append(Link(joint, columns, parent, *arrays))
        return links

    def _above(self, number: int) -> Float64Array:
        """Return the transforms (3, 4, frames) from the rest axes of a joint to world axes."""
        joint = self.joints[number]
        above = np.repeat(joint.offset[:3, :, np.newaxis], len(joint.rotation), axis=2)
        return above if joint.parent < 0 else chained(self._transforms[joint.parent], above)

    def _parents(self, group: int) -> list[int]:
        """Return the nearest joint of the group above each of its joints, as an index into the group, or -1."""
        nearest = self._nearest(self.groups[group])
        parents = (self.joints[number].parent for number in self.groups[group])
        return [int(nearest[parent]) if parent >= 0 else -1 for parent in parents]

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
