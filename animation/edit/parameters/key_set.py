# SPDX-License-Identifier: GPL-3.0-or-later
"""Set parameters of the key at a frame, for scripts."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...arguments import checked
from ...fcurves.linked_data import check_editable
from ...store.parameters import velocity_size
from ...store.table.rows import PARAMETERS, VELOCITY, velocity_of
from ...store.tracks import Track
from ...translation import rpt_
from ..track_keys import key_at
from ..track_settings import find_track
from .set_parameters import set_parameters


@checked
def key_set(
    datablock: bpy.types.ID,
    track: str,
    frame: float,
    *,
    velocity: float | Sequence[float] | None = None,
    interpolation: str | None = None,
    **parameters: float,
) -> None:
    """Set parameters of the key of `track` at `frame`. A plain track becomes TCB.

    Parameters
    ----------
    datablock : bpy.types.ID
        The datablock with the track.
    track : str
        Path of the track, as for `find_track`.
    frame : float
        Frame of the key.
    velocity : float or sequence of float, optional
        Velocity per frame for methods that use it: one number, or one per component. For rotations, the angular
        velocity about the parent's x, y and z axes, in radians.
    interpolation : str, optional
        The interpolation after the key in each channel, named as in `bpy.types.Keyframe`. With "BEZIER", TCB plays the
        segment. With any other interpolation, Blender plays the segment, and the spline ends at the key.
    **parameters : float
        `tension`, `continuity` and `bias` from -1 to 1, `ease_to` and `ease_from` from 0 to 1. Parameters that are not
        given remain unchanged.

    Raises
    ------
    AnimationError
        The track or key does not exist, or a parameter is out of range. Nothing was changed.
    ValueError
        An interpolation or parameter does not exist, or a number is not finite. Nothing was changed.

    Examples
    --------
    >>> animation.key_set(ball, "location", 20, tension=1.0)
    >>> animation.key_set(ball, "rotation", 20, interpolation="CONSTANT")
    >>> animation.key_set(ball, "location", 21, tension=1.0)
    Traceback (most recent call last):
    AnimationError: "Ball", Location, frame 21: no key at this frame
    """
    for name in parameters:
        if name not in PARAMETERS:
            raise ValueError(rpt_("{!r} is not one of {:s}", name, ", ".join((*PARAMETERS, VELOCITY))))
    check_editable(datablock)
    keys = key_at(datablock, find_track(datablock, track), frame)
    given = dict(parameters) if velocity is None else {**parameters, **_velocity_given(keys.track, velocity, frame)}
    set_parameters(keys, given, interpolation=interpolation)


def _velocity_given(track: Track, velocity: float | Sequence[float], frame: float) -> dict[str, float]:
    """Return a velocity as parameters. Raise AnimationError if the number of components does not fit the track."""
    size, numbers = velocity_size(track), np.atleast_1d(velocity)
    if numbers.shape != (size,):
        raise track.error("VELOCITY_SIZE", size, numbers.size, frame=frame)
    return {velocity_of(component): number for component, number in enumerate(numbers.tolist())}
