# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of the chosen keys: parameters and velocities, with the changes of a drag, and the sides of the keys."""

from __future__ import annotations

import bpy
import numpy as np

from ..animation.checks.key_sides import Sides, interpolations_beside, interpolations_in_common
from ..animation.checks.played_parameters import PlayedParameters, played_parameters
from ..animation.edit.track_keys import TrackKeys, uses_velocities
from ..animation.store.parameters import Numbers
from ..animation.store.table.rows import PARAMETERS, velocity_of
from . import redraw
from .chosen_keys import chosen_keys
from .scene import defaults_of
from .sliders.slider_drag import once_a_drag, parameters_or_nan, shown_in

_MAX_CURVES = 12
"""Maximum number of overlaid curves."""


@redraw.once
def chosen_parameters(context: bpy.types.Context) -> dict[str, Numbers]:
    """Return the values of each parameter for all chosen keys in order, with NaN for unreadable values."""
    values_by_name, drag = dict(_parameters_before_drag(context)), shown_in(context)
    if drag is not None:
        dragged_values = {name: values for name, (_, values) in drag.numbers.items() if name in values_by_name}
        values_by_name |= dragged_values
    return values_by_name


def different_parameters(context: bpy.types.Context) -> list[dict[str, float]]:
    """Return the distinct parameters of the chosen keys, up to a dozen, for overlaid curves."""
    numbers_by_name = chosen_parameters(context)
    parameters_of_keys = np.stack([numbers_by_name[name] for name in PARAMETERS], axis=1)
    different = np.unique(parameters_of_keys.round(3), axis=0)
    return [dict(zip(PARAMETERS, row, strict=True)) for row in different[:_MAX_CURVES].tolist()]


@once_a_drag
def _parameters_before_drag(context: bpy.types.Context) -> dict[str, Numbers]:
    """Return the values of each parameter, without changes by a slider's current drag."""
    return parameters_or_nan(chosen_keys(context), defaults_of(context.scene))


@redraw.once
def chosen_velocities(context: bpy.types.Context) -> list[tuple[TrackKeys, Numbers]]:
    """Return the chosen keys whose method uses velocities, with one row of velocity components per key."""
    before_drag, drag = _velocities_before_drag(context), shown_in(context)
    if drag is None:
        return before_drag
    velocities_by_track = [(keys, velocities.copy()) for keys, velocities in before_drag]
    for keys, velocities in velocities_by_track:
        for component in range(velocities.shape[1]):
            dragged_values = drag.numbers_of(keys, velocity_of(component))
            if dragged_values is not None:
                velocities[:, component] = dragged_values
    return velocities_by_track


@once_a_drag
def _velocities_before_drag(context: bpy.types.Context) -> list[tuple[TrackKeys, Numbers]]:
    """Return the keys and velocities, without changes by a slider's current drag."""
    return [(keys, keys.velocities()) for keys in chosen_keys(context) if uses_velocities(keys.track)]


@once_a_drag
def chosen_played(context: bpy.types.Context) -> PlayedParameters:
    """Return the parameters that affect the motion at the chosen keys, and a reason why others do not."""
    return played_parameters(chosen_keys(context))


@once_a_drag
def chosen_sides(context: bpy.types.Context) -> Sides | None:
    """Return the interpolation on both sides of the chosen keys, or None if they differ or none is chosen."""
    sides_by_track = [interpolations_beside(keys.track, keys.own, keys.frames) for keys in chosen_keys(context)]
    return interpolations_in_common(np.concatenate(sides_by_track)) if sides_by_track else None
