# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert a track of a file to curves over frames for the channels of a property, and measure their error."""

from __future__ import annotations

from collections.abc import Sequence
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

_COMPARED = np.arange(1, 128) / 128.0
"""Positions in each segment at which motion is compared."""
_FOLLOWED = 24
"""Samples per segment at which Euler angles follow a rotation, to keep full turns."""
_EXACT_VALUES = 1e-6
"""Fraction of the range. Curves with a smaller error are exact, except for float32 rounding in Blender."""
_EXACT_ANGLES = 1e-6
_LEAST_RANGE = 1e-3
"""Fraction of the largest value within which rounding hides differences between values."""
_ROUNDED = 1e-6
"""Smallest range, in units. A smaller range is only rounding."""
_WHOLE_FRAME = 1e-4
"""Distance in frames. Keys within this distance of a whole frame snap to the whole frame."""
_NEXT_KEY = 0.02
"""Distance in frames, slightly more than Blender's minimum distance between keys."""
_OVERLAP = 1.0 + 1e-6
"""Blender shortens two handles whose total length exceeds their segment."""


@dataclass(frozen=True)
class Timing:
    """The conversion of times to frames: `rate` frames per second, and the frame of second 0."""

    rate: float
    start: float

    def frames(self, times: Float64Array) -> Float64Array:
        """Return frames as Blender stores them, snapped to whole frames because files store times as float32."""
        frames = times * self.rate + self.start
        whole = np.round(frames)
        is_near = np.abs(frames - whole) < _WHOLE_FRAME
        result: Float64Array = np.where(is_near, whole, frames).astype(np.float32).astype(np.float64)
        return result

    def evaluated(self, track: Track) -> Evaluate:
        """Return the track as a function of frames that is exact at keys."""
        keys = self.frames(track.times)

        def evaluate(frames: Float64Array) -> Float64Array:
            # Key frames are rounded. Using only the rate could delay a step slightly.
            return track.evaluate(np.interp(frames, keys, track.times))

        return evaluate

    def curve(self, curve: Curve) -> Curve:
        """Convert a curve over seconds to a curve over frames."""
        slopes = {name: getattr(curve, name) / self.rate for name in ("arriving", "leaving")}
        return replace(curve, times=self.frames(curve.times), **slopes)


@dataclass(frozen=True, eq=False)
class Played:
    """The curves of a property's channels.

    Attributes
    ----------
    curves : list of Curve
        A curve over frames for each channel.
    error : float
        The maximum deviation of a component from the file, as an angle in radians for rotations.
    frame : float
        The frame of the maximum deviation.
    range : float
        The range of the file's values. 0 for rotations.
    """

    curves: list[Curve]
    error: float
    frame: float
    range: float

    @property
    def is_exact(self) -> bool:
        """Return whether the curves are exact except for rounding."""
        return self.error <= (_EXACT_VALUES * self.range if self.range else 10.0 * _EXACT_ANGLES)


def play_values(
    track: Track,
    matrix: Float64Array,
    shift: Float64Array,
    timing: Timing,
    tolerance: float | None,
) -> Played:
    """Return the curves of a location or a scale.

    Parameters
    ----------
    track : Track
        The file's track.
    matrix : ndarray, shape (3, 3)
    shift : ndarray, shape (3,)
        The conversion from the file's values to Blender's. The matrix multiplies the values, and the shift is added.
    timing : Timing
    tolerance : float or None
        Keys are added where a channel's error exceeds this fraction of the range. If None, only the file's keys are
        used.
    """
    evaluate_file = timing.evaluated(track)

    def evaluate(frames: Float64Array) -> Float64Array:
        return evaluate_file(frames) @ matrix.T + shift

    frames = timing.frames(track.times)
    values = evaluate(np.concatenate((_compared(frames), frames)))
    largest = float(np.abs(values).max(initial=0.0))
    value_range = max(float(np.ptp(values, axis=0).max(initial=0.0)), _LEAST_RANGE * largest, _ROUNDED)
    curves = _exact_curves(track, matrix, shift, timing, can_add_keys=tolerance is not None)
    to_fit = [row for row in range(3) if row not in curves]
    if to_fit:
        segments = track.interpolation != CONSTANT
        fit_tolerance = None if tolerance is None else max(tolerance * value_range, 1e-9)
        fitted = fit(frames, lambda at: evaluate(at)[:, to_fit], segments, None, None, fit_tolerance)
        for row, curve in zip(to_fit, fitted, strict=True):
            curves[row] = _shortest(_with_steps(curve, frames, track.interpolation))
    played = [curves[row] for row in range(3)]
    compared = _compared(_all_keys(played, frames))
    errors = np.abs(_values(played, compared) - evaluate(compared)).max(axis=1, initial=0.0)
    return _result(played, errors, compared, value_range)


