# SPDX-License-Identifier: GPL-3.0-or-later
"""Recover the few keys behind dense samples, if lines, steps and cubics between the keys reproduce the samples.

Source: docs/formulas, "Keys of baked curves".
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ...keys import BoolArray, Float64Array, IndexArray
from .windows import SegmentSamples

_ROUNDING = 2.0**-24
"""The rounding of float32 samples, relative to the largest sample."""
_NOISE_OF_SECOND = 8.0
"""Largest rounding error of a second difference, relative to a sample. The coefficient magnitudes add up to 4."""
_NOISE_OF_FOURTH = 32.0
"""Largest rounding error of a fourth difference, relative to a sample. The coefficient magnitudes add up to 16."""
_KEY_BREAKS = 3
"""Number of fourth differences that a key between two cubics affects. A step affects one more."""
_FRAMES_PER_KEY = 2
"""Minimum number of samples per key. With fewer samples, the keys would prove nothing."""


class RecoveredKeys(NamedTuple):
    """The recovered keys.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        Indices of the samples that are keys.
    incoming, outgoing : ndarray, shape (n, d)
        Derivatives per frame before and after each key.
    is_line, is_hold : ndarray of bool, shape (n-1,)
        True for segments that are straight, and for segments that keep their value up to the next key.
    """

    rows: IndexArray
    incoming: Float64Array
    outgoing: Float64Array
    is_line: BoolArray
    is_hold: BoolArray

    @property
    def is_straight(self) -> bool:
        """Return whether all segments are lines or steps."""
        return bool((self.is_line | self.is_hold).all())


def recover_keys(samples: Float64Array) -> RecoveredKeys | None:
    """Return the keys from which samples (frames, d) were made, or None.

    Notes
    -----
    Second differences are 0 except where lines meet, and fourth differences are 0 except where cubics meet. Rows with
    nonzero differences are the candidates. The cubic between two candidates is fitted by linear least squares. The
    residuals determine whether the candidates are accepted.
    """
    noise = _ROUNDING * np.abs(samples).max(axis=0, initial=0.0)
    for rows in (_corners(samples, noise), _joints(samples, noise)):
        if rows is not None and len(rows) * _FRAMES_PER_KEY <= len(samples):
            keys = _fitted(samples, rows, noise)
            if keys is not None:
                return keys
    return None


def _corners(samples: Float64Array, noise: Float64Array) -> IndexArray | None:
    """Return the rows at which lines meet, and the rows of both ends."""
    if len(samples) < 3:
        return None
    is_corner = (np.abs(np.diff(samples, 2, axis=0)) > _NOISE_OF_SECOND * noise).any(axis=1)
    return np.concatenate(([0], np.flatnonzero(is_corner) + 1, [len(samples) - 1])).astype(np.intp)


def _joints(samples: Float64Array, noise: Float64Array) -> IndexArray | None:
    """Return the rows where cubics meet and the rows of both ends, or None if some are too close to each other."""
    count = len(samples)
    if count < 5:
        return None
    is_broken = (np.abs(np.diff(samples, 4, axis=0)) > _NOISE_OF_FOURTH * noise).any(axis=1)
    # Each run of broken differences is given by its first index and the index after its last.
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_broken, [False])).astype(np.int8)))
    first, last = edges[::2], edges[1::2]
    length = last - first
    if (length > _KEY_BREAKS + 1).any():
        return None
    # Difference i covers samples i to i + 4. A key is in the middle of its run, and a step is between two samples.
    is_step = length == _KEY_BREAKS + 1
    rows = np.where(is_step, last - 1, (first + last - 1) // 2 + 2)
    return np.unique(np.concatenate(([0], rows, rows[is_step] + 1, [count - 1]))).astype(np.intp)


def _fitted(samples: Float64Array, rows: IndexArray, noise: Float64Array) -> RecoveredKeys | None:
    """Return keys at the rows, or None if they do not reproduce the samples."""
    rows, is_hold = _with_holds(samples, rows)
    segments = SegmentSamples.of(rows[:-1], rows[1:])
    slopes = np.diff(samples[rows], axis=0) / np.diff(rows)[:, np.newaxis]
    points = np.stack([samples[rows[:-1]], slopes, samples[rows[1:]], slopes], axis=1)
    deviations = segments.played(points) - samples[segments.row]
    is_line = (segments.largest(np.abs(deviations)) <= _NOISE_OF_SECOND * noise).all(axis=1)
    # Fit only the velocities at both ends of the segments.
    squares, products = segments.sums(deviations)
    points[:, 1::2] += _solved(squares[:, 1::2, 1::2], -products[:, 1::2])
    deviations = segments.played(points) - samples[segments.row]
    if (segments.largest(np.abs(deviations))[~is_hold] > _NOISE_OF_FOURTH * noise).any():
        return None
    velocities = np.pad(points[:, 1::2], ((1, 1), (0, 0), (0, 0)))
    return RecoveredKeys(rows, velocities[:-1, 1], velocities[1:, 0], is_line & ~is_hold, is_hold)


def _with_holds(samples: Float64Array, rows: IndexArray) -> tuple[IndexArray, BoolArray]:
    """Return the keys' rows, except rows just before a step, and a mask of segments that hold their value."""
    is_flat = np.array(
        [bool((samples[start : end + 1] == samples[start]).all()) for start, end in itertools.pairwise(rows)]
    )
    is_next_frame = np.diff(rows)[1:] == 1
    is_change = (samples[rows[1:-1]] != samples[rows[2:]]).any(axis=1)
    steps = np.flatnonzero(is_flat[:-1] & is_next_frame & is_change)
    is_hold = np.zeros(len(rows) - 1, dtype=np.bool_)
    is_hold[steps] = True
    return np.delete(rows, steps + 1), np.delete(is_hold, steps + 1)


def _solved(matrix: Float64Array, right: Float64Array) -> Float64Array:
    """Return the solutions (n, 2, d) of symmetric systems (n, 2, 2), or 0 for segments of a single frame."""
    (a, b), (_, c) = matrix.transpose(1, 2, 0)[..., np.newaxis]
    determinant = a * c - b * b
    products = np.stack([c * right[:, 0] - b * right[:, 1], a * right[:, 1] - b * right[:, 0]], axis=1)
    solution: Float64Array = np.zeros_like(products)
    np.divide(products, determinant[:, np.newaxis], out=solution, where=determinant[:, np.newaxis] > 0.0)
    return solution
