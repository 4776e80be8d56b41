# SPDX-License-Identifier: GPL-3.0-or-later
"""Noise of dense samples: oscillation faster than the motion.

Source: docs/formulas, "Fewest keys".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...batch import checked_sample_frame
from ...keys import Float64Array, finite

_ORDER = 4
"""Of Butterworth's filter."""


def low_pass(samples: npt.ArrayLike, period: float) -> Float64Array:
    """Return samples without oscillations that are faster than once in so many frames, and without a delay.

    Parameters
    ----------
    samples : array_like, shape (frames, d)
        One per frame: numbers, or quaternions of neighboring signs, whose lengths change.
    period : float
        Frames, more than 2. A wave of this period keeps half of its height, one of twice as many frames 0.996 of it or
        more, one of half as many 0.004 or less.

    Returns
    -------
    ndarray
        Of the shape of `samples`; the first and the last are the same.

    Raises
    ------
    TypeError
        If `samples` are not numbers, or `period` is none.
    ValueError
        For samples of another shape or not finite, and a period that is not finite or not above 2.

    Notes
    -----
    Butterworth's filter of fourth order, forward and backward. At the ends samples continue, turned about the end.
    Source: docs/formulas, "Fewest keys".

    Examples
    --------
    >>> wave = np.sin(2 * np.pi * np.arange(101) / 50)[:, np.newaxis]
    >>> ripple = 0.1 * np.sin(np.pi / 2 * np.arange(101))[:, np.newaxis]
    >>> bool(np.abs(reduction.low_pass(wave + ripple, period=10) - wave).max() < 1e-4)
    True
    """
    if not checked_sample_frame("period", period) > 2.0:
        raise ValueError("the period must be more than 2 frames")
    own = finite("samples", samples)
    if own.ndim != 2:
        raise ValueError(f"samples must have the shape (frames, d), not {own.shape}")
    count = len(own)
    if count < 3:
        return own.copy()
    # Without the line between its ends, a run that continues mirrored at both ends is periodic.
    line = own[0] + (own[-1] - own[0]) * (np.arange(count) / (count - 1.0))[:, np.newaxis]
    bent = own - line
    waves = np.fft.rfft(np.concatenate([bent, -bent[-2:0:-1]]), axis=0)
    frequency = np.pi * np.arange(len(waves)) / (2.0 * (count - 1.0))
    with np.errstate(over="ignore"):
        gain = 1.0 / (1.0 + (np.tan(frequency) / np.tan(np.pi / period)) ** (2 * _ORDER))
    filtered: Float64Array = line + np.fft.irfft(waves * gain[:, np.newaxis], 2 * (count - 1), axis=0)[:count]
    filtered[[0, -1]] = own[[0, -1]]
    return filtered
