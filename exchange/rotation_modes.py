# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert turns to keys of a Blender property: quaternions, Euler angles or axis-angle.

Quaternion keys represent turns of less than 360 degrees, and their direction becomes ambiguous near 360 degrees. Euler
angles and axis-angle can represent turns of any size, but only about their own axes. The chosen property represents the
turns of a node exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np

from ..animation.bake.plans.sample_frames import APART
from ..animation.fcurves.keyframes import Float64Array
from ..animation.store.table.track_records import Settings, TurnPath
from ..animation.store.tracks import EULER_ORDERS, rotation_property
from ..animation.text import rpt_
from ..formats.three_ds import Scene
from ..interp import KeysError, rotations
from ..interp.keys import PARAMETERS
from ..interp.splines import tcb
from .keys import Keys
from .report import AddNote

BetweenKeys = Literal["BY_FILE", "DE_CASTELJAU", "SQUAD"]
MAX_NAME = b"MAXSCENE"
"""The file name that 3ds Max writes into the keyframer."""
_HALF_TURN = np.pi - 1e-3
"""Below this angle, the turn takes the shortest path regardless of float32 rounding."""
_LARGEST_ARC = 2.0 * np.pi - 0.02
"""Above this angle, the axis between two float32 quaternion keys has an error of more than 1e-5 radians."""
_LARGEST_QUATERNION_ARC = 2.0 * np.pi - 3e-3
"""Above this angle, the keys may even appear to be a full turn."""
_SAME_TURN = 1e-4
"""Radians. Turns that differ by more than this are different. Float32 rounding is below 1 % of this."""
_STEP = np.pi / 8.0
"""Radians. Largest steps in which modes follow turns. They must be less than half turns to be unambiguous."""
_MAX_SAMPLES = 200_000


@dataclass(frozen=True)
class RotationOptions:
    """The options for importing rotations."""

    prefers_euler: bool = False
    """Use XYZ Euler angles instead of quaternions."""
    shorter_turns: bool = False
    """Take the shortest path instead of turns of more than 180 degrees."""
    between: BetweenKeys = "BY_FILE"
    """The interpolation of 3D Studio 4 or 3ds Max. BY_FILE selects the interpolation of the program that wrote the
    file."""

    @property
    def construction(self) -> tcb.Construction:
        """Return the interpolation of a track between its keys."""
        return "SQUAD" if self.between == "SQUAD" else "DE_CASTELJAU"

    def resolved(self, scene: Scene) -> RotationOptions:
        """Return the options with "BY_FILE" resolved for the scene."""
        if self.between != "BY_FILE":
            return self
        header = None if scene.keyframer is None else scene.keyframer.header
        is_of_max = header is not None and header.name == MAX_NAME
        return replace(self, between="SQUAD" if is_of_max else "DE_CASTELJAU")


@dataclass(frozen=True, eq=False)
class ModeKeys:
    """A rotation mode and the keys of its property. Without settings, the keys are not TCB keys."""

    mode: str
    keys: Keys
    settings: Settings | None
    is_one_spline: bool = True
    """True if the spline plays all segments."""

    @property
    def path(self) -> str:
        return rotation_property(self.mode)


def keys_in_mode(turns: Keys, options: RotationOptions, add_note: AddNote) -> ModeKeys:
    """Return the keys in the requested rotation mode, or in another mode that can represent them."""
    largest = float(np.abs(turns.values[1:, 0]).max(initial=0.0))
    is_long = np.abs(turns.values[1:, 0]) > np.pi + 1e-6
    if is_long.any():
        add_note("LONG_TURN", int(is_long.sum()), float(np.degrees(largest)))
    path: TurnPath = "SHORTEST" if largest < _HALF_TURN else "AS_KEYED"
    settings = Settings(turns.cycle, construction=options.construction, path=path)
    quaternions = _orientations(turns)
    if options.prefers_euler and path == "SHORTEST":
        return ModeKeys("XYZ", turns.with_values(rotations.follow_euler(quaternions, "XYZ")), settings)
    quaternion_keys = ModeKeys("QUATERNION", turns.with_values(quaternions), settings)
    if not options.prefers_euler and largest < _LARGEST_ARC:
        return quaternion_keys
    shortened_keys = replace(quaternion_keys, settings=replace(settings, path="SHORTEST"))
    try:
        exact = ((mode, values) for mode, values in _followed(turns) if _gives_turns(mode, values, turns))
        mode_and_values = next(exact, None)
    except KeysError as error:
        add_note("TURNS_SHORTENED", error.message)
        return shortened_keys
    if mode_and_values is not None:
        mode, values = mode_and_values
        keys_of_mode = ModeKeys(mode, turns.with_values(values), replace(settings, path="ONE_AXIS"))
    elif largest <= _LARGEST_QUATERNION_ARC:
        keys_of_mode = quaternion_keys
    elif np.ptp(turns.frames) <= _MAX_SAMPLES:
        add_note("TURNS_SAMPLED")
        return ModeKeys("QUATERNION", _sampled(turns, options.construction), None)
    else:
        reason = rpt_("no rotation mode can store these turns, and the motion is too long to sample")
        add_note("TURNS_SHORTENED", reason)
        return shortened_keys
    if keys_of_mode.mode != ("XYZ" if options.prefers_euler else "QUATERNION"):
        add_note("MODE_CHOSEN", keys_of_mode.mode)
    return keys_of_mode


