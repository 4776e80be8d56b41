# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a file's track in scene frames, clean for a spline: sorted, finite, and with parameters within limits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..animation.bake.plans.sample_frames import APART as LEAST_APART
from ..animation.fcurves.keyframes import BoolArray, Float64Array
from ..formats.three_ds import Track
from ..interp import rotations
from ..interp.base_spline import Cycle
from ..interp.keys import HIGHEST, LOWEST
from .conversion import Conversion, NodeSpace
from .report import AddNote

APART = 0.02
"""The distance, in frames, between imported keys that share a frame in the file. It is above Blender's minimum."""
_ROUNDING = np.radians(1e-4)
"""Radians. A turn within this angle of a half or full turn is a half or full turn."""
_LARGEST_REVERSE = np.radians(0.1)
"""Radians. A turn that is less than a full turn by at most this angle is a small reverse turn, as written by
exporters."""
_SHORTEST_AXIS = 1e-9
"""Shorter axes count as missing. Axes in files have length 1, or 0 without a turn."""


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of a track, in scene frames."""

    frames: Float64Array
    """Strictly increasing frames, shape (n,)."""
    values: Float64Array
    """Values, shape (n, d). For rotations, turns from the previous key in Blender's convention: angle in radians, axis
    x, y, z."""
    parameters: Float64Array
    """Tension, continuity, bias, ease to, ease from, shape (5, n)."""
    cycle: Cycle = "SINGLE"
    """The motion outside the keys."""

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def has_parameters(self) -> BoolArray:
        """Return a mask of keys with a parameter other than 0, shape (n,)."""
        return np.asarray((self.parameters != 0).any(axis=0))

    @property
    def is_still(self) -> bool:
        """Return whether there is a single key with all parameters set to 0."""
        return len(self) == 1 and not self.has_parameters.any()

    def is_like(self, other: Keys) -> bool:
        """Check whether both tracks have the same keys in float32, the precision of Blender and files."""
        mine, others = ((keys.frames, keys.values, keys.parameters) for keys in (self, other))
        pairs = zip(mine, others, strict=True)
        return self.cycle == other.cycle and all(
            np.array_equal(a.astype(np.float32), b.astype(np.float32)) for a, b in pairs
        )

    def with_values(self, values: Float64Array) -> Keys:
        return replace(self, values=values)


def still(value: npt.ArrayLike) -> Keys:
    """Return a single key at frame 0 that holds a value, shape (d,) or a number, at all times."""
    return Keys(np.zeros(1), np.atleast_1d(value)[np.newaxis].astype(np.float64), np.zeros((5, 1)))


def vector_keys(track: Track, conversion: Conversion, add_note: AddNote) -> Keys | None:
    """Return the keys of a track of values, as in the file, or None if no key is usable."""
    values = _in_float64(track.values)
    order, frames = _usable_keys(track, np.asarray(np.isfinite(values).all(axis=1)), conversion, add_note)
    return _keys(track, order, frames, values[order], add_note) if len(order) else None


def turn_keys(track: Track, space: NodeSpace, shorter: bool, add_note: AddNote) -> Keys | None:
    """Return the keys of a rotation track as turns in the converted parent space, starting from no rotation.

    If `shorter`, turns of more than 180 degrees take the shortest path instead.
    """
    values = _in_float64(track.values)
    is_finite = np.asarray(np.isfinite(values).all(axis=1))
    order, frames = _usable_keys(track, is_finite, space.conversion, add_note)
    if not len(order):
        return None
    angles, axes = _turns(np.where(is_finite[:, np.newaxis], values, 0.0), add_note)
    angles[1:] = _shortest(angles[1:]) if shorter else _with_small_turns(angles[1:], add_note)
    if not np.array_equal(order, np.arange(len(values))):
        angles, axes = _reordered(angles, axes, order)
    axes = space.axes(axes)
    if not space.conversion.keeps_axes:
        first = rotations.multiply(rotations.from_axis_angle(axes[:1], angles[:1]), space.rest_quaternion())
        axes[:1], angles[:1] = rotations.to_axis_angle(first)
    return _keys(track, order, frames, np.column_stack((angles, axes)), add_note)


def _turns(values: Float64Array, add_note: AddNote) -> tuple[Float64Array, Float64Array]:
    """Convert the file's turns (n, 4) to Blender's angles and unit axes. A turn without an axis becomes a turn of 0."""
    angles = -values[:, 0]
    axes, lengths = rotations.unit_vectors(values[:, 1:])
    has_no_axis = lengths < _SHORTEST_AXIS
    is_lost = has_no_axis & (angles != 0.0)
    if is_lost.any():
        add_note("AXIS_WITHOUT_LENGTH", int(is_lost.sum()))
    angles[has_no_axis] = 0.0
    axes[has_no_axis] = (0.0, 0.0, 1.0)
    return angles, axes


def _reordered(
    angles: Float64Array, axes: Float64Array, order: npt.NDArray[np.intp]
) -> tuple[Float64Array, Float64Array]:
    """Return the turns between the keys in this order."""
    # After a skipped or reordered key, the next turn starts from a different key than in the file.
    follows_same_key = np.diff(order, prepend=-1) == 1
    new_angles, new_axes = rotations.rotations_to_turns(rotations.turns_to_rotations(angles, axes)[order])
    return (
        np.where(follows_same_key, angles[order], new_angles),
        np.where(follows_same_key[:, np.newaxis], axes[order], new_axes),
    )


def _shortest(angles: Float64Array) -> Float64Array:
    """Replace turns of more than 180 degrees with the shortest turns. Half turns keep their direction."""
    is_long = np.abs(angles) > np.pi + _ROUNDING
    return np.where(is_long, np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi, angles)


def _with_small_turns(angles: Float64Array, add_note: AddNote) -> Float64Array:
    """Replace turns of nearly 360 degrees with the small reverse turns from which exporters created them."""
    reverse = 2.0 * np.pi - np.abs(angles)
    is_small = (reverse > _ROUNDING) & (reverse < _LARGEST_REVERSE)
    if is_small.any():
        add_note("NEARLY_WHOLE_TURN", int(is_small.sum()))
    return np.where(is_small, -np.sign(angles) * reverse, angles)


def _in_float64(numbers: npt.NDArray[np.float32]) -> Float64Array:
    """Convert numbers to float64. Signaling NaN, which cause NumPy warnings, are first replaced with quiet NaN."""
    return np.where(np.isnan(numbers), np.float32(np.nan), numbers).astype(np.float64)


def _usable_keys(
    track: Track, is_finite: BoolArray, conversion: Conversion, add_note: AddNote
) -> tuple[npt.NDArray[np.intp], Float64Array]:
    """Return the indices of the usable keys, sorted by frame and then in file order, and their scene frames."""
    if not is_finite.all():
        add_note("KEY_NOT_FINITE", int((~is_finite).sum()))
    order = np.flatnonzero(is_finite)
    file_frames = track.frames[order]
    if (file_frames[1:] < file_frames[:-1]).any():
        add_note("KEYS_GO_BACK")
        order = order[np.argsort(file_frames, kind="stable")]
        file_frames = track.frames[order]
    frames = conversion.frames(file_frames)
    keys_before_same_frame = np.flatnonzero(file_frames[1:] == file_frames[:-1])
    if len(keys_before_same_frame):
        first_frames = ", ".join(map(str, file_frames[keys_before_same_frame[:3]]))
        add_note("KEYS_SHARE_FRAME", first_frames, APART)
        for key in keys_before_same_frame[::-1]:
            frames[key] = frames[key + 1] - APART
    is_distinct = are_distinct(frames, add_note)
    return order[is_distinct], frames[is_distinct]


def are_distinct(frames: Float64Array, add_note: AddNote) -> BoolArray:
    """Return a mask of keys that Blender distinguishes from their successors, and add a note about the others."""
    rounded = frames.astype(np.float32).astype(np.float64)
    is_distinct = np.ones(len(frames), dtype=np.bool_)
    if (np.diff(rounded) > LEAST_APART).all():
        return is_distinct
    next_frame = np.inf
    for key in range(len(rounded) - 1, -1, -1):
        is_distinct[key] = next_frame - rounded[key] > LEAST_APART
        next_frame = rounded[key] if is_distinct[key] else next_frame
    add_note("KEYS_NOT_TOLD_APART", int((~is_distinct).sum()), LEAST_APART)
    return is_distinct


def _keys(
    track: Track, order: npt.NDArray[np.intp], frames: Float64Array, values: Float64Array, add_note: AddNote
) -> Keys:
    """Return the keys with the track's parameters, clamped to their limits."""
    parameters = _in_float64(track.parameters[:, order])
    clamped = np.clip(np.where(np.isnan(parameters), 0.0, parameters), LOWEST, HIGHEST)
    is_changed = (parameters != clamped).any(axis=0)
    if is_changed.any():
        add_note("KEY_PARAMETERS_OUT_OF_RANGE", int(is_changed.sum()))
    return Keys(frames, values, clamped, track.cycle)
