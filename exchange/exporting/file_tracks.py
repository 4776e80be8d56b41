# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracks of a file from keys: whole frames, float32, turns from the key before."""

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
"""Frames: a key nearer than this to a whole frame differs from it only by float32."""


def numbers_track(kind: str, keys: Keys, conversion: Conversion, add_note: AddNote) -> Track:
    """Return the track of keys whose values are in the file's units already."""
    frames = _file_frames(keys.frames, conversion, add_note)
    values = np.clip(np.nan_to_num(keys.values), -LARGEST, LARGEST)
    changed = (values != keys.values).any(axis=1)
    if changed.any():
        add_note("VALUE_NOT_IN_FILE", int(changed.sum()))
    return _track(kind, frames, values.astype(np.float32), keys)


def turns_track(keys: Keys, conversion: Conversion, add_note: AddNote) -> Track:
    """Return the rotation track of keys that are turns from the key before, in Blender's convention."""
    frames = _file_frames(keys.frames, conversion, add_note)
    return _track("ROTATION", frames, _rounded_turns(keys.values), keys)


def _rounded_turns(turns: Float64Array) -> npt.NDArray[np.float32]:
    """Return turns as a file has them: of the opposite sense, none backwards, in float32.

    Each corrects the rounding of the ones before, so that errors do not add up from key to key. Blocks of turns are
    rounded side by side, each as if it began exactly; then the first turn of each corrects the end of the block before
    it.
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
    """Return for n tracks the file's rows from current to wanted rotations, (n, 4), and the rotations reached."""
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
    """Return whole frames of the file, and note keys that were between them."""
    exact = conversion.in_file(frames)
    whole = np.clip(np.rint(exact), -LAST_FRAME, LAST_FRAME)
    # An import moved keys of one frame so far apart.
    ahead = np.append(np.abs(np.diff(frames) - APART) < _WHOLE, False)
    moved = (np.abs(exact - whole) > _WHOLE) & ~ahead
    if moved.any():
        add_note("FRAME_NOT_WHOLE", int(moved.sum()), float(frames[np.argmax(moved)]))
    together = np.diff(whole) == 0
    if (together & ~ahead[:-1]).any():
        add_note("KEYS_SHARE_FILE_FRAME")
    return whole.astype(np.int32)
