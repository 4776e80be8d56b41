# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys and options from which a track's splines are created, and errors for keys that do not define a spline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ....interp import Keys, KeysError
from ....interp.base_spline import Spline
from ....interp.splines import METHODS
from ...fcurves.keyframes import SAME_FRAME, Float32Array, Float64Array, are_apart
from ...memoize import memoized
from ...report import AnimationError
from ...store.own_keys import OwnKeys
from ...store.parameters import read_velocities
from ...store.table.track_records import Settings
from ...store.tracks import Track, setting_names
from .own_motion import OwnChannels

LARGEST_VALUE = 1e37
"""Upper limit for values. TCB overshoots by less than ten times the key values, and the largest float32 is 3.4e38."""
_LARGEST_PLAYED = 1e38
"""Upper limit for values between keys."""
_FASTEST = 1000.0
"""Maximum speed in radians per frame, more than a hundred turns per frame. Faster rotations can't be sampled."""
_CHECKED_PARAMETERS = np.arange(1, 8) / 8
"""Local parameters at which the values of each segment are checked."""
_ANGLE_ROUNDING = 1e-5
"""If an angle exceeds a half or whole turn by less than this, in radians, the excess is a rounding error."""


def check_frames(track: Track, frames: Float32Array) -> None:
    """Raise AnimationError if frames are not finite, or if two keys are at the same frame."""
    if are_apart(frames):
        return
    if not np.isfinite(frames).all():
        raise track.error("FRAME_NOT_FINITE")
    is_same = np.diff(frames) <= SAME_FRAME
    if is_same.any():
        raise track.error("TWO_KEYS_AT_FRAME", frame=float(frames[np.argmax(is_same)]))


def check_size(track: Track, frames: Float32Array, values: Float64Array) -> None:
    """Raise AnimationError if a value is large enough that the motion could exceed the float32 range.

    `Keys` checks for values that are not finite.
    """
    is_large = np.isfinite(values).all(axis=1) & (np.abs(values).max(axis=1) > LARGEST_VALUE)
    if is_large.any():
        raise track.error("VALUE_TOO_LARGE", frame=float(frames[np.argmax(is_large)]))


def check_finite(track: Track, frames: Float32Array, values: Float64Array) -> None:
    """Raise AnimationError if a channel value of a rotation is not finite."""
    is_finite = np.isfinite(values).all(axis=1)
    if not is_finite.all():
        raise track.error("VALUE_NOT_FINITE", frame=float(frames[np.argmin(is_finite)]))


def check_speed(track: Track, frames: Float32Array, velocities: Float64Array) -> None:
    """Raise AnimationError if an angular velocity is too high for the rotation to be visible."""
    is_fast = np.abs(velocities).max(axis=1, initial=0.0) > _FASTEST
    if is_fast.any():
        raise track.error("TOO_FAST", _FASTEST, frame=float(frames[np.argmax(is_fast)]))


def check_range(track: Track, spline: Spline, frames: Float32Array) -> None:
    """Raise AnimationError if the motion between the keys at these frames exceeds the float32 range.

    Methods other than TCB need this check, because velocities and polynomials can overshoot without limit.
    """
    keys = frames.astype(np.float64)
    samples = keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * _CHECKED_PARAMETERS
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(spline(samples.ravel())).max(axis=1, initial=0.0)
    # NaN is also too far.
    is_far = ~(size.reshape(samples.shape) < _LARGEST_PLAYED).all(axis=1)
    if is_far.any():
        raise track.error("MOTION_TOO_FAR", frame=float(keys[np.argmax(is_far)]))


def check_turns(track: Track, frames: Float32Array, turns: Float64Array, limit: float, method: str) -> None:
    """Raise AnimationError if the angle between two keys exceeds the limit of the method, named by its label.

    `turns` contains the angles between keys in radians, shape (n - 1,). The error names the second key.
    """
    is_far = turns > limit + _ANGLE_ROUNDING
    if is_far.any():
        key = int(np.argmax(is_far))
        angles = float(np.degrees(turns[key])), float(np.degrees(limit))
        raise track.error("TURN_TOO_FAR", *angles, method, frame=float(frames[key + 1]))


def error_of_keys(
    track: Track, error: KeysError, frames: Float32Array, components: Sequence[int] = ()
) -> AnimationError:
    """Convert the error to an AnimationError with the frame of the key and the component of the track.

    `components` maps the components of the spline to the components of the track.
    """
    if components and error.component is not None:
        error = error.on_component(components[error.component])
    frame = error.frame if error.key is None else float(frames[error.key])
    return track.error("SPLINE", error.message, frame=frame)


# Keys and options of splines


def spline_options(track: Track, settings: Settings, own: OwnChannels, frames: Float32Array) -> dict[str, Any]:
    """Return the keyword arguments of the method's class, other than keys and cycle."""
    options = {name: getattr(settings, name) for name in setting_names(track, settings) if name != "velocities"}
    if options.get("path") == "ONE_AXIS":
        options["path"] = "AS_KEYED"
    if "velocities" in setting_names(track, settings):
        velocities = read_velocities(track, own, frames)
        if track.is_rotation:
            check_speed(track, frames, velocities)
        options["velocities"] = velocities if track.is_rotation else velocities[:, list(own)]
    if "angles" in options:
        options["angles"] = METHODS[settings.angles]
    return options


def values_are_small(own: Iterable[OwnKeys]) -> bool:
    """Return whether all values of the keys' F-curves are known to be small enough for a spline."""
    return all(keys.arrays.largest_value <= LARGEST_VALUE for keys in own)


def spline_keys(frames: Float32Array, values: Float64Array, parameters: Float64Array, are_small: bool) -> Keys:
    """Return the keys of a spline at validated frames. If `are_small` is true, the values are also validated."""
    if are_small:
        return _keys_at(frames.astype(np.float64)).with_values(values, parameters)
    return Keys(frames.astype(np.float64), values, *parameters)


@memoized
def _keys_at(frames: Float64Array) -> Keys:
    """Return cached keys at the frames. Small values need no further checks, because no two frames are equal."""
    return Keys(frames, np.zeros(len(frames)))
