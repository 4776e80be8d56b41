# SPDX-License-Identifier: GPL-3.0-or-later
"""The curves, by frames, with which the channels of a property play a track of a file, and how far off they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import numpy.typing as npt

from ...formats.motion import CONSTANT, CUBIC, Curve, EulerCurves, Track, combined, union_times
from ...interp import rotations
from ...interp.keys import Float64Array
from .conversion import Conversion
from .fits import Evaluate, fit
from .items import orientations

_PLACES = (np.arange(64) + 0.5) / 64.0
"""Where in each segment motion is compared."""
_FOLLOWED = 24
"""Places in each segment at which Euler angles follow a rotation, so that whole turns count."""
_EXACT_VALUES = 1e-6
"""A part of the range: curves that are nearer are exact, but for the rounding of Blender's numbers."""
_EXACT_ANGLES = 1e-6
_LEAST_RANGE = 1e-3
"""Of the largest value: values that stay so near to each other are rounded to parts of this."""
_ROUNDED = 1e-6
"""Units. A smaller range is the rounding of what does not move."""
_WHOLE = 1e-4
"""Frames. A key that is nearer to a whole frame is at it."""
_NEXT_KEY = 0.02
"""Frames: a little more than Blender needs to tell keys apart."""
_OVERLAP = 1.0 + 1e-6
"""Blender shortens two handles that are together longer than their segment."""


@dataclass(frozen=True)
class Timing:
    """The frame of a time: `rate` frames per second, and the frame of second 0."""

    rate: float
    start: float

    def frames(self, times: Float64Array) -> Float64Array:
        """Return frames as Blender stores them, whole ones where files round times to float32."""
        frames = times * self.rate + self.start
        whole = np.round(frames)
        near = np.abs(frames - whole) < _WHOLE
        result: Float64Array = np.where(near, whole, frames).astype(np.float32).astype(np.float64)
        return result

    def evaluated(self, track: Track) -> Evaluate:
        """Return the function of frames that a track is; at the frame of a key it has the key's value."""
        keys = self.frames(track.times)

        def evaluate(frames: Float64Array) -> Float64Array:
            # A key's frame is rounded: by the rate alone a step could come a hair late.
            return track.evaluate(np.interp(frames, keys, track.times))

        return evaluate

    def curve(self, curve: Curve) -> Curve:
        """Return a curve by seconds as one by frames."""
        slopes = {name: getattr(curve, name) / self.rate for name in ("arriving", "leaving")}
        return replace(curve, times=self.frames(curve.times), **slopes)


@dataclass(frozen=True, eq=False)
class Played:
    """The channels of a property.

    Attributes
    ----------
    curves : list of Curve
        One for each channel, by frames.
    error : float
        The largest deviation from the file: of one component, or an angle in radians.
    frame : float
        Where it is.
    range : float
        The range of the file's values; of rotations 0.
    """

    curves: list[Curve]
    error: float
    frame: float
    range: float

    @property
    def is_exact(self) -> bool:
        """Return whether nothing but rounding is off."""
        return self.error <= (_EXACT_VALUES * self.range if self.range else 10.0 * _EXACT_ANGLES)


def play_values(
    track: Track,
    convert: Callable[[Float64Array], Float64Array],
    matrix: Float64Array,
    shift: Float64Array,
    timing: Timing,
    tolerance: float | None,
) -> Played:
    """Return the channels of a location or a scale.

    Parameters
    ----------
    track : Track
        The file's.
    convert : callable
        Returns Blender's values (m, 3) of the file's; the same as `matrix` and `shift` do.
    timing : Timing
    tolerance : float or None
        Of the range; add keys where a channel is farther off. None: the file's keys alone.
    """
    of_file = timing.evaluated(track)

    def evaluate(frames: Float64Array) -> Float64Array:
        return convert(of_file(frames))

    exact: list[Curve | None] = [None] * 3
    if track.curves is not None:
        curves = [timing.curve(curve) for curve in track.curves]
        exact = [combined(matrix[row], curves, float(shift[row])) for row in range(3)]
        exact = [None if curve is None else _with_early_steps(curve, tolerance is not None) for curve in exact]
        exact = [curve if curve is not None and _can_be_played(curve) else None for curve in exact]
    # Channels whose file curves are of one key, or stay, need no more of them.
    exact = [None if curve is None else _shortest(curve) for curve in exact]
    frames = timing.frames(track.times)
    every = evaluate(np.concatenate((_compared(frames), frames)))
    largest = float(np.abs(every).max(initial=0.0))
    span = max(float(np.ptp(every, axis=0).max(initial=0.0)), _LEAST_RANGE * largest, _ROUNDED)
    to_fit = [row for row in range(3) if exact[row] is None]
    if to_fit:
        segments = track.interpolation != CONSTANT
        chosen = None if tolerance is None else max(tolerance * span, 1e-9)
        fitted = fit(frames, lambda at: evaluate(at)[:, to_fit], segments, None, None, chosen)
        for row, curve in zip(to_fit, fitted, strict=True):
            exact[row] = _shortest(_with_steps(curve, frames, track.interpolation))
    played = [curve for curve in exact if curve is not None]
    places = _compared(_all_keys(played, frames))
    off = np.abs(_values(played, places) - evaluate(places)).max(axis=1, initial=0.0)
    return _result(played, off, places, span)