def _exact_curves(
    track: Track, matrix: Float64Array, shift: Float64Array, timing: Timing, can_add_keys: bool
) -> dict[int, Curve]:
    """Return the channels that are sums of the file's curves, by row. Other channels must be fitted."""
    exact: dict[int, Curve] = {}
    if track.curves is None:
        return exact
    curves = [timing.curve(curve) for curve in track.curves]
    for row in range(3):
        curve = combined(matrix[row], curves, float(shift[row]))
        curve = None if curve is None else _with_early_steps(curve, can_add_keys)
        if curve is not None and _can_be_played(curve):
            # Channels whose file curves are constant need no additional keys.
            exact[row] = _shortest(curve)
    return exact


def play_rotation(
    track: Track,
    conversion: Conversion,
    mode: str,
    first: Float64Array,
    timing: Timing,
    tolerance: float | None,
) -> Played:
    """Return the curves of a rotation.

    Parameters
    ----------
    mode : str
        "QUATERNION", "AXIS_ANGLE" or an Euler order.
    first : ndarray, shape (channels,)
        The values of the channels at the first key, which determine signs and full turns.
    tolerance : float or None
        Tolerance in radians.
    """
    evaluate_file = timing.evaluated(track)

    def evaluate(frames: Float64Array) -> Float64Array:
        return conversion.rotation(evaluate_file(frames))

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
    key_values = _key_values(evaluate, frames, mode, first)
    segments = track.interpolation != CONSTANT
    fitted = fit(frames, evaluate, segments, mode, key_values, tolerance)
    fitted = [_with_steps(curve, frames, track.interpolation) for curve in fitted]
    return _rotation_result(fitted, mode, evaluate, frames)


def _quaternion_curves(track: Track, conversion: Conversion, first: Float64Array, timing: Timing) -> list[Curve] | None:
    """Return curves of the four components, with the sign of the first key."""
    assert track.curves is not None
    curves = [timing.curve(curve) for curve in track.curves]
    matrix = conversion.quaternion_matrix
    start = matrix @ np.array([curve.values[0] for curve in curves])
    if start @ first < 0.0:
        matrix = -matrix
    components = [combined(row, curves, 0.0) for row in matrix]
    # A constant component gets the keys of the other components, because all channels of a rotation are keyed together.
    frames = timing.frames(track.times)
    keyed = [_keyed_at(curve, frames, track.interpolation) for curve in components if curve is not None]
    return keyed if len(keyed) == 4 else None


def _keyed_at(curve: Curve, frames: Float64Array, interpolation: npt.NDArray[np.uint8]) -> Curve:
    """Return a constant curve with a key at each frame. Leave other curves unchanged."""
    if len(curve) == len(frames):
        return curve
    return Curve.hermite(frames, np.full(len(frames), curve.values[0]), interpolation)


def _euler_curves(
    euler: EulerCurves, evaluate: Evaluate, frames: Float64Array, mode: str, first: Float64Array, timing: Timing
) -> list[Curve] | None:
    """Return curves of the three angles as sums of the file's curves, or None if there are no such sums.

    The sums exist if the conversion permutes axes, or if the rotation is about one axis.
    """
    sampled = _followed(frames)
    angles = rotations.follow_euler(evaluate(sampled), cast(rotations.Order, mode), first)
    moving = [curve for curve in (timing.curve(curve) for curve in euler.curves) if curve.varies]
    if not moving:
        return [Curve.hermite(frames[:1], angles[:1, channel], CONSTANT) for channel in range(3)]
    columns = np.stack([np.ones(len(sampled)), *(curve(sampled) for curve in moving)], axis=-1)
    weights = np.linalg.lstsq(columns, angles, rcond=None)[0]
    rounded = np.round(weights[1:])
    weights[1:] = np.where(np.abs(weights[1:] - rounded) < 1e-6, rounded, weights[1:])
    weights[0] = (angles - columns[:, 1:] @ weights[1:]).mean(axis=0)
    if np.abs(columns @ weights - angles).max() > _EXACT_ANGLES:
        return None
    sums = [combined(weights[1:, channel], moving, float(weights[0, channel])) for channel in range(3)]
    curves = [_shortest(curve) for curve in sums if curve is not None and _can_be_played(curve)]
    return curves if len(curves) == 3 else None


