# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the keys of properties to a new action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ...animation.fcurves.channels import Channels, new_action
from ...animation.fcurves.keyframes import Float64Array
from ...animation.fcurves.write_keys import key_curve
from ...animation.store.enable_tracks import enable_tracks
from ...animation.store.find_tracks import find_tracks
from ...animation.store.table.rows import PARAMETERS
from ...animation.store.table.track_records import Settings
from ..keys import Keys
from ..report import ExchangeReport


@dataclass(frozen=True, eq=False)
class PropertyKeys:
    """The keys of a property. Without settings, the keys are not TCB keys and have this interpolation."""

    path: str
    keys: Keys
    settings: Settings | None = None
    interpolation: str = "BEZIER"


def write_action(
    datablock: bpy.types.ID,
    name: str,
    animated: Sequence[PropertyKeys],
    report: ExchangeReport,
    markers: Sequence[tuple[float, str]] = (),
) -> None:
    """Assign a new action with these keys and markers. Properties with settings become TCB tracks."""
    if not animated and not markers:
        return
    channels = new_action(datablock, name)
    action: bpy.types.Action = channels.action
    for frame, label in markers:
        action.pose_markers.new(label).frame = round(frame)
    for prop in animated:
        _write_curves(channels, prop)
        report.counts["track"] += 1
        report.counts["key"] += len(prop.keys)
        report.counts["key_with_parameters"] += int(prop.keys.has_parameters.sum())
    settings = {prop.path: prop.settings for prop in animated if prop.settings is not None}
    keys = {prop.path: prop.keys for prop in animated if prop.path in settings}
    tracks = [track for track in find_tracks(datablock, channels) if track.path in settings]
    parameters = [_parameters_to_set(keys[track.path]) for track in tracks]
    enable_tracks(channels, tracks, [settings[track.path] for track in tracks], parameters)
    if settings:
        report.animated_datablocks.append(datablock)
    if any(keys_of_track.cycle != "SINGLE" for keys_of_track in keys.values()):
        ends = np.array([keys_of_track.frames[[0, -1]] for keys_of_track in keys.values()])
        report.ends_of_cycles[datablock] = float(ends[:, 0].min()), float(ends[:, 1].max())


def _write_curves(channels: Channels, prop: PropertyKeys) -> None:
    group = None
    if prop.path.startswith(("location", "rotation", "scale")):
        # Blender's group for these properties.
        group = channels.bag.groups.get("Object Transforms") or channels.bag.groups.new("Object Transforms")
    for component, values in enumerate(prop.keys.values.T):
        key_curve(channels.new(prop.path, component, group), prop.keys.frames, values, prop.interpolation)


def _parameters_to_set(keys: Keys) -> dict[str, Float64Array]:
    """Return the values of each parameter, with NaN for keys with the default."""
    parameters = zip(PARAMETERS, keys.parameters, strict=True)
    return {name: np.where(values != 0.0, values, np.nan) for name, values in parameters}
