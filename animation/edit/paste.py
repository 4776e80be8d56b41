# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy and paste the parameters of keys. Velocities are included if the methods of both tracks use velocities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice

import numpy as np

from ..records import record
from ..store.parameters import Numbers
from ..store.table.rows import PARAMETERS, velocity_of
from .set_parameters import set_parameters
from .track_keys import TrackKeys, uses_velocities


@record()
class CopiedKey:
    """The copied parameters and velocity of one key."""

    parameters: tuple[float, ...]
    velocity: tuple[float, ...] = ()
    """One number per component. Empty if the method of the track does not use velocities."""
    is_angular: bool = False


def copied_keys(keys: TrackKeys, defaults: Mapping[str, float]) -> list[CopiedKey]:
    """Return copies of a track's keys, ordered by frame. Raises AnimationError."""
    own = keys.parameters(defaults)
    parameters = list(zip(*(own[name].tolist() for name in PARAMETERS), strict=True))
    if not uses_velocities(keys.track):
        return [CopiedKey(numbers) for numbers in parameters]
    velocities = map(tuple, keys.velocities().tolist())
    return [CopiedKey(*numbers, keys.track.is_rotation) for numbers in zip(parameters, velocities, strict=True)]


def assign_to_keys(
    copied: Sequence[tuple[str, Sequence[CopiedKey]]], chosen: Sequence[TrackKeys]
) -> list[list[CopiedKey]] | None:
    """Return the copied key to paste onto each chosen key, by track, or None if no rule applies.

    `copied` contains the path of each track and its copied keys. The rules, in order:

    1. If there are as many chosen keys as copied keys, each chosen key gets its counterpart.
    2. If all copied keys are equal, every chosen key gets their common values.
    3. If exactly one key was copied from the path of each chosen track, that key is pasted onto all of the track's
    chosen keys.
    """
    counts = [len(keys) for keys in chosen]
    all_copied = list(chain.from_iterable(keys for _, keys in copied))
    if sum(counts) == len(all_copied):
        in_order = iter(all_copied)
        return [list(islice(in_order, n)) for n in counts]
    if len(set(all_copied)) == 1:
        return [all_copied[:1] * n for n in counts]
    single = {path: list(keys) for path, keys in copied if len(keys) == 1}
    if all(keys.track.path in single for keys in chosen):
        return [single[keys.track.path] * len(keys) for keys in chosen]
    return None


def paste(keys: TrackKeys, copied: Sequence[CopiedKey], defaults: Mapping[str, float]) -> str:
    """Paste parameters and velocities onto keys. Return the code of a note on omitted velocities, or an empty string.

    Velocities that do not fit the track are omitted. Raises AnimationError if the track can't be changed.
    """
    parameters = dict(zip(PARAMETERS, np.array([key.parameters for key in copied]).T, strict=True))
    velocities, note = _velocities(keys, copied)
    set_parameters(keys, {**parameters, **velocities}, defaults)
    return note


def _velocities(keys: TrackKeys, copied: Sequence[CopiedKey]) -> tuple[dict[str, Numbers], str]:
    """Return the velocities to paste, and the code of a note on omitted velocities, or an empty string."""
    is_rotation = keys.track.is_rotation
    moving = [key for key in copied if any(key.velocity)]
    if not uses_velocities(keys.track):
        return {}, "PASTED_NO_VELOCITIES" if moving else ""
    velocities = keys.velocities()
    size = velocities.shape[1]
    fitting = [row for row, key in enumerate(copied) if key.velocity and key.is_angular == is_rotation]
    for row in fitting:
        copied_components = copied[row].velocity[:size]
        velocities[row, : len(copied_components)] = copied_components
    note = ""
    if any(key.is_angular != is_rotation for key in moving):
        note = "PASTED_OTHER_VELOCITIES"
    elif any(any(key.velocity[size:]) for key in moving):
        note = "PASTED_FIRST_COMPONENTS"
    return {velocity_of(component): velocities[:, component] for component in range(size if fitting else 0)}, note
