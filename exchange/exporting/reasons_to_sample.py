# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide which tracks and objects an export samples, because keys in the file can't play them."""

from __future__ import annotations

from typing import Any

import bpy

from ...animation.errors import Finding
from ...animation.sampling.properties import curves_of, driven_components, is_driven, plays_strips
from ...animation.sampling.transforms import plays
from ...animation.store.frame_functions import function_of
from ...animation.store.tracks import Track
from ...interp.splines import METHODS
from ...interp.splines.tcb import METHOD
from .export_node import ExportNode
from .matrices import parent_inverse_of
from .samples import frames_of

_TURNING = ("TRACK_TO", "DAMPED_TRACK", "LOCKED_TRACK", "COPY_ROTATION", "LIMIT_ROTATION", "TRANSFORM")
"""Constraints that rotate an object, without effect on objects that have a target in the file."""
_TRANSFORMS = ("location", "rotation", "scale", "delta_")
_NO_DELTAS = {
    "delta_location": (0.0, 0.0, 0.0),
    "delta_rotation_euler": (0.0, 0.0, 0.0),
    "delta_rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "delta_scale": (1.0, 1.0, 1.0),
}
"""Default values of delta transforms."""


def reason_to_sample_object(node: ExportNode, scene: bpy.types.Scene) -> Finding | None:
    """Return why the motion relative to the node's parent is not determined by the object's channels, or None."""
    obj, parent = node.obj, node.parent
    if obj is None or node.kind == "AMBIENT":
        return None
    data = obj.animation_data
    for constraint in obj.constraints:
        if not (node.is_aimed and constraint.type in _TURNING) and _is_enabled(constraint):
            return Finding("HAS_CONSTRAINT", arguments=(constraint.name,))
    if obj.parent != parent or (parent is not None and obj.parent_type != "OBJECT"):
        return Finding("PARENT_NOT_IN_FILE")
    if data is not None and any(driver.data_path.startswith(_TRANSFORMS) for driver in data.drivers):
        return Finding("DRIVERS")
    if plays_strips(obj):
        return Finding("NLA_STRIPS")
    if _has_deltas(obj, scene):
        return Finding("DELTAS")
    if parent is not None and parent_inverse_of(obj) is None:
        return Finding("PARENT_INVERSE_SHEARS")
    return None


def _is_enabled(constraint: bpy.types.Constraint) -> bool:
    """Return whether the constraint is enabled, or F-curves or drivers may enable it."""
    obj: Any = constraint.id_data
    switches = [constraint.path_from_id(name) for name in ("enabled", "mute")]
    return constraint.enabled or any(path in switches for path, _ in (*curves_of(obj), *driven_components(obj)))


def _has_deltas(obj: Any, scene: bpy.types.Scene) -> bool:
    """Return whether delta transforms move the object currently or at any frame of the scene."""
    if any(tuple(getattr(obj, path)) != default for path, default in _NO_DELTAS.items()):
        return True
    return any(
        fcurve.evaluate(frame) != _NO_DELTAS[path][index]
        for (path, index), fcurve in curves_of(obj).items()
        if path in _NO_DELTAS
        for frame in frames_of(scene).tolist()
    )


def other_control(datablock: bpy.types.ID, path: str) -> Finding | None:
    """Return why something other than F-curves controls the property, or None if nothing else does."""
    if plays_strips(datablock):
        return Finding("NLA_STRIPS")
    return Finding("IS_DRIVEN") if is_driven(datablock, path) else None


def reason_to_sample_track(track: Track) -> Finding | None:
    """Return why keys in the file cannot play the track, or None if they can."""
    if not track.enabled:
        return Finding("IS_NOT_TCB")
    if not is_played_by_splines(track):
        if track.driven:
            return Finding("IS_DRIVEN")
        if _is_in_world(track):
            return Finding("IN_WORLD_SPACE")
        return Finding("MUTED_IN_PART" if function_of(track) is None else "RETIMED")
    method = track.settings.method
    return None if method == METHOD.name else Finding("METHOD_NOT_IN_FILE", arguments=(METHODS[method].label,))


def is_played_by_splines(track: Track) -> bool:
    """Check whether the keys play at their original frames without other influences."""
    plays_all = len(played_fcurves(track)) == len(track.channels)
    return track.enabled and not track.driven and plays_all and function_of(track) is None and not _is_in_world(track)


def _is_in_world(track: Track) -> bool:
    """Check whether the track is baked in world space."""
    return track.is_baked and track.settings.options is not None and track.settings.options.in_world


def played_fcurves(track: Track) -> dict[int, bpy.types.FCurve]:
    """Return the F-curves of the components that Blender plays."""
    return {index: fcurve for index, fcurve in track.channels.items() if plays(fcurve)}
