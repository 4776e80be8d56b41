# SPDX-License-Identifier: GPL-3.0-or-later
"""Choice of a key's interpolation as in the Dope Sheet."""

from __future__ import annotations

import bpy

from tests.animation.curves import fcurves

FRAMES = [0.0, 7.0, 12.5, 30.0, 36.0]
OUTPUTS = ["SAMPLES", "CURVES", "HANDLES"]
HELD = 1
"""The row of the key that is held: keys 0 and 1 are one spline, keys 2 to 4 another."""


def choose(thing: bpy.types.Object, kind: str, row: int = HELD) -> None:
    """Set the interpolation in the same way as T in the Dope Sheet."""
    for fcurve in fcurves(thing):
        next(p for p in fcurve.keyframe_points if p.co.x == FRAMES[row]).interpolation = kind
        fcurve.update()
