# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes, takes and tracks that are read from the files of other programs, their curves, and checks for damage.

A cubic segment is a Bezier curve in time and value, as in Blender's F-curves. With both handles at thirds, the segment
is a Hermite cubic, as in glTF and in FBX without weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import Literal

import numpy as np
import numpy.typing as npt

from .errors import FileError
from .interp import Float64Array, hermite_powers, n_, solve_cubics

# Curves


_THIRD = 1.0 / 3.0
_NEAR_THIRD = 1e-4
"""A reach this close to a third counts as a third, because FBX files round reaches to four decimals."""

CONSTANT, LINEAR, CUBIC, HOLD = range(4)
"""Interpolation of the segment that begins at a key. HOLD is the motion outside the keys of a curve."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve of n keys."""

    times: Float64Array
    """Times in seconds, in ascending order, shape (n,)."""
    values: Float64Array
    """The values at the keys, shape (n,)."""
    interpolation: npt.NDArray[np.uint8]
    """CONSTANT, LINEAR or CUBIC, for the segment that begins at each key, shape (n,)."""
    arriving: Float64Array
    leaving: Float64Array
    """Slopes per second at the end of the segment before each key, and at the start of the segment after each key,
    shape (n,)."""
    reach_before: Float64Array
    reach_after: Float64Array
    """The lengths of the handles on both sides, relative to their segments, shape (n,)."""
    held: Float64Array
    """The value that a CONSTANT segment holds, shape (n,): of its first key or, in FBX, possibly of its second key."""

    @classmethod
    def hermite(
        cls,
        times: Float64Array,
        values: Float64Array,
        interpolation: int | npt.NDArray[np.uint8],
        arriving: Float64Array | float = 0.0,
        leaving: Float64Array | float = 0.0,
    ) -> Curve:
        """Return a curve with handles at thirds of each segment, whose steps hold the value of their first key."""
        count = len(times)
        thirds = np.full(count, _THIRD)
        interpolations = np.full(count, interpolation, dtype=np.uint8)
        arriving, leaving = (np.array(np.broadcast_to(side, count), dtype=np.float64) for side in (arriving, leaving))
        return cls(times, values, interpolations, arriving, leaving, thirds, thirds, values)

    @classmethod
    def single_key(cls, time: float, value: float) -> Curve:
        """Return a curve with one key, which has this value at all times."""
        return cls.hermite(np.array([time]), np.array([value]), CONSTANT)

    def __len__(self) -> int:
        return len(self.times)

    @property
    def varies(self) -> bool:
        """Return whether the curve has more than one value."""
        has_one_value = (self.values == self.values[0]).all() and (self.held == self.values[0]).all()
        is_cubic = self.interpolation[:-1] == CUBIC
        return not has_one_value or bool(self.leaving[:-1][is_cubic].any() or self.arriving[1:][is_cubic].any())

    @property
    def is_weighted(self) -> bool:
        """Return whether any cubic segment has a handle whose reach is not a third."""
        is_cubic = self.interpolation[:-1] == CUBIC
        reaches = np.stack((self.reach_after[:-1][is_cubic], self.reach_before[1:][is_cubic]))
        return not _are_thirds(reaches).all()

    def __call__(self, times: npt.ArrayLike) -> Float64Array:
        """Return the values at times of any shape. The first and last values are held outside the keys."""
        times = np.asarray(times, dtype=np.float64)
        if len(self) == 1:
            return np.full(times.shape, self.values[0])
        segment = self.segments_at(times)
        duration = self.times[segment + 1] - self.times[segment]
        fraction = np.clip((times - self.times[segment]) / np.where(duration > 0.0, duration, 1.0), 0.0, 1.0)
        start, end = self.values[segment], self.values[segment + 1]
        result = start + (end - start) * fraction
        interpolation = self.interpolation[segment]
        is_cubic = interpolation == CUBIC
        if is_cubic.any():
            result[is_cubic] = self._cubics(segment[is_cubic], fraction[is_cubic], duration[is_cubic])
        result = np.where((interpolation == CONSTANT) & (fraction > 0.0), self.held[segment], result)
        # At the keys, the values are exact.
        return np.where(fraction >= 1.0, end, np.where(fraction <= 0.0, start, result))

    def segments_at(self, times: Float64Array, side: Literal["left", "right"] = "right") -> npt.NDArray[np.intp]:
        """Return the segments that contain the times. At a key, this is the segment on its left or right `side`."""
        return np.clip(np.searchsorted(self.times, times, side) - 1, 0, max(len(self) - 2, 0))

    def _cubics(self, segment: npt.NDArray[np.intp], fraction: Float64Array, duration: Float64Array) -> Float64Array:
        """Return the values of cubic segments at fractions of their duration."""
        reach_after, reach_before = self.reach_after[segment], self.reach_before[segment + 1]
        t = _parameters(fraction, reach_after, reach_before)
        start, end = self.values[segment], self.values[segment + 1]
        second = start + self.leaving[segment] * reach_after * duration
        third = end - self.arriving[segment + 1] * reach_before * duration
        rest = 1.0 - t
        return rest**3 * start + 3.0 * rest * t * (rest * second + t * third) + t**3 * end


