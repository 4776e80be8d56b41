# SPDX-License-Identifier: GPL-3.0-or-later
"""Reasons why a method can't play a track's keys: values, velocities, rotations or frames that define no motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....interp import KeysError
from ....interp.batch import Spline
from ....interp.splines import METHODS
from ...errors import AnimationError
from ...fcurves.frames import SAME_FRAME, are_apart
from ...fcurves.keyframes import Float32Array, Float64Array
from ...store.table.settings import Settings
from ...store.tracks import Track

LARGEST = 1e37
"""Upper limit for values. TCB overshoots by less than ten times the key values, and the largest float32 is 3.4e38."""
_FARTHEST = 1e38
_FASTEST = 1000.0
"""Maximum speed in radians per frame, more than a hundred turns per frame. Faster rotations can't be sampled."""
_LOOKS = np.arange(1, 8) / 8
"""Local parameters at which each segment's values are checked, for methods other than TCB."""
_ROUNDED = 1e-5
"""If an angle exceeds a half or whole turn by less than this, in radians, the excess is a rounding error."""


def check_frames(track: Track, frames: Float32Array) -> None:
    """Raise AnimationError if frames are not finite, or if two keys are at the same frame."""
    if are_apart(frames):
        return
    if not np.isfinite(frames).all():
        raise track.error("FRAME_NOT_FINITE")
    same = np.flatnonzero(np.diff(frames) <= SAME_FRAME)
    if len(same):
        raise track.error("TWO_KEYS_AT_FRAME", frame=float(frames[same[0]]))


def check_size(track: Track, frames: Float32Array, values: Float64Array) -> None:
    """Raise AnimationError if a value is large enough that the motion could exceed the float32 range.

    `Keys` checks for values that are not finite.
    """
    large = np.isfinite(values).all(axis=1) & (np.abs(values).max(axis=1) > LARGEST)
    if large.any():
        raise track.error("VALUE_TOO_LARGE", frame=float(frames[np.argmax(large)]))


def check_finite(track: Track, frames: Float32Array, values: Float64Array) -> None:
    """Raise AnimationError if a channel value of a rotation is not finite."""
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        raise track.error("VALUE_NOT_FINITE", frame=float(frames[np.argmin(finite)]))


def check_speed(track: Track, frames: Float32Array, velocities: Float64Array) -> None:
    """Raise AnimationError if an angular velocity is too high for the rotation to be visible."""
    fast = np.abs(velocities).max(axis=1, initial=0.0) > _FASTEST
    if fast.any():
        raise track.error("TOO_FAST", _FASTEST, frame=float(frames[np.argmax(fast)]))


def check_range(track: Track, spline: Spline, frames: Float32Array) -> None:
    """Raise AnimationError if a motion exceeds the float32 range.

    No other check limits the velocities of keys or the polynomials.
    """
    keys = frames.astype(np.float64)
    places = keys[:-1, np.newaxis] + np.diff(keys)[:, np.newaxis] * _LOOKS
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.abs(spline(places.ravel())).max(axis=1, initial=0.0)
    far = ~(size.reshape(places.shape) < _FARTHEST).all(axis=1)
    if far.any():
        raise track.error("MOTION_TOO_FAR", frame=float(keys[np.argmax(far)]))


def check_turns(track: Track, settings: Settings, frames: Float32Array, turns: Float64Array, most: float) -> None:
    """If the angle between two keys exceeds the method's limit, raise an AnimationError that names the key."""
    far = turns > most + _ROUNDED
    if far.any():
        key = int(np.argmax(far))
        angles = float(np.degrees(turns[key])), float(np.degrees(most))
        raise track.error("TURN_TOO_FAR", *angles, METHODS[settings.method].label, frame=float(frames[key + 1]))


def error_of_keys(
    track: Track, error: KeysError, frames: Float32Array, components: Sequence[int] = ()
) -> AnimationError:
    """Convert the error to an AnimationError with the frame of the key and the component of the track."""
    if components and error.component is not None:
        error = error.on_component(components[error.component])
    frame = error.frame if error.key is None else float(frames[error.key])
    return track.error("SPLINE", error.message, frame=frame)
