# SPDX-License-Identifier: GPL-3.0-or-later
"""Tension, continuity, bias, ease and velocity of keys: companion F-curves, with a key at the frame of each key that
has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ...interp.keys import WORDS
from ...words import rpt_, told
from ..fcurves.frames import is_among
from ..fcurves.keyframes import places
from .companions import PARAMETERS, VELOCITY, velocity_of
from .stamps import SAME_FRAME
from .tracks import Track

LIMITS = {
    "tension": (-1.0, 1.0),
    "continuity": (-1.0, 1.0),
    "bias": (-1.0, 1.0),
    "ease_to": (0.0, 1.0),
    "ease_from": (0.0, 1.0),
}


def read_parameters(
    track: Track, frames: npt.NDArray[np.float32], defaults: Mapping[str, float]
) -> dict[str, npt.NDArray[np.float64]]:
    """For each parameter one number a key; a key without a companion has the default.

    Raises Refusal, naming the key, where a companion holds a number out of range.
    """
    result = {}
    for name in PARAMETERS:
        if name not in track.parameters and name not in defaults:
            result[name] = np.zeros(len(frames))
            continue
        numbers = _numbers(track, name, frames, defaults.get(name, 0.0))
        check_parameter(track, name, numbers, frames)
        result[name] = numbers
    return result


def velocity_size(track: Track) -> int:
    """How many numbers a key's velocity has: one a component, or the three of an angular velocity."""
    return 3 if track.is_rotation else len(track.rest)


def read_velocities(
    track: Track, frames: npt.NDArray[np.float32], components: Sequence[int]
) -> npt.NDArray[np.float64]:
    """The velocities of keys, a frame, shape (n, components); those without have 0. Of rotations angular velocities in
    the parent's frame, radians, and the components are x, y, z."""
    return np.stack([_numbers(track, velocity_of(component), frames, 0.0) for component in components], axis=1)


def _numbers(track: Track, name: str, frames: npt.NDArray[np.float32], default: float) -> npt.NDArray[np.float64]:
    """What a parameter's companion holds at the frames."""
    numbers = np.full(len(frames), default)
    if name in track.parameters:
        stand_at, held = places(track.parameters[name]).reshape(-1, 2).T
        stand = _at_keys(track, stand_at)
        order = np.argsort(stand, kind="stable")
        at, values = stand[order], held[order]
        near = np.clip(np.searchsorted(at, frames - np.float32(SAME_FRAME)), 0, max(0, len(at) - 1))
        hit = np.abs(at[near] - frames) <= SAME_FRAME if len(at) else np.zeros(len(frames), dtype=np.bool_)
        numbers[hit] = values[near[hit]]
    return numbers


def _at_keys(track: Track, frames: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Where parameters that stand at `frames` belong; NaN where their keys are gone."""
    result = frames.copy()
    for before, after in track.moved.items():
        result[np.abs(frames - np.float32(before)) <= SAME_FRAME] = np.nan if after is None else after
    return result


def without_key(track: Track, frames: npt.NDArray[np.float32]) -> list[float]:
    """The frames at which parameters stand and none of the track's keys, which stand at `frames`."""
    if not track.parameters:
        return []
    stand = np.unique(np.concatenate([places(companion)[::2] for companion in track.parameters.values()]))
    return [float(at) for at in stand[~is_among(stand, frames)]]


def check_parameter(track: Track, name: str, numbers: npt.NDArray[np.float64], frames: npt.NDArray[np.float32]) -> None:
    """Raises Refusal where there is no such parameter, or the number of a key, which stand at `frames`, is out of its
    range."""
    if name in map(velocity_of, range(velocity_size(track))):
        with np.errstate(over="ignore"):
            infinite = ~np.isfinite(numbers.astype(np.float32))
        if infinite.any():
            key = int(np.argmax(infinite))
            reason = rpt_("{:s} {:g} is not a finite number in float32", name, numbers[key])
            raise track.refusal(reason, float(frames[key]))
        return
    if name not in LIMITS:
        known = ", ".join((*LIMITS, VELOCITY))
        raise track.refusal(rpt_("{!r} is none of {:s}", name, known), float(frames[0]))
    low, high = LIMITS[name]
    outside = ~((numbers >= low) & (numbers <= high))
    if outside.any():
        key = int(np.argmax(outside))
        word = told(WORDS[name])
        reason = rpt_("{:s} {:g} does not lie in {:g} to {:g}", word, numbers[key], low, high)
        raise track.refusal(reason, float(frames[key]))
