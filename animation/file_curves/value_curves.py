# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert a location or scale of a file to curves over frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...formats.curve import CONSTANT, Curve
from ...formats.curve_sums import combined
from ...formats.motion import Track
from ...interp.keys import Float64Array
from .channel_curves import NEXT_KEY, ChannelCurves, can_be_played, frames_to_compare, shortest, with_steps
from .clock import Clock
from .fits import fit

_LEAST_RANGE = 1e-3
"""Fraction of the largest value within which rounding hides differences between values."""
_ROUNDED = 1e-6
"""Smallest range, in units. A smaller range is only rounding."""
_LEAST_TOLERANCE = 1e-9
"""Smallest tolerance of a fit, in units."""


def value_curves(
    track: Track, matrix: Float64Array, shift: Float64Array, clock: Clock, tolerance: float | None
) -> ChannelCurves:
    """Return the curves of a location or a scale.

    Parameters
    ----------
    track : Track
        The file's track.
    matrix : ndarray, shape (3, 3)
    shift : ndarray, shape (3,)
        The conversion from the file's values to Blender's. The matrix multiplies the values, and the shift is added.
    clock : Clock
    tolerance : float or None
        Keys are added where a channel's error exceeds this fraction of the range. If None, only the file's keys are
        used.
    """
    evaluate_file = clock.evaluated(track)

    def evaluate(frames: Float64Array) -> Float64Array:
        return evaluate_file(frames) @ matrix.T + shift

    frames = clock.frames(track.times)
    values = evaluate(np.concatenate((frames_to_compare(frames), frames)))
    largest = float(np.abs(values).max(initial=0.0))
    value_range = max(float(np.ptp(values, axis=0).max(initial=0.0)), _LEAST_RANGE * largest, _ROUNDED)
    curves = _exact_curves(track, matrix, shift, clock, can_add_keys=tolerance is not None)
    to_fit = [channel for channel in range(3) if channel not in curves]
    if to_fit:
        segments = track.interpolation != CONSTANT
        fit_tolerance = None if tolerance is None else max(tolerance * value_range, _LEAST_TOLERANCE)
        fitted = fit(frames, lambda at: evaluate(at)[:, to_fit], segments, None, None, fit_tolerance)
        for channel, curve in zip(to_fit, fitted, strict=True):
            curves[channel] = shortest(with_steps(curve, frames, track.interpolation))

    def deviations(played: Float64Array, at: Float64Array) -> Float64Array:
        largest_of_channels: Float64Array = np.abs(played - evaluate(at)).max(axis=1, initial=0.0)
        return largest_of_channels

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
        if curve is not None and can_be_played(curve):
            # Channels whose file curves are constant need no additional keys.
            exact[channel] = shortest(curve)
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
    added = {"times": curve.times[rows] + NEXT_KEY, "values": curve.held[rows], "held": curve.held[rows]}
    columns = {**vars(curve), "held": held}
    return Curve(
        **{name: np.insert(column, rows + 1, added.get(name, column[rows])) for name, column in columns.items()}
    )
