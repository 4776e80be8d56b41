# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply a plan to a Blender object: values, keys, constraints and drivers.

Some Blender properties are not linear functions of file values. For example, the lens depends on the field of view, and
the blend of a spotlight on two cones. The file's value then becomes a custom property with the file's keys. A driver
computes Blender's property with a simple expression, which works without the extension.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...animation.errors import Finding
from ...animation.fcurves.channels import Channels, new_action
from ...animation.fcurves.keyframes import Float64Array
from ...animation.fcurves.write_keys import key_curve
from ...animation.store.enable_tracks import enable_tracks
from ...animation.store.find_tracks import find_tracks
from ...animation.store.table.rows import PARAMETERS
from ...animation.store.table.track_records import Settings
from ...animation.translation import rpt_
from ..clean_keys import Keys, still
from .plan_objects import PlannedObject, note

LENS = " / tan(radians(max(fov, 0.01)) / 2)"
"""End of the expression of a lens. Half the sensor width precedes it as a number, because Blender would detect a
dependency cycle for a variable."""
SIZE = "radians(falloff)"
"""Expression of the size of a spotlight."""
BLEND = "(cos(radians(hotspot) / 2) - cos(radians(falloff) / 2)) / (1 - cos(radians(falloff) / 2))"
"""Expression of the blend of a spotlight, as in `blend_of`."""
AIM, ROLL_CONSTRAINT = "3DS Aim", "3DS Roll"
"""Names of the constraints of aimed objects."""
_ROLL = "radians(roll)"
_ROLL_ENDS = ("to_min_z_rot", "to_max_z_rot")
_LEAST_FOV = 0.01
"""In degrees. Smaller fields of view have lenses beyond Blender's limits."""
_LARGEST_FOV = 179.9
"""In degrees. Larger fields of view have lenses below Blender's limits."""

_TRANSFORMS = "Object Transforms"
"""Blender's channel group for these properties."""


@dataclass(frozen=True, eq=False)
class PropertyKeys:
    """The keys of a property. Without settings, the keys are not TCB keys and have this interpolation."""

    path: str
    keys: Keys
    settings: Settings | None = None
    interpolation: str = "BEZIER"


class Applied:
    """Datablocks with new TCB tracks, and the amounts of applied data."""

    def __init__(self) -> None:
        self.datablocks: list[bpy.types.ID] = []
        self.counts: Counter[str] = Counter()
        self.cyclic: dict[bpy.types.ID, tuple[float, float]] = {}
        """The datablocks with cyclic tracks, and the frames of their first and last keys."""
        self.notes: list[Finding] = []

    def count_still(self) -> None:
        """Count a track whose only key has all parameters at 0. Such a track sets the property without a key."""
        self.counts["property_without_key"] += 1

    def write(
        self, datablock: bpy.types.ID, name: str, animated: list[PropertyKeys], markers: list[tuple[float, str]]
    ) -> None:
        """Write properties with their keys, and markers, to an action of the datablock."""
        if not animated and not markers:
            return
        action: bpy.types.Action = _write_action(datablock, name, animated).action
        for frame, label in markers:
            action.pose_markers.new(label).frame = round(frame)
        for prop in animated:
            self.counts["track"] += 1
            self.counts["key"] += len(prop.keys)
            self.counts["key_with_parameters"] += int(prop.keys.has_parameters.sum())
        tracks = [prop for prop in animated if prop.settings is not None]
        if tracks:
            self.datablocks.append(datablock)
        if any(prop.keys.cycle != "SINGLE" for prop in tracks):
            ends = np.array([prop.keys.frames[[0, -1]] for prop in tracks])
            self.cyclic[datablock] = float(ends[:, 0].min()), float(ends[:, 1].max())


def _write_action(datablock: bpy.types.ID, name: str, animated: Sequence[PropertyKeys]) -> Channels:
    """Assign a new action with these keys to the datablock. Tracks with settings become TCB tracks."""
    channels = new_action(datablock, name)
    for prop in animated:
        is_transform = prop.path.startswith(("location", "rotation", "scale"))
        group = channels.bag.groups.get(_TRANSFORMS) or channels.bag.groups.new(_TRANSFORMS) if is_transform else None
        keys = prop.keys
        for component, values in enumerate(keys.values.T):
            key_curve(channels.new(prop.path, component, group), keys.frames, values, prop.interpolation)
    settings_of_path = {prop.path: prop.settings for prop in animated if prop.settings is not None}
    keys_of_path = {prop.path: prop.keys for prop in animated}
    tracks = [track for track in find_tracks(datablock, channels) if track.path in settings_of_path]
    settings = [settings_of_path[track.path] for track in tracks]
    enable_tracks(channels, tracks, settings, [_parameters_to_set(keys_of_path[track.path]) for track in tracks])
    return channels


