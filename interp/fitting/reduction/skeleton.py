# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewest keys for bones: the error is the largest distance of any of their points from where it was.

Source: docs/formulas.md, "Fewest keys".
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...batch import BoolArray, IndexArray
from ...keys import Float64Array, Keys
from ...rotations.quaternions import angle_between, normalise, to_matrix, unroll_signs
from ...splines import hermite
from .search import LEVELS, KeySet, evaluate, fewest_keys, move, within, without_needless
from .tracks import Part, Reduced, of_rotation, samples_of
from .windows import Samples
from .windows import hermite as hermite_weights

_SHARE = 0.45
"""The part of the error that a bone may make by itself when the search begins; a handful of bones add up."""
_ROUNDS = 40
"""The most keys that are put into a segment of rotations, which Hermite's spline plays otherwise, less one."""
_SWEEPS = 2
"""How often all bones are gone through, with all others as they are by then."""

STILL_FRAMES = 8
"""The frames over which a point that stands still does so."""

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
    """

    parent: int
    offset: Float64Array
    location: Float64Array
    rotation: Float64Array
    scale: Float64Array
    animated: Sequence[str]
    points: Float64Array
    channels: dict[str, Float64Array] = field(init=False)

    def __post_init__(self) -> None:
        self.rotation = unroll_signs(self.rotation)
        self.channels = {LOCATION: self.location, ROTATION: self.rotation, SCALE: self.scale}

    @property
    def samples(self) -> Float64Array:
        """Return what is to be reduced side by side, shape (frames, d)."""
        return np.concatenate([getattr(self, name) for name in self.animated], axis=1)

    @property
    def columns(self) -> dict[str, slice]:
        """Return the columns of each of the animated channels."""
        found, start = {}, 0
        for name in self.animated:
            found[name] = slice(start, start := start + _WIDTHS[name])
        return found

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


class Skeleton:
    """Joints with their motion, and what is played in place of it.

    Parameters
    ----------
    joints : sequence of Joint
        Each after its parent.
    error : float
        How far points may be from where they were.
    still : float or None
        The same of points while they stand still, if that is less: where they keep within a ball of that radius, for
        `STILL_FRAMES` frames or more.
    """

    def __init__(self, joints: Sequence[Joint], error: float, still: float | None = None) -> None:
        self.joints = joints
        self.error = error
        self.owner = np.repeat(np.arange(len(joints)), [len(joint.points) for joint in joints])
        self.under = self._points_under()
        self.wanted = self.points_of(self.poses())
        self.limits = np.full(self.wanted.shape[:2], error)
        """How far each point may be off at each frame, shape (points, frames)."""
        if still is not None and still < error:
            self.limits[stand_still(self.wanted, still)] = still
        self.keys: dict[int, KeySet] = {}
        self.moving = [number for number, joint in enumerate(joints) if joint.animated]

    def _points_under(self) -> list[IndexArray]:
        """Return the points that each joint takes along."""
        belongs = np.eye(len(self.joints), dtype=np.bool_)
        for number in range(len(self.joints) - 1, -1, -1):
            if (parent := self.joints[number].parent) >= 0:
                belongs[parent] |= belongs[number]
        return [np.flatnonzero(own[self.owner]) for own in belongs]

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

    def samples(self, number: int, is_strict: bool = False) -> Samples:
        """Return the samples of a joint, with an error measured on all that it takes along; others play as they do.

        Where it is larger than allowed already it must not grow; if `is_strict`, it must be less everywhere.
        """
        joint, under = self.joints[number], self.under[number]
        poses = self.poses()
        places = self.points_of(poses)
        limits = self.limits[under]
        if not is_strict:
            limits = np.maximum(limits, np.linalg.norm(places[under] - self.wanted[under], axis=2))
        above = joint.offset if joint.parent < 0 else poses[joint.parent] @ joint.offset
        above = np.broadcast_to(above, poses[number].shape)
        # What hangs on the joint stays as it is in the joint's own axes; where it should be is given in the parent's.
        own, back = np.linalg.inv(poses[number]), np.linalg.inv(above)
        held = own[:, :3, :3] @ places[under].transpose(1, 2, 0) + own[:, :3, 3:]
        wanted = back[:, :3, :3] @ self.wanted[under].transpose(1, 2, 0) + back[:, :3, 3:]
        stretch = above[:, :3, :3]
        # A common scale of all axes is a factor; otherwise distances are those in the world.
        squares = stretch.transpose(0, 2, 1) @ stretch
        factor = squares[:, 0, 0]
        is_even = np.allclose(
            squares, factor[:, np.newaxis, np.newaxis] * np.eye(3), rtol=0.0, atol=1e-6 * factor.max()
        )
        weights = (factor[:, np.newaxis] if is_even else 1.0) / (limits * limits).T

        def measure(_track: IndexArray, row: IndexArray, values: Float64Array) -> Float64Array:
            matrices = joint.local(row, values)
            off = matrices[:, :3, :3] @ held[row] + matrices[:, :3, 3:] - wanted[row]
            if not is_even:
                off = stretch[row] @ off
            errors: Float64Array = np.sqrt((np.einsum("nip,nip->np", off, off) * weights[row]).max(axis=1))
            return errors

        return Samples(joint.samples[np.newaxis], measure, is_exact=False)

    def take(self, number: int, keys: KeySet, samples: Samples) -> None:
        """Play these keys of a joint from now on."""
        self.keys[number] = keys
        self.joints[number].play(evaluate(samples, keys)[0][0])


def stand_still(points: Float64Array, radius: float) -> BoolArray:
    """Return at which frames points (p, frames, 3) stand still, shape (p, frames).

    They do where they keep within a ball of that radius, about the middle of their box, for `STILL_FRAMES` or more.
    """
    still: BoolArray = np.zeros((len(points), points.shape[1]), dtype=np.bool_)
    if points.shape[1] < STILL_FRAMES:
        return still
    windows = np.lib.stride_tricks.sliding_window_view(points, STILL_FRAMES, axis=1)
    middle = (windows.max(axis=3) + windows.min(axis=3)) / 2.0
    far = np.linalg.norm(windows - middle[..., np.newaxis], axis=2).max(axis=2)
    for shift in range(STILL_FRAMES):
        still[:, shift : still.shape[1] - STILL_FRAMES + 1 + shift] |= far <= radius
    return still


def reduce_skeleton(skeleton: Skeleton) -> Generator[float, None, dict[int, Reduced]]:
    """Search for the fewest keys of all joints, and return them by the joint's number.

    Yields which part of the work is done, about.

    Parameters
    ----------
    skeleton : Skeleton
        It plays what was found in the end.

    Returns
    -------
    dict of int to Reduced
        The parts of a joint are its animated channels, in their order. No point of the skeleton is farther from where
        it was than the skeleton's limits, at any frame, where Hermite's splines play the keys.
    """
    reach = skeleton.distances_of_points()
    yield from _begin(skeleton, reach)
    moving = skeleton.moving
    done = 0
    for sweep in range(_SWEEPS):
        for number in moving[::-1] if sweep % 2 == 0 else moving:
            samples, keys = skeleton.samples(number), skeleton.keys[number]
            for level in LEVELS[-1:]:
                keys = without_needless(samples, keys, level)
            move(samples, keys)
            skeleton.take(number, without_needless(samples, keys, LEVELS[-1]), samples)
            done += 1
            yield 0.4 + 0.6 * done / (_SWEEPS * len(moving))
    _mend_rotations(skeleton, reach)
    return {number: _reduced(skeleton.joints[number], keys) for number, keys in skeleton.keys.items()}


def _begin(skeleton: Skeleton, reach: Float64Array) -> Generator[float, None, None]:
    """Give each joint keys with a tolerance by what hangs on it, and more where that is not enough."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for number in skeleton.moving:
        alike.setdefault(tuple(skeleton.joints[number].animated), []).append(number)
    ratios = {}
    done = 0
    for names, numbers in alike.items():
        allowed = _SHARE * np.stack([skeleton.limits[skeleton.under[number]].min(axis=0) for number in numbers])
        angles = allowed / np.maximum(reach[numbers], 1e-3 * skeleton.error)[:, np.newaxis]
        parts = [
            Part(
                np.stack([getattr(skeleton.joints[number], name) for number in numbers]),
                allowed if name == LOCATION else angles,
                name == ROTATION,
            )
            for name in names
        ]
        samples = samples_of(parts, is_exact=False)
        keys = yield from fewest_keys(samples)
        played, errors = evaluate(samples, keys)
        for place, number in enumerate(numbers):
            own = keys.keep(keys.track == place)
            own.track[:] = 0
            skeleton.keys[number] = own
            skeleton.joints[number].play(played[place])
            ratios[number] = errors[place]
        done += len(numbers)
        yield 0.3 * done / len(skeleton.moving)
    mend(skeleton, ratios)
    yield 0.4


