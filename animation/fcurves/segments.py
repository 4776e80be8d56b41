# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluate segments of F-curves with any interpolation type from arrays of keys, including derivatives.

Segments are evaluated in float64 from arrays of keys, without F-curves. Blender (fcurve.cc,
`fcurve_eval_keyframes_interpolate`) computes in float32.

Source: docs/formulas, "Bezier segments of F-curves".

Each type is a function of the elapsed fraction of the segment, from 0 at the start to 1 at the end. The functions
define "ease in". "Ease out" is the same function reversed, and "ease in and out" joins half of each. The functions are
Penner's equations, evaluated in float64. As in Blender, the exponential and elastic equations are modified. The
amplitude is in units of the value, and the period in frames.

Source: docs/formulas, "Easing types of F-curves".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...interp.cubics import solve_cubics
from ..records import record
from .keyframes import (
    EASING,
    INTERPOLATION,
    BoolArray,
    EnumArray,
    Float32Array,
    Float64Array,
    IndexArray,
    Keyframes,
    end_to_end,
)

_MIN_FRAME_DERIVATIVE = 1e-6
"""If the derivative of frames, relative to the segment length, is lower than this, the tangent counts as vertical."""


def is_plain(keys: Keyframes) -> BoolArray:
    """Return a mask of the keys that begin a Bezier segment whose handles both point into the segment.

    In other segments, the cubic may have several roots, and the value depends on the root that Blender finds first.
    """
    mask = np.zeros(len(keys), dtype=np.bool_)
    starts, ends = keys.frames[:-1], keys.frames[1:]
    mask[:-1] = (keys.interpolation[:-1] == INTERPOLATION["BEZIER"]) & (starts < ends)
    mask[:-1] &= (keys.handle_right[:-1, 0] >= starts) & (keys.handle_left[1:, 0] <= ends)
    return mask


def evaluate_beziers(keys: Keyframes, begin: IndexArray, frames: npt.ArrayLike, nu: int = 0) -> Float64Array:
    """Evaluate segments at the frames. `begin` contains the key at the start of each frame's segment, shape (m,).

    Return values, or derivatives per frame, shape (m,). The segments must be plain. `nu` is the order of the
    derivative: 0 (values), 1 or 2.
    """
    is_used = np.zeros(len(keys), dtype=np.bool_)
    is_used[begin] = True
    segments, segment = _BezierSegments.of(keys, np.flatnonzero(is_used)), (np.cumsum(is_used) - 1)[begin]
    t, frame_cubics, value_cubics = segments.parameters(segment, frames)
    if nu == 0:
        linear, square, cube = value_cubics
        values: Float64Array = ((cube * t + square) * t + linear) * t + segments.start[segment, 1]
        return values
    frame_derivative, frame_second = _derivatives(frame_cubics, t)
    value_derivative, value_second = _derivatives(value_cubics, t)
    # If a handle is vertical, the tangent is vertical and the derivative is infinite.
    frame_derivative = np.maximum(frame_derivative, _MIN_FRAME_DERIVATIVE)
    slope = value_derivative / frame_derivative
    derivative = slope if nu == 1 else (value_second - slope * frame_second) / frame_derivative**2
    per_frame: Float64Array = derivative / segments.chord[segment, 0] ** nu
    return per_frame


