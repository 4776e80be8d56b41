# SPDX-License-Identifier: GPL-3.0-or-later
"""Key info: the position of the key shown in the tab, and the value or turn of its track at the current frame."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..interp import rotations
from ..interp.continuity import Jump, jumps
from ..interp.prepared import wrapped_frame
from .bake.plans.own_motion import plays_its_own_keys
from .bake.plans.track_splines import track_splines
from .fcurves.frames import union
from .records import record
from .store.frame_functions import function_of
from .store.own_arrays import OwnKeys
from .store.own_keys import read_own_keys
from .store.tracks import Track

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

    In cycles, both frames are in the first round. Before the first key, the rotation is from the identity. After the
    last key, it is the last key's rotation. Source: docs/formulas, "Key info".

    Raises AnimationError if the keys do not form a spline.
    """
    function = function_of(track)
    motion_frame = frame if function is None else float(function([frame])[0])
    own = read_own_keys(track)
    check_can_be_drawn(track, own)
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
    angle, axis = rotations.nearest_turns(angle, axis, walked.sum(axis=0))
    x, y, z = (axis * np.copysign(1.0, angle)).tolist()
    return Turn(start, end, abs(float(angle)), (x, y, z))


def check_can_be_drawn(track: Track, originals: Mapping[int, OwnKeys]) -> None:
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
    check_can_be_drawn(track, own)
    splines = track_splines(track, track.settings, own, defaults)
    jumps_by_order = zip(*(jumps(spline.spline, track.is_rotation) for spline in splines), strict=False)
    return [max(of_order, key=lambda jump: (jump.is_seen, jump.size)) for of_order in jumps_by_order]
