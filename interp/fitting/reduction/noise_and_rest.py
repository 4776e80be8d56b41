# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove noise from samples before their keys are reduced, and find points at rest, such as a foot on the ground.

Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arguments import checked_finite, checked_number
from ...keys import BoolArray, Float64Array

_ORDER = 4
"""The order of the Butterworth filter."""


def low_pass(samples: npt.ArrayLike, period: float) -> Float64Array:
    """Remove oscillations with periods shorter than `period` frames from samples, without delay.

    Parameters
    ----------
    samples : array_like, shape (frames, d)
        One sample per frame: values, or quaternions with continuous signs, whose lengths the filter changes.
    period : float
        Cutoff period in frames, more than 2. A wave of this period keeps half its amplitude. A wave of twice this
        period keeps at least 0.996 of its amplitude, and a wave of half this period at most 0.004.

    Returns
    -------
    ndarray
        Filtered samples with the shape of `samples`. The first and last samples do not change.

    Raises
    ------
    TypeError
        If `samples` or `period` are not numbers.
    ValueError
        If samples have another shape or are not finite, or the period is not finite or not above 2.

    Notes
    -----
    A fourth-order Butterworth filter is applied forward and backward. Samples are extended beyond the ends by point
    reflection. Source: docs/formulas, "Fewest keys".

    Examples
    --------
    >>> wave = np.sin(2 * np.pi * np.arange(101) / 50)[:, np.newaxis]
    >>> ripple = 0.1 * np.sin(np.pi / 2 * np.arange(101))[:, np.newaxis]
    >>> bool(np.abs(reduction.low_pass(wave + ripple, period=10) - wave).max() < 1e-4)
    True
    """
    if not checked_number("period", period) > 2.0:
        raise ValueError("the period must be more than 2 frames")
    array = checked_finite("samples", samples)
    if array.ndim != 2:
        raise ValueError(f"samples must have the shape (frames, d), not {array.shape}")
    count = len(array)
    if count < 3:
        return array.copy()
    # After subtracting the line between its ends, a run mirrored at both ends is periodic.
    baseline = array[0] + (array[-1] - array[0]) * (np.arange(count) / (count - 1.0))[:, np.newaxis]
    remainder = array - baseline
    spectrum = np.fft.rfft(np.concatenate([remainder, -remainder[-2:0:-1]]), axis=0)
    frequency = np.pi * np.arange(len(spectrum)) / (2.0 * (count - 1.0))
    with np.errstate(over="ignore"):
        gain = 1.0 / (1.0 + (np.tan(frequency) / np.tan(np.pi / period)) ** (2 * _ORDER))
    filtered: Float64Array = baseline + np.fft.irfft(spectrum * gain[:, np.newaxis], 2 * (count - 1), axis=0)[:count]
    filtered[[0, -1]] = array[[0, -1]]
    return filtered


STILL_FRAMES = 8
"""The minimum number of frames for which a point is at rest."""


def stand_still(points: Float64Array, radius: float) -> BoolArray:
    """Return a mask (p, frames) of the frames at which points (p, frames, 3) are at rest.

    A point is at rest if, for at least `STILL_FRAMES`, it stays within a ball of the given radius around the center of
    the bounding box of its positions.
    """
    is_at_rest: BoolArray = np.zeros((len(points), points.shape[1]), dtype=np.bool_)
    if points.shape[1] < STILL_FRAMES:
        return is_at_rest
    for positions, is_point_at_rest in zip(points, is_at_rest, strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(positions, STILL_FRAMES, axis=0)
        center = (windows.max(axis=2) + windows.min(axis=2)) / 2.0
        stays_in_ball = np.linalg.norm(windows - center[..., np.newaxis], axis=1).max(axis=1) <= radius
        for shift in range(STILL_FRAMES):
            is_point_at_rest[shift : shift + len(stays_in_ball)] |= stays_in_ball
    return is_at_rest


def limits_while_still(limits: Float64Array, points: Float64Array, still: tuple[float, float] | None) -> Float64Array:
    """Return error limits (p, frames), lowered where points (p, frames, 3) are at rest.

    `still` gives the radius of the ball and the maximum deviation of the points in it. If None, the limits are not
    lowered.
    """
    if still is None:
        return limits
    radius, largest_deviation = still
    return np.where(stand_still(points, radius), np.minimum(limits, largest_deviation), limits)
