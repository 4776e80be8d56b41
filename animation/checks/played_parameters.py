# SPDX-License-Identifier: GPL-3.0-or-later
"""The parameters that affect the motion at keys, the reasons why others do not, and the interpolations beside keys.

The ease-to parameter acts through the left handle of a key, ease-from through the right handle, and tension, continuity
and bias through both handles. Parameters have no effect on a side of a key that has no segment, or whose segment
Blender plays. If handles play the track, parameters have no effect on a handle whose type was chosen by the animator.
At the ends of a spline of values, continuity and bias have no effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..bake.plans.track_methods import bends_by_parameters
from ..edit.track_keys import TrackKeys
from ..errors import AnimationError
from ..fcurves.frames import SAME_FRAME, is_among
from ..fcurves.keyframes import HANDLE, INTERPOLATION, BoolArray, Float32Array
from ..records import record
from ..store.own_arrays import OwnKeys
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT, PARAMETERS
from ..store.tracks import Track

SPLINE, NOTHING = 254, 255
"""Interpolations of a segment of the spline and of a missing segment. Other segments have the numbers of Blender's
interpolations."""
Sides = tuple[int, int]
"""The interpolations before and after a key."""
Cause = Literal["INTERPOLATION", "HANDLES", "METHOD", "END"]
_CHOSEN_SIDES = np.array([CHOSEN_LEFT, CHOSEN_RIGHT], dtype=np.uint8)
_HANDLE_TYPES = ("handle_left_type", "handle_right_type")
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


def played_parameters(chosen: Sequence[TrackKeys]) -> PlayedParameters:
    """Return the parameters that affect the motion at one or more keys, and the reasons why the others do not."""
    names: set[str] = set()
    interpolations: set[int] = set()
    handles: set[int] = set()
    methods: set[str] = set()
    # True for each side on which no key has a segment.
    is_at_end = np.ones(2, dtype=np.bool_)
    for keys in chosen:
        try:
            settings = keys.track.settings
        except AnimationError:
            # The panel of the track shows the reason.
            names.update(PARAMETERS)
            continue
        is_bent = bends_by_parameters(keys.track, settings)
        if not is_bent:
            methods.add(settings.method)
        for channel in _channels(keys, settings.cycle):
            names |= channel.names_of_eases()
            if is_bent:
                names |= channel.names_of_tangents(bends_ends=keys.track.is_rotation and settings.ends == "3DS")
            interpolations |= channel.interpolations
            handles |= channel.handles
            is_at_end &= channel.is_outside.all(axis=0)
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


def _named(names: Mapping[int, str], numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(names[number] for number in sorted(numbers))


@record(eq=False)
class _ChannelKeys:
    """Keys of a channel, or of all channels of a rotation.

    The arrays have the shape (n, 2), with one column for each side of a key.
    """

    is_spline: BoolArray
    """Mask of the sides with a segment of the spline. In a loop, the ends of the track have one too."""
    is_outside: BoolArray
    """Mask of the sides before the first key and after the last key of the track."""
    is_effective: BoolArray
    """Mask of the sides whose handle or segment depends on parameters."""
    interpolations: frozenset[int]
    """The interpolations of segments that Blender plays."""
    handles: frozenset[int]
    """The handle types that the animator chose beside segments of the spline."""

    def names_of_eases(self) -> set[str]:
        """Return the eases that affect any key."""
        columns = zip(("ease_to", "ease_from"), self.is_effective.T, strict=True)
        return {name for name, is_effective in columns if is_effective.any()}

    def names_of_tangents(self, bends_ends: bool) -> set[str]:
        """Return which of tension, continuity and bias affect any key.

        If `bends_ends` is true, continuity and bias also affect the ends of a spline.
        """
        is_effective = self.is_effective.any(axis=1)
        names = {"tension"} if is_effective.any() else set()
        if (is_effective & (self.is_spline.all(axis=1) | bends_ends)).any():
            names |= {"continuity", "bias"}
        return names


def _channels(keys: TrackKeys, cycle: str) -> Iterator[_ChannelKeys]:
    """Yield the keys of each channel, or of all channels of a rotation together."""
    groups = [keys.own] if keys.track.is_rotation else [{index: own_keys} for index, own_keys in keys.own.items()]
    for group in groups:
        channels = [*group.values()]
        frames = keys.frames[np.any([is_among(keys.frames, own_keys.keys.frames) for own_keys in channels], axis=0)]
        if not len(frames):
            continue
        sides = np.full((len(frames), 2), SPLINE, np.uint8)
        if any(own_keys.begins_segment.any() for own_keys in channels):
            sides = interpolations_beside(keys.track, group, frames)
        first = min(own_keys.keys.frames[0] for own_keys in channels)
        last = max(own_keys.keys.frames[-1] for own_keys in channels)
        is_outside = np.abs(frames[:, np.newaxis] - np.array([first, last])) <= SAME_FRAME
        # In a loop, the tangents of the first and last keys depend on both segments, but each of these keys has its own
        # ease.
        is_spline = (sides == SPLINE) & ~(is_outside & (cycle != "LOOP"))
        is_free = np.zeros((len(frames), 2), dtype=np.bool_)
        handles: set[int] = set()
        for own_keys in channels:
            has_key = is_among(frames, own_keys.keys.frames)
            rows = np.searchsorted(own_keys.keys.frames, frames[has_key] - np.float32(SAME_FRAME))
            is_chosen = (own_keys.chosen[rows, np.newaxis] & _CHOSEN_SIDES) != 0
            is_chosen &= keys.track.is_played_by_handles
            is_free[has_key] |= ~is_chosen
            for side, name in enumerate(_HANDLE_TYPES):
                handle_types = getattr(own_keys.keys, name)[rows]
                handles.update(handle_types[is_chosen[:, side] & is_spline[has_key, side]].tolist())
        interpolations = frozenset(sides[~is_spline & ~is_outside].tolist())
        yield _ChannelKeys(is_spline, is_outside, is_spline & is_free & ~is_outside, interpolations, frozenset(handles))


def interpolations_beside(track: Track, own: Mapping[int, OwnKeys], frames: Float32Array) -> npt.NDArray[np.uint8]:
    """Return the interpolations before and after the keys at the frames, shape (n, 2).

    For values, the interpolation is taken from the first channel with a key at the frame. For rotations, it is taken
    from the first channel with a segment that Blender plays. The result is NOTHING before the first key and after the
    last key, unless the track cycles.
    """
    sides = np.full((len(frames), 2), SPLINE, np.uint8)
    has_segment = np.full((len(frames), 2), _cycles(track))
    # Earlier channels overwrite later ones.
    for _, channel in sorted(own.items(), reverse=True):
        key_before = np.searchsorted(channel.keys.frames, frames - np.float32(SAME_FRAME)) - 1
        key_at_or_before = np.searchsorted(channel.keys.frames, frames + np.float32(SAME_FRAME), side="right") - 1
        has_key = key_before < key_at_or_before
        for side, begin in enumerate((key_before, key_at_or_before)):
            is_inside = (begin >= 0) & (begin < len(channel.keys) - 1)
            has_segment[:, side] |= is_inside
            is_blenders = is_inside.copy()
            is_blenders[is_inside] = channel.begins_segment[begin[is_inside]]
            if not track.is_rotation:
                # Ignore the keys of later channels.
                sides[has_key, side] = SPLINE
                is_blenders &= has_key
            sides[is_blenders, side] = channel.keys.interpolation[begin[is_blenders]]
    sides[~has_segment] = NOTHING
    return sides


def _cycles(track: Track) -> bool:
    try:
        return track.settings.cycle != "SINGLE"
    except AnimationError:
        return False


def interpolations_in_common(sides: npt.NDArray[np.uint8]) -> Sides | None:
    """Return the interpolations (n, 2) that all keys have in common, or None if they differ or there are no keys.

    Missing segments before the first key and after the last key match any segment.
    """
    if not len(sides):
        return None
    before, after = (np.unique(side[side != NOTHING]).tolist() or [NOTHING] for side in sides.T)
    return (before[0], after[0]) if len(before) == len(after) == 1 else None