def _parameters_to_set(keys: Keys) -> dict[str, Float64Array]:
    """Return the values of each parameter, with NaN for keys with the default."""
    parameters = zip(PARAMETERS, keys.parameters, strict=True)
    return {name: np.where(values != 0.0, values, np.nan) for name, values in parameters}


def apply(planned: PlannedObject, obj: Any, target: Any, axes: Any, applied: Applied) -> None:
    """Apply the plan to the object, or to the world for an ambient light.

    `target` is the object at which it is aimed. `axes` is the object whose space, instead of the world, defines upright
    for cameras.
    """
    if planned.kind == "WORLD":
        applied.write(obj, obj.name, _set_vectors(obj, ["color"], planned, applied), [])
        return
    animated = _set_vectors(obj, ["location", "scale"], planned, applied)
    rotation = planned.rotation
    if rotation is not None:
        obj.rotation_mode = rotation.mode
        animated += _set_property(obj, rotation.path, rotation.keys, applied, rotation.settings)
    if planned.hidden is not None:
        for path in ("hide_viewport", "hide_render"):
            animated += _set_visibility(obj, path, planned.hidden, applied)
    if target is not None:
        _aim(obj, target, axes)
        animated += _set_roll(planned, obj, target, applied)
    applied.write(obj, planned.name, animated, planned.markers)
    if planned.kind == "CAMERA":
        _set_lens(planned, obj.data, applied)
    elif planned.kind == "LIGHT":
        animated = _set_cones(planned, obj.data, applied) + _set_vectors(obj.data, ["color"], planned, applied)
        applied.write(obj.data, planned.name, animated, [])


def _set_vectors(
    datablock: bpy.types.ID, paths: Sequence[str], planned: PlannedObject, applied: Applied
) -> list[PropertyKeys]:
    """Set the properties with these paths that have planned keys."""
    animated: list[PropertyKeys] = []
    for path in paths:
        if path in planned.keys:
            keys = planned.keys[path]
            animated += _set_property(datablock, path, keys, applied, Settings(keys.cycle))
    return animated


def _set_property(
    datablock: bpy.types.ID, path: str, keys: Keys, applied: Applied, settings: Settings | None
) -> list[PropertyKeys]:
    """Set a property to its first value, and add keys if there are several. Without settings, the keys are samples."""
    value = keys.values[0]
    setattr(datablock, path, value if len(value) > 1 else float(value[0]))
    if keys.is_still:
        applied.count_still()
        return []
    return [PropertyKeys(path, keys, settings, "BEZIER" if settings else "LINEAR")]


def _add_quantity(datablock: Any, name: str, keys: Keys) -> list[PropertyKeys]:
    """Add a custom property with the file's own quantity, in degrees, to the datablock."""
    datablock[name] = float(keys.values[0, 0])
    description = rpt_("3D Studio's {:s}, in degrees, which drives Blender's property", name)
    datablock.id_properties_ui(name).update(description=description)
    return [] if keys.is_still else [PropertyKeys(f'["{name}"]', keys, Settings(keys.cycle))]


def _set_visibility(obj: bpy.types.Object, path: str, keys: Keys, applied: Applied) -> list[PropertyKeys]:
    """Hide or show an object, with constant keys if there are several."""
    setattr(obj, path, bool(keys.values[0, 0]))
    if keys.is_still:
        applied.count_still()
        return []
    return [PropertyKeys(path, keys, None, "CONSTANT")]


def _aim(obj: Any, target: Any, axes: Any) -> None:
    """Aim the object at its target along -Z, upright."""
    for end in _ROLL_ENDS:
        obj.driver_remove(f'constraints["{ROLL_CONSTRAINT}"].{end}')
    imported = [constraint for constraint in obj.constraints if constraint.name in (AIM, ROLL_CONSTRAINT)]
    for constraint in imported:
        obj.constraints.remove(constraint)
    aim = obj.constraints.new("TRACK_TO")
    aim.name = AIM
    aim.target = target
    aim.track_axis, aim.up_axis = "TRACK_NEGATIVE_Z", "UP_Y"
    if axes is not None:
        aim.owner_space = aim.target_space = "CUSTOM"
        aim.space_object = axes


