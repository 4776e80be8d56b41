# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert a location, rotation or scale of a file to curves over frames, with their error, and curves to keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import numpy.typing as npt

from ...formats.motion import CONSTANT, CUBIC, LINEAR, Curve, EulerCurves, Track, combined, union_times
from ...interp import rotations
from ...interp.keys import Float64Array
from ..fcurves.keyframes import INTERPOLATION, Keyframes, free_keys
from ..sampling.transforms import orientations
from .convert_axes_and_times import Clock, Evaluate, NodeConversion
from .fitted_curves import fit

_NEXT_KEY = 0.02
"""Distance in frames, slightly more than Blender's minimum distance between keys."""
_EXACT_ANGLES = 1e-6
"""Angle in radians. Angle channels with a smaller error are exact, except for float32 rounding in Blender."""
_EXACT_VALUES = 1e-6
"""Fraction of the range. Values with a smaller error are exact, except for float32 rounding in Blender."""
_COMPARED = 128
"""The number of parts of a segment between which motion is compared."""
_OVERLAP = 1.0 + 1e-6
"""Blender shortens two handles whose total length exceeds their segment."""
_NUMBERS = np.array([INTERPOLATION[name] for name in ("CONSTANT", "LINEAR", "BEZIER")], np.uint8)
"""Blender's numbers of the interpolations CONSTANT, LINEAR and CUBIC of curves."""
_ALONE = 1.0
"""The length of the handles, in frames, of a key without adjacent segments."""
_LEAST_RANGE = 1e-3
"""Fraction of the largest value within which rounding hides differences between values."""
_ROUNDED = 1e-6
"""Smallest range, in units. A smaller range is only rounding."""
_LEAST_TOLERANCE = 1e-9
"""Smallest tolerance of a fit, in units."""
_FOLLOWED = 24
"""Samples per segment at which Euler angles follow a rotation, to keep full turns."""


@dataclass(frozen=True, eq=False)
class ChannelCurves:
    """The curves of a property's channels."""

    curves: list[Curve]
    """A curve over frames for each channel."""
    error: float
    """The maximum deviation of a component from the file, as an angle in radians for rotations."""
    frame: float
    """The frame of the maximum deviation."""
    range: float
    """The range of the file's values. 0 for rotations."""

    @classmethod
    def measured(
        cls,
        curves: list[Curve],
        frames: Float64Array,
        deviations: Callable[[Float64Array, Float64Array], Float64Array],
        value_range: float = 0.0,
    ) -> ChannelCurves:
        """Return the curves with their error. `frames` contains the frames of the file's keys.

        `deviations` returns the deviations (m,) of channel values (m, channels) at frames (m,).
        """
        compared = _frames_to_compare(_all_keys(curves, frames))
        errors = deviations(np.stack([curve(compared) for curve in curves], axis=-1), compared)
        row = int(np.argmax(errors))
        return cls(curves, float(errors[row]), float(compared[row]), value_range)

    @property
    def is_rotation(self) -> bool:
        return self.range == 0.0

    @property
    def is_exact(self) -> bool:
        """Return whether the curves are exact except for rounding."""
        # An orientation combines the rounding of several channels.
        return self.error <= (10.0 * _EXACT_ANGLES if self.is_rotation else _EXACT_VALUES * self.range)


def value_curves(
    track: Track, matrix: Float64Array, shift: Float64Array, clock: Clock, tolerance: float | None
) -> ChannelCurves:
    """Return the curves of a location or a scale.

    The matrix (3, 3) multiplies the file's values, and the shift (3,) is added. Keys are added where a channel's error
    exceeds `tolerance`, a fraction of the range. If it is None, only the file's keys are used.
    """
    evaluate_file = clock.evaluated(track)

    def evaluate(frames: Float64Array) -> Float64Array:
        return evaluate_file(frames) @ matrix.T + shift

    frames = clock.frames(track.times)
    values = evaluate(np.concatenate((_frames_to_compare(frames), frames)))
    largest = float(np.abs(values).max(initial=0.0))
    value_range = max(float(np.ptp(values, axis=0).max(initial=0.0)), _LEAST_RANGE * largest, _ROUNDED)
    curves = _exact_curves(track, matrix, shift, clock, can_add_keys=tolerance is not None)
    to_fit = [channel for channel in range(3) if channel not in curves]
    if to_fit:
        fit_tolerance = None if tolerance is None else max(tolerance * value_range, _LEAST_TOLERANCE)
        fitted = fit(frames, lambda at: evaluate(at)[:, to_fit], track.interpolation, None, None, fit_tolerance)
        for channel, curve in zip(to_fit, fitted, strict=True):
            curves[channel] = _shortest(curve)

    def deviations(played: Float64Array, at: Float64Array) -> Float64Array:
        return np.asarray(np.abs(played - evaluate(at)).max(axis=1, initial=0.0))

    return ChannelCurves.measured([curves[channel] for channel in range(3)], frames, deviations, value_range)


