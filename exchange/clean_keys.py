# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys for a spline from a file's tracks: in order of frame, finite, with parameters in their ranges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..animation.bake.plans.sample_frames import APART as LEAST_APART
from ..animation.fcurves.keyframes import BoolArray, Float64Array
from ..formats.three_ds import Track
from ..interp import rotations
from ..interp.batch import Cycle
from ..interp.keys import HIGHEST, LOWEST
from .conversion import Conversion, Frame

AddNote = Callable[..., None]
"""Called with a code, its arguments, and the track that it is about as `track`."""
"""Takes a note on what was found and done."""

APART = 0.02
"""Frames between keys that share one in the file, which is more than the least."""
_ROUNDING, _NEARLY = np.radians(1e-4), np.radians(0.1)
"""Radians. A turn that is less than a whole one by at most the second is a small one backwards, as exporters write it;
one within the first of a whole one is whole."""
_UNIT = 1e-9
"""Shorter axes count as none: those of files have length 1, or 0 where there is no turn."""


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys of one track, in the scene's frames.

    Attributes
    ----------
    frames : ndarray, shape (n,)
        Strictly ascending.
    values : ndarray, shape (n, d)
        Of rotations: angle in radians, axis x, y, z; turns from the key before in Blender's convention.
    parameters : ndarray, shape (5, n)
        Tension, continuity, bias, ease to, ease from.
    """

    frames: Float64Array
    values: Float64Array
    parameters: Float64Array
    cycle: Cycle = "SINGLE"

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def has_parameters(self) -> BoolArray:
        """Return which keys have a parameter other than 0, shape (n,)."""
        return np.asarray((self.parameters != 0).any(axis=0))

    @property
    def is_still(self) -> bool:
        """True if there is one key, without parameters."""
        return len(self) == 1 and not self.has_parameters.any()

    def is_like(self, other: Keys) -> bool:
        """Check whether both have the same keys in float32, as Blender and files keep them."""
        mine, others = ((keys.frames, keys.values, keys.parameters) for keys in (self, other))
        pairs = zip(mine, others, strict=True)
        return self.cycle == other.cycle and all(
            np.array_equal(a.astype(np.float32), b.astype(np.float32)) for a, b in pairs
        )

    def with_values(self, values: Float64Array) -> Keys:
        return replace(self, values=values)


def still(value: npt.ArrayLike) -> Keys:
    """Return one key, at frame 0, which holds for ever."""
    return Keys(np.zeros(1), np.atleast_1d(value)[np.newaxis].astype(np.float64), np.zeros((5, 1)))


def vector_keys(track: Track, conversion: Conversion, add_note: AddNote) -> Keys | None:
    """Return the keys of a track of numbers, with values as in the file; None where none can be used."""
    values = _in_float64(track.values)
    order, frames = _placed(track, _finite_rows(values), conversion, add_note)
    if not len(order):
        return None
    return _keys(track, order, frames, values[order], add_note)


def turn_keys(track: Track, frame: Frame, shorter: bool, add_note: AddNote) -> Keys | None:
    """Return the keys of a rotation track as turns in the converted parent's space; the first from no rotation.

    `shorter` turns by the shorter way where the file turns by more than half a turn.
    """
    values = _in_float64(track.values)
    finite = _finite_rows(values)
    order, frames = _placed(track, finite, frame.conversion, add_note)
    if not len(order):
        return None
    angles = np.where(finite, -values[:, 0], 0.0)
    axes = np.where(finite[:, np.newaxis], values[:, 1:], 0.0)
    axes, length = rotations.unit_vectors(axes)
    lost = (length < _UNIT) & (angles != 0.0)
    if lost.any():
        add_note("AXIS_WITHOUT_LENGTH", int(lost.sum()))
    angles[length < _UNIT] = 0.0
    axes[length < _UNIT] = (0.0, 0.0, 1.0)
    if shorter:
        angles[1:] = np.remainder(angles[1:] + np.pi, 2.0 * np.pi) - np.pi
    else:
        angles[1:] = _with_small_turns(angles[1:], add_note)
    if not np.array_equal(order, np.arange(len(values))):
        # A key after one that is left out, or that goes back in time, turns from another one than in the file.
        follows = np.diff(order, prepend=-1) == 1
        turns = rotations.rotations_to_turns(rotations.turns_to_rotations(angles, axes)[order])
        angles = np.where(follows, angles[order], turns[0])
        axes = np.where(follows[:, np.newaxis], axes[order], turns[1])
    axes = frame.axes(axes)
    if not frame.conversion.keeps_axes:
        first = rotations.multiply(rotations.from_axis_angle(axes[:1], angles[:1]), frame.unturned())
        axes[:1], angles[:1] = rotations.to_axis_angle(first)
    return _keys(track, order, frames, np.column_stack((angles, axes)), add_note)


def _with_small_turns(angles: Float64Array, add_note: AddNote) -> Float64Array:
    """Replace turns of nearly 360 degrees, which exporters make of small ones backwards, by these."""
    missing = 2.0 * np.pi - np.abs(angles)
    small = (missing > _ROUNDING) & (missing < _NEARLY)
    if small.any():
        add_note("NEARLY_WHOLE_TURN", int(small.sum()))
    return np.where(small, -np.sign(angles) * missing, angles)


def _in_float64(numbers: npt.NDArray[np.float32]) -> Float64Array:
    """Return the numbers in float64, without the kinds of NaN at whose conversion NumPy warns."""
    return np.where(np.isnan(numbers), np.float32(np.nan), numbers).astype(np.float64)


def _finite_rows(values: Float64Array) -> BoolArray:
    rows: BoolArray = np.asarray(np.isfinite(values).all(axis=1))
    return rows


def _placed(
    track: Track, finite: BoolArray, conversion: Conversion, add_note: AddNote
) -> tuple[npt.NDArray[np.intp], Float64Array]:
    """Return the indices of the keys to use, by frame, and their frames in the scene."""
    order = _order(track, finite, add_note)
    frames = conversion.frames(track.frames[order])
    together = np.flatnonzero(np.diff(track.frames[order].astype(np.int64)) == 0)
    if len(together):
        at = ", ".join(f"{track.frames[order][key]}" for key in together[:3])
        add_note("KEYS_SHARE_FRAME", at, APART)
        for key in together[::-1]:
            frames[key] = frames[key + 1] - APART
    kept = are_told_apart(frames, add_note)
    return order[kept], frames[kept]


def _order(track: Track, finite: BoolArray, add_note: AddNote) -> npt.NDArray[np.intp]:
    """Return the indices of the keys to use, by frame; those of one frame in the file's order."""
    if not finite.all():
        add_note("KEY_NOT_FINITE", int((~finite).sum()))
    order = np.flatnonzero(finite)
    if (np.diff(track.frames[order].astype(np.int64)) < 0).any():
        add_note("KEYS_GO_BACK")
        order = order[np.argsort(track.frames[order], kind="stable")]
    return order


def are_told_apart(frames: Float64Array, add_note: AddNote) -> BoolArray:
    """Return which keys Blender tells from those after them, of which the last is kept; note the others."""
    rounded = frames.astype(np.float32).astype(np.float64)
    apart = np.ones(len(frames), dtype=np.bool_)
    if (np.diff(rounded) > LEAST_APART).all():
        return apart
    after = np.inf
    for key in range(len(rounded) - 1, -1, -1):
        apart[key] = after - rounded[key] > LEAST_APART
        after = rounded[key] if apart[key] else after
    add_note("KEYS_NOT_TOLD_APART", int((~apart).sum()), LEAST_APART)
    return apart


def _keys(
    track: Track, order: npt.NDArray[np.intp], frames: Float64Array, values: Float64Array, add_note: AddNote
) -> Keys:
    parameters = _in_float64(track.parameters[:, order])
    inside = np.clip(np.where(np.isnan(parameters), 0.0, parameters), LOWEST, HIGHEST)
    outside = (parameters != inside).any(axis=0)
    if outside.any():
        add_note("KEY_PARAMETERS_OUT_OF_RANGE", int(outside.sum()))
    return Keys(frames, values, inside, track.cycle)