def _are_thirds(reaches: Float64Array) -> npt.NDArray[np.bool_]:
    return np.asarray(np.abs(reaches - _THIRD) <= _NEAR_THIRD)


def _parameters(fraction: Float64Array, reach_after: Float64Array, reach_before: Float64Array) -> Float64Array:
    """Return the parameters at which Bezier segments with these reaches pass a fraction of their duration."""
    times = hermite_powers(np.ones_like(fraction), 3.0 * reach_after, 3.0 * reach_before)
    # With both reaches at thirds, time is linear in the parameter.
    return np.where(_are_thirds(reach_after) & _are_thirds(reach_before), fraction, solve_cubics(times, fraction))


def union_times(curves: Sequence[Curve]) -> Float64Array:
    """Return the times at which at least one curve has a key."""
    return np.unique(np.concatenate([np.empty(0), *(curve.times for curve in curves)]))


def scaled(curve: Curve, weight: float, offset: float) -> Curve:
    """Return the curve times a weight, plus an offset."""
    return replace(
        curve,
        values=weight * curve.values + offset,
        held=weight * curve.held + offset,
        arriving=weight * curve.arriving,
        leaving=weight * curve.leaving,
    )


def combined(weights: npt.ArrayLike, curves: Sequence[Curve], offset: float) -> Curve | None:
    """Return the curve that equals an offset plus the weighted sum of curves at all times.

    If there is no such curve, return None. Curves with handles that are not at thirds cannot be added, because
    their times are different cubics. During a step, only other steps can be added.
    """
    pairs = [(float(weight), curve) for weight, curve in zip(np.asarray(weights), curves, strict=True)]
    terms = [(weight, curve) for weight, curve in pairs if weight != 0.0]
    terms = [(weight, curve) for weight, curve in terms if curve.varies] or terms[:1]
    if len(terms) == 1:
        weight, curve = terms[0]
        return scaled(curve, weight, float(offset + sum(w * c.values[0] for w, c in pairs if c is not curve)))
    if not terms or any(curve.is_weighted for _, curve in terms):
        return None
    return _sum_of_curves(terms, offset + sum(w * c.values[0] for w, c in pairs if not c.varies))


def _sum_of_curves(terms: Sequence[tuple[float, Curve]], offset: float) -> Curve | None:
    """Return an offset plus the sum of weights times curves, or None if steps meet other segments."""
    curves = [curve for _, curve in terms]
    times = union_times(curves)
    interpolations = interpolations_at(curves, times)
    interpolation = common_interpolation(interpolations)
    has_step = (interpolations == CONSTANT).any(axis=0)
    if (has_step & (interpolation != CONSTANT))[:-1].any():
        return None
    values, held = np.full(len(times), offset), np.full(len(times), offset)
    arriving, leaving = np.zeros((2, len(times)))
    for (weight, curve), own_interpolation in zip(terms, interpolations, strict=True):
        own_values = curve(times)
        values = values + weight * own_values
        own_held = np.where(own_interpolation == CONSTANT, curve.held[curve.segments_at(times)], own_values)
        held = held + weight * own_held
        before, after = _slopes(curve, times)
        arriving, leaving = arriving + weight * before, leaving + weight * after
    return replace(Curve.hermite(times, values, interpolation, arriving, leaving), held=held)


def interpolations_at(curves: Sequence[Curve], times: Float64Array) -> npt.NDArray[np.uint8]:
    """Return the interpolation of each curve after each time, or HOLD outside its keys, shape (curves, times)."""
    rows = np.full((len(curves), len(times)), HOLD, dtype=np.uint8)
    for row, curve in zip(rows, curves, strict=True):
        is_between_keys = (times >= curve.times[0]) & (times < curve.times[-1])
        row[is_between_keys] = curve.interpolation[curve.segments_at(times[is_between_keys])]
    return rows


