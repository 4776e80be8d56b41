# SPDX-License-Identifier: GPL-3.0-or-later
"""A damaged FBX or glTF file must be readable, or cause the readers' own error."""

from __future__ import annotations

import numpy as np

from formats import fbx, gltf
from formats.motion import MotionError

PLACES = 7
"""Times at which the motion is evaluated."""


def judge(data: bytes) -> str:
    """Read and evaluate an input, and return the outcome. Raise all errors other than the readers' own."""
    try:
        file = fbx.read(data) if data[:4] == b"Kayd" else gltf.read(data)
    except MotionError:
        return "refused"
    for take in file.takes:
        for motion in take.motions.values():
            for track in motion.tracks.values():
                with np.errstate(all="ignore"):
                    values = track.evaluate(np.linspace(track.times[0], track.times[-1], PLACES))
                if values.shape not in ((PLACES, 3), (PLACES, 4)):
                    raise AssertionError(f"values have the shape {values.shape}")
    return "read"
