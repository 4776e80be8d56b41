# SPDX-License-Identifier: GPL-3.0-or-later
"""Moving bones, and the deviation of their heads and tails from the original motion.

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
from .standing_still import limits_while_still
from .windows import KeySet, Samples, played

Float32Array = npt.NDArray[np.float32]
LOCATION, ROTATION, SCALE = "location", "rotation", "scale"
_WIDTHS = {LOCATION: 3, ROTATION: 4, SCALE: 3}
_SAME = 1e-9
"""Points closer than this fraction of the total size are the same point."""


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

    def __post_init__(self) -> None:
        self.rotation = unroll_signs(self.rotation)
        self.channels = {LOCATION: self.location, ROTATION: self.rotation, SCALE: self.scale}

    @property
    def samples(self) -> Float64Array:
        """Return the numbers to reduce, side by side, shape (frames, d)."""
        return np.concatenate([getattr(self, name) for name in self.animated], axis=1)

    @property
    def played(self) -> Float64Array:
        """Return the replacement motion, with rotations as unit quaternions, shape (frames, d)."""
        every = {name: self.channels[name] for name in self.animated}
        return np.concatenate([normalise(own) if name == ROTATION else own for name, own in every.items()], axis=1)

    @property
    def given_ends(self) -> Float64Array:
        """Return the required derivatives per frame at both ends, shape (2, d), with NaN at a free end."""
        free = {name: np.full((2, _WIDTHS[name]), np.nan) for name in self.animated}
        return np.concatenate([self.ends.get(name, free[name]) for name in self.animated], axis=1)

    @property
    def columns(self) -> dict[str, slice]:
        """Return the columns of each animated channel."""
        found, start = {}, 0
        for name in self.animated:
            found[name] = slice(start, start := start + _WIDTHS[name])
        return found

    def parts(self, start: int) -> list[tuple[slice, bool]]:
        """Return the columns counted from a first column, and whether each channel is a rotation."""
        return [(slice(start + own.start, start + own.stop), name == ROTATION) for name, own in self.columns.items()]

    def play(self, values: Float64Array) -> None:
        """Replace the samples with values (frames, d)."""
        for name, own in self.columns.items():
            self.channels[name] = values[:, own]

    def linear(self) -> Float64Array:
        """Return the linear parts of the replacement motion, shape (frames, 3, 3)."""
        turn = self.channels[ROTATION]
        turn = turn / np.sqrt(np.einsum("ij,ij->i", turn, turn))[:, np.newaxis]
        return to_matrix(turn) * self.channels[SCALE][:, np.newaxis]


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
        self._poses = self._posed()
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
        self._counts = self._points_that_count()

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

    def batches(self) -> list[list[int]]:
        """Return lists of groups to search together, with the root first.

        The groups of a list have the same channels and the same depth, so no group moves the points of another group.
        """
        depths: list[int] = []
        for joint in self.joints:
            depths.append(0 if joint.parent < 0 else depths[joint.parent] + 1)
        found: dict[tuple[object, ...], list[int]] = {}
        for group in self.keys:
            numbers = self.groups[group]
            own = self.joints[numbers[0]]
            alone = (depths[numbers[0]], -1, *own.animated)
            found.setdefault(alone if len(numbers) == 1 else (depths[numbers[0]], group), []).append(group)
        return [found[key] for key in sorted(found, key=lambda key: (key[0], found[key][0]))]

    def _points_under(self) -> list[IndexArray]:
        """Return the indices of the points that each joint moves."""
        belongs = np.eye(len(self.joints), dtype=np.bool_)
        for number in range(len(self.joints) - 1, -1, -1):
            if (parent := self.joints[number].parent) >= 0:
                belongs[parent] |= belongs[number]
        return [np.flatnonzero(own[self._owner]) for own in belongs]

    def _points_that_count(self) -> BoolArray:
        """Return a mask of the points that the search measures. A head at the parent's tail is omitted."""
        found = np.ones(len(self._owner), dtype=np.bool_)
        size = _SAME * max(float(np.abs(self.wanted).max(initial=0.0)), np.finfo(np.float64).tiny)
        for point, number in enumerate(self._owner.tolist()):
            joint = self.joints[number]
            if LOCATION in joint.animated or joint.parent < 0:
                continue
            above = np.flatnonzero(self._owner == joint.parent)
            same = np.abs(self.wanted[above] - self.wanted[point]).max(axis=(1, 2)) <= size
            same &= (self.limits[above] <= self.limits[point]).all(axis=1)
            found[point] = not same.any()
        return found

    def takes_along(self, group: int, point: int) -> bool:
        """Return whether a joint of the group moves the point."""
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

    def _posed(self) -> list[tuple[Float64Array, Float64Array]]:
        """Return the linear parts (frames, 3, 3) and positions (frames, 3) of all joints."""
        found: list[tuple[Float64Array, Float64Array]] = []
        for joint in self.joints:
            rest, place = joint.offset[:3, :3], joint.channels[LOCATION]
            linear, place = rest @ joint.linear(), place @ rest.T + joint.offset[:3, 3]
            if joint.parent >= 0:
                above, origin = found[joint.parent]
                linear, place = above @ linear, (above @ place[..., np.newaxis])[..., 0] + origin
            found.append((linear, place))
        return found

    def _points(self) -> Float64Array:
        """Return the positions of all points in the replacement motion, shape (points, frames, 3)."""
        found = [
            (linear @ joint.points.T + place[..., np.newaxis]).transpose(2, 0, 1)
            for joint, (linear, place) in zip(self.joints, self._poses, strict=True)
        ]
        return np.concatenate(found)

    def errors(self) -> Float64Array:
        """Return the deviation of each point relative to its limit, shape (points, frames)."""
        errors: Float64Array = np.linalg.norm(self._points() - self.wanted, axis=2) / self.limits
        return errors

    def distances_of_points(self) -> Float64Array:
        """Return each joint's distance to its farthest point, as the 95th percentile over frames, shape (joints,)."""
        found = np.zeros(len(self.joints))
        for number, under in enumerate(self.under):
            far = np.linalg.norm(self.wanted[under] - self._poses[number][1], axis=2)
            found[number] = np.percentile(far, 95, axis=1).max(initial=0.0)
        return found

    def samples(self, groups: Sequence[int], is_strict: bool = False) -> Samples:
        """Return the samples of a batch's groups, whose errors are the deviations of all points that they move.

        The other groups play their current keys. A point may deviate by more than its limit if it already does, but its
        deviation must not increase. If `is_strict`, no deviation may exceed its limit.
        """
        places = self._points()
        limits = self.limits
        if not is_strict:
            limits = np.maximum(limits, np.linalg.norm(places - self.wanted, axis=2))
        links = [self._links(group, places, limits) for group in groups]

        def measure(track: IndexArray, row: IndexArray, values: Float64Array) -> Float64Array:
            worst = np.zeros(len(row))
            for number, own in enumerate(links):
                at = np.flatnonzero(track == number) if len(links) > 1 else slice(None)
                worst[at] = _worst(own, row[at], values[at])
            return worst

        joined = [
            np.concatenate([self.joints[number].samples for number in self.groups[group]], axis=1) for group in groups
        ]
        ends = [
            np.concatenate([self.joints[number].given_ends for number in self.groups[group]], axis=1)
            for group in groups
        ]
        smooth = np.stack([self.smooth[group] for group in groups]) if self.smooth else None
        return Samples(np.stack(joined), measure, self.parts(groups[0]), np.stack(ends), smooth)

    def _links(self, group: int, places: Float64Array, limits: Float64Array) -> list[Link]:
        numbers = self.groups[group]
        nearest = self._nearest(numbers)
        found: list[Link] = []
        for number, columns in self.columns(group):
            joint = self.joints[number]
            above, origin = joint.offset[:3, :3], joint.offset[:3, 3]
            parent = -1
            if joint.parent >= 0:
                turned, at = self._poses[joint.parent]
                above, origin = turned @ above, turned @ origin + at
                parent = nearest[joint.parent]
            frames = len(joint.rotation)
            above, origin = np.broadcast_to(above, (frames, 3, 3)), np.broadcast_to(origin, (frames, 3))
            if parent >= 0:
                turned, at = self._poses[numbers[parent]]
                back = np.linalg.inv(turned)
                above, origin = back @ above, (back @ (origin - at)[..., np.newaxis])[..., 0]
            points = np.flatnonzero((nearest[self._owner] == len(found)) & self._counts)
            turned, at = self._poses[number]
            held = (np.linalg.inv(turned) @ (places[points] - at)[..., np.newaxis])[..., 0]
            wanted = self.wanted[points] - at
            weights = 1.0 / (limits[points] ** 2)
            is_scaled = SCALE in joint.animated or bool((joint.scale != 1.0).any())
            turned_above = np.ascontiguousarray(above.transpose(1, 2, 0))
            held32, wanted32 = (
                np.ascontiguousarray(each.transpose(0, 2, 1), dtype=np.float32) for each in (held, wanted)
            )
            center, origins = np.ascontiguousarray(at.T), np.ascontiguousarray(origin.T)
            place = parent, is_scaled, turned_above, origins
            found.append(Link(joint, *place, columns, center, held32, wanted32, weights.astype(np.float32)))
        return found

    def _nearest(self, numbers: Sequence[int]) -> IndexArray:
        """Return the nearest of the given joints at or above each joint, as an index into `numbers`, or -1 for none."""
        found = np.full(len(self.joints), -1, dtype=np.intp)
        for number, joint in enumerate(self.joints):
            if number in numbers:
                found[number] = numbers.index(number)
            elif joint.parent >= 0:
                found[number] = found[joint.parent]
        return found

    def take(self, groups: Sequence[int], keys: KeySet, samples: Samples) -> None:
        """Make a batch's groups play these keys."""
        every = played(samples, keys)
        for track, group in enumerate(groups):
            own = keys.take(keys.track == track)
            self.keys[group] = KeySet(np.zeros_like(own.track), own.rows, own.values, own.velocities)
            for number, columns in self.columns(group):
                self.joints[number].play(every[track][:, columns])
        self.pose()

    def leave(self, group: int) -> None:
        """Make the joints of a group play their samples, without keys."""
        del self.keys[group]
        for number in self.groups[group]:
            self.joints[number].play(self.joints[number].samples)
        self.pose()

    def pose(self) -> None:
        """Compute the poses of all joints from their channels."""
        self._poses = self._posed()

    def keys_of(self, groups: Sequence[int]) -> KeySet:
        """Return the keys of a batch's groups."""
        every = [self.keys[group] for group in groups]
        track = np.repeat(np.arange(len(groups)), [len(keys.rows) for keys in every])
        own = (np.concatenate([getattr(keys, name) for keys in every]) for name in ("rows", "values", "velocities"))
        return KeySet(track, *own)


