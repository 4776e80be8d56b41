# SPDX-License-Identifier: GPL-3.0-or-later
"""A spline whose parameters are fitted, and the samples of the motion that it should reproduce."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..key_batch import IndexArray
from ..keys import Float64Array
from ..splines import tcb

Spline = tcb.VectorSpline | tcb.RotationSpline

SAMPLES = 7
"""Samples per segment, two more than the parameters that the curve of one component determines."""
SHARES = (np.arange(SAMPLES) + 0.5) / SAMPLES
"""The local parameters at which a segment is sampled."""


@dataclass(frozen=True, eq=False)
class SplineToFit:
    """A spline, and the motion that it should reproduce.

    Attributes
    ----------
    spline : VectorSpline or RotationSpline
        The spline, whose own parameters are ignored.
    rows : ndarray of int, shape (n,)
        The indices of the spline's keys among the track's keys. Components keyed at different frames are parts of one
        track, and share the parameters of a key.
    samples : ndarray, shape (n - 1, SAMPLES, d)
        The motion at `sample_frames`: finite values, or unit quaternions of either sign.
    walk : ndarray, shape (n - 1, SAMPLES, 3), or None
        Rotation vectors from the previous key to the samples, including full turns. Only splines with long turns need
        them.
    """

    spline: Spline
    rows: IndexArray
    samples: Float64Array
    walk: Float64Array | None = None

    def with_parameters(self, parameters: Float64Array) -> Spline:
        """Return the spline with parameters (5, keys) of the track's keys, which must be within their ranges."""
        return self.spline.with_keys(self.spline.keys.with_parameters(parameters[:, self.rows]))

    @property
    def is_rotation(self) -> bool:
        """Return whether this is a spline of rotations."""
        return isinstance(self.spline, tcb.RotationSpline)

    @property
    def counts_turns(self) -> bool:
        """Return whether the spline and the motion are rotations with known full turns."""
        return isinstance(self.spline, tcb.RotationSpline) and self.spline.has_long_turns and self.walk is not None

    @property
    def weights(self) -> Float64Array:
        """Return weights (n - 1, d) for which the squares in a segment of mean length add up to their mean."""
        lengths = np.diff(self.spline.keys.frames)
        weights = np.sqrt(lengths / lengths.mean() / SAMPLES)
        return np.repeat(weights[:, np.newaxis], 3 if self.is_rotation else self.samples.shape[2], axis=1)


def sample_frames(frames: Float64Array) -> Float64Array:
    """Return the frames at which `fit_parameters` compares the splines with the motion.

    Parameters
    ----------
    frames : ndarray, shape (n,)
        The frames of the keys.

    Returns
    -------
    ndarray, shape (n - 1, SAMPLES)
        The frames inside each segment.

    Examples
    --------
    >>> tcb_parameters.sample_frames(np.array([0.0, 7.0, 14.0]))
    array([[ 0.5,  1.5,  2.5,  3.5,  4.5,  5.5,  6.5],
           [ 7.5,  8.5,  9.5, 10.5, 11.5, 12.5, 13.5]])
    """
    return frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * SHARES
