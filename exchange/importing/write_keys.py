# SPDX-License-Identifier: GPL-3.0-or-later
"""Write keys with parameters to a datablock in bulk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...animation.fcurves.channels import Channels, new_action
from ...animation.fcurves.keying import key_curve
from ...animation.store.enable_tracks import enable_tracks
from ...animation.store.table.rows import PARAMETERS
from ...animation.store.table.settings import Settings
from ...animation.store.tracks import find_tracks
from ..clean_keys import Keys

_TRANSFORMS = "Object Transforms"
"""Blender's channel group for these properties."""


@dataclass(frozen=True, eq=False)
class Animated:
    """Hold the keys of a property. Without settings the keys are not TCB and have this interpolation."""

    path: str
    keys: Keys
    settings: Settings | None = None
    interpolation: str = "BEZIER"


def write_action(datablock: bpy.types.ID, name: str, animated: Sequence[Animated]) -> Channels:
    """Assign a new action with these keys to the datablock. Tracks with settings become TCB."""
    channels = new_action(datablock, name)
    for prop in animated:
        is_transform = prop.path.startswith(("location", "rotation", "scale"))
        group = channels.bag.groups.get(_TRANSFORMS) or channels.bag.groups.new(_TRANSFORMS) if is_transform else None
        keys = prop.keys
        for component, column in enumerate(keys.values.T):
            key_curve(channels.new(prop.path, component, group), keys.frames, column, prop.interpolation)
    kept = {prop.path: prop for prop in animated if prop.settings is not None}
    tracks = [track for track in find_tracks(datablock, channels) if track.path in kept]
    given = [kept[track.path] for track in tracks]
    numbers = [
        {name: np.where(own != 0.0, own, np.nan) for name, own in zip(PARAMETERS, prop.keys.parameters, strict=True)}
        for prop in given
    ]
    enable_tracks(channels, tracks, [prop.settings or Settings() for prop in given], numbers)
    return channels
