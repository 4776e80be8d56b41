# SPDX-License-Identifier: GPL-3.0-or-later
"""Many keys with their parameters, written to a datablock at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import bpy

from ..animation.fcurves.channels import Channels, new_action
from ..animation.fcurves.keying import key_curve
from ..animation.store.companions import PARAMETERS, give_names, make
from ..animation.store.settings import Settings, make_settings
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


def write_action(datablock: bpy.types.ID, name: str, animated: Iterable[Animated]) -> Channels:
    """Give the datablock a new action with these keys; the tracks with settings become TCB."""
    channels = new_action(datablock, name)
    for one in animated:
        is_transform = one.path.startswith(("location", "rotation", "scale"))
        group = channels.bag.groups.get(_TRANSFORMS) or channels.bag.groups.new(_TRANSFORMS) if is_transform else None
        keys = one.keys
        for component, column in enumerate(keys.values.T):
            key_curve(channels.new(one.path, component, group), keys.frames, column, one.interpolation)
        if one.settings is None:
            continue
        give_names(datablock, one.path)
        make_settings(channels, one.path, group, one.settings)
        for parameter, numbers in zip(PARAMETERS, keys.parameters, strict=True):
            own = numbers != 0.0
            if own.any():
                key_curve(make(channels, one.path, parameter, 0, group), keys.frames[own], numbers[own], "CONSTANT")
    return channels