def _set_roll(planned: PlannedObject, obj: Any, target: object, applied: Applied) -> list[PropertyKeys]:
    """Roll the object about its line of sight."""
    keys = planned.keys.get("roll")
    if keys is None or (keys.is_still and keys.values[0, 0] == 0.0):
        return []
    # A Transformation constraint with equal values at both ends of its range sets the roll for any target motion.
    roll = obj.constraints.new("TRANSFORM")
    roll.name = ROLL_CONSTRAINT
    roll.target = target
    roll.owner_space = roll.target_space = "LOCAL"
    roll.map_to, roll.mix_mode_rot = "ROTATION", "AFTER"
    roll.to_min_z_rot = roll.to_max_z_rot = math.radians(keys.values[0, 0])
    if keys.is_still:
        applied.count_still()
        return []
    animated = _add_quantity(obj, "roll", keys)
    for end in _ROLL_ENDS:
        _drive(obj, f'constraints["{ROLL_CONSTRAINT}"].{end}', _ROLL, {"roll": (obj, '["roll"]')})
    return animated


def _set_lens(planned: PlannedObject, camera: bpy.types.Camera, applied: Applied) -> None:
    """Set the lens of a camera from its field of view, with a driver if it has several keys."""
    keys = planned.keys.get("fov")
    if keys is None or not _is_not_driven(camera, {"lens": LENS}, applied):
        return
    camera.sensor_fit = "HORIZONTAL"
    camera.lens = lens_of(float(keys.values[0, 0]), camera.sensor_width)
    if keys.is_still:
        applied.count_still()
        return
    animated = _add_quantity(camera, "fov", keys)
    _drive(camera, "lens", f"{camera.sensor_width / 2.0!r}{LENS}", {"fov": (camera, '["fov"]')})
    applied.write(camera, planned.name, animated, [])


def lens_of(fov: float, width: float) -> float:
    """Return the focal length for a horizontal field of view in degrees, within Blender's limits."""
    return width / 2.0 / math.tan(math.radians(min(max(fov, _LEAST_FOV), _LARGEST_FOV)) / 2.0)


def _set_cones(planned: PlannedObject, light: Any, applied: Applied) -> list[PropertyKeys]:
    """Set the size and blend of a spotlight from its two cones, with drivers if a cone has several keys."""
    cones: dict[str, Keys] = {name: planned.keys[name] for name in ("hotspot", "falloff") if name in planned.keys}
    if (
        light.type != "SPOT"
        or not cones
        or not _is_not_driven(light, {"spot_size": SIZE, "spot_blend": BLEND}, applied)
    ):
        return []
    degrees = {"hotspot": 0.0, "falloff": math.degrees(light.spot_size)}
    degrees |= {name: float(keys.values[0, 0]) for name, keys in cones.items()}
    light.spot_size = math.radians(degrees["falloff"])
    light.spot_blend = blend_of(math.radians(degrees["hotspot"]), light.spot_size)
    if all(keys.is_still for keys in cones.values()):
        for _ in cones:
            applied.count_still()
        return []
    animated: list[PropertyKeys] = []
    for name, angle in degrees.items():
        animated += _add_quantity(light, name, cones.get(name, still(angle)))
    variables = {name: (light, f'["{name}"]') for name in degrees}
    _drive(light, "spot_size", SIZE, {"falloff": variables["falloff"]})
    _drive(light, "spot_blend", BLEND, variables)
    return animated


def _is_not_driven(datablock: Any, expressions: Mapping[str, str], applied: Applied) -> bool:
    """Return whether the properties have no drivers except import drivers, which are removed. Note other drivers."""
    if datablock.animation_data is None:
        return True
    curves = [curve for curve in datablock.animation_data.drivers if curve.data_path in expressions]
    others = [curve for curve in curves if not curve.driver.expression.endswith(expressions[curve.data_path])]
    if others:
        paths = sorted({curve.data_path for curve in others})
        names = paths[0] if len(paths) == 1 else rpt_("{:s} and {:s}", *paths)
        note(applied.notes, datablock.name, "DRIVER_DECIDES", names)
        return False
    for curve in curves:
        datablock.animation_data.drivers.remove(curve)
    return True


def blend_of(hotspot: float, size: float) -> float:
    """Return the blend for a cone of this size, in radians, with which the light begins to fade at the hotspot."""
    height = 1.0 - math.cos(size / 2.0)
    return (math.cos(hotspot / 2.0) - math.cos(size / 2.0)) / height if height else 0.0


def _drive(datablock: Any, path: str, expression: str, variables: Mapping[str, tuple[Any, str]]) -> None:
    """Drive a property with an expression of other properties, given as datablocks with paths."""
    datablock.driver_remove(path)
    driver = datablock.driver_add(path).driver
    driver.type = "SCRIPTED"
    for name, (source, source_path) in variables.items():
        variable = driver.variables.new()
        variable.name = name
        variable.targets[0].id_type = source.id_type
        variable.targets[0].id = source
        variable.targets[0].data_path = source_path
    driver.expression = expression
