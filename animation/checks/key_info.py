# SPDX-License-Identifier: GPL-3.0-or-later
"""The key shown in the tab: its interpolation, its value, and the parameters that affect the motion.

The ease-to parameter acts through the left handle of a key, ease-from through the right handle, and tension, continuity
and bias through both handles. Parameters have no effect on a side of a key that has no segment, or whose segment
Blender plays. If handles play the track, parameters have no effect on a handle whose type was chosen by the animator.
At the ends of a spline of values, continuity and bias have no effect.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...interp import rotations
from ...interp.cubics import wrapped_frame
from ..bake.plans.own_motion import plays_its_own_keys
from ..bake.plans.track_methods import bends_by_parameters
from ..bake.plans.track_splines import track_splines
from ..edit.track_keys import TrackKeys
from ..errors import AnimationError
from ..fcurves.frames import SAME_FRAME, is_among, union
from ..fcurves.keyframes import HANDLE, INTERPOLATION, BoolArray, Float32Array
from ..records import record
from ..store.frame_functions import function_of
from ..store.own_keys import OwnKeys, read_own_keys
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT, PARAMETERS
from ..store.tracks import Track

AT = 0.02
"""Tolerance in frames. A key within this distance of the current frame counts as a key at that frame."""
_STEPS, _STEP = 16, math.pi / 4.0
"""The samples from a key to the current frame that count full turns, and the radians for each additional sample."""
SPLINE, NOTHING = 254, 255
"""Interpolations of a segment of the spline and of a missing segment. Other segments have the numbers of Blender's
interpolations."""
Sides = tuple[int, int]
"""The interpolations before and after a key."""
Cause = Literal["INTERPOLATION", "HANDLES", "METHOD", "END"]
_BITS = np.array([CHOSEN_LEFT, CHOSEN_RIGHT], dtype=np.uint8)
_SIDES = ("handle_left_type", "handle_right_type")
_NAME_OF_INTERPOLATION = {number: name for name, number in INTERPOLATION.items()}
_NAME_OF_HANDLE = {number: name for name, number in HANDLE.items()}


def kinds_beside(track: Track, own: Mapping[int, OwnKeys], frames: Float32Array) -> npt.NDArray[np.uint8]:
    """Return the interpolations before and after the keys at the frames, shape (n, 2).

    For values, the interpolation is taken from the first channel with a key at the frame. For rotations, it is taken
    from the first channel with a segment that Blender plays. The result is NOTHING before the first key and after the
    last key, unless the track cycles.
    """
    kinds = np.full((len(frames), 2), SPLINE, np.uint8)
    has_segment = np.full((len(frames), 2), _cycles(track))
    for index in sorted(own, reverse=True):
        channel = own[index]
        before = np.searchsorted(channel.keys.frames, frames - np.float32(SAME_FRAME)) - 1
        after = np.searchsorted(channel.keys.frames, frames + np.float32(SAME_FRAME), side="right") - 1
        for side, begin in enumerate((before, after)):
            is_inside = (begin >= 0) & (begin < len(channel.keys) - 1)
            has_segment[:, side] |= is_inside
            is_blenders = is_inside.copy()
            is_blenders[is_inside] = channel.ends_spline[begin[is_inside]]
            if not track.is_rotation:
                # Ignore the keys of later channels.
                has_key = before < after
                kinds[has_key, side] = SPLINE
                is_blenders &= has_key
            kinds[is_blenders, side] = channel.keys.interpolation[begin[is_blenders]]
    kinds[~has_segment] = NOTHING
    return kinds


def _cycles(track: Track) -> bool:
    try:
        return track.settings.cycle != "SINGLE"
    except AnimationError:
        return False


def sides_in_common(kinds: npt.NDArray[np.uint8]) -> Sides | None:
    """Return the interpolations that all keys have in common, or None if they differ or there are no keys.

    Missing segments before the first key and after the last key match any segment.
    """
    if not len(kinds):
        return None
    before, after = (np.unique(side[side != NOTHING]).tolist() or [NOTHING] for side in kinds.T)
    return (before[0], after[0]) if len(before) == len(after) == 1 else None


@record()
class ShownKey:
    """A key of a track as shown in the tab. `number` counts from 1."""

    frame: float
    number: int
    count: int
    where: str
    """The position of the key relative to the requested frame: AT, BEFORE or AFTER."""


def key_near(track: Track, frame: float) -> ShownKey | None:
    """Return the key at `frame`, otherwise the last key before `frame`, otherwise the first key after `frame`."""
    frames = union([channel.keys.frames for channel in read_own_keys(track).values()])
    if not len(frames):
        return None
    row = max(0, int(np.searchsorted(frames, frame + AT)) - 1)
    key_frame = float(frames[row])
    where = "AT" if abs(key_frame - frame) <= AT else "BEFORE" if key_frame < frame else "AFTER"
    return ShownKey(key_frame, row + 1, len(frames), where)


def values_now(track: Track, frame: float) -> dict[int, float]:
    """Return the values of the track's F-curves at `frame`, by component, as shown by Blender."""
    return {index: float(fcurve.evaluate(frame)) for index, fcurve in sorted(track.channels.items())}


class Turn(NamedTuple):
    """The rotation of a track from one frame to another."""

    start: float
    """The frame of the last key before `end`, or `end` itself if there is none."""
    end: float
    angle: float
    """The angle in radians."""
    axis: tuple[float, float, float]


def turn_now(track: Track, frame: float, defaults: Mapping[str, float]) -> Turn:
    """Return the rotation from the last key before `frame` to `frame`, including full turns.

    In cycles, both frames are in the first round. Before the first key, the rotation is from the identity. After the
    last key, it is the last key's rotation. Source: docs/formulas, "Key info".

    Raises AnimationError if the keys do not form a spline.
    """
    function = function_of(track)
    # Find the motion frame that is played at this frame.
    frame = frame if function is None else float(function([frame])[0])
    own = read_own_keys(track)
    check_can_be_drawn(track, own)
    (spline,) = track_splines(track, track.settings, own, defaults)
    first, last = spline.frames[[0, -1]].tolist()
    frame = min(frame, last) if spline.spline.cycle == "SINGLE" else wrapped_frame(frame, first, last)
    earlier = np.count_nonzero(spline.frames < frame - AT)
    if earlier:
        start = float(spline.frames[earlier - 1])
        largest = 0.0 if spline.turns is None else spline.turns[earlier - 1]
        q = spline.spline(np.linspace(start, frame, _STEPS + int(largest / _STEP)))
    else:
        start, q = frame, np.concatenate(([[1.0, 0.0, 0.0, 0.0]], spline.spline([frame])))
    walked = rotations.to_rotation_vector(rotations.shorter(rotations.multiply(q[1:], rotations.conjugate(q[:-1]))))
    axis, angle = rotations.to_axis_angle(rotations.multiply(q[-1], rotations.conjugate(q[0])))
    angle, axis = rotations.nearest_turns(angle, axis, walked.sum(axis=0))
    x, y, z = (axis * np.copysign(1.0, angle)).tolist()
    return Turn(start, frame, abs(float(angle)), (x, y, z))


def check_can_be_drawn(track: Track, originals: Mapping[int, OwnKeys]) -> None:
    """Raise AnimationError if the rotation needs a new F-curve, which drawing code must not create."""
    frames = {original.keys.frames.tobytes() for original in originals.values()}
    if track.is_rotation and len(frames) > 1 and not all(plays_its_own_keys(track, index) for index in track.channels):
        raise track.error("KEYED_APART_SHOWN")


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