def play_rotation(
    track: Track,
    conversion: Conversion,
    mode: str,
    first: Float64Array,
    timing: Timing,
    tolerance: float | None,
) -> Played:
    """Return the channels of a rotation.

    Parameters
    ----------
    mode : str
        "QUATERNION", "AXIS_ANGLE" or an Euler order.
    first : ndarray, shape (channels,)
        The numbers that the channels have at the first key: signs and whole turns go on from these.
    tolerance : float or None
        Radians.
    """
    of_file = timing.evaluated(track)

    def evaluate(frames: Float64Array) -> Float64Array:
        return conversion.rotation(of_file(frames))

    frames = timing.frames(track.times)
    curves = None
    if mode == "QUATERNION" and track.curves is not None:
        curves = _quaternion_curves(track, conversion, first, timing)
    elif track.euler is not None and mode not in ("QUATERNION", "AXIS_ANGLE"):
        curves = _euler_curves(track.euler, evaluate, frames, mode, first, timing)
    if curves is not None:
        result = _rotation_result(curves, mode, evaluate, frames)
        if result.is_exact or (result.error <= (tolerance or np.inf) and track.curves is not None):
            return result
    numbers = _numbers(evaluate, frames, mode, first)
    segments = track.interpolation != CONSTANT
    fitted = fit(frames, evaluate, segments, mode, numbers, tolerance)
    fitted = [_with_steps(curve, frames, track.interpolation) for curve in fitted]
    return _rotation_result(fitted, mode, evaluate, frames)


def _quaternion_curves(track: Track, conversion: Conversion, first: Float64Array, timing: Timing) -> list[Curve] | None:
    """Return the four components as curves, of the sign that the first key has."""
    assert track.curves is not None
    curves = [timing.curve(curve) for curve in track.curves]
    matrix = conversion.quaternion_matrix
    start = matrix @ np.array([curve.values[0] for curve in curves])
    if start @ first < 0.0:
        matrix = -matrix
    found = [combined(row, curves, 0.0) for row in matrix]
    # A component that stays still gets the keys of the others: a rotation is keyed whole.
    times = timing.frames(track.times)
    whole = [_keyed_at(curve, times, track.interpolation) for curve in found if curve is not None]
    return whole if len(whole) == 4 else None


def _keyed_at(curve: Curve, frames: Float64Array, interpolation: npt.NDArray[np.uint8]) -> Curve:
    """Return a curve of one value with a key at each frame; any other as it is."""
    if len(curve) == len(frames):
        return curve
    return Curve.hermite(frames, np.full(len(frames), curve.values[0]), interpolation)


def _euler_curves(
    euler: EulerCurves, evaluate: Evaluate, frames: Float64Array, mode: str, first: Float64Array, timing: Timing
) -> list[Curve] | None:
    """Return the three angles as sums of the file's, where they are that at all times.

    They are where the conversion turns by whole axes, or where the rotation is about one axis.
    """
    places = _followed(frames)
    angles = rotations.follow_euler(evaluate(places), _order(mode), first)
    own = [timing.curve(curve) for curve in euler.curves]
    moving = [curve for curve in own if curve.varies]
    if not moving:
        return [Curve.hermite(frames[:1], angles[:1, channel], CONSTANT) for channel in range(3)]
    known = np.stack([np.ones(len(places)), *(curve(places) for curve in moving)], axis=-1)
    weights = np.linalg.lstsq(known, angles, rcond=None)[0]
    rounded = np.round(weights[1:])
    weights[1:] = np.where(np.abs(weights[1:] - rounded) < 1e-6, rounded, weights[1:])
    weights[0] = (angles - known[:, 1:] @ weights[1:]).mean(axis=0)
    if np.abs(known @ weights - angles).max() > _EXACT_ANGLES:
        return None
    found = [combined(weights[1:, channel], moving, float(weights[0, channel])) for channel in range(3)]
    curves = [_shortest(curve) for curve in found if curve is not None and _can_be_played(curve)]
    return curves if len(curves) == 3 else None


