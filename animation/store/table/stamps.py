# SPDX-License-Identifier: GPL-3.0-or-later
"""Stamps of generated keys: a number in `amplitude` that nobody types, and the frame and value that the key was written
with in `period` and `back`. Linear and Bezier segments play none of these."""

from __future__ import annotations

import bpy
import numpy as np

from ...fcurves.keyframes import (
    DEFAULT_AMPLITUDE,
    DEFAULT_BACK,
    DEFAULT_PERIOD,
    KEY_TYPE,
    BoolArray,
    Keyframes,
    read_floats,
)

GENERATED = 1048583.0
"""Exact in float32."""


def is_stamped(keys: Keyframes) -> BoolArray:
    """Tell which keys a bake generated, whatever has become of them since."""
    stamped: BoolArray = keys.amplitude == np.float32(GENERATED)
    return stamped


def is_generated(keys: Keyframes) -> BoolArray:
    """Tell which of these are still of the type that a bake gave them: one of another type is the animator's."""
    generated: BoolArray = is_stamped(keys) & (keys.type == KEY_TYPE["GENERATED"])
    return generated


def has_stamps(fcurve: bpy.types.FCurve) -> bool:
    """Tell whether any key of the curve was generated."""
    return bool((read_floats(fcurve, "amplitude") == np.float32(GENERATED)).any())


def unstamped(keys: Keyframes) -> Keyframes:
    """Make generated keys plain ones."""
    marked = is_stamped(keys)
    return keys.with_(
        type=np.where(is_generated(keys), np.uint8(KEY_TYPE["KEYFRAME"]), keys.type),
        amplitude=np.where(marked, np.float32(DEFAULT_AMPLITUDE), keys.amplitude),
        period=np.where(marked, np.float32(DEFAULT_PERIOD), keys.period),
        back=np.where(marked, np.float32(DEFAULT_BACK), keys.back),
    )