def _exact_curves(
    track: Track, matrix: Float64Array, shift: Float64Array, clock: Clock, can_add_keys: bool
) -> dict[int, Curve]:
    """Return the channels that are sums of the file's curves. Other channels must be fitted."""
    exact: dict[int, Curve] = {}
    if track.curves is None:
        return exact
    curves = [clock.curve(curve) for curve in track.curves]
    for channel in range(3):
        curve = combined(matrix[channel], curves, float(shift[channel]))
        curve = None if curve is None else _with_early_steps(curve, can_add_keys)
        if curve is not None and _can_be_played(curve):
            # Channels whose file curves are constant need no additional keys.
            exact[channel] = _shortest(curve)
    return exact


def _with_early_steps(curve: Curve, can_add_keys: bool) -> Curve:
    """Convert early steps, which occur before their keys, to steps at keys.

    A segment that holds the value of its second key, after a segment that is not a step, needs two values at its first
    key. If keys can be added, a key with the second value is added right after the first key. Otherwise, the step
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
    if not can_add_keys:
        return replace(curve, held=held)
    added = {"times": curve.times[rows] + _NEXT_KEY, "values": curve.held[rows], "held": curve.held[rows]}
    columns = {**vars(curve), "held": held}
    return Curve(
        **{name: np.insert(column, rows + 1, added.get(name, column[rows])) for name, column in columns.items()}
    )


def rotation_curves(
    track: Track,
    conversion: NodeConversion,
    mode: str,
    first: Float64Array,
    clock: Clock,
    tolerance: float | None,
) -> ChannelCurves:
    """Return the curves of a rotation.

    `mode` is QUATERNION, AXIS_ANGLE or an Euler order. `first` contains the values of the channels at the first key,
    which determine signs and full turns. Keys are added where the error exceeds `tolerance`, in radians. If it is None,
    only the file's keys are used.
    """
    evaluate_file = clock.evaluated(track)

    def evaluate(frames: Float64Array) -> Float64Array:
        return conversion.rotation(evaluate_file(frames))

    def deviations(played: Float64Array, at: Float64Array) -> Float64Array:
        return rotations.angle_between(orientations(mode, played), evaluate(at))

    frames = clock.frames(track.times)
    curves = None
    if mode == "QUATERNION" and track.curves is not None:
        curves = _quaternion_curves(track, track.curves, conversion, first, clock)
    elif track.euler is not None and mode not in ("QUATERNION", "AXIS_ANGLE"):
        curves = _euler_curves(track.euler, evaluate, frames, mode, first, clock)
    if curves is not None:
        summed = ChannelCurves.measured(curves, frames, deviations)
        # Components that play linear keys of quaternions differ from the file, in which the angle changes linearly. A
        # fit is not needed within the tolerance, or if keys may not be added.
        if summed.is_exact or (summed.error <= (tolerance or np.inf) and track.curves is not None):
            return summed
    key_values = _key_values(evaluate, frames, mode, first)
    fitted = fit(frames, evaluate, track.interpolation, mode, key_values, tolerance)
    return ChannelCurves.measured(fitted, frames, deviations)


def _quaternion_curves(
    track: Track, file_curves: tuple[Curve, ...], conversion: NodeConversion, first: Float64Array, clock: Clock
) -> list[Curve] | None:
    """Return curves of the four components, with the sign of the first key, or None if a component is not a sum."""
    curves = [clock.curve(curve) for curve in file_curves]
    matrix = conversion.quaternion_matrix
    start = matrix @ np.array([curve.values[0] for curve in curves])
    if start @ first < 0.0:
        matrix = -matrix
    components = [combined(row, curves, 0.0) for row in matrix]
    # A constant component gets the keys of the other components, because all channels of a rotation are keyed together.
    frames = clock.frames(track.times)
    keyed = [_keyed_at(curve, frames, track.interpolation) for curve in components if curve is not None]
    return keyed if len(keyed) == 4 else None


def _keyed_at(curve: Curve, frames: Float64Array, interpolation: npt.NDArray[np.uint8]) -> Curve:
    """Return a constant curve with a key at each frame. Leave other curves unchanged."""
    if len(curve) == len(frames):
        return curve
    return Curve.hermite(frames, np.full(len(frames), curve.values[0]), interpolation)


def _euler_curves(
    euler: EulerCurves, evaluate: Evaluate, frames: Float64Array, mode: str, first: Float64Array, clock: Clock
) -> list[Curve] | None:
    """Return curves of the three angles as sums of the file's curves, or None if there are no such sums."""
    sampled = _followed(frames)
    angles = rotations.follow_euler(evaluate(sampled), cast(rotations.Order, mode), first)
    moving = [curve for curve in (clock.curve(curve) for curve in euler.curves) if curve.varies]
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
    return np.append(_in_segments(frames, np.arange(_FOLLOWED) / _FOLLOWED), frames[-1])