def common_interpolation(interpolations: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the interpolation that all curves have in common after each time, or CUBIC if they have several.

    A curve that holds its value can be added to any curve. If all curves hold their values, or there are no curves, the
    result is LINEAR.
    """
    result = np.full(interpolations.shape[1], CUBIC, dtype=np.uint8)
    for common in (CONSTANT, LINEAR):
        result[((interpolations == common) | (interpolations == HOLD)).all(axis=0)] = common
    return result


def _slopes(curve: Curve, times: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the slopes of an unweighted curve immediately before and after the given times."""
    if len(curve) == 1:
        return np.zeros(len(times)), np.zeros(len(times))
    before = _slopes_in(curve, curve.segments_at(times, "left"), times)
    after = _slopes_in(curve, curve.segments_at(times), times)
    before[(times <= curve.times[0]) | (times > curve.times[-1])] = 0.0
    after[(times < curve.times[0]) | (times >= curve.times[-1])] = 0.0
    return before, after


def _slopes_in(curve: Curve, segment: npt.NDArray[np.intp], times: Float64Array) -> Float64Array:
    duration = curve.times[segment + 1] - curve.times[segment]
    u = (times - curve.times[segment]) / duration
    chord = (curve.values[segment + 1] - curve.values[segment]) / duration
    leaving, arriving = curve.leaving[segment], curve.arriving[segment + 1]
    # The derivative of the Hermite cubic.
    cubic = (1.0 - u) * (1.0 - 3.0 * u) * leaving + u * (3.0 * u - 2.0) * arriving + 6.0 * u * (1.0 - u) * chord
    interpolation = curve.interpolation[segment]
    return np.where(interpolation == CUBIC, cubic, np.where(interpolation == LINEAR, chord, 0.0))


# Nodes, takes and tracks


VALUE_LIMIT = 1e30
"""Values of this magnitude or more count as damage. Float32, in which files and Blender store values, ends at 3e38."""
_MOST_NUMBERS = 16_000_000
"""Maximum number of values in an array, enough for one hour of forty curves at 120 keys per second."""


@dataclass(frozen=True, eq=False)
class MotionFile:
    """The nodes of a file and their motion."""

    nodes: tuple[Node, ...]
    takes: tuple[Take, ...]
    to_blender: Float64Array
    """The rotation from the file's axes to Blender's, as a unit quaternion, shape (4,)."""
    notes: tuple[str, ...] = ()
    """Texts that name the parts of the file's animation that are not read."""


@dataclass(frozen=True, eq=False)
class Node:
    """A node, with its place in the hierarchy and its transform without animation."""

    name: str
    """The name in the file, or empty if the node has none."""
    parent: int
    """The index of the parent among the nodes, or -1 for none."""
    translation: Float64Array
    rotation: Float64Array
    """A unit quaternion w, x, y, z, shape (4,)."""
    scale: Float64Array
    """Shape (3,)."""


@dataclass(frozen=True, eq=False)
class Take:
    """A take, stack or animation. `motions` contains the motion of each node that it moves.

    `layers` contains each layer as a separate take, because importers create an action for each. It is empty unless
    there are several layers.
    """

    name: str
    motions: Mapping[int, NodeMotion]
    layers: tuple[Take, ...] = ()


@dataclass(frozen=True, eq=False)
class NodeMotion:
    """The motion of a node in a take."""

    tracks: Mapping[str, Track]
    """The tracks of "translation", "rotation" and "scale" that have motion."""
    pivot: Track | None = None
    """The track of the point about which the node rotates, if rotations or scales move the origin. An importer may make
    this point the origin."""

    def about_pivot(self) -> NodeMotion:
        """Return the motion with the pivot as the origin."""
        return self if self.pivot is None else NodeMotion({**self.tracks, "translation": self.pivot})


@dataclass(frozen=True, eq=False)
class Track:
    """The translation, rotation or scale of a node in one take."""

    times: Float64Array
    """The times of the keys of all curves, in seconds, shape (n,)."""
    interpolation: npt.NDArray[np.uint8]
    """CONSTANT or LINEAR if all curves have this interpolation, otherwise CUBIC, shape (n,)."""
    evaluate: Callable[[Float64Array], Float64Array]
    """A function that returns values (m, 3), or unit quaternions (m, 4), at times (m,)."""
    curves: tuple[Curve, ...] | None = None
    """The components as curves. For a rotation, the curves are the components of the quaternion before normalization.
    None if the file does not key the components."""
    euler: EulerCurves | None = None
    """The keyed angles, or None if the file does not key angles."""
    shared: npt.NDArray[np.bool_] | None = None
    """Mask of the times at which each varying curve has a key, or all its keys are earlier or later, shape (n,). An
    importer knows the whole pose there. If None, all times are shared."""

    @property
    def shared_times(self) -> Float64Array:
        """Return the times in the `shared` mask or, if there are none, all times."""
        times = self.times if self.shared is None else self.times[self.shared]
        return times if len(times) else self.times


@dataclass(frozen=True, eq=False)
class EulerCurves:
    """Curves of Euler angles in radians about x, y and z, and Blender's name for the order.

    "XYZ" means the matrix Rz Ry Rx.
    """

    curves: tuple[Curve, ...]
    order: str


class MotionError(FileError):
    """A file with curves that cannot be read."""


def check_count(count: int, name: str) -> None:
    """Raise MotionError if an array has more values than the limit. Call it before memory is allocated."""
    if count > _MOST_NUMBERS:
        raise MotionError(n_("{:s} has {:d} numbers, more than the limit of {:d}", name, count, _MOST_NUMBERS))


def find_cycle(parents: Sequence[int]) -> int | None:
    """Return a node that is its own ancestor, or None. The parent of a root is -1."""
    try:
        TopologicalSorter({node: [parent] for node, parent in enumerate(parents) if parent >= 0}).prepare()
    except CycleError as error:
        return int(error.args[1][0])
    return None
