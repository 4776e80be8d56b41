# SPDX-License-Identifier: GPL-3.0-or-later
"""Find how an importer has converted a file's axes, units and times, by comparing the file's keys with Blender's.

An importer rotates axes, scales units and reorients bones. The conversion of each node is constant:

    location = size turn translation + shift,   rotation = turn rotation own,   scale = factors scale

The constants are found from the poses at the file's keys. Poses on a line, for example, do not determine the turn
completely. The undetermined part is taken from `prior`, the turn implied by the ancestor nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from ...formats.motion import Curve, NodeMotion, Track
from ...interp import rotations
from ...interp.keys import Float64Array

# The conversion of a node's axes and units

_PRIOR = 1e-6
"""The weight of the prior relative to the poses. The prior affects only directions in which the poses do not move."""
_ITERATIONS = 3
"""The prior turn is replaced by the turn found, and the turn is found again, this many times."""
_SNAPPED = 2e-5
"""Within this tolerance, elements of a turn snap to 0 or 1, and sizes snap to powers of ten. The tolerance covers
float32 rounding."""
_NO_SHIFT = 0.1 * _SNAPPED
"""A shift below this fraction of the largest location is only rounding."""
_STILL = 1e-6
"""Displacements below this fraction of the largest location are only rounding."""
_NO_TURN = 1e-5
"""Turns below this size are only rounding."""
_SMALLEST = 1e-9
"""Smaller lengths are 0 except for rounding."""


Poses = Mapping[str, Float64Array]
"""The "translation" (n, 3), "rotation" (unit quaternions, n, 4) and "scale" (n, 3) of a node in the file or in
Blender."""


@dataclass(frozen=True, eq=False)
class NodeConversion:
    """The conversion of the transforms of a node."""

    turn: Float64Array
    own: Float64Array
    """Unit quaternions, shape (4,), that multiply the node's rotation from the left and from the right."""
    values: Mapping[str, tuple[Float64Array, Float64Array]]
    """The matrix (3, 3) that multiplies a "translation" or a "scale", and the shift (3,) that is added."""

    def converted(self, name: str, poses: Float64Array) -> Float64Array:
        """Convert translations (n, 3), rotations (n, 4) or scales (n, 3)."""
        if name == "rotation":
            return self.rotation(poses)
        matrix, shift = self.values[name]
        return poses @ matrix.T + shift

    def rotation(self, q: Float64Array) -> Float64Array:
        """Convert rotation quaternions, shape (n, 4)."""
        return rotations.multiply(rotations.multiply(self.turn, q), self.own)

    @property
    def quaternion_matrix(self) -> Float64Array:
        """Return `rotation` as a matrix, shape (4, 4), that acts on quaternion components."""
        return np.stack([self.rotation(unit[np.newaxis])[0] for unit in np.eye(4)], axis=1)


def find_conversion(file: Poses, blender: Poses, prior: Float64Array) -> NodeConversion:
    """Return the conversion that fits the poses best. `prior` is the expected rotation, as a quaternion."""
    turn = prior
    for _ in range(_ITERATIONS):
        turn = _turn(file, blender, turn)
    # Most importers turn by right angles, which are exact when snapped.
    matrix = _snapped(rotations.to_matrix(turn))
    turn = _with_sign_of(rotations.from_matrix(matrix), turn)
    turned = rotations.multiply(turn, file["rotation"])
    own = _mean(rotations.multiply(rotations.conjugate(turned), blender["rotation"]))
    snapped_own = _with_sign_of(rotations.from_matrix(_snapped(rotations.to_matrix(own))), own)
    own = snapped_own if np.abs(snapped_own - own).max() < _SNAPPED else own
    linear = _size(file["translation"] @ matrix.T, blender["translation"]) * matrix
    shift = (blender["translation"] - file["translation"] @ linear.T).mean(axis=0)
    shift[np.abs(shift) < _NO_SHIFT * np.abs(blender["translation"]).max(initial=1e-3)] = 0.0
    factors = _factors(rotations.to_matrix(own), file["scale"], blender["scale"])
    return NodeConversion(turn, own, {"translation": (linear, shift), "scale": (factors, np.zeros(3))})


def _with_sign_of(q: Float64Array, other: Float64Array) -> Float64Array:
    """Return the quaternion with the sign that is closer to the other quaternion."""
    return -q if q @ other < 0.0 else q


def _turn(file: Poses, blender: Poses, prior: Float64Array) -> Float64Array:
    """Return the turn that aligns the file's motion with Blender's, completed by the prior where nothing moves."""
    covariance = np.zeros((3, 3))
    for in_file, in_blender in zip(_motions(file), _motions(blender), strict=True):
        lengths = np.sqrt((in_file**2).sum() * (in_blender**2).sum())
        if lengths > _SMALLEST:
            covariance += in_blender.T @ in_file / lengths
    covariance += _PRIOR * rotations.to_matrix(prior)
    # Kabsch's algorithm. The signs exclude reflections.
    left, _, right = np.linalg.svd(covariance)
    signs = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return _with_sign_of(rotations.from_matrix(left @ signs @ right), prior)


def _motions(poses: Poses) -> tuple[Float64Array, Float64Array]:
    """Return displacements and rotation axes of the poses, each (n, 3), which rotate with the space of the poses."""
    translation, rotation = poses["translation"], poses["rotation"]
    displacements = translation - translation.mean(axis=0)
    if np.abs(displacements).max() < _STILL * np.abs(translation).max(initial=_SMALLEST):
        displacements = np.zeros_like(displacements)
    turns = rotations.multiply(rotation, rotations.conjugate(rotation[0]))
    # The product of vector and scalar part is equal for both signs, and 0 for half turns, whose axis has no direction.
    axes = turns[:, 1:] * turns[:, :1]
    if np.abs(axes).max() < _NO_TURN:
        axes = np.zeros_like(axes)
    return displacements, axes


