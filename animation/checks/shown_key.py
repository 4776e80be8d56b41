# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys shown in the tab: the segments beside them, the parameters with an effect, and values at the current frame.

A segment before or after a key is the spline's, Blender's, or missing. The ease-to parameter acts through the left
handle of a key, ease-from through the right handle, and tension, continuity and bias through both handles. Parameters
have no effect on a side of a key that has no segment, or whose segment Blender plays. If handles play the track,
parameters have no effect on a handle whose type was chosen by the animator. At the ends of a spline of values,
continuity and bias have no effect.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from ...interp import rotations
from ...interp.continuity import Jump, jumps
from ...interp.prepared import wrapped_frame
from ..bake.plans.own_motion import plays_its_own_keys
from ..bake.plans.track_splines import track_splines
from ..edit.track_keys import TrackKeys
from ..fcurves.keyframes import HANDLE, INTERPOLATION, SAME_FRAME, BoolArray, EnumArray, Float32Array, is_among, union
from ..records import record
from ..store.frame_functions import function_of
from ..store.own_keys import OwnKeys
from ..store.read_own_keys import read_own_keys
from ..store.table.rows import CHOSEN_LEFT, CHOSEN_RIGHT, PARAMETERS
from ..store.tracks import Track, bends_by_parameters

SPLINE, NOTHING = 254, 255
"""Interpolations of a segment of the spline and of a missing segment. Other segments have the numbers of Blender's
interpolations."""
Sides = tuple[int, int]
"""The interpolations before and after a key."""
_Cause = Literal["INTERPOLATION", "HANDLES", "METHOD", "END"]
_CHOSEN_SIDES = np.array([CHOSEN_LEFT, CHOSEN_RIGHT], dtype=np.uint8)
_HANDLE_TYPES = ("handle_left_type", "handle_right_type")
_NAME_OF_INTERPOLATION = {number: name for name, number in INTERPOLATION.items()}
_NAME_OF_HANDLE = {number: name for name, number in HANDLE.items()}


def interpolations_beside(track: Track, own: Mapping[int, OwnKeys], frames: Float32Array) -> EnumArray:
    """Return the interpolations before and after the keys at the frames, shape (n, 2).

    For values, the interpolation is taken from the first channel with a key at the frame. For rotations, it is taken
    from the first channel with a segment that Blender plays. Unless the track cycles, the result is NOTHING before the
    first key and after the last key of a rotation, or of all value channels that have a key at the frame.
    """
    sides = np.full((len(frames), 2), SPLINE, np.uint8)
    has_segment = np.full((len(frames), 2), track.settings.cycle != "SINGLE")
    if track.is_rotation:
        # The segments of a rotation join the keys of all channels, because a bake adds the keys that a channel lacks.
        has_segment |= ~_are_outside(own, frames)
    # Earlier channels overwrite later ones.
    for _, channel in sorted(own.items(), reverse=True):
        key_before = np.searchsorted(channel.keys.frames, frames - np.float32(SAME_FRAME)) - 1
        key_at_or_before = np.searchsorted(channel.keys.frames, frames + np.float32(SAME_FRAME), side="right") - 1
        has_key = key_before < key_at_or_before
        for side, begin in enumerate((key_before, key_at_or_before)):
            is_inside = (begin >= 0) & (begin < len(channel.keys) - 1)
            has_segment[:, side] |= is_inside
            plays_blender_segment = is_inside.copy()
            plays_blender_segment[is_inside] = channel.begins_segment[begin[is_inside]]
            if not track.is_rotation:
                # Ignore the keys of later channels.
                sides[has_key, side] = SPLINE
                plays_blender_segment &= has_key
            sides[plays_blender_segment, side] = channel.keys.interpolation[begin[plays_blender_segment]]
    sides[~has_segment] = NOTHING
    return sides


def interpolations_in_common(sides: EnumArray) -> Sides | None:
    """Return the interpolations (n, 2) that all keys have in common, or None if they differ or there are no keys.

    Missing segments before the first key and after the last key match any segment.
    """
    if not len(sides):
        return None
    before, after = (np.unique(side[side != NOTHING]).tolist() or [NOTHING] for side in sides.T)
    return (before[0], after[0]) if len(before) == len(after) == 1 else None