def mend(skeleton: Skeleton, ratios: dict[int, Float64Array]) -> None:
    """Give joints more keys until no point is too far away; those first that are farthest off there by themselves."""
    for _ in range(len(skeleton.moving)):
        far = skeleton.errors()
        bad = np.flatnonzero(far.max(axis=0) > 1.0)
        if not len(bad):
            return
        frame = bad[np.argmax(far[:, bad].max(axis=0))]
        point = int(np.argmax(far[:, frame]))
        above = [number for number in skeleton.moving if point in skeleton.under[number]]
        worst = max(above, key=lambda number: ratios[number][frame], default=None)
        if worst is None or ratios[worst][frame] <= 0.0:
            return
        samples = skeleton.samples(worst, is_strict=True)
        skeleton.take(worst, within(samples, skeleton.keys[worst]), samples)
        ratios[worst] = np.zeros_like(ratios[worst])


def _reduced(joint: Joint, keys: KeySet) -> Reduced:
    """Return the keys of a joint by its animated channels."""
    values, velocities = [], []
    for name, own in joint.columns.items():
        value, velocity = keys.values[:, own], keys.velocities[:, own]
        if name == ROTATION:
            value, velocity = of_rotation(value, velocity)
        values.append(value)
        velocities.append(velocity)
    return Reduced(keys.rows, values, velocities, 1.0)