class _BezierSegments(NamedTuple):
    """Bezier segments, with handles shortened as in Blender. Each field contains (frame, value) pairs, shape (n, 2)."""

    start: Float64Array
    chord: Float64Array
    leaving: Float64Array
    """Vectors from the start to the first handle."""
    arriving: Float64Array
    """Vectors from the second handle to the end."""

    @classmethod
    def of(cls, keys: Keyframes, first: IndexArray) -> _BezierSegments:
        """Create the segments that begin at the given keys."""
        start, end = keys.co[first].astype(np.float64), keys.co[first + 1].astype(np.float64)
        chord = end - start
        leaving, arriving = keys.handle_right[first] - start, end - keys.handle_left[first + 1]
        # Blender shortens handles that are longer than the segment.
        for handle in (leaving, arriving):
            handle *= (chord[:, 0] / np.maximum(chord[:, 0], handle[:, 0]))[:, np.newaxis]
        return cls(start, chord, leaving, arriving)

    def parameters(self, segment: IndexArray, frames: npt.ArrayLike) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the parameter t at each frame, and the power coefficients of the cubics for frames and for values.

        `segment` is the segment index of each frame. t has the shape (m,). Both sets of coefficients have the shape
        (3, m), from t to t cubed. Frames are normalized: 0 at the start of the segment, 1 at the end.
        """
        _, chord, leaving, arriving = self
        cubics = np.stack(
            [3.0 * leaving, 3.0 * (chord - arriving - 2.0 * leaving), 3.0 * (leaving + arriving) - 2.0 * chord]
        )
        cubics[..., 0] /= chord[:, 0]
        coefficients = cubics.reshape(3, -1, 2).transpose(0, 2, 1).reshape(6, -1).take(segment, axis=1)
        frame_cubics, value_cubics = coefficients[::2], coefficients[1::2]
        u = (np.asarray(frames, dtype=np.float64) - self.start[segment, 0]) / chord[segment, 0]
        return solve_cubics(frame_cubics, u), frame_cubics, value_cubics


def _derivatives(cubics: Float64Array, t: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the first and second derivatives of cubics with respect to the parameter t."""
    linear, square, cube = cubics
    return (3.0 * cube * t + 2.0 * square) * t + linear, 6.0 * cube * t + 2.0 * square


# Interpolation types of F-curves other than Bezier, with their easing types


Derivatives = tuple[Float64Array, Float64Array, Float64Array]
"""Values, first derivatives and second derivatives of a function."""
_EASES_OUT = [INTERPOLATION[name] for name in ("BACK", "BOUNCE", "ELASTIC")]
"""Types for which automatic easing is "ease out". For all other types, automatic easing is "ease in"."""
_MIN_SQUARED_HEIGHT = float(np.finfo(np.float32).eps)
"""Smallest squared height at which derivatives of circular easing are computed. The tangent at the end, where the
height is 0, is vertical, and float32 can't distinguish closer frames."""
_IN_AND_OUT_OVERSHOOT = 1.525
"""Overshoot factor of Back for "ease in and out"."""
_BOUNCES = ((1.0, 0.0, 0.0), (2.0, 1.5, 0.75), (2.5, 2.25, 0.9375), (np.inf, 2.625, 0.984375))
"""End, vertex and vertex height of each parabola of Bounce, in reversed time. Ends and vertices are in units of 1 /
2.75 of the duration."""


@record(eq=False)
class EasedSegments:
    """Segments with one interpolation type. Each field has one number per segment, shape (n,)."""

    change: Float64Array
    """Value of the second key minus value of the first key."""
    duration: Float64Array
    """Duration in frames."""
    back: Float64Array
    amplitude: Float64Array
    period: Float64Array


def progress(kind: int, easing: EnumArray, t: Float64Array, segments: EasedSegments) -> Derivatives:
    """Return the change in value in segments with the interpolation `kind`, with derivatives with respect to t.

    `t` contains the elapsed fraction of each segment, shape (n,), like all three results. `easing` contains the easing
    of each segment. `easing` and the fields of `segments` may also have a single element, which applies to all
    segments.
    """
    zeros = np.zeros_like(t)
    if kind == INTERPOLATION["CONSTANT"]:
        return zeros, zeros, zeros
    if kind == INTERPOLATION["LINEAR"]:
        return segments.change * t, segments.change, zeros
    automatic = EASING["EASE_OUT" if kind in _EASES_OUT else "EASE_IN"]
    easing = np.where(easing == EASING["AUTO"], automatic, easing)
    in_and_out = easing == EASING["EASE_IN_OUT"]
    is_out = np.where(in_and_out, t >= 0.5, easing == EASING["EASE_OUT"])
    # Each half of "ease in and out" runs at twice the speed, and covers half of the change.
    speed, height = np.where(in_and_out, 2.0, 1.0), np.where(in_and_out, 0.5, 1.0)
    t_in = np.where(is_out, 1.0 - t, t) * speed
    if kind in _FRACTIONS:
        fractions = _FRACTIONS[kind](t_in, segments, in_and_out)
        value, first, second = (segments.change * fraction for fraction in fractions)
    else:
        value, first, second = _elastic(t_in, segments, in_and_out)
    value = height * value
    return (
        np.where(is_out, segments.change - value, value),
        height * speed * first,
        np.where(is_out, -1.0, 1.0) * height * speed**2 * second,
    )


