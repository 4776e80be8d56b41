# SPDX-License-Identifier: GPL-3.0-or-later
"""Insert a key on the current motion at a frame, for Make TCB Key."""

from __future__ import annotations

import bpy
import numpy as np

from ..fcurves.frames import ONE_KEY, is_among
from ..fcurves.joined import merged
from ..fcurves.keyframes import Keyframes, made_like
from ..store.frame_functions import function_of
from ..store.own_keys import key_frames, read_own_keys
from ..store.tracks import Track
from .change_own_curves import write_own_curves
from .track_settings import writable


def make_key(datablock: bpy.types.ID, track: Track, frame: float) -> None:
    """Key the track's current motion at `frame` in all channels. If the track is baked, bake it again.

    Raises AnimationError if there is already a key at the frame, or if the track can't be edited.
    """
    if is_among(np.array([frame], dtype=np.float32), key_frames(track), within=ONE_KEY).any():
        raise track.error("KEY_AT_FRAME", frame=frame)
    channels, track = writable(datablock, track)
    if track.is_baked:
        if function_of(track) is not None:
            raise track.error("PLAYED_AT_OTHER_TIMES", frame=frame)
        keys = {
            index: _with_key(own.keys, frame, track.channels[index].evaluate(frame))
            for index, own in read_own_keys(track).items()
        }
        write_own_curves(channels, track, keys)
        return
    for fcurve in track.channels.values():
        fcurve.keyframe_points.insert(frame, fcurve.evaluate(frame))
        fcurve.update()
    channels.action.update_tag()


def _with_key(keys: Keyframes, frame: float, value: float) -> Keyframes:
    """Insert a key with the attributes of the previous key, or of the next key if there is no previous key."""
    previous = max(0, int(np.searchsorted(keys.frames, frame)) - 1)
    place = np.array([[frame, value]], dtype=np.float32)
    one_frame = np.array([[1.0, 0.0]], dtype=np.float32)
    return merged(keys, made_like(keys.take(np.array([previous])), place, place - one_frame, place + one_frame))
