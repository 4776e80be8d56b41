# SPDX-License-Identifier: GPL-3.0-or-later
"""Many keys with their parameters, written to a datablock at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..animation.channels import Channels, new_action
from ..animation.companions import PARAMETERS
from ..animation.enabling import enable_track
from ..animation.keyframes import INTERPOLATION
from ..animation.selected_keys import keys_of, set_parameters
from ..animation.settings import Settings
from ..animation.tracks import find_tracks
from .cleaning import Keys

_TRANSFORMS = "Object Transforms"
"""The channel group that Blender puts these into."""


@dataclass(frozen=True, eq=False)
class Animated:
    """A property's keys; without settings they are plain ones, joined by the interpolation."""

    path: str
    keys: Keys
    settings: Settings | None = None
    interpolation: str = "BEZIER"
    components: Sequence[int] | None = None
    """Which components of the property the columns of the values are; None: all."""


def write_action(datablock: bpy.types.ID, name: str, animated: Iterable[Animated]) -> Channels:
    """Give the datablock a new action with these keys; the tracks with settings become TCB."""
    written = list(animated)
    channels = new_action(datablock, name)
    for one in written:
        group = _TRANSFORMS if one.path.startswith(("location", "rotation", "scale")) else ""
        columns = range(one.keys.values.shape[1]) if one.components is None else one.components
        for column, component in enumerate(columns):
            _write_curve(channels, one, column, component, group)
    tracks = {track.path: track for track in find_tracks(datablock, channels)}
    for one in written:
        if one.settings is None:
            continue
        track = tracks[one.path]
        enable_track(datablock, channels, track, one.settings)
        if one.keys.has_parameters.any():
            rows = dict(zip(PARAMETERS, one.keys.parameters, strict=True))
            set_parameters(keys_of(datablock, track), {key: row for key, row in rows.items() if row.any()})
    return channels


def _write_curve(channels: Channels, one: Animated, column: int, component: int, group: str) -> None:
    fcurve: Any = channels.new(one.path, component, group)
    keys = one.keys
    fcurve.keyframe_points.add(len(keys))
    co = np.stack((keys.frames, keys.values[:, column]), axis=1).astype(np.float32)
    fcurve.keyframe_points.foreach_set("co", co.ravel())
    if one.interpolation != "BEZIER":
        kind = np.full(len(keys), INTERPOLATION[one.interpolation], dtype=np.uint8)
        fcurve.keyframe_points.foreach_set("interpolation", kind)
    fcurve.update()