def _sine(t: Float64Array, _segments: EasedSegments, _in_and_out: BoolArray) -> Derivatives:
    quarter = np.pi / 2.0
    cosine, sine = np.cos(t * quarter), np.sin(t * quarter)
    return 1.0 - cosine, quarter * sine, quarter**2 * cosine


def _power(degree: int) -> Callable[[Float64Array, EasedSegments, BoolArray], Derivatives]:
    def power(t: Float64Array, _segments: EasedSegments, _in_and_out: BoolArray) -> Derivatives:
        return t**degree, degree * t ** (degree - 1), degree * (degree - 1) * t ** (degree - 2)

    return power


def _exponential(t: Float64Array, _segments: EasedSegments, _in_and_out: BoolArray) -> Derivatives:
    rate, start = 10.0 * np.log(2.0), 2.0**-10
    # Blender shifts and scales the function so that it starts at 0.
    power = 2.0 ** (10.0 * (t - 1.0)) / (1.0 - start)
    return power - start / (1.0 - start), rate * power, rate**2 * power


def _circle(t: Float64Array, _segments: EasedSegments, _in_and_out: BoolArray) -> Derivatives:
    height = np.sqrt(np.maximum(1.0 - t**2, 0.0))
    nonzero_height = np.sqrt(np.maximum(1.0 - t**2, _MIN_SQUARED_HEIGHT))
    return 1.0 - height, t / nonzero_height, nonzero_height**-3


def _back(t: Float64Array, segments: EasedSegments, in_and_out: BoolArray) -> Derivatives:
    overshoot = segments.back * np.where(in_and_out, _IN_AND_OUT_OVERSHOOT, 1.0)
    cube = overshoot + 1.0
    return (
        (cube * t - overshoot) * t**2,
        (3.0 * cube * t - 2.0 * overshoot) * t,
        6.0 * cube * t - 2.0 * overshoot,
    )


def _bounce(t: Float64Array, _segments: EasedSegments, _in_and_out: BoolArray) -> Derivatives:
    reversed_time = 2.75 * (1.0 - t)
    ends, vertices, heights = np.array(_BOUNCES).T
    parabola = np.searchsorted(ends, reversed_time, side="right").clip(max=len(ends) - 1)
    time_to_vertex = reversed_time - vertices[parabola]
    return (
        1.0 - heights[parabola] - time_to_vertex**2,
        5.5 * time_to_vertex,
        np.full_like(t, -2.0 * 2.75**2),
    )


def _elastic(t: Float64Array, segments: EasedSegments, in_and_out: BoolArray) -> Derivatives:
    """Return values, not fractions of the change, because the curve oscillates even if the change is 0."""
    change, duration = segments.change, segments.duration
    period = np.where(segments.period != 0.0, segments.period, duration * np.where(in_and_out, 0.45, 0.3))
    size = np.abs(change)
    # If the amplitude is less than the change, Blender uses the change, reduced along the segment, as the amplitude.
    is_reduced = (segments.amplitude == 0.0) | (segments.amplitude < size)
    amplitude = np.where(is_reduced, change, segments.amplitude)
    reduction = np.divide(segments.amplitude, size, out=np.ones_like(size), where=is_reduced & (size > 0.0))
    sine_at_end = np.divide(change, amplitude, out=np.ones_like(size), where=amplitude != 0.0)
    lag = np.where(is_reduced, period / 4.0, period * np.arcsin(sine_at_end) / (2.0 * np.pi))
    t_from_end = t - 1.0
    # The reduction fades out within the lag before the end, so that the curve reaches the second key.
    is_fading = is_reduced & (np.abs(t_from_end) * duration < np.abs(lag))
    fade_rate = np.divide(duration, np.abs(lag), out=np.zeros_like(t), where=is_fading)
    factor = np.where(is_fading, 1.0 + (1.0 - reduction) * t_from_end * fade_rate, reduction)
    factor_rate = (1.0 - reduction) * fade_rate
    rate, angular_rate = 10.0 * np.log(2.0), 2.0 * np.pi * duration / period
    decay = -amplitude * 2.0 ** (10.0 * t_from_end)
    phase = angular_rate * (t_from_end - lag / duration)
    sine, cosine = np.sin(phase), np.cos(phase)
    wave = decay * sine
    wave_rate = decay * (rate * sine + angular_rate * cosine)
    wave_second = decay * ((rate**2 - angular_rate**2) * sine + 2.0 * rate * angular_rate * cosine)
    return (
        np.where(t > 0.0, factor * wave, 0.0),
        factor * wave_rate + factor_rate * wave,
        factor * wave_second + 2.0 * factor_rate * wave_rate,
    )


