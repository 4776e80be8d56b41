# SPDX-License-Identifier: GPL-3.0-or-later
"""A drag of a slider, stored in the action while it goes on.

Blender stores the undo step of a slider when the mouse is released, without calling anything before: the step has the
drag's preview. Where undo, redo or a file brings such a state back, Live finishes the drag from what is stored here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import numpy as np

from ...datablocks import users_of
from ...fcurves.channels import channels_of
from ...fcurves.frames import is_among
from ...store.parameters import Numbers
from ..track_keys import TrackKeys, keys_on_paths
from .set_parameters import set_parameters_of_each

PROPERTY = "tcb_drag"
_PLACES = ("co", "handle_left", "handle_right")


def store_drag(
    action: Any, dragged: Sequence[tuple[TrackKeys, Mapping[str, Numbers]]], defaults: Mapping[str, float]
) -> None:
    """Store which keys of the action a drag shows with which parameters."""
    tracks = {
        keys.track.path: [keys.frames.tolist(), {name: numbers.tolist() for name, numbers in given.items()}]
        for keys, given in dragged
    }
    action[PROPERTY] = json.dumps({"defaults": dict(defaults), "tracks": tracks})


def forget_drag(action: Any) -> None:
    """Remove what is stored of a drag."""
    if PROPERTY in action:
        del action[PROPERTY]


def finish_stored_drag(action: Any) -> None:
    """Finish a drag that was stored, if there is one: put the handles of before back, and set the parameters."""
    stored = action.get(PROPERTY)
    if stored is None:
        return
    forget_drag(action)
    try:
        content = json.loads(stored)
        tracks, defaults = dict(content["tracks"]), dict(content["defaults"])
    except (TypeError, ValueError, KeyError):
        return
    for user in users_of(action)[:1]:
        chosen = []
        for keys in keys_on_paths(user, channels_of(user), tracks.keys()):
            _put_handles_back(keys)
            frames, given = tracks[keys.track.path]
            there = is_among(keys.frames, np.array(frames, dtype=np.float32))
            if there.sum() == len(frames):
                numbers = {name: np.array(own, dtype=np.float64) for name, own in given.items()}
                chosen.append((keys.take(there), numbers))
        set_parameters_of_each(chosen, defaults, held=True)


def _put_handles_back(keys: TrackKeys) -> None:
    """Give the keys of a track that handles play the handles that were placed last."""
    state = keys.track.state
    for index, channel in state.channels.items() if state is not None and state.bake is None else ():
        fcurve: bpy.types.FCurve | None = keys.track.channels.get(index)
        if fcurve is not None and len(fcurve.keyframe_points) == len(channel.own):
            for name in _PLACES:
                fcurve.keyframe_points.foreach_set(name, np.ascontiguousarray(channel.own[name]).reshape(-1))