@record()
class Obstacle:
    """A reason why parameters of some keys have no effect.

    `names` contains identifiers of interpolations, handle types or methods. For END, `names` contains "FIRST" or "LAST"
    for the first or last key of the track, or "" for any other end of a spline.
    """

    cause: _Cause
    names: tuple[str, ...]


@record()
class PlayedParameters:
    """The parameters that affect the motion at one or more keys, and a reason why others do not."""

    names: frozenset[str]
    obstacle: Obstacle | None
    """If there are several reasons, a reason that the animator can remove: interpolations, then handles, then methods.
    """


def played_parameters(chosen: Sequence[TrackKeys]) -> PlayedParameters:
    """Return the parameters that affect the motion at one or more keys, and a reason why others do not."""
    names: set[str] = set()
    interpolations: set[int] = set()
    handles: set[int] = set()
    methods: set[str] = set()
    # True for each side on which no key has a segment.
    is_at_end = np.ones(2, dtype=np.bool_)
    for keys in chosen:
        settings = keys.track.settings
        is_bent = bends_by_parameters(keys.track, settings)
        if not is_bent:
            methods.add(settings.method)
        bends_ends = keys.track.is_rotation and settings.ends == "3DS"
        for own, frames in _keys_of_channels(keys):
            sides = interpolations_beside(keys.track, own, frames)
            is_outside = _are_outside(own, frames)
            # In a loop, the tangents of the first and last keys depend on both segments, but each of these keys has
            # its own ease.
            is_spline = (sides == SPLINE) & ~(is_outside & (settings.cycle != "LOOP"))
            is_placed, types = _handles(keys.track, own, frames, is_spline)
            is_effective = is_spline & is_placed & ~is_outside
            names |= {name for name, side in zip(("ease_to", "ease_from"), is_effective.T, strict=True) if side.any()}
            has_tangent = is_effective.any(axis=1)
            if is_bent and has_tangent.any():
                names.add("tension")
            if is_bent and (has_tangent & (is_spline.all(axis=1) | bends_ends)).any():
                names |= {"continuity", "bias"}
            interpolations.update(sides[~is_spline & ~is_outside].tolist())
            handles |= types
            is_at_end &= is_outside.all(axis=0)
    obstacle = None
    if interpolations:
        obstacle = Obstacle("INTERPOLATION", _named(_NAME_OF_INTERPOLATION, interpolations))
    elif handles:
        obstacle = Obstacle("HANDLES", _named(_NAME_OF_HANDLE, handles))
    elif methods and not names.issuperset(PARAMETERS[:3]):
        obstacle = Obstacle("METHOD", tuple(sorted(methods)))
    elif not names.issuperset(PARAMETERS):
        obstacle = Obstacle("END", ("FIRST" if is_at_end[0] else "LAST" if is_at_end[1] else "",))
    return PlayedParameters(frozenset(names), obstacle)