def _orientations(turns: Keys) -> Float64Array:
    return rotations.turns_to_rotations(turns.values[:, 0], turns.values[:, 1:])


def spline_of(turns: Keys, construction: tcb.Construction) -> tcb.RotationSpline:
    """Return the spline of a file's turns."""
    angles, axes = turns.values[:, 0], turns.values[:, 1:]
    parameters = dict(zip(PARAMETERS, turns.parameters, strict=True))
    return tcb.RotationSpline.from_turns(
        turns.frames, angles, axes, **parameters, cycle=turns.cycle, construction=construction
    )


def _followed(turns: Keys) -> Iterator[tuple[str, Float64Array]]:
    """Yield the keys in each mode that preserves full turns, by following the motion in small steps."""
    steps_of_turns = np.abs(turns.values[1:, 0]) / _STEP
    if steps_of_turns.sum() > _MAX_SAMPLES:
        raise KeysError(rpt_("there are too many turns to convert"))
    steps = np.ceil(steps_of_turns).astype(np.intp) + 1
    # For a turn about one axis at constant speed, parameters change only the timing between keys.
    segment = np.repeat(np.arange(len(steps)), steps)
    fraction = (np.arange(len(segment)) - np.repeat(np.cumsum(steps) - steps, steps)) / steps[segment]
    quaternions = _orientations(turns)
    between = rotations.from_axis_angle(turns.values[1:, 1:][segment], turns.values[1:, 0][segment] * fraction)
    path = np.concatenate((rotations.multiply(between, quaternions[segment]), quaternions[-1:]))
    rows_of_keys = np.concatenate(([0], np.cumsum(steps)))
    axis, angle = rotations.to_axis_angle(quaternions[0])
    if angle == 0.0 and len(turns) > 1:
        axis = turns.values[1, 1:]
    yield "XYZ", rotations.follow_euler(path, "XYZ")[rows_of_keys]
    axes, angles = rotations.follow_axis_angle(path, axis, angle)
    yield "AXIS_ANGLE", np.column_stack((angles, axes))[rows_of_keys]
    for order in EULER_ORDERS[1:]:
        yield order, rotations.follow_euler(path, order)[rows_of_keys]


def _gives_turns(mode: str, values: Float64Array, turns: Keys) -> bool:
    """Check whether keys with these float32 values give the same turns."""
    rounded = values.astype(np.float32).astype(np.float64)
    if mode == "AXIS_ANGLE":
        angles, axes = rotations.turns_of_axis_angle(rounded[:, 0], rounded[:, 1:])
    else:
        angles, axes = rotations.turns_of_euler(rounded, cast(rotations.Order, mode))
    file_turns = turns.values[1:, :1] * turns.values[1:, 1:]
    return bool(np.abs(angles[1:, np.newaxis] * axes[1:] - file_turns).max(initial=0.0) < _SAME_TURN)


def _sampled(turns: Keys, construction: tcb.Construction) -> Keys:
    """Return quaternion keys at whole frames and at the keys."""
    first, last = turns.frames[0], turns.frames[-1]
    frames = np.union1d(np.arange(np.floor(first), np.ceil(last)), turns.frames)
    frames = frames[(frames >= first) & (np.diff(frames, append=np.inf) > APART)]
    values = rotations.unroll_signs(spline_of(turns, construction)(frames))
    return replace(turns, frames=frames, values=values, parameters=np.zeros((5, len(frames))))
