# SPDX-License-Identifier: GPL-3.0-or-later
"""The curves over frames that play a property from a file, their error, and their keys in Blender."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...formats.curve import CONSTANT, CUBIC, LINEAR, Curve, union_times
from ...interp.keys import Float64Array
from ..fcurves.keyframes import INTERPOLATION, Keyframes, free_keys

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