def _named(names: Mapping[int, str], numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(names[number] for number in sorted(numbers))


def _keys_of_channels(keys: TrackKeys) -> Iterator[tuple[Mapping[int, OwnKeys], Float32Array]]:
    """Yield each channel, or all channels of a rotation together, with the frames of its chosen keys."""
    groups = [keys.own] if keys.track.is_rotation else [{index: own_keys} for index, own_keys in keys.own.items()]
    for group in groups:
        has_key = np.any([is_among(keys.frames, own_keys.keys.frames) for own_keys in group.values()], axis=0)
        if has_key.any():
            yield group, keys.frames[has_key]


def _are_outside(own: Mapping[int, OwnKeys], frames: Float32Array) -> BoolArray:
    """Return a mask, shape (n, 2), of the sides before the first key and after the last key of the channels."""
    first = min(own_keys.keys.frames[0] for own_keys in own.values())
    last = max(own_keys.keys.frames[-1] for own_keys in own.values())
    is_outside: BoolArray = np.abs(frames[:, np.newaxis] - np.array([first, last])) <= SAME_FRAME
    return is_outside


def _handles(
    track: Track, own: Mapping[int, OwnKeys], frames: Float32Array, is_spline: BoolArray
) -> tuple[BoolArray, set[int]]:
    """Return a mask of sides whose handles parameters place, and the types of other handles beside spline segments."""
    if not track.is_played_by_handles:
        return np.ones_like(is_spline), set()
    is_placed = np.zeros_like(is_spline)
    types: set[int] = set()
    for own_keys in own.values():
        has_key = is_among(frames, own_keys.keys.frames)
        rows = np.searchsorted(own_keys.keys.frames, frames[has_key] - np.float32(SAME_FRAME))
        is_chosen = (own_keys.chosen[rows, np.newaxis] & _CHOSEN_SIDES) != 0
        is_placed[has_key] |= ~is_chosen
        for side, name in enumerate(_HANDLE_TYPES):
            handle_types = getattr(own_keys.keys, name)[rows]
            types.update(handle_types[is_chosen[:, side] & is_spline[has_key, side]].tolist())
    return is_placed, types


# The key shown in the tab, and the value or turn of its track at the current frame


AT = 0.02
"""Tolerance in frames. A key within this distance of the current frame counts as a key at that frame."""
_STEPS, _STEP = 16, math.pi / 4.0
"""The samples from a key to the current frame that count full turns, and the radians for each additional sample."""


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

    If the axis of full turns moves, the result is the sum of the motion's rotation vectors.

    In cycles, both frames are in the first round. Before the first key, the rotation is from the identity. After the
    last key, it is the last key's rotation. Source: docs/formulas, "Key info".

    Raises AnimationError if the keys do not form a spline.
    """
    function = function_of(track)
    motion_frame = frame if function is None else float(function([frame])[0])
    own = read_own_keys(track)
    _check_can_be_drawn(track, own)
    (spline,) = track_splines(track, track.settings, own, defaults)
    first, last = spline.frames[[0, -1]].tolist()
    is_single = spline.spline.cycle == "SINGLE"
    end = min(motion_frame, last) if is_single else wrapped_frame(motion_frame, first, last)
    earlier = np.count_nonzero(spline.frames < end - AT)
    if earlier:
        start = float(spline.frames[earlier - 1])
        largest = 0.0 if spline.turns is None else spline.turns[earlier - 1]
        q = spline.spline(np.linspace(start, end, _STEPS + int(largest / _STEP)))
    else:
        start, q = end, np.concatenate(([[1.0, 0.0, 0.0, 0.0]], spline.spline([end])))
    walked = rotations.to_rotation_vector(rotations.shorter(rotations.multiply(q[1:], rotations.conjugate(q[:-1]))))
    axis, angle = rotations.to_axis_angle(rotations.multiply(q[-1], rotations.conjugate(q[0])))
    walk = walked.sum(axis=0)
    angle, axis = rotations.nearest_turns(angle, axis, walk)
    walk_axis, walk_angle = rotations.unit_vectors(walk)
    if walk_angle - abs(angle) > math.pi:
        # About an axis that moves, no turn to the orientation has the full turns of the motion.
        angle, axis = walk_angle, walk_axis
    x, y, z = (axis * np.copysign(1.0, angle)).tolist()
    return Turn(start, end, abs(float(angle)), (x, y, z))


def _check_can_be_drawn(track: Track, originals: Mapping[int, OwnKeys]) -> None:
    """Raise AnimationError if the rotation needs a new F-curve, which drawing code must not create."""
    frames = {original.keys.frames.tobytes() for original in originals.values()}
    if track.is_rotation and len(frames) > 1 and not all(plays_its_own_keys(track, index) for index in track.channels):
        raise track.error("KEYED_APART_SHOWN")


def largest_jumps(track: Track, defaults: Mapping[str, float]) -> list[Jump]:
    """Return the largest jumps of the track's motion, and of each derivative, at its keys.

    Raises AnimationError if the keys do not form a spline, or if the jumps can't be determined while drawing.
    """
    own = read_own_keys(track)
    if not own:
        raise track.error("NO_KEYS")
    _check_can_be_drawn(track, own)
    splines = track_splines(track, track.settings, own, defaults)
    jumps_by_order = zip(*(jumps(spline.spline, track.is_rotation) for spline in splines), strict=False)
    return [max(of_order, key=lambda jump: (jump.is_seen, jump.size)) for of_order in jumps_by_order]
