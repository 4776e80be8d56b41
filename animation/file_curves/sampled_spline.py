# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion that can be evaluated at any frame, as a spline to which curves and handles are fitted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ...interp import rotations
from ...interp.base_spline import BaseSpline
from ...interp.key_batch import IndexArray, KeyBatch
from ...interp.keys import Float64Array, Keys
from .clock import Evaluate

_STEP = 1e-3
"""The spacing, as a fraction of the segment, of the five samples for derivatives."""
_FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0
_SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12.0
"""Weights of the five samples for the first and second derivatives (central differences of fourth order)."""
_BESIDE_KEY = 1e-9
"""The minimum distance of samples from the end key, as a fraction of the segment, because a step may end at the key."""


class SampledSpline(BaseSpline):
    """Motion that can be evaluated at any frame and is smooth between keys. Derivatives use five samples."""

    is_cubic = False
    loop_gap = 0.0
    evaluate: Evaluate
    is_rotation: bool

    def __init__(self, frames: Float64Array, evaluate: Evaluate, is_rotation: bool) -> None:
        super().__init__(Keys(frames, evaluate(frames)))
        self._set(evaluate=evaluate, is_rotation=is_rotation)

    @property
    def batch(self) -> Hashable:
        """Return the identifier of the batch. Each spline forms its own batch."""
        return id(self)

    @classmethod
    def curve(cls, splines: Sequence[SampledSpline], tracks: KeyBatch) -> _SampledCurve:
        """Return the segments of a single spline."""
        (spline,) = splines
        return _SampledCurve(spline.keys.frames, spline.evaluate, spline.is_rotation)


class _SampledCurve:
    """The segments of a sampled spline, evaluated by their local parameter."""

    def __init__(self, frames: Float64Array, evaluate: Evaluate, is_rotation: bool) -> None:
        self._frames, self._evaluate, self._is_rotation = frames, evaluate, is_rotation
        self._lengths = np.append(np.diff(frames), 0.0)

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return values, or derivatives or angular rates with respect to the local parameter, shape (d, m)."""
        if not nu:
            return self._at(segment, u).T
        # Near an end, the five samples stay within the segment, and a parabola extrapolates their derivatives.
        middle = np.clip(u, 2.0 * _STEP, 1.0 - 2.0 * _STEP)
        samples = np.stack([self._at(segment, middle + k * _STEP) for k in range(-2, 3)])
        if self._is_rotation:
            relative = rotations.multiply(samples, rotations.conjugate(samples[2]))
            samples = rotations.to_rotation_vector(np.where(relative[..., :1] < 0.0, -relative, relative))
        second = np.tensordot(_SECOND, samples, 1) / _STEP**2
        if nu == 2:
            return second.T
        return (np.tensordot(_FIRST, samples, 1) / _STEP + second * (u - middle)[:, np.newaxis]).T

    def _at(self, segment: IndexArray, u: Float64Array) -> Float64Array:
        """Return the values, shape (m, d)."""
        inside = np.clip(u, 0.0, 1.0 - _BESIDE_KEY)
        return self._evaluate(self._frames[segment] + inside * self._lengths[segment])
