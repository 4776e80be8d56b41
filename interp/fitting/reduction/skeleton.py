# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that move, and what of them counts: how far any of their points is from where it was.

Source: docs/formulas.md, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...batch import IndexArray
from ...keys import Float64Array
from ...rotations.quaternions import to_matrix, unroll_signs
from .fewest_keys import evaluate
from .standing_still import limits_while_still
from .tcb_curves import Method, curves_of
from .windows import KeySet, Samples

LOCATION, ROTATION, SCALE = "location", "rotation", "scale"
_WIDTHS = {LOCATION: 3, ROTATION: 4, SCALE: 3}


@dataclass(eq=False)
class Joint:
    """A bone, or the object above all bones.

    Attributes
    ----------
    parent : int
        The number of the joint that it hangs on, a smaller one; -1 for none.
    offset : ndarray, shape (4, 4)
        Its matrix at rest, in the axes of its parent's.
    location, rotation, scale : ndarray, shape (frames, 3) or (frames, 4)
        Its channels, one sample a frame; rotations unit quaternions.
    animated : sequence of str
        Which of these three are to be reduced; the others stay as they are.
    points : ndarray, shape (p, 3)
        The points that count, in its own axes.
    ends : dict of str to ndarray, shape (2, 3) or (2, 4)
        How the animated channels must change a frame at both ends; NaN where an end is free, as it then is of all.
        Empty: both are.
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

    def __post_init__(self) -> None:
        self.rotation = unroll_signs(self.rotation)
        self.channels = {LOCATION: self.location, ROTATION: self.rotation, SCALE: self.scale}

    @property
    def samples(self) -> Float64Array:
        """Return what is to be reduced side by side, shape (frames, d)."""
        return np.concatenate([getattr(self, name) for name in self.animated], axis=1)

    @property
    def given_ends(self) -> Float64Array:
        """Return how these must change a frame at both ends, shape (2, d); NaN where an end is free."""
        free = {name: np.full((2, _WIDTHS[name]), np.nan) for name in self.animated}
        return np.concatenate([self.ends.get(name, free[name]) for name in self.animated], axis=1)

    @property
    def columns(self) -> dict[str, slice]:
        """Return the columns of each of the animated channels."""
        found, start = {}, 0
        for name in self.animated:
            found[name] = slice(start, start := start + _WIDTHS[name])
        return found

    def parts(self, start: int) -> list[tuple[slice, bool]]:
        """Return these columns from a first one on, and whether each channel is a rotation."""
        return [(slice(start + own.start, start + own.stop), name == ROTATION) for name, own in self.columns.items()]

    def play(self, values: Float64Array) -> None:
        """Take values (frames, d) in place of the samples."""
        for name, own in self.columns.items():
            self.channels[name] = values[:, own]

    def local(self, rows: IndexArray | slice, values: Float64Array | None = None) -> Float64Array:
        """Return the matrices (n, 4, 4) of the channels at rows, with values (n, d) in place of what is played."""
        given = {name: self.channels[name][rows] for name in _WIDTHS}
        if values is not None:
            given |= {name: values[:, own] for name, own in self.columns.items()}
        turn = given[ROTATION]
        turn = turn / np.sqrt(np.einsum("ij,ij->i", turn, turn))[:, np.newaxis]
        matrices = np.zeros((len(turn), 4, 4))
        matrices[:, :3, :3] = to_matrix(turn) * given[SCALE][:, np.newaxis]
        matrices[:, :3, 3] = given[LOCATION]
        matrices[:, 3, 3] = 1.0
        return matrices


@dataclass(eq=False)
class Link:
    """A joint of a group, with what it takes along that hangs on no other joint of the group.

    Attributes
    ----------
    joint : Joint
    parent : int
        The link that it hangs on, at any distance; -1 for none.
    above : ndarray, shape (frames, 4, 4)
        From the axes of that link's joint, or the world's, to those in which the joint's own channels are.
    columns : slice
        Of the group's samples.
    held, wanted : ndarray, shape (frames, 3, p)
        The points taken along, in the joint's own axes, and where they should be in the world.
    weights : ndarray, shape (frames, p)
        Of their squared distances.
    """

    joint: Joint
    parent: int
    above: Float64Array
    columns: slice
    held: Float64Array
    wanted: Float64Array
    weights: Float64Array

    def worst(self, row: IndexArray, pose: Float64Array) -> Float64Array:
        """Return the largest squared errors (n,) of the points, with poses (n, 4, 4) of the joint at rows (n,)."""
        off = pose[:, :3, :3] @ self.held[row] + pose[:, :3, 3:] - self.wanted[row]
        squares: Float64Array = (np.einsum("nip,nip->np", off, off) * self.weights[row]).max(axis=1)
        return squares


class Skeleton:
    """Joints with their motion, and what is played in place of it.

    Parameters
    ----------
    joints : sequence of Joint
        Each after its parent.
    error : float
        How far points may be from where they were.
    still : tuple of float, or None
        A radius, and how far points may be off while they stand still, if that is less than the error: see
        `stand_still`.
    together : iterable of sequences of int
        Joints that have their keys in common; all others have their own.
    parts : ndarray, shape (points, frames), or None
        The parts of all this that are allowed to each point at each frame. None: all of it.
    method : "HERMITE", "TCB" or "TCB_EASE"
        What keys have beside their values: see `reduce_tracks`.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        error: float,
        still: tuple[float, float] | None = None,
        together: Iterable[Sequence[int]] = (),
        parts: Float64Array | None = None,
        method: Method = "HERMITE",
    ) -> None:
        self.method: Method = method
        self.joints = joints
        self.error = error
        self.owner = np.repeat(np.arange(len(joints)), [len(joint.points) for joint in joints])
        self.under = self._points_under()
        self.wanted = self.points_of(self.poses())
        self.limits = limits_while_still(np.full(self.wanted.shape[:2], error), self.wanted, still)
        """How far each point may be off at each frame, shape (points, frames)."""
        if parts is not None:
            self.limits *= parts
        self.keys: dict[int, KeySet] = {}
        """Of each group."""
        self.groups = self._groups(together)
        """The joints that have their keys in common, in their order; only those that move."""

    def _groups(self, together: Iterable[Sequence[int]]) -> list[list[int]]:
        left = dict.fromkeys(number for number, joint in enumerate(self.joints) if joint.animated)
        found = []
        for own in together:
            group = sorted(number for number in set(own) if number in left)
            for number in group:
                del left[number]
            if group:
                found.append(group)
        return sorted([*found, *([number] for number in left)])

    def _points_under(self) -> list[IndexArray]:
        """Return the points that each joint takes along."""
        belongs = np.eye(len(self.joints), dtype=np.bool_)
        for number in range(len(self.joints) - 1, -1, -1):
            if (parent := self.joints[number].parent) >= 0:
                belongs[parent] |= belongs[number]
        return [np.flatnonzero(own[self.owner]) for own in belongs]

    def takes_along(self, group: int, point: int) -> bool:
        """Return whether a joint of the group does."""
        return any(point in self.under[number] for number in self.groups[group])

    def columns(self, group: int) -> list[tuple[int, slice]]:
        """Return the joints of a group, each with the columns of its channels in the group's samples."""
        found, start = [], 0
        for number in self.groups[group]:
            found.append((number, slice(start, start := start + self.joints[number].samples.shape[1])))
        return found

    def parts(self, group: int) -> list[tuple[slice, bool]]:
        """Return the columns of all channels of a group, and whether they are rotations."""
        return [part for number, columns in self.columns(group) for part in self.joints[number].parts(columns.start)]

    def poses(self) -> Float64Array:
        """Return the matrices of all joints, shape (joints, frames, 4, 4)."""
        found: list[Float64Array] = []
        for joint in self.joints:
            placed = joint.offset @ joint.local(slice(None))
            found.append(placed if joint.parent < 0 else found[joint.parent] @ placed)
        return np.stack(found)

    def points_of(self, poses: Float64Array) -> Float64Array:
        """Return where all points are, shape (points, frames, 3)."""
        found = [
            np.einsum("fij,pj->pfi", matrices[:, :3, :3], joint.points) + matrices[:, :3, 3]
            for joint, matrices in zip(self.joints, poses, strict=True)
        ]
        return np.concatenate(found)

    def errors(self) -> Float64Array:
        """Return how far each point is from where it was, as a part of what is allowed, shape (points, frames)."""
        errors: Float64Array = np.linalg.norm(self.points_of(self.poses()) - self.wanted, axis=2) / self.limits
        return errors

    def distances_of_points(self) -> Float64Array:
        """Return how far away each joint's points are, but for a few frames, shape (joints,)."""
        poses = self.poses()
        found = np.zeros(len(self.joints))
        for number, under in enumerate(self.under):
            far = np.linalg.norm(self.wanted[under] - poses[number, :, :3, 3], axis=2)
            found[number] = np.percentile(far, 95, axis=1).max(initial=0.0)
        return found

    def samples(self, group: int, is_strict: bool = False) -> Samples:
        """Return the samples of a group, with an error measured on all that it takes along; others play as they do.

        Where a point is off by more than allowed already that must not grow; if `is_strict`, it must be less.
        """
        links = self._links(group, is_strict)

        def measure(_track: IndexArray, row: IndexArray, values: Float64Array) -> Float64Array:
            worst = np.zeros(len(row))
            poses: list[Float64Array] = []
            for link in links:
                above = link.above[row] if link.parent < 0 else poses[link.parent] @ link.above[row]
                poses.append(above @ link.joint.local(row, values[:, link.columns]))
                if link.held.shape[2]:
                    np.maximum(worst, link.worst(row, poses[-1]), out=worst)
            errors: Float64Array = np.sqrt(worst)
            return errors

        own = [self.joints[number] for number in self.groups[group]]
        joined = np.concatenate([joint.samples for joint in own], axis=1)
        ends = np.concatenate([joint.given_ends for joint in own], axis=1)
        return Samples(joined[np.newaxis], measure, False, curves_of(self.method, self.parts(group)), ends[np.newaxis])

    def _links(self, group: int, is_strict: bool) -> list[Link]:
        poses = self.poses()
        places = self.points_of(poses)
        limits = self.limits
        if not is_strict:
            limits = np.maximum(limits, np.linalg.norm(places - self.wanted, axis=2))
        numbers = self.groups[group]
        nearest = self._nearest(numbers)
        found: list[Link] = []
        for number, columns in self.columns(group):
            joint = self.joints[number]
            above, parent = np.broadcast_to(joint.offset, poses[number].shape), -1
            if joint.parent >= 0:
                above, parent = poses[joint.parent] @ joint.offset, nearest[joint.parent]
            if parent >= 0:
                above = np.linalg.inv(poses[numbers[parent]]) @ above
            points = np.flatnonzero(nearest[self.owner] == len(found))
            own = np.linalg.inv(poses[number])
            held = own[:, :3, :3] @ places[points].transpose(1, 2, 0) + own[:, :3, 3:]
            wanted = self.wanted[points].transpose(1, 2, 0)
            weights = 1.0 / (limits[points] ** 2).T
            found.append(Link(joint, parent, above, columns, held, wanted, weights))
        return found

    def _nearest(self, numbers: Sequence[int]) -> IndexArray:
        """Return for each joint which of some, in their order, it is or hangs on most closely; -1 for none."""
        found = np.full(len(self.joints), -1, dtype=np.intp)
        for number, joint in enumerate(self.joints):
            if number in numbers:
                found[number] = numbers.index(number)
            elif joint.parent >= 0:
                found[number] = found[joint.parent]
        return found

    def take(self, group: int, keys: KeySet, samples: Samples) -> None:
        """Play these keys of a group from now on."""
        self.keys[group] = keys
        played = evaluate(samples, keys)[0][0]
        for number, columns in self.columns(group):
            self.joints[number].play(played[:, columns])