def _frames_to_compare(frames: Float64Array) -> Float64Array:
    """Return frames within each segment. A single frame is returned unchanged."""
    return frames if len(frames) == 1 else _in_segments(frames, np.arange(1, _COMPARED) / _COMPARED)


def _in_segments(frames: Float64Array, fractions: Float64Array) -> Float64Array:
    """Return the frames at these fractions of each segment."""
    return np.asarray((frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * fractions).ravel())


def _all_keys(curves: Sequence[Curve], frames: Float64Array) -> Float64Array:
    """Return the frames of the file's keys and of added keys, except the keys that steps need right after a key."""
    keyed = union_times(curves)
    previous_key = frames[np.maximum(np.searchsorted(frames, keyed, side="right") - 1, 0)]
    return np.union1d(frames, keyed[np.abs(keyed - previous_key - _NEXT_KEY) > 0.1 * _NEXT_KEY])


def _can_be_played(curve: Curve) -> bool:
    """Return whether Blender plays the curve unchanged, that is, whether no handles overlap."""
    is_cubic = curve.interpolation[:-1] == CUBIC
    total_length = (curve.reach_after[:-1] + curve.reach_before[1:])[is_cubic]
    return not (total_length > _OVERLAP).any()


def _shortest(curve: Curve) -> Curve:
    """Reduce a constant curve to its first key."""
    if curve.varies:
        return curve
    return Curve.hermite(curve.times[:1], curve.values[:1], CONSTANT)


def keyframes_of(curve: Curve) -> Keyframes:
    """Return the keys of a curve over frames, with FREE handles.

    In segments other than Bezier segments, handles divide a straight line into thirds, as Blender would place them.
    """
    values = np.where(curve.interpolation == CONSTANT, curve.held, curve.values)
    values[-1] = curve.values[-1]
    length = np.diff(curve.times)
    is_cubic = curve.interpolation[:-1] == CUBIC
    chord = np.where(curve.interpolation[:-1] == LINEAR, np.diff(values), 0.0) / np.where(length > 0.0, length, 1.0)
    leaving = np.append(np.where(is_cubic, curve.leaving[:-1], chord), 0.0)
    arriving = np.append(0.0, np.where(is_cubic, curve.arriving[1:], chord))
    reach_after = np.append(np.where(is_cubic, curve.reach_after[:-1], 1.0 / 3.0) * length, 0.0)
    reach_before = np.append(0.0, np.where(is_cubic, curve.reach_before[1:], 1.0 / 3.0) * length)
    # The outer handles mirror the inner ones.
    outside = reach_after[0] or _ALONE
    reach_before[0], arriving[0] = outside, leaving[0]
    reach_after[-1], leaving[-1] = reach_before[-1] or outside, arriving[-1]
    slopes, reaches = (arriving, leaving), (reach_before, reach_after)
    return free_keys(curve.times, values, slopes, reaches, _NUMBERS[curve.interpolation])