def _numbers(evaluate: Evaluate, frames: Float64Array, mode: str, first: Float64Array) -> Float64Array:
    """Return the numbers of the keys in the channels' representation, which follow the motion between them."""
    q = rotations.unroll_signs(evaluate(_followed(frames)))
    each = slice(None, None, _FOLLOWED)
    if mode == "QUATERNION":
        return (q if q[0] @ first >= 0.0 else -q)[each]
    if mode == "AXIS_ANGLE":
        axes, angles = rotations.follow_axis_angle(q, first[1:], first[0])
        return np.column_stack((angles, axes))[each]
    return rotations.follow_euler(q, _order(mode), first)[each]


def _order(mode: str) -> rotations.Order:
    """Return a rotation mode that is an Euler order."""
    return cast(rotations.Order, mode)


def _followed(frames: Float64Array) -> Float64Array:
    """Return frames at and between keys, which are every _FOLLOWED-th of them."""
    share = np.arange(_FOLLOWED) / _FOLLOWED
    between = (frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * share).ravel()
    return np.append(between, frames[-1])


def _can_be_played(curve: Curve) -> bool:
    """Return whether Blender plays the curve as it is: its handles do not overlap."""
    cubic = curve.interpolation[:-1] == CUBIC
    overlap = (curve.reach_after[:-1] + curve.reach_before[1:])[cubic] > _OVERLAP
    return not overlap.any()


def _with_early_steps(curve: Curve, add_keys: bool) -> Curve:
    """Return a curve without segments that hold their second key's value after a segment that is not a step.

    Its key would need two values. Another key right after it has the second one; without more keys the step comes at
    the second key.
    """
    step = curve.interpolation == CONSTANT
    early = step & (curve.held != curve.values)
    early[1:] &= ~step[:-1]
    early[0] = early[-1] = False
    rows = np.flatnonzero(early)
    if not rows.size:
        return curve
    held = np.where(early, curve.values, curve.held)
    if not add_keys:
        return replace(curve, held=held)
    more = {"times": curve.times[rows] + _NEXT_KEY, "values": curve.held[rows], "held": curve.held[rows]}
    own = {**vars(curve), "held": held}
    return Curve(**{name: np.insert(column, rows + 1, more.get(name, column[rows])) for name, column in own.items()})


def _shortest(curve: Curve) -> Curve:
    """Return a curve that never changes with its first key only."""
    if curve.varies:
        return curve
    return Curve.hermite(curve.times[:1], curve.values[:1], CONSTANT)


def _with_steps(curve: Curve, frames: Float64Array, interpolation: npt.NDArray[np.uint8]) -> Curve:
    """Return a fitted curve with the steps that the file has."""
    kinds = curve.interpolation.copy()
    steps = np.isin(curve.times, frames[interpolation == CONSTANT])
    kinds[steps] = CONSTANT
    return replace(curve, interpolation=kinds)


def _all_keys(curves: Sequence[Curve], frames: Float64Array) -> Float64Array:
    """Return the frames of the file's keys and of those that were added, except the steps right after a key."""
    added = union_times(curves)
    key = frames[np.maximum(np.searchsorted(frames, added, side="right") - 1, 0)]
    return np.union1d(frames, added[np.abs(added - key - _NEXT_KEY) > 0.1 * _NEXT_KEY])


def _compared(frames: Float64Array) -> Float64Array:
    """Return frames within each segment; a single frame as it is."""
    if len(frames) < 2:
        return frames
    places: Float64Array = (frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * _PLACES).ravel()
    return places


def _values(curves: Sequence[Curve], frames: Float64Array) -> Float64Array:
    return np.stack([curve(frames) for curve in curves], axis=-1)


def _rotation_result(curves: list[Curve], mode: str, evaluate: Evaluate, frames: Float64Array) -> Played:
    places = _compared(_all_keys(curves, frames))
    off = rotations.angle_between(orientations(mode, _values(curves, places)), evaluate(places))
    return _result(curves, off, places, 0.0)


def _result(curves: list[Curve], off: Float64Array, places: Float64Array, span: float) -> Played:
    row = int(np.argmax(off))
    return Played(curves, float(off[row]), float(places[row]), span)