_FRACTIONS: dict[int, Callable[[Float64Array, EasedSegments, BoolArray], Derivatives]] = {
    INTERPOLATION["SINE"]: _sine,
    INTERPOLATION["QUAD"]: _power(2),
    INTERPOLATION["CUBIC"]: _power(3),
    INTERPOLATION["QUART"]: _power(4),
    INTERPOLATION["QUINT"]: _power(5),
    INTERPOLATION["EXPO"]: _exponential,
    INTERPOLATION["CIRC"]: _circle,
    INTERPOLATION["BACK"]: _back,
    INTERPOLATION["BOUNCE"]: _bounce,
}
"""Functions that return the fraction of the change for "ease in". The last argument is true if the function is used for
"ease in and out"."""


# Segments with any interpolation type


def evaluate(keys: Keyframes, begin: IndexArray, frames: Float64Array, nu: int = 0) -> Float64Array:
    """Return the values at the frames, or derivatives per frame (`nu` 1 or 2).

    `begin` contains the first key of each segment. The two keys of a segment must be at different frames.
    """
    interpolation = keys.interpolation[begin]
    evaluated = np.empty(len(frames))
    for kind in np.unique(interpolation).tolist():
        is_kind = interpolation == kind
        evaluated[is_kind] = _evaluate_kind(kind, keys, begin[is_kind], frames[is_kind], nu)
    return evaluated


def _evaluate_kind(kind: int, keys: Keyframes, begin: IndexArray, frames: Float64Array, nu: int) -> Float64Array:
    """Return values or derivatives of segments that all have the interpolation type `kind`."""
    if kind == INTERPOLATION["BEZIER"]:
        return evaluate_beziers(keys, begin, frames, nu)
    start = keys.co[begin].astype(np.float64)
    duration, change = (keys.co[begin + 1] - start).T
    back, amplitude, period = (
        getattr(keys, name)[begin].astype(np.float64) for name in ("back", "amplitude", "period")
    )
    segments = EasedSegments(change, duration, back, amplitude, period)
    t = (frames - start[:, 0]) / duration
    derivatives = progress(kind, keys.easing[begin], t, segments)
    evaluated: Float64Array = start[:, 1] + derivatives[0] if nu == 0 else derivatives[nu] / duration**nu
    return evaluated


@record(eq=False)
class ChannelSegments:
    """A track's segments played by Blender, which `interp.PiecewiseSpline` uses between its splines.

    Attributes
    ----------
    starts, lengths : arrays, shape (n,)
        Start frame, and duration in frames (greater than 0). A segment may be part of a segment between two of the
        channel's own keys.
    keys : Keyframes
        The two keys around each segment, 2 n rows per channel, one channel after another.
    """

    starts: Float64Array
    lengths: Float64Array
    keys: Keyframes

    @classmethod
    def between(cls, frames: Float32Array, rows: IndexArray, channels: list[Keyframes]) -> ChannelSegments:
        """Create the segments that begin at these rows of `frames`, from each channel's pairs of keys."""
        starts, ends = frames[rows].astype(np.float64), frames[rows + 1].astype(np.float64)
        return cls(starts, ends - starts, end_to_end(channels))

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return the channel values (nu = 0), or derivatives with respect to u, at u in [0, 1], shape (channels, m)."""
        segment_count = len(self.starts)
        channel_count = len(self.keys) // (2 * segment_count)
        frames = self.starts[segment] + u * self.lengths[segment]
        rows = segment + segment_count * np.arange(channel_count)[:, np.newaxis]
        values = evaluate(self.keys, 2 * rows.ravel(), np.tile(frames, channel_count), nu)
        return values.reshape(channel_count, -1) * self.lengths[segment] ** nu
