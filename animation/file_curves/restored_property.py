# SPDX-License-Identifier: GPL-3.0-or-later
"""A property with curves from a file, and the keys that are written to its F-curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...formats.curve import CONSTANT, CUBIC, LINEAR, Curve
from ...interp.fitting.curves import ROTATION_TOLERANCE, VALUE_TOLERANCE
from ..datablocks import name_of
from ..fcurves.channels import Channels
from ..fcurves.keyframes import INTERPOLATION, Keyframes, free_keys
from ..fcurves.write_keys import write
from ..report import HandleError, handle_error
from .channel_curves import ChannelCurves
from .items import Item

_INTERPOLATIONS = {CONSTANT: "CONSTANT", LINEAR: "LINEAR", CUBIC: "BEZIER"}
_THIRD = 1.0 / 3.0
_ALONE = 3.0
"""The segment length, in frames, for the handles of a key without adjacent segments."""


@dataclass(frozen=True, eq=False)
class RestoredProperty:
    """A property and its new curves."""

    channels: Channels
    item: Item
    path: str
    curves: ChannelCurves
    is_rotation: bool

    def write(self) -> None:
        """Write the keys to the property's F-curves. Create missing F-curves."""
        fcurves = {fcurve.array_index: fcurve for fcurve in self.channels if fcurve.data_path == self.path}
        group = next((fcurve.group for fcurve in fcurves.values() if fcurve.group is not None), None)
        for index, curve in enumerate(self.curves.curves):
            write(fcurves.get(index) or self.channels.new(self.path, index, group), _keyframes_of(curve))

    @property
    def key_count(self) -> int:
        """Return the number of frames with keys."""
        return len(np.unique(np.concatenate([curve.times for curve in self.curves.curves])))

    @property
    def is_approximate(self) -> bool:
        """Return whether the error is visible."""
        tolerance = ROTATION_TOLERANCE if self.is_rotation else VALUE_TOLERANCE * self.curves.range
        return self.curves.error > tolerance

    @property
    def handle_error(self) -> HandleError:
        """Return the error as an entry of `Report.handles`."""
        curves = self.curves
        return handle_error(
            name_of(self.item.owner),
            self.path,
            curves.error,
            curves.frame,
            curves.range,
            is_rotation=self.is_rotation,
            is_approximate=self.is_approximate,
        )


def _keyframes_of(curve: Curve) -> Keyframes:
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
    reach_after = np.append(np.where(is_cubic, curve.reach_after[:-1], _THIRD) * length, 0.0)
    reach_before = np.append(0.0, np.where(is_cubic, curve.reach_before[1:], _THIRD) * length)
    # The outer handles mirror the inner ones.
    outside = reach_after[0] or _ALONE * _THIRD
    reach_before[0], arriving[0] = outside, leaving[0]
    reach_after[-1], leaving[-1] = reach_before[-1] or outside, arriving[-1]
    blender_numbers = np.array([INTERPOLATION[_INTERPOLATIONS[kind]] for kind in sorted(_INTERPOLATIONS)], np.uint8)
    slopes, reaches = (arriving, leaving), (reach_before, reach_after)
    return free_keys(curve.times, values, slopes, reaches, blender_numbers[curve.interpolation])
