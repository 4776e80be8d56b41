# SPDX-License-Identifier: GPL-3.0-or-later
"""Stamps that mark generated keys, in floats that Linear and Bezier segments don't use.

`amplitude` has a number that nobody types, `period` and `back` the frame and value with which the key was written.
"""

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
    """Return which keys a bake generated, whether edited since or not."""
    stamped: BoolArray = keys.amplitude == np.float32(GENERATED)
    return stamped


def is_generated(keys: Keyframes) -> BoolArray:
    """Return which stamped keys still have the type GENERATED; one of another type is the animator's."""
    generated: BoolArray = is_stamped(keys) & (keys.type == KEY_TYPE["GENERATED"])
    return generated


def has_stamps(fcurve: bpy.types.FCurve) -> bool:
    """Return whether any key of the curve was generated."""
    return bool((read_floats(fcurve, "amplitude") == np.float32(GENERATED)).any())


def unstamped(keys: Keyframes) -> Keyframes:
    """Return the keys with generated ones made plain."""
    marked = is_stamped(keys)
    return keys.with_(
        type=np.where(is_generated(keys), np.uint8(KEY_TYPE["KEYFRAME"]), keys.type),
        amplitude=np.where(marked, np.float32(DEFAULT_AMPLITUDE), keys.amplitude),
        period=np.where(marked, np.float32(DEFAULT_PERIOD), keys.period),
        back=np.where(marked, np.float32(DEFAULT_BACK), keys.back),
    )
