# SPDX-License-Identifier: GPL-3.0-or-later
"""The parameters that affect the motion at keys, and the reasons why others do not.

The ease-to parameter acts through the left handle of a key, ease-from through the right handle, and tension, continuity
and bias through both handles. Parameters have no effect on a side of a key that has no segment, or whose segment
Blender plays. If handles play the track, parameters have no effect on a handle whose type was chosen by the animator.
At the ends of a spline of values, continuity and bias have no effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np

from ..bake.plans.splines import bends_by_parameters
from ..edit.track_keys import TrackKeys
from ..errors import AnimationError
from ..fcurves.frames import SAME_FRAME, is_among
from ..fcurves.keyframes import HANDLE, INTERPOLATION, BoolArray
from ..records import record
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT, PARAMETERS
from .key_info import SPLINE, kinds_beside

Cause = Literal["INTERPOLATION", "HANDLES", "METHOD", "END"]
_BITS = np.array([CHOSEN_LEFT, CHOSEN_RIGHT], dtype=np.uint8)
_SIDES = ("handle_left_type", "handle_right_type")
_NAME_OF_INTERPOLATION = {number: name for name, number in INTERPOLATION.items()}
_NAME_OF_HANDLE = {number: name for name, number in HANDLE.items()}


@record()
class Obstacle:
    """A reason why parameters of some keys have no effect.

    `names` contains identifiers of interpolations, handle types or methods. For END, `names` contains "FIRST" or "LAST"
    for the first or last key of the track, or "" for any other end of a spline.
    """

    cause: Cause
    names: tuple[str, ...]


@record()
class PlayedParameters:
    """The parameters that affect the motion at one or more keys, and the reasons why the others do not."""

    names: frozenset[str]
    obstacles: tuple[Obstacle, ...]


@record(eq=False)
class _Channel:
    """The keys of a channel or a rotation.

    The arrays have the shape (n, 2), with one column for each side of a key.
    """

    is_spline: BoolArray
    is_beyond: BoolArray
    """Mask of the sides where the track has no segment."""
    acts: BoolArray
    interpolations: frozenset[int]
    handles: frozenset[int]


def played_parameters(chosen: Sequence[TrackKeys]) -> PlayedParameters:
    """Return the parameters that affect the motion at one or more keys, and the reasons why the others do not."""
    names: set[str] = set()
    interpolations: set[int] = set()
    handles: set[int] = set()
    methods: set[str] = set()
    is_at_end = np.ones(2, dtype=np.bool_)
    """True for each side on which no key has a segment."""
    for keys in chosen:
        try:
            settings = keys.track.settings
        except AnimationError:
            # The panel of the track shows the reason.
            names.update(PARAMETERS)
            continue
        bends = bends_by_parameters(keys.track, settings)
        methods |= set() if bends else {settings.method}
        has_ends = keys.track.is_rotation and settings.ends == "3DS"
        for channel in _channels(keys, settings.cycle):
            names |= _acting(channel, bends, has_ends)
            interpolations |= channel.interpolations
            handles |= channel.handles
            is_at_end &= channel.is_beyond.all(axis=0)
    obstacles = []
    if interpolations:
        obstacles.append(Obstacle("INTERPOLATION", _named(_NAME_OF_INTERPOLATION, interpolations)))
    if handles:
        obstacles.append(Obstacle("HANDLES", _named(_NAME_OF_HANDLE, handles)))
    if methods and not names.issuperset(PARAMETERS[:3]):
        obstacles.append(Obstacle("METHOD", tuple(sorted(methods))))
    elif not names.issuperset(PARAMETERS):
        obstacles.append(Obstacle("END", ("FIRST" if is_at_end[0] else "LAST" if is_at_end[1] else "",)))
    return PlayedParameters(frozenset(names), tuple(obstacles))


def _named(names: dict[int, str], numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(names[number] for number in sorted(numbers))


def _acting(channel: _Channel, bends: bool, has_ends: bool) -> set[str]:
    """Return the parameters that affect any key. If `has_ends` is true, continuity and bias also affect end keys."""
    names = {name for name, acts in zip(("ease_to", "ease_from"), channel.acts.T, strict=True) if acts.any()}
    if bends:
        tangents = channel.acts.any(axis=1)
        names |= {"tension"} if tangents.any() else set()
        inside = channel.is_spline.all(axis=1)
        names |= {"continuity", "bias"} if (tangents & (inside | has_ends)).any() else set()
    return names


def _channels(keys: TrackKeys, cycle: str) -> Iterator[_Channel]:
    """Yield the keys of each channel, or of all channels of a rotation together."""
    is_by_handles = keys.track.is_played_by_handles
    groups = [dict(keys.own)] if keys.track.is_rotation else [{index: own} for index, own in keys.own.items()]
    for group in groups:
        channels = [*group.values()]
        frames = keys.frames[np.any([is_among(keys.frames, own.keys.frames) for own in channels], axis=0)]
        if not len(frames):
            continue
        kinds = np.full((len(frames), 2), SPLINE, np.uint8)
        if any(b"\1" in own.ends for own in channels):
            kinds = kinds_beside(keys.track, group, frames)
        ends = [min(own.keys.frames[0] for own in channels), max(own.keys.frames[-1] for own in channels)]
        is_beyond = np.abs(frames[:, np.newaxis] - np.array(ends)) <= SAME_FRAME
        # In a loop, the tangents of the first and last keys depend on both segments, but each of these keys has its own
        # ease.
        is_spline = (kinds == SPLINE) & ~(is_beyond & (cycle != "LOOP"))
        is_free = np.zeros((len(frames), 2), dtype=np.bool_)
        handles: set[int] = set()
        for own in channels:
            has_key = is_among(frames, own.keys.frames)
            rows = np.searchsorted(own.keys.frames, frames[has_key] - np.float32(SAME_FRAME))
            is_chosen = (own.chosen[rows, np.newaxis] & _BITS) != 0 if is_by_handles else np.zeros((len(rows), 2), bool)
            is_free[has_key] |= ~is_chosen
            for side, name in enumerate(_SIDES):
                handle_types = getattr(own.keys, name)[rows]
                handles |= {*handle_types[is_chosen[:, side] & is_spline[has_key, side]].tolist()}
        interpolations = frozenset(kinds[~is_spline & ~is_beyond].tolist())
        acts = is_spline & is_free & ~is_beyond
        yield _Channel(is_spline, is_beyond, acts, interpolations, frozenset(handles))
