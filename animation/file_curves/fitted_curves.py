# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit handles and additional keys to a file's motion that Blender's curves cannot reproduce exactly."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...formats.motion import CONSTANT, CUBIC, Curve
from ...interp import rotations
from ...interp.base_spline import BaseSpline
from ...interp.fitting import Request
from ...interp.fitting.curves import fit_many
from ...interp.fitting.handles import fit_handles
from ...interp.keys import Float64Array, IndexArray, KeyBatch, Keys
from .convert_axes_and_times import Evaluate

_STEP = 1e-3
"""The spacing, as a fraction of the segment, of the five samples for derivatives."""
_FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0
_SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12.0
"""Weights of the five samples for the first and second derivatives (central differences of fourth order)."""
_BESIDE_KEY = 1e-9
"""The minimum distance of samples from the end key, as a fraction of the segment, because a step may end at the key."""


def fit(
    frames: Float64Array,
    motion: Evaluate,
    interpolation: npt.NDArray[np.uint8],
    representation: str | None,
    channel_values: Float64Array | None,
    tolerance: float | None,
) -> list[Curve]:
    """Return, for each channel, a curve over frames that reproduces the motion between keys at n frames.

    Segments with CONSTANT `interpolation` (n,) become steps. For rotations, `channel_values` contains the keys of the
    channels in the representation, (n, channels). For values, both are None. Keys are added until the error is less
    than `tolerance`. Without one, only handles are fitted.
    """
    spline = SampledSpline(frames, motion, representation is not None)
    request = Request(spline, representation, channel_values, interpolation != CONSTANT, tolerance)
    values = spline.keys.values if channel_values is None else channel_values
    curves = _with_handles(request, values) if tolerance is None else _with_added_keys(request, values)
    steps = frames[interpolation == CONSTANT]
    return [
        replace(curve, interpolation=np.where(np.isin(curve.times, steps), np.uint8(CONSTANT), curve.interpolation))
        for curve in curves
    ]


def _with_handles(request: Request, values: Float64Array) -> list[Curve]:
    """Return curves with fitted handles and no additional keys. `values` has the shape (n, channels)."""
    (fitted,) = fit_handles([request])
    frames = request.spline.keys.frames
    values = values * fitted.signs[:, np.newaxis] if request.representation == "QUATERNION" else values
    curves = []
    for channel in range(values.shape[1]):
        keys = np.stack((frames, values[:, channel]), axis=-1)
        leaving, after = _slopes_and_reaches(keys, fitted.right[:-1, channel].astype(np.float64) - keys[:-1])
        arriving, before = _slopes_and_reaches(keys, keys[1:] - fitted.left[1:, channel].astype(np.float64))
        curve = Curve.hermite(frames, keys[:, 1], CUBIC, np.append(0.0, arriving), np.append(leaving, 0.0))
        reach_before, reach_after = curve.reach_before.copy(), curve.reach_after.copy()
        reach_before[1:], reach_after[:-1] = before, after
        curves.append(replace(curve, reach_before=reach_before, reach_after=reach_after))
    return curves


def _slopes_and_reaches(keys: Float64Array, handles: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the slopes of each segment's handles at one end, and their lengths as fractions of the segment.

    `keys` contains frames and values, shape (n, 2). `handles` contains the distances of frames and values from keys to
    right handles, or from left handles to keys, shape (n - 1, 2). They are NaN for segments that are not fitted. These
    segments are straight.
    """
    length, rise_of_segment = np.diff(keys, axis=0).T
    away, rise = handles.T
    is_fitted = np.isfinite(away)
    away = np.where(is_fitted & (away > 0.0), away, length / 3.0)
    return np.where(is_fitted, rise / away, rise_of_segment / length), away / length


def _with_added_keys(request: Request, values: Float64Array) -> list[Curve]:
    """Return curves with additional keys. `values` has the shape (n, channels)."""
    (fitted,) = fit_many([request])
    frames = request.spline.keys.frames
    flips: Float64Array = np.ones(len(frames))
    if request.representation == "QUATERNION":
        # If the channels reach a key with the opposite sign, keep that sign after the key.
        flips[(fitted.arriving * values).sum(axis=1) < 0.0] = -1.0
    signs: Float64Array = np.multiply.accumulate(flips)
    signs_before = np.append(1.0, signs[:-1])
    curves = []
    for channel, knots in enumerate(fitted.knots):
        segment = np.maximum(np.searchsorted(frames, knots.frames, side="right") - 1, 0)
        all_frames = np.concatenate((frames, knots.frames))
        order = np.argsort(all_frames, kind="stable")
        columns = (
            (signs * values[:, channel], signs[segment] * knots.values),
            (signs_before * fitted.incoming[:, channel], signs[segment] * knots.derivatives),
            (signs * fitted.outgoing[:, channel], signs[segment] * knots.derivatives),
        )
        all_values, arriving, leaving = (np.concatenate(column)[order] for column in columns)
        curves.append(Curve.hermite(all_frames[order], all_values, CUBIC, arriving, leaving))
    return curves


class SampledSpline(BaseSpline):
    """Motion that can be evaluated at any frame and is smooth between keys. Each spline forms its own batch."""

    loop_gap = 0.0

    def __init__(self, frames: Float64Array, motion: Evaluate, is_rotation: bool) -> None:
        super().__init__(Keys(frames, motion(frames)))
        self._motion, self._is_rotation = motion, is_rotation
        self._lengths = np.append(np.diff(frames), 0.0)

    @property
    def batch(self) -> Hashable:
        return id(self)

    @classmethod
    def curve(cls, splines: Sequence[SampledSpline], tracks: KeyBatch) -> SampledSpline:
        """Return the only spline, which evaluates its segments itself."""
        (spline,) = splines
        return spline

    def evaluate(self, segment: IndexArray, u: Float64Array, nu: int) -> Float64Array:
        """Return values, or derivatives or angular rates with respect to the local parameter, shape (d, m).

        Derivatives are computed from five samples.
        """
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
        return self._motion(self.keys.frames[segment] + inside * self._lengths[segment])
