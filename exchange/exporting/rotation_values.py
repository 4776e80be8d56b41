# SPDX-License-Identifier: GPL-3.0-or-later
"""Orientations and turns from the values of Blender's rotation properties."""

from __future__ import annotations

import bpy
import numpy as np

from ...animation.bake.plans.track_splines import TrackSpline
from ...animation.fcurves.keyframes import Float64Array
from ...animation.store.tracks import Track
from ...interp import rotations


def quaternion_of(obj: bpy.types.Object) -> Float64Array:
    """Return the orientation from an object's own rotation property."""
    if obj.rotation_mode == "QUATERNION":
        return rotations.normalise(obj.rotation_quaternion[:])
    if obj.rotation_mode == "AXIS_ANGLE":
        angle, *axis = obj.rotation_axis_angle
        return rotations.from_axis_angle(axis, angle)
    return rotations.from_euler(obj.rotation_euler[:], obj.rotation_mode)


def quaternions_of_values(track: Track, values: Float64Array) -> Float64Array:
    if track.kind == "QUATERNION":
        return rotations.normalise(values)
    if track.kind == "AXIS_ANGLE":
        return rotations.from_axis_angle(values[:, 1:], values[:, 0])
    return rotations.from_euler(values, track.order)


def turns_of_spline(track: Track, spline: TrackSpline) -> Float64Array:
    """Return a rotation's keys as turns, each with an angle and an axis, shape (n, 4)."""
    if track.settings.path == "AS_KEYED" and track.kind == "EULER":
        angles, axes = rotations.turns_of_euler(spline.values, track.order)
    elif track.settings.path == "AS_KEYED" and track.kind == "AXIS_ANGLE":
        angles, axes = rotations.turns_of_axis_angle(spline.values[:, 0], spline.values[:, 1:])
    else:
        quaternions = spline.spline.keys.values
        angles, axes = rotations.rotations_to_turns(quaternions, path=track.settings.path)
    return np.column_stack((angles, axes))
