# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys and options from which a track's splines are created."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ....interp import Keys
from ....interp.splines import METHODS
from ...fcurves.keyframes import Float32Array, Float64Array
from ...memoize import memoized
from ...store.own_keys import OwnKeys
from ...store.parameters import read_velocities
from ...store.table.track_records import Settings
from ...store.tracks import Track, setting_names
from .own_motion import OwnChannels
from .refused_keys import LARGEST_VALUE, check_speed


def spline_options(track: Track, settings: Settings, own: OwnChannels, frames: Float32Array) -> dict[str, Any]:
    """Return the keyword arguments of the method's class, other than keys and cycle."""
    options = {name: getattr(settings, name) for name in setting_names(track, settings) if name != "velocities"}
    if "velocities" in setting_names(track, settings):
        velocities = read_velocities(track, own, frames)
        if track.is_rotation:
            check_speed(track, frames, velocities)
        options["velocities"] = velocities if track.is_rotation else velocities[:, list(own)]
    if "angles" in options:
        options["angles"] = METHODS[settings.angles]
    return options


def values_are_small(own: Iterable[OwnKeys]) -> bool:
    """Return whether all values of the keys' F-curves are known to be small enough for a spline."""
    return all(keys.arrays.largest_value <= LARGEST_VALUE for keys in own)


def spline_keys(frames: Float32Array, values: Float64Array, parameters: Float64Array, are_small: bool) -> Keys:
    """Return the keys of a spline at validated frames. If `are_small` is true, the values are also validated."""
    if are_small:
        return _keys_at(frames.astype(np.float64)).with_values(values, parameters)
    return Keys(frames.astype(np.float64), values, *parameters)


@memoized
def _keys_at(frames: Float64Array) -> Keys:
    """Return cached keys at the frames. Small values need no further checks, because no two frames are equal."""
    return Keys(frames, np.zeros(len(frames)))