def _mend_rotations(skeleton: Skeleton, reach: Float64Array) -> None:
    """Divide segments where Hermite's spline of rotation vectors leaves the cubic of quaternions by too much.

    The new keys lie on the cubic, which stays as it is; the shorter a segment, the nearer to it is the spline.
    """
    joints = skeleton.joints
    turning = [number for number in skeleton.moving if ROTATION in joints[number].animated]
    cubics = {number: normalise(joints[number].channels[ROTATION]) for number in turning}
    changed = set(turning)
    off: dict[int, Float64Array] = {}
    for _ in range(_ROUNDS):
        for number in changed:
            joints[number].channels[ROTATION] = played = _turned(joints[number], skeleton.keys[number])
            off[number] = angle_between(played, cubics[number]) * reach[number]
        far = skeleton.errors()
        cuts: set[tuple[int, int]] = set()
        for frame in np.flatnonzero(far.max(axis=0) > 1.0).tolist():
            point = int(np.argmax(far[:, frame]))
            above = [number for number in turning if point in skeleton.under[number]]
            worst = max(above, key=lambda number: float(off[number][frame]), default=None)
            if worst is None:
                continue
            rows = skeleton.keys[worst].rows
            segment = int(np.clip(np.searchsorted(rows, frame, side="right") - 1, 0, len(rows) - 2))
            if rows[segment + 1] - rows[segment] > 1:
                cuts.add((worst, int(rows[segment] + rows[segment + 1]) // 2))
        if not cuts:
            return
        for number, row in sorted(cuts):
            skeleton.keys[number] = _divided(skeleton.keys[number], row)
        changed = {number for number, _ in cuts}


def _turned(joint: Joint, keys: KeySet) -> Float64Array:
    """Return the rotations (frames, 4) that Hermite's spline plays."""
    own = joint.columns[ROTATION]
    values, velocities = of_rotation(keys.values[:, own], keys.velocities[:, own])
    spline = hermite.RotationSpline(Keys(keys.rows.astype(np.float64), values), velocities=velocities)
    return spline(np.arange(len(joint.rotation), dtype=np.float64))


def _divided(keys: KeySet, row: int) -> KeySet:
    """Return the keys with one more at a row between two, on their cubic."""
    at = int(np.searchsorted(keys.rows, row))
    length = float(keys.rows[at] - keys.rows[at - 1])
    u = (row - keys.rows[at - 1]) / length
    start, end = keys.values[at - 1 : at + 1]
    points = np.stack([start, keys.velocities[at - 1] * length, end, keys.velocities[at] * length])
    value = hermite_weights(length, np.array([u]))[0] @ (points / np.array([1.0, length, 1.0, length])[:, np.newaxis])
    slope = np.array([6.0 * u * (u - 1.0), (1.0 - u) * (1.0 - 3.0 * u), 6.0 * u * (1.0 - u), u * (3.0 * u - 2.0)])
    return KeySet(
        np.insert(keys.track, at, keys.track[0]),
        np.insert(keys.rows, at, row),
        np.insert(keys.values, at, value, axis=0),
        np.insert(keys.velocities, at, slope @ points / length, axis=0),
    )
