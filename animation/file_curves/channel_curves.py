# SPDX-License-Identifier: GPL-3.0-or-later
"""The curves over frames that play a property from a file, their error, and their keys in Blender."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...formats.motion import CONSTANT, CUBIC, LINEAR, Curve, union_times
from ...interp import rotations
from ...interp.base_spline import BaseSpline
from ...interp.fitting import Request
from ...interp.fitting.curves import fit_many
from ...interp.fitting.handles import fit_handles
from ...interp.key_batch import IndexArray, KeyBatch
from ...interp.keys import Float64Array, Keys
from ..fcurves.keyframes import INTERPOLATION, Keyframes, free_keys
from .convert_axes_and_times import Evaluate

# The curves over frames that play a property from a file, their error, and their keys in Blender


NEXT_KEY = 0.02
"""Distance in frames, slightly more than Blender's minimum distance between keys."""
EXACT_ANGLES = 1e-6
"""Angle in radians. Angle channels with a smaller error are exact, except for float32 rounding in Blender."""
_EXACT_VALUES = 1e-6
"""Fraction of the range. Values with a smaller error are exact, except for float32 rounding in Blender."""
_COMPARED = np.arange(1, 128) / 128.0
"""Positions in each segment at which motion is compared."""
_OVERLAP = 1.0 + 1e-6
"""Blender shortens two handles whose total length exceeds their segment."""
_NUMBERS = np.array([INTERPOLATION[name] for name in ("CONSTANT", "LINEAR", "BEZIER")], np.uint8)
"""Blender's numbers of the interpolations CONSTANT, LINEAR and CUBIC of curves."""
_ALONE = 1.0
"""The length of the handles, in frames, of a key without adjacent segments."""


@dataclass(frozen=True, eq=False)
class ChannelCurves:
    """The curves of a property's channels."""

    curves: list[Curve]
    """A curve over frames for each channel."""
    error: float
    """The maximum deviation of a component from the file, as an angle in radians for rotations."""
    frame: float
    """The frame of the maximum deviation."""
    range: float
    """The range of the file's values. 0 for rotations."""

    @classmethod
    def measured(
        cls,
        curves: list[Curve],
        frames: Float64Array,
        deviations: Callable[[Float64Array, Float64Array], Float64Array],
        value_range: float = 0.0,
    ) -> ChannelCurves:
        """Return the curves with their error. `frames` contains the frames of the file's keys.

        `deviations` returns the deviations (m,) of channel values (m, channels) at frames (m,).
        """
        compared = frames_to_compare(_all_keys(curves, frames))
        errors = deviations(np.stack([curve(compared) for curve in curves], axis=-1), compared)
        row = int(np.argmax(errors))
        return cls(curves, float(errors[row]), float(compared[row]), value_range)

    @property
    def is_exact(self) -> bool:
        """Return whether the curves are exact except for rounding."""
        # An orientation combines the rounding of several channels.
        return self.error <= (_EXACT_VALUES * self.range if self.range else 10.0 * EXACT_ANGLES)


def frames_to_compare(frames: Float64Array) -> Float64Array:
    """Return frames within each segment. A single frame is returned unchanged."""
    if len(frames) < 2:
        return frames
    return np.asarray((frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * _COMPARED).ravel())


def _all_keys(curves: Sequence[Curve], frames: Float64Array) -> Float64Array:
    """Return the frames of the file's keys and of added keys, except the keys that steps need right after a key."""
    keyed = union_times(curves)
    previous_key = frames[np.maximum(np.searchsorted(frames, keyed, side="right") - 1, 0)]
    return np.union1d(frames, keyed[np.abs(keyed - previous_key - NEXT_KEY) > 0.1 * NEXT_KEY])


def can_be_played(curve: Curve) -> bool:
    """Return whether Blender plays the curve unchanged, that is, whether no handles overlap."""
    is_cubic = curve.interpolation[:-1] == CUBIC
    total_length = (curve.reach_after[:-1] + curve.reach_before[1:])[is_cubic]
    return not (total_length > _OVERLAP).any()


def shortest(curve: Curve) -> Curve:
    """Reduce a constant curve to its first key."""
    if curve.varies:
        return curve
    return Curve.hermite(curve.times[:1], curve.values[:1], CONSTANT)


def keyframes_of(curve: Curve) -> Keyframes:
    """Return the keys of a curve over frames, with FREE handles.

    In segments other than Bezier segments, handles divide a straight line into thirds, as Blender would place them.
    """
    values = np.where(curve.interpolation == CONSTANT, curve.held, curve.values)
    values[-1] = curve.values[-1]
    length = np.diff(curve.times)
    is_cubic = curve.interpolation[:-1] == CUBIC
    chord = np.where(curve.interpolation[:-1] == LINEAR, np.diff(values), 0.0) / np.where(length > 0.0, length, 1.0)
    leaving = np.append(np.where(is_cubic, curve.leaving[:-1], chord), 0.0)
    arriving = np.append(0.0, np.where(is_cubic, curve.arriving[1:], chord))
    reach_after = np.append(np.where(is_cubic, curve.reach_after[:-1], 1.0 / 3.0) * length, 0.0)
    reach_before = np.append(0.0, np.where(is_cubic, curve.reach_before[1:], 1.0 / 3.0) * length)
    # The outer handles mirror the inner ones.
    outside = reach_after[0] or _ALONE
    reach_before[0], arriving[0] = outside, leaving[0]
    reach_after[-1], leaving[-1] = reach_before[-1] or outside, arriving[-1]
    slopes, reaches = (arriving, leaving), (reach_before, reach_after)
    return free_keys(curve.times, values, slopes, reaches, _NUMBERS[curve.interpolation])


# Fit handles and additional keys to motion that Blender's curves cannot reproduce exactly


_HANDLE_COLUMNS = ("arriving", "leaving", "reach_before", "reach_after")
_STEP = 1e-3
"""The spacing, as a fraction of the segment, of the five samples for derivatives."""
_FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0
_SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12.0
"""Weights of the five samples for the first and second derivatives (central differences of fourth order)."""
_BESIDE_KEY = 1e-9
"""The minimum distance of samples from the end key, as a fraction of the segment, because a step may end at the key."""


def fit(
    frames: Float64Array,
    evaluate: Evaluate,
    interpolation: npt.NDArray[np.uint8],
    representation: str | None,
    channel_values: Float64Array | None,
    tolerance: float | None,
) -> list[Curve]:
    """Return, for each channel, a curve over frames that reproduces the motion between keys at n frames.

    Segments with CONSTANT `interpolation` (n,) become steps. For rotations, `channel_values` contains the keys of the
    channels in the representation, (n, channels). For values, both are None. Keys are added until the error is less
    than `tolerance`, if there is one.
    """
    spline = SampledSpline(frames, evaluate, representation is not None)
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
        leaving, reach_after = _slopes_and_reaches(keys, fitted.right[:-1, channel].astype(np.float64) - keys[:-1])
        arriving, reach_before = _slopes_and_reaches(keys, keys[1:] - fitted.left[1:, channel].astype(np.float64))
        curve = Curve.hermite(frames, values[:, channel], CUBIC)
        columns = {name: getattr(curve, name).copy() for name in _HANDLE_COLUMNS}
        columns["leaving"][:-1], columns["reach_after"][:-1] = leaving, reach_after
        columns["arriving"][1:], columns["reach_before"][1:] = arriving, reach_before
        curves.append(Curve(**{**vars(curve), **columns}))
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
