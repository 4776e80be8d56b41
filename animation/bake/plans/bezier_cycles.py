# SPDX-License-Identifier: GPL-3.0-or-later
"""Bezier keys of fitted curves, and their copies in the cycles outside the animator's keys."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....interp.cubics import hermite
from ....interp.rotations.representations import JUMP, rotation_representation
from ...fcurves.keyframes import Float32Array, Float64Array
from .sample_frames import GUARD, Sampling

_CYCLES_COMPUTED = 5
"""Number of rotation cycles to compute individually: the first cycle, and two for each of the two sets of values."""


class BezierKeys(NamedTuple):
    """`m` Bezier keys in `c` channels, at common frames."""

    frames: Float32Array
    values: Float64Array
    """Values, shape (c, m)."""
    incoming: Float64Array
    """Derivatives per frame before each key, shape (c, m)."""
    outgoing: Float64Array

    def take(self, columns: slice) -> BezierKeys:
        """Return some of the keys."""
        sides = self.incoming[:, columns], self.outgoing[:, columns]
        return BezierKeys(self.frames[columns], self.values[:, columns], *sides)

    def followed_by(self, other: BezierKeys) -> BezierKeys:
        """Return these keys and later keys of the same channels."""
        return BezierKeys(
            np.concatenate((self.frames, other.frames)),
            np.concatenate((self.values, other.values), axis=1),
            np.concatenate((self.incoming, other.incoming), axis=1),
            np.concatenate((self.outgoing, other.outgoing), axis=1),
        )

    def reversed(self) -> BezierKeys:
        """Return the keys with time reversed."""
        keys = self.take(slice(None, None, -1))
        # Unlike a negation, the subtraction never returns a negative zero.
        return BezierKeys(np.float32(0.0) - keys.frames, keys.values, -keys.outgoing, -keys.incoming)


def with_cycles(keys: BezierKeys, sampling: Sampling, representation_name: str | None) -> BezierKeys:
    """Return the keys, and their copies in the cycles outside the keys that overlap the sampled range.

    For a rotation, `representation_name` is the representation of the channel values. For values, it is None.
    """
    first, last = float(keys.frames[0]), float(keys.frames[-1])
    before, after = (math.ceil(length / (last - first)) for length in (first - sampling.low, sampling.high - last))
    earlier = _repeated(keys.reversed(), before, representation_name).reversed()
    later = _repeated(keys, after, representation_name)
    # Both include the keys themselves.
    cycles = earlier.take(slice(len(earlier.frames) - len(keys.frames) + 1)).followed_by(later.take(slice(1, None)))
    start = max(0, int(np.searchsorted(cycles.frames, sampling.low, side="right")) - 1)
    return cycles.take(slice(start, int(np.searchsorted(cycles.frames, sampling.high)) + 1))


def _repeated(keys: BezierKeys, count: int, representation_name: str | None) -> BezierKeys:
    """Return the keys, followed by `count` copies, one per cycle.

    Short periods need many copies, so all copies are computed together: arrays have the shapes (c, count + 1, m) for
    values, and (count + 1, m) for frames.
    """
    period = float(keys.frames[-1]) - float(keys.frames[0])
    factors, terms = _maps_of_cycles(keys.values[:, 0], keys.values[:, -1], count, representation_name)
    offsets = np.arange(count + 1.0)[:, np.newaxis] * period
    frames = (keys.frames.astype(np.float64) + offsets).astype(np.float32)
    values = keys.values[:, np.newaxis] * factors + terms
    incoming, outgoing = (slopes[:, np.newaxis] * factors for slopes in (keys.incoming, keys.outgoing))
    end_values = values[:, :-1, -1]
    change = np.abs(values[:, 1:, 0] - end_values).max(axis=0)
    # A jump is in units of the values up to 1, and relative to larger values, because float32 rounds them more.
    is_jump = change > JUMP * np.abs(end_values).max(axis=0, initial=1.0)
    moved, value, slope = _after_starts(frames, values, incoming, outgoing)
    slope_of_jump = (value - end_values) / (moved - frames[1:, 0].astype(np.float64))
    outgoing[:, :-1, -1] = np.where(is_jump, slope_of_jump, outgoing[:, 1:, 0])
    frames[1:, 0], values[:, 1:, 0], incoming[:, 1:, 0], outgoing[:, 1:, 0] = moved, value, slope_of_jump, slope
    # Without a jump, the last key of the previous copy is also the first key of the next copy.
    is_needed = np.ones(frames.shape, dtype=np.bool_)
    is_needed[1:, 0] = is_jump
    return BezierKeys(frames[is_needed], *(numbers[:, is_needed] for numbers in (values, incoming, outgoing)))


def _after_starts(
    frames: Float32Array, values: Float64Array, incoming: Float64Array, outgoing: Float64Array
) -> tuple[Float32Array, Float64Array, Float64Array]:
    """Return the frames, values and slopes of the copies GUARD after they start.

    A copy that starts with a jump has its first key there, because the previous copy ends with a key at its start.
    """
    starts, nexts = frames[1:, :2].astype(np.float64).T
    moved = (starts + np.minimum((nexts - starts) / 2, GUARD)).astype(np.float32)
    # After frame 524288, float32 can't represent two frames that are GUARD apart.
    moved = np.where(moved == frames[1:, 0], np.nextafter(frames[1:, 0], frames[1:, 1]), moved)
    length = nexts - starts
    tangents = outgoing[:, 1:, 0] * length, incoming[:, 1:, 1] * length
    value, tangent = hermite((moved - starts) / length, values[:, 1:, 0], values[:, 1:, 1], *tangents)
    return moved, value, tangent / length


def _maps_of_cycles(
    first: Float64Array, last: Float64Array, count: int, representation_name: str | None
) -> tuple[Float64Array, Float64Array]:
    """Return the factors and terms, shape (c, count + 1, 1), of maps that make cycles continuous.

    The maps preserve the orientation, and do not change the first cycle. A cycle goes from the values `first` to the
    values `last`.
    """
    factors, terms = np.ones((len(first), count + 1, 1)), np.zeros((len(first), count + 1, 1))
    if representation_name is None:
        return factors, terms
    representation = rotation_representation(representation_name)
    computed = min(count, _CYCLES_COMPUTED)
    for cycle in range(1, computed + 1):
        previous_end = (factors[:, cycle - 1, 0] * last + terms[:, cycle - 1, 0])[:, np.newaxis]
        factors[:, cycle], terms[:, cycle] = representation.map_to_nearest(first[:, np.newaxis], previous_end)
    # Apart from whole turns, an orientation has two sets of values. From the second cycle on, the cycles therefore
    # repeat one set or alternate between the two sets.
    for cycle in range(_CYCLES_COMPUTED - 1, computed + 1):
        later_cycles = np.arange(cycle, count + 1, 2)
        factors[:, later_cycles] = factors[:, [cycle]]
        gain = terms[:, [cycle]] - terms[:, [cycle - 2]]
        terms[:, later_cycles] = terms[:, [cycle]] + gain * ((later_cycles - cycle) // 2)[:, np.newaxis]
    return factors, terms