def _snapped(matrix: Float64Array) -> Float64Array:
    """Return the rotation matrix, snapped to the axes if the rows are nearly aligned with the axes."""
    rounded = np.round(matrix)
    return rounded if np.abs(matrix - rounded).max() < _SNAPPED else matrix


def _mean(q: Float64Array) -> Float64Array:
    """Return the mean of quaternions that are nearly equal except for their signs."""
    signs = np.where(q @ q[0] < 0.0, -1.0, 1.0)
    mean: Float64Array = (q * signs[:, np.newaxis]).mean(axis=0)
    return mean / np.linalg.norm(mean)


def _size(turned: Float64Array, location: Float64Array) -> float:
    """Return the scale factor from rotated translations to locations."""
    in_file, in_blender = (positions - positions.mean(axis=0) for positions in (turned, location))
    square = float((in_file**2).sum())
    if np.abs(in_file).max() < _STILL * np.abs(turned).max(initial=_SMALLEST) or square <= _SMALLEST**2:
        # A node that does not move still has a distance from the origin.
        in_file, in_blender = turned, location
        square = float((in_file**2).sum())
        if square <= _SMALLEST**2 or (in_blender**2).sum() <= _SMALLEST**2:
            return 1.0
    return _rounded_size(float((in_file * in_blender).sum()) / square)


def _rounded_size(size: float) -> float:
    """Return the size, rounded to a power of ten if the difference is small."""
    if size <= 0.0:
        return size
    power = 10.0 ** np.round(np.log10(size))
    return float(power) if abs(size / power - 1.0) < _SNAPPED else size


def _factors(own: Float64Array, file: Float64Array, blender: Float64Array) -> Float64Array:
    """Return the matrix that converts scales.

    The node's own rotation swaps the axes. A node that never rotates or moves does not determine this rotation. The
    scales of such a node show which axes were swapped.
    """
    largest = tuple(np.abs(own).argmax(axis=0).tolist())
    orders = [largest] if len(set(largest)) == 3 else []
    candidates = [_factors_by_axis(file, blender, order) for order in (*orders, *permutations(range(3)))]
    allowed = _SNAPPED * np.abs(blender).max(initial=_SMALLEST)
    # Use the first matrix that fits, because a node with equal scales along all axes fits any matrix.
    return min(candidates, key=lambda factors: max(allowed, float(np.abs(file @ factors.T - blender).max())))


def _factors_by_axis(file: Float64Array, blender: Float64Array, order: tuple[int, ...]) -> Float64Array:
    """Return the matrix that converts scale `order[axis]` of the file to scale `axis` in Blender, by least squares."""
    factors = np.zeros((3, 3))
    for axis in range(3):
        scales = file[:, order[axis]]
        square = float((scales**2).sum())
        factor = float((scales * blender[:, axis]).sum()) / square if square > _SMALLEST**2 else 1.0
        factors[axis, order[axis]] = _rounded_size(factor) if factor > 0.0 else factor
    return factors


# The conversion of times to frames


Evaluate = Callable[[Float64Array], Float64Array]
"""A function from frames (m,) to values (m, d) or quaternions (m, 4)."""
_WHOLE_FRAME = 1e-4
"""Distance in frames. Keys within this distance of a whole frame snap to the whole frame."""
_SAME_RATE = 1e-4
"""Relative difference from the scene's frame rate that is only rounding."""
_SAME_START = 2e-3
"""Tolerance, in frames, for a start at a whole frame."""


@dataclass(frozen=True)
class Clock:
    """The conversion of times to frames: `rate` frames per second, and the frame of second 0."""

    rate: float
    start: float

    @classmethod
    def find(cls, pairs: Sequence[tuple[NodeMotion, Float64Array]], scene_rate: float) -> Clock | None:
        """Return the conversion of the first and last times of motions to the first and last frames of F-curve keys.

        `pairs` contains motions with the frames of their keys. Return None if there are none.
        """
        spans = []
        for motion, frames in pairs:
            times = np.concatenate([track.times for track in motion.tracks.values()])
            spans.append((times.min(), times.max(), frames.min(), frames.max()))
        if not spans:
            return None
        begin, end, first, last = np.array(spans).T
        has_length = end > begin
        rates = (last - first)[has_length] / (end - begin)[has_length]
        rate = float(np.median(rates)) if has_length.any() else scene_rate
        if not rate > 0.0 or abs(rate / scene_rate - 1.0) < _SAME_RATE:
            rate = scene_rate
        start = float(np.median(first - rate * begin))
        whole = round(start)
        return cls(rate, float(whole) if abs(start - whole) < _SAME_START else start)

    def frames(self, times: Float64Array) -> Float64Array:
        """Return frames as Blender stores them, snapped to whole frames because files store times as float32."""
        frames = times * self.rate + self.start
        whole = np.round(frames)
        snapped = np.where(np.abs(frames - whole) < _WHOLE_FRAME, whole, frames)
        return np.asarray(snapped, np.float32).astype(np.float64)

    def evaluated(self, track: Track) -> Evaluate:
        """Return the track as a function of frames that is exact at keys."""
        keys = self.frames(track.times)

        def evaluate(frames: Float64Array) -> Float64Array:
            # Key frames are rounded. Using only the rate could delay a step slightly.
            return track.evaluate(np.interp(frames, keys, track.times))

        return evaluate

    def curve(self, curve: Curve) -> Curve:
        """Convert a curve over seconds to a curve over frames."""
        slopes = {name: getattr(curve, name) / self.rate for name in ("arriving", "leaving")}
        return replace(curve, times=self.frames(curve.times), **slopes)
