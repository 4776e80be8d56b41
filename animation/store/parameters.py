# SPDX-License-Identifier: GPL-3.0-or-later
"""Tension, continuity, bias, ease and velocity of keys, read from the keys' rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ...interp.keys import HIGHEST, LOWEST, WORDS
from ..fcurves.keyframes import Float32Array, IndexArray, is_among, matching_rows
from .own_keys import OwnKeys
from .table.rows import PARAMETERS, VELOCITY, column_of, velocity_of
from .tracks import Track

LIMITS = {name: (float(low), float(HIGHEST)) for name, low in zip(PARAMETERS, LOWEST.ravel(), strict=True)}
"""Lowest and highest value of each parameter."""

Numbers = npt.NDArray[np.float64]
"""Parameters or velocities."""


def given_numbers(own: Mapping[int, OwnKeys], frames: Float32Array) -> Float32Array:
    """Read the parameters and velocities of the keys at these frames, shape (n, k), with NaN if not set.

    If channels have different values at a frame, the values are from the first channel with a key at this frame.
    """
    channels = [own[index] for index in sorted(own)]
    if channels[0].frame_bytes == frames.tobytes():
        return channels[0].numbers
    numbers = np.full((len(frames), channels[0].numbers.shape[1]), np.nan, dtype=np.float32)
    for channel in reversed(channels):
        rows, channel_rows = matching_rows(frames, channel.keys.frames)
        numbers[rows] = channel.numbers[channel_rows]
    return numbers


def parameter_rows(
    track: Track, own: Mapping[int, OwnKeys], frames: Float32Array, defaults: Mapping[str, float]
) -> Numbers:
    """Read the parameters of the keys at these frames, shape (5, n). Keys without a value get the default.

    Raises an AnimationError that names the key if a value is out of range.
    """
    if not own:
        return np.zeros((len(PARAMETERS), len(frames)))
    given = given_numbers(own, frames)[:, : len(PARAMETERS)].T.astype(np.float64)
    default_column = np.array([[defaults.get(name, 0.0)] for name in PARAMETERS])
    parameters = np.ascontiguousarray(np.where(np.isnan(given), default_column, given))
    if not ((parameters >= LOWEST) & (parameters <= HIGHEST)).all():
        for name, values in zip(PARAMETERS, parameters, strict=True):
            check_parameter(track, name, values, frames)
    return parameters


def component_parameters(
    track: Track, own: Mapping[int, OwnKeys], frames: Float32Array, defaults: Mapping[str, float]
) -> tuple[IndexArray, dict[str, Numbers]]:
    """Read each parameter of the keys at these frames, with one value per component, and the row of each value's key.

    Equal channels count once, and so do the channels of a rotation, which share parameters. Keys without a value get
    the default. Raises an AnimationError that names the key if a value is out of range.
    """
    contents = {(channel.frame_bytes, channel.numbers.tobytes()) for channel in own.values()}
    if track.is_rotation or len(contents) < 2:
        shared = parameter_rows(track, own, frames, defaults)
        return np.arange(len(frames)), dict(zip(PARAMETERS, shared, strict=True))
    rows = [np.flatnonzero(is_among(frames, channel.keys.frames)) for channel in own.values()]
    parameters = [
        parameter_rows(track, {index: own[index]}, frames[rows_of_channel], defaults)
        for index, rows_of_channel in zip(own, rows, strict=True)
    ]
    return np.concatenate(rows), dict(zip(PARAMETERS, np.concatenate(parameters, axis=1), strict=True))


def means_of_keys(key_rows: IndexArray, values_by_name: Mapping[str, Numbers], key_count: int) -> dict[str, Numbers]:
    """Return the mean of each key's values, given the row of each value's key."""
    counts = np.bincount(key_rows, minlength=key_count)
    return {name: np.bincount(key_rows, values, key_count) / counts for name, values in values_by_name.items()}


def velocity_size(track: Track) -> int:
    """Return the number of components in a key's velocity, which is 3 for an angular velocity."""
    return 3 if track.is_rotation else len(track.rest)


def read_velocities(track: Track, own: Mapping[int, OwnKeys], frames: Float32Array) -> Numbers:
    """Read the keys' velocities per frame, shape (n, components), with 0 for unset velocities.

    For rotations, the result contains angular velocities about the parent's x, y and z axes, in radians.
    """
    velocities = np.zeros((len(frames), velocity_size(track)))
    if not own:
        return velocities
    first_column = column_of(velocity_of(0))
    if track.is_rotation:
        return np.nan_to_num(given_numbers(own, frames)[:, first_column : first_column + 3].astype(np.float64))
    for index, channel in own.items():
        rows, channel_rows = matching_rows(frames, channel.keys.frames)
        velocities[rows, index] = np.nan_to_num(channel.numbers[channel_rows, first_column])
    return velocities


def check_parameter(track: Track, name: str, numbers: Numbers, frames: Float32Array) -> None:
    """Raise AnimationError for an unknown parameter, or a value out of range.

    `frames` contains the frames of the keys.
    """
    if name in map(velocity_of, range(velocity_size(track))):
        with np.errstate(over="ignore"):
            is_infinite = ~np.isfinite(numbers.astype(np.float32))
        if is_infinite.any():
            key = int(np.argmax(is_infinite))
            raise track.error("PARAMETER_NOT_FINITE", name, float(numbers[key]), frame=float(frames[key]))
        return
    if name not in LIMITS:
        known = ", ".join((*LIMITS, VELOCITY))
        raise track.error("PARAMETER_UNKNOWN", name, known, frame=float(frames[0]))
    low, high = LIMITS[name]
    is_outside = ~((numbers >= low) & (numbers <= high))
    if is_outside.any():
        key = int(np.argmax(is_outside))
        arguments = WORDS[name], float(numbers[key]), low, high
        raise track.error("PARAMETER_OUT_OF_RANGE", *arguments, frame=float(frames[key]))
