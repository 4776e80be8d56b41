# SPDX-License-Identifier: GPL-3.0-or-later
"""The curves over frames that play a property from a file, and their error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...formats.curve import CONSTANT, CUBIC, Curve, union_times
from ...interp.keys import Float64Array

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


@dataclass(frozen=True, eq=False)
class ChannelCurves:
    """The curves of a property's channels.

    Attributes
    ----------
    curves : list of Curve
        A curve over frames for each channel.
    error : float
        The maximum deviation of a component from the file, as an angle in radians for rotations.
    frame : float
        The frame of the maximum deviation.
    range : float
        The range of the file's values. 0 for rotations.
    """

    curves: list[Curve]
    error: float
    frame: float
    range: float

    @classmethod
    def measured(
        cls,
        curves: list[Curve],
        frames: Float64Array,
        deviations: Callable[[Float64Array, Float64Array], Float64Array],
        value_range: float = 0.0,
    ) -> ChannelCurves:
        """Return the curves with their error.

        Parameters
        ----------
        frames : ndarray, shape (n,)
            The frames of the file's keys.
        deviations : callable
            A function that returns the deviations (m,) of channel values (m, channels) at frames (m,).
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
    compared: Float64Array = (frames[:-1, np.newaxis] + np.diff(frames)[:, np.newaxis] * _COMPARED).ravel()
    return compared


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


def with_steps(curve: Curve, frames: Float64Array, interpolation: npt.NDArray[np.uint8]) -> Curve:
    """Return a fitted curve with the steps of the file, which a fit leaves out."""
    kinds = curve.interpolation.copy()
    steps = np.isin(curve.times, frames[interpolation == CONSTANT])
    kinds[steps] = CONSTANT
    return replace(curve, interpolation=kinds)