def _key_values(evaluate: Evaluate, frames: Float64Array, mode: str, first: Float64Array) -> Float64Array:
    """Return the channel values of the keys, following the motion between them."""
    q = rotations.unroll_signs(evaluate(_followed(frames)))
    at_keys = slice(None, None, _FOLLOWED)
    if mode == "QUATERNION":
        return (q if q[0] @ first >= 0.0 else -q)[at_keys]
    if mode == "AXIS_ANGLE":
        axes, angles = rotations.follow_axis_angle(q, first[1:], first[0])
        return np.column_stack((angles, axes))[at_keys]
    return rotations.follow_euler(q, cast(rotations.Order, mode), first)[at_keys]


def _followed(frames: Float64Array) -> Float64Array:
    """Return the frames of the keys, with additional frames between keys. Every _FOLLOWED-th frame is a key."""
    fractions = np.arange(_FOLLOWED) / _FOLLOWED
    in_segments = (frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * fractions).ravel()
    return np.append(in_segments, frames[-1])


def _can_be_played(curve: Curve) -> bool:
    """Return whether Blender plays the curve unchanged, that is, whether no handles overlap."""
    is_cubic = curve.interpolation[:-1] == CUBIC
    total_length = (curve.reach_after[:-1] + curve.reach_before[1:])[is_cubic]
    return not (total_length > _OVERLAP).any()


def _with_early_steps(curve: Curve, add_keys: bool) -> Curve:
    """Convert early steps, which occur before their keys, to steps at keys.

    A segment that holds the value of its second key, after a segment that is not a step, needs two values at its first
    key. If `add_keys` is true, a key with the second value is added right after the first key. Otherwise, the step
    occurs at the second key.
    """
    is_step = curve.interpolation == CONSTANT
    is_early = is_step & (curve.held != curve.values)
    is_early[1:] &= ~is_step[:-1]
    is_early[0] = is_early[-1] = False
    rows = np.flatnonzero(is_early)
    if not rows.size:
        return curve
    held = np.where(is_early, curve.values, curve.held)
    if not add_keys:
        return replace(curve, held=held)
    added = {"times": curve.times[rows] + _NEXT_KEY, "values": curve.held[rows], "held": curve.held[rows]}
    columns = {**vars(curve), "held": held}
    return Curve(
        **{name: np.insert(column, rows + 1, added.get(name, column[rows])) for name, column in columns.items()}
    )


def _shortest(curve: Curve) -> Curve:
    """Reduce a constant curve to its first key."""
    if curve.varies:
        return curve
    return Curve.hermite(curve.times[:1], curve.values[:1], CONSTANT)


def _with_steps(curve: Curve, frames: Float64Array, interpolation: npt.NDArray[np.uint8]) -> Curve:
    """Return a fitted curve with the steps of the file."""
    kinds = curve.interpolation.copy()
    steps = np.isin(curve.times, frames[interpolation == CONSTANT])
    kinds[steps] = CONSTANT
    return replace(curve, interpolation=kinds)


def _all_keys(curves: Sequence[Curve], frames: Float64Array) -> Float64Array:
    """Return the frames of the file's keys and the added keys, except for steps right after a key."""
    keyed = union_times(curves)
    previous_key = frames[np.maximum(np.searchsorted(frames, keyed, side="right") - 1, 0)]
    return np.union1d(frames, keyed[np.abs(keyed - previous_key - _NEXT_KEY) > 0.1 * _NEXT_KEY])


def _compared(frames: Float64Array) -> Float64Array:
    """Return frames within each segment. A single frame is returned unchanged."""
    if len(frames) < 2:
        return frames
    compared: Float64Array = (frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * _COMPARED).ravel()
    return compared


def _values(curves: Sequence[Curve], frames: Float64Array) -> Float64Array:
    return np.stack([curve(frames) for curve in curves], axis=-1)


def _rotation_result(curves: list[Curve], mode: str, evaluate: Evaluate, frames: Float64Array) -> Played:
    compared = _compared(_all_keys(curves, frames))
    errors = rotations.angle_between(orientations(mode, _values(curves, compared)), evaluate(compared))
    return _result(curves, errors, compared, 0.0)


def _result(curves: list[Curve], errors: Float64Array, frames: Float64Array, value_range: float) -> Played:
    row = int(np.argmax(errors))
    return Played(curves, float(errors[row]), float(frames[row]), value_range)
