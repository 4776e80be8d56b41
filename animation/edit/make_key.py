# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Key: turns a frame of a baked motion into an own key.

It does by hand what inserting a key on a baked frame does when the pose is unchanged.
"""

from __future__ import annotations

import bpy
import numpy as np

from ..fcurves.frames import SAME_FRAME, is_among
from ..store.own_keys import key_frames
from ..store.tracks import Track
from ..translation import rpt_
from .track_settings import writable


def make_key(datablock: bpy.types.ID, track: Track, frame: float) -> None:
    """Make the track's baked motion at `frame` an own key in every channel; the next bake passes through it.

    Raises AnimationError where there is such a key already, or the track can't be edited.
    """
    if is_among(np.array([frame], dtype=np.float32), key_frames(track)).any():
        raise track.error(rpt_("it has a key there"), frame)
    channels, track = writable(datablock, track)
    for fcurve in track.channels.values():
        near = [point for point in fcurve.keyframe_points if abs(point.co.x - frame) <= SAME_FRAME]
        if near:
            near[0].type = "KEYFRAME"
            continue
        point = fcurve.keyframe_points.insert(frame, fcurve.evaluate(frame))
        point.type = "KEYFRAME"
        fcurve.update()
    channels.action.update_tag()
