# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys inserted on a baked curve at a frame that has a generated key: the curve stays the same, yet they are own keys.

Blender inserts over the generated key, and leaves its type, so nothing but the selection tells that it was keyed.
"""

from __future__ import annotations

import numpy as np

from ..fcurves.frames import SAME_FRAME
from ..fcurves.keyframes import read_coordinates
from ..store.table.stamps import GENERATED
from ..store.tracks import Track


def take_keyed(track: Track, frame: float) -> None:
    """Make generated keys at the frame the animator's, where keying left those of all channels selected.

    Not where generated keys beside them are selected too: then many keys were selected together.
    """
    rows = {}
    for index, fcurve in track.channels.items():
        points = fcurve.keyframe_points
        frames = read_coordinates(fcurve)[::2]
        row = int(np.searchsorted(frames, np.float32(frame - SAME_FRAME)))
        if row == len(frames) or abs(frames[row] - frame) > SAME_FRAME or not points[row].select_control_point:
            return
        beside = [points[near] for near in (row - 1, row + 1) if 0 <= near < len(frames)]
        if any(point.type == "GENERATED" and point.select_control_point for point in beside):
            return
        rows[index] = points[row]
    for point in rows.values():
        if point.type == "GENERATED" and point.amplitude == GENERATED:
            point.type = "KEYFRAME"
