# SPDX-License-Identifier: GPL-3.0-or-later
"""Interpolation types of F-curves other than Bezier, with their easing types.

Each type is a function of the elapsed fraction of the segment, from 0 at the start to 1 at the end. The functions
define "ease in". "Ease out" is the same function reversed, and "ease in and out" joins half of each. The functions are
Penner's equations, evaluated in float64. As in Blender, the exponential and elastic equations are modified. The
amplitude is in units of the value, and the period in frames.

Source: docs/formulas, "Easing types of F-curves".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..records import record
from .keyframes import EASING, INTERPOLATION, BoolArray, EnumArray, Float64Array

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
