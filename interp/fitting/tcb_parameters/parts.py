# SPDX-License-Identifier: GPL-3.0-or-later
"""The input of a fit of parameters: splines with samples of the motions that they should come near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...batch import IndexArray
from ...keys import Float64Array
from ...splines import tcb

Spline = tcb.VectorSpline | tcb.RotationSpline

SAMPLES = 7
"""Samples a segment: two more than the parameters that one number's curve between two keys determines."""
SHARES = (np.arange(SAMPLES) + 0.5) / SAMPLES
"""Shares of a segment at which it is sampled."""
FLOAT32 = 2.0**-22
"""The rounding of samples to float32, and of the handles before them, as a part of a track's largest number."""
_NOISE = 1e-6
"""Part of a track's range: parameters that change the motion by less stay 0, below the resolution of float32 curves."""


@dataclass(frozen=True, eq=False)
class Part:
    """A spline, and the motion that it should come near.

    Attributes
    ----------
    spline : VectorSpline or RotationSpline
        The spline; its own parameters are ignored.
    rows : ndarray of int, shape (n,)
        Which of the track's keys the spline's are: components keyed at different frames are parts of one track, and
        have the parameters of a key in common.
    samples : ndarray, shape (n - 1, SAMPLES, d)
        The motion at `sample_frames`, finite; unit quaternions of either sign for rotations.
    """

    spline: Spline
    rows: IndexArray
    samples: Float64Array

    def with_parameters(self, parameters: Float64Array) -> Spline:
        """Return the spline with parameters (5, keys) of the track's keys, which are in their ranges."""
        return self.spline.with_keys(self.spline.keys.with_parameters(parameters[:, self.rows]))

    @property
    def has_whole_turns(self) -> bool:
        """Return whether the spline is a rotation with whole turns."""
        return isinstance(self.spline, tcb.RotationSpline) and self.spline.has_whole_turns

    @property
    def weights(self) -> Float64Array:
        """Return weights (n - 1, d) with which the squares in a segment of mean length add up to their mean."""
        lengths = np.diff(self.spline.keys.frames)
        weights = np.sqrt(lengths / lengths.mean() / SAMPLES)
        return np.repeat(weights[:, np.newaxis], self.samples.shape[2], axis=1)


def sample_frames(frames: Float64Array) -> Float64Array:
    """Return the frames (n - 1, SAMPLES) in the segments between keys at `frames` (n,) where motions are compared."""
    return frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * SHARES


def scale_of(track: Sequence[Part]) -> tuple[float, float]:
    """Return the range of a track's motion, and the part of it that is noise."""
    spread = largest = 0.0
    for part in track:
        # A quaternion's chord is half the rotation's.
        size = 2.0 if isinstance(part.spline, tcb.RotationSpline) else 1.0
        samples = part.samples.reshape(-1, part.samples.shape[2])
        values = np.concatenate([samples, part.spline.keys.values]) if size == 1.0 else samples
        spread = max(spread, size * float(np.ptp(values, axis=0).max()))
        largest = max(largest, size * float(np.abs(values).max()))
    noise = max(_NOISE * spread, FLOAT32 * largest)
    return (spread, noise / spread) if spread > noise else (1.0, max(1.0, largest))
