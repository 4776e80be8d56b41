# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert keys to tracks of a file, with whole frames, float32 values and turns from the previous key."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...animation.arguments import LARGEST
from ...animation.fcurves.keyframes import Float64Array
from ...formats.three_ds import Track
from ...formats.three_ds.tracks import LAST_FRAME
from ...interp import rotations
from ..clean_keys import APART, AddNote, Keys
from ..conversion import Conversion

_CYCLES = {"SINGLE": 0, "REPEAT": 2, "LOOP": 3}
_NO_TURN = np.array([[1.0, 0.0, 0.0, 0.0]])
_WHOLE = 1e-3
"""Frames. A key within this distance of a whole frame differs from it only by float32 rounding."""


def numbers_track(kind: str, keys: Keys, conversion: Conversion, add_note: AddNote) -> Track:
    """Return the track for keys with values in file units."""
    frames = _file_frames(keys.frames, conversion, add_note)
    values = np.clip(np.nan_to_num(keys.values), -LARGEST, LARGEST)
    changed = (values != keys.values).any(axis=1)
    if changed.any():
        add_note("VALUE_NOT_IN_FILE", int(changed.sum()))
    return _track(kind, frames, values.astype(np.float32), keys)


def turns_track(keys: Keys, conversion: Conversion, add_note: AddNote) -> Track:
    """Return the rotation track for keys that are turns from the previous key, in Blender's convention."""
    frames = _file_frames(keys.frames, conversion, add_note)
    return _track("ROTATION", frames, _rounded_turns(keys.values), keys)


def _rounded_turns(turns: Float64Array) -> npt.NDArray[np.float32]:
    """Convert turns to the file's convention: in the opposite direction, without reverse turns, and in float32.

    Each turn corrects the rounding of previous turns, so errors do not accumulate. Blocks of turns are rounded in
    parallel, as if the start of each block were exact. Then the first turn of each block corrects the end of the
    previous block.
    """
    wanted = rotations.turns_to_rotations(turns[:, 0], turns[:, 1:])
    rows = np.empty((len(turns), 4), dtype=np.float32)
    length = math.isqrt(len(turns)) + 1
    starts = np.arange(0, len(turns), length)
    stands = np.concatenate((_NO_TURN, wanted[starts[1:] - 1]))
    after_first = stands
    for step in range(length):
        at = starts[starts + step < len(turns)] + step
        rows[at], stands[: len(at)] = _rounded(turns[at], wanted[at], stands[: len(at)])
        if step == 0:
            after_first = stands.copy()
    stand = stands[:1]
    for block, start in enumerate(starts[1:].tolist(), start=1):
        first = slice(start, start + 1)
        rows[first], begins = _rounded(turns[first], wanted[first], stand)
        rest = rotations.multiply(stands[block], rotations.conjugate(after_first[block]))
        stand = rotations.multiply(rest, begins)
    return rows


def _rounded(
    turns: Float64Array, wanted: Float64Array, stands: Float64Array
) -> tuple[npt.NDArray[np.float32], Float64Array]:
    """Return the file's turns from current to target rotations for n tracks, (n, 4), and the resulting rotations."""
    left = rotations.multiply(wanted, rotations.conjugate(stands))
    axes, angles = rotations.to_axis_angle(left, turns[:, 1:])
    angles, axes = rotations.nearest_turns(angles, axes, turns[:, :1] * turns[:, 1:])
    senses = np.where(angles >= 0.0, -1.0, 1.0)[:, np.newaxis]
    rows = np.column_stack((np.abs(angles), senses * axes)).astype(np.float32)
    kept = rows.astype(np.float64)
    return rows, rotations.multiply(rotations.from_axis_angle(kept[:, 1:], -kept[:, 0]), stands)


def _track(kind: str, frames: npt.NDArray[np.int32], values: npt.NDArray[np.float32], keys: Keys) -> Track:
    parameters = keys.parameters.astype(np.float32)
    flags = ((parameters != 0.0) << np.arange(5)[:, np.newaxis]).sum(axis=0).astype(np.uint16)
    return Track(kind, frames, values, flags, parameters, _CYCLES[keys.cycle])


def _file_frames(frames: Float64Array, conversion: Conversion, add_note: AddNote) -> npt.NDArray[np.int32]:
    """Round frames to whole file frames, and note keys that were between them."""
    exact = conversion.in_file(frames)
    whole = np.clip(np.rint(exact), -LAST_FRAME, LAST_FRAME)
    # An import separates keys of the same frame by this distance.
    ahead = np.append(np.abs(np.diff(frames) - APART) < _WHOLE, False)
    moved = (np.abs(exact - whole) > _WHOLE) & ~ahead
    if moved.any():
        add_note("FRAME_NOT_WHOLE", int(moved.sum()), float(frames[np.argmax(moved)]))
    together = np.diff(whole) == 0
    if (together & ~ahead[:-1]).any():
        add_note("KEYS_SHARE_FILE_FRAME")
    return whole.astype(np.int32)