def _worst(links: Sequence[Link], row: IndexArray, values: Float64Array) -> Float64Array:
    """Return the largest errors (n,) of all points that links move, with values (n, d) at rows (n,).

    Separate arrays for each coordinate are three times as fast as products of small matrices.
    """
    worst = np.zeros(len(row), dtype=np.float32)
    poses: list[tuple[_Linear, _Place]] = []
    for link in links:
        given = {name: values[:, own].T for name, own in link.joint.columns.items()}
        own = link.joint.channels
        linear = _turns(given[ROTATION] if ROTATION in given else own[ROTATION].T.take(row, axis=1))
        if link.is_scaled:
            scale = given[SCALE] if SCALE in given else own[SCALE].T.take(row, axis=1)
            linear = [[each * size for each, size in zip(line, scale, strict=True)] for line in linear]
        place: _Place = [*(given[LOCATION] if LOCATION in given else own[LOCATION].T.take(row, axis=1))]
        above = [[each.take(row) for each in line] for line in link.above]
        linear, place = _placed((above, [*link.origin.take(row, axis=1)]), (linear, place))
        if link.parent >= 0:
            linear, place = _placed(poses[link.parent], (linear, place))
        poses.append((linear, place))
        # Positions relative to the original joint keep enough digits in float32.
        near = [(own - at.take(row)).astype(np.float32) for own, at in zip(place, link.center, strict=True)]
        turned = [[each.astype(np.float32) for each in line] for line in linear]
        for held, wanted, weights in zip(link.held, link.wanted, link.weights, strict=True):
            x, y, z = (each.take(row) for each in held)
            squares = np.zeros(len(row), dtype=np.float32)
            for line, own, aim in zip(turned, near, wanted, strict=True):
                off = line[0] * x
                off += line[1] * y
                off += line[2] * z
                off += own
                off -= aim.take(row)
                off *= off
                squares += off
            squares *= weights.take(row)
            np.maximum(worst, squares, out=worst)
    errors: Float64Array = np.sqrt(worst).astype(np.float64)
    return errors


_Linear = Sequence[Sequence[Float64Array]]
"""The three rows of matrices."""
_Place = Sequence[Float64Array]


def _turns(q: Float64Array) -> _Linear:
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


def _placed(above: tuple[_Linear, _Place], own: tuple[_Linear, _Place]) -> tuple[_Linear, _Place]:
    """Return the pose of each joint that has a parent."""
    lines, origin = above
    columns, place = [*zip(*own[0], strict=True)], own[1]
    linear = [[line[0] * c[0] + line[1] * c[1] + line[2] * c[2] for c in columns] for line in lines]
    at = [
        line[0] * place[0] + line[1] * place[1] + line[2] * place[2] + start
        for line, start in zip(lines, origin, strict=True)
    ]
    return linear, at
