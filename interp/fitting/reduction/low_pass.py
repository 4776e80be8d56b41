# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove noise from samples before their keys are reduced. Source: docs/formulas, "Fewest keys"."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arguments import checked_finite, checked_number
from ...keys import Float64Array

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
