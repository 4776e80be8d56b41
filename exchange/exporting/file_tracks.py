# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert keys to tracks of a file."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...animation.arguments import LARGEST
from ...animation.fcurves.keyframes import Float64Array
from ...formats.three_ds import Track
from ...formats.three_ds.tracks import LAST_FRAME
from ...interp import rotations
from ..conversion import Conversion
from ..keys import APART, Keys
from ..report import AddNote

NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])
"""The quaternion of a node without rotation."""
_CYCLES = {"SINGLE": 0, "REPEAT": 2, "LOOP": 3}
"""Flags of tracks."""
_WHOLE = 1e-3
"""Frames. A key within this distance of a whole frame differs from it only by float32 rounding."""


def numbers_track(kind: str, keys: Keys, conversion: Conversion, add_note: AddNote) -> Track:
    """Return the track for keys with values in file units."""
    frames = _file_frames(keys.frames, conversion, add_note)
    values = np.clip(np.nan_to_num(keys.values), -LARGEST, LARGEST)
    is_changed = (values != keys.values).any(axis=1)
    if is_changed.any():
        add_note("VALUE_NOT_IN_FILE", int(is_changed.sum()))
    return _track(kind, frames, values.astype(np.float32), keys)


def turns_track(keys: Keys, conversion: Conversion, add_note: AddNote) -> Track:
    """Return the rotation track for keys that are turns from the previous key, in Blender's convention."""
    frames = _file_frames(keys.frames, conversion, add_note)
    return _track("ROTATION", frames, _file_turns(keys.values), keys)


def _track(kind: str, frames: npt.NDArray[np.int32], values: npt.NDArray[np.float32], keys: Keys) -> Track:
    parameters = keys.parameters.astype(np.float32)
    key_flags = ((parameters != 0.0) << np.arange(5)[:, np.newaxis]).sum(axis=0).astype(np.uint16)
    return Track(kind, frames, values, key_flags, parameters, _CYCLES[keys.cycle])


def _file_frames(frames: Float64Array, conversion: Conversion, add_note: AddNote) -> npt.NDArray[np.int32]:
    """Round frames to whole file frames, and note keys that were between them."""
    exact = conversion.frames_in_file(frames)
    whole = np.clip(np.rint(exact), -LAST_FRAME, LAST_FRAME)
    # An import separates keys of the same frame by this distance.
    is_separated = np.append(np.abs(np.diff(frames) - APART) < _WHOLE, False)
    is_moved = (np.abs(exact - whole) > _WHOLE) & ~is_separated
    if is_moved.any():
        add_note("FRAME_NOT_WHOLE", int(is_moved.sum()), float(frames[np.argmax(is_moved)]))
    shares_frame = np.diff(whole) == 0
    if (shares_frame & ~is_separated[:-1]).any():
        add_note("KEYS_SHARE_FILE_FRAME")
    return whole.astype(np.int32)


def _file_turns(turns: Float64Array) -> npt.NDArray[np.float32]:
    """Convert turns to the file's convention: in the opposite direction, without reverse turns, and in float32.

    Each turn corrects the rounding of previous turns, so errors do not accumulate. Blocks of turns are rounded in
    parallel, as if the start of each block were exact. Then the first turn of each block corrects the end of the
    previous block.
    """
    goals = rotations.turns_to_rotations(turns[:, 0], turns[:, 1:])
    file_turns = np.empty((len(turns), 4), dtype=np.float32)
    block_length = math.isqrt(len(turns)) + 1
    block_starts = np.arange(0, len(turns), block_length)
    block_ends = np.concatenate((NO_TURN[np.newaxis], goals[block_starts[1:] - 1]))
    after_first_turns = block_ends
    for step in range(block_length):
        rows = block_starts[block_starts + step < len(turns)] + step
        file_turns[rows], block_ends[: len(rows)] = _rounded(turns[rows], goals[rows], block_ends[: len(rows)])
        if step == 0:
            after_first_turns = block_ends.copy()
    rotation = block_ends[:1]
    for block, start in enumerate(block_starts[1:].tolist(), start=1):
        first = slice(start, start + 1)
        file_turns[first], after_first_turn = _rounded(turns[first], goals[first], rotation)
        remaining_turn = rotations.multiply(block_ends[block], rotations.conjugate(after_first_turns[block]))
        rotation = rotations.multiply(remaining_turn, after_first_turn)
    return file_turns


def _rounded(
    turns: Float64Array, goals: Float64Array, starts: Float64Array
) -> tuple[npt.NDArray[np.float32], Float64Array]:
    """Return the file's turns from start to goal rotations for n tracks, (n, 4), and the resulting rotations."""
    exact = rotations.multiply(goals, rotations.conjugate(starts))
    axes, angles = rotations.to_axis_angle(exact, turns[:, 1:])
    angles, axes = rotations.nearest_turns(angles, axes, turns[:, :1] * turns[:, 1:])
    directions = np.where(angles >= 0.0, -1.0, 1.0)[:, np.newaxis]
    file_turns = np.column_stack((np.abs(angles), directions * axes)).astype(np.float32)
    rounded = file_turns.astype(np.float64)
    return file_turns, rotations.multiply(rotations.from_axis_angle(rounded[:, 1:], -rounded[:, 0]), starts)
