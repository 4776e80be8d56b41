# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of an F-curve that isn't in the animator's data, by Blender's own evaluation."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from .channels import HAS_SLOTS
from .originals import Originals, put_back


def evaluate(original: Originals, extrapolation: str, frames: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """What a curve with these keys plays at `frames`."""
    action = bpy.data.actions.new("TCB scratch")
    try:
        fcurve = _fcurves(action).new("location", index=0)
        put_back(fcurve, original)
        fcurve.extrapolation = extrapolation
        return np.array([fcurve.evaluate(float(frame)) for frame in frames], dtype=np.float64)
    finally:
        bpy.data.actions.remove(action)


def _fcurves(action: Any) -> Any:
    if not HAS_SLOTS:
        return action.fcurves
    slot = action.slots.new("OBJECT", "scratch")
    strip = action.layers.new("scratch").strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True).fcurves
