# SPDX-License-Identifier: GPL-3.0-or-later
"""The spline class of a track's interpolation method, and the settings that the method uses."""

from __future__ import annotations

from typing import Any

from ....interp.splines import METHODS
from ...store.table.track_records import Settings
from ...store.tracks import Track


def spline_class_of(track: Track, settings: Settings) -> type[Any]:
    """Return the class of the track's splines. Raise AnimationError if the method does not support the track."""
    method = METHODS[settings.method]
    spline_class = method.rotations if track.is_rotation else method.values
    if spline_class is None:
        raise track.error("METHOD_FOR_VALUES" if track.is_rotation else "METHOD_FOR_ROTATIONS", method.label)
    return spline_class


def setting_names(track: Track, settings: Settings) -> tuple[str, ...]:
    """Return the names of the settings that the method's splines use, as in `Method`."""
    method = METHODS[settings.method]
    return method.rotation_options if track.is_rotation else method.value_options


def bends_by_parameters(track: Track, settings: Settings) -> bool:
    """Return whether tension, continuity and bias have an effect on the track. Ease always has an effect."""
    by_angles = "angles" in setting_names(track, settings)
    return (settings.angles if by_angles else settings.method) == Settings.method
