# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply a plan to a Blender object: values, keys, constraints and drivers.

Some Blender properties are not linear functions of file values. For example, the lens depends on the field of view, and
the blend of a spotlight on two cones. The file's value then becomes a custom property with the file's keys. A driver
computes Blender's property with a simple expression, which works without the extension.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...animation.fcurves.channels import Channels, new_action
from ...animation.fcurves.keyframes import Float64Array
from ...animation.fcurves.write_keys import key_curve
from ...animation.store.enable_tracks import enable_tracks
from ...animation.store.find_tracks import find_tracks
from ...animation.store.table.rows import PARAMETERS
from ...animation.store.table.track_records import Settings
from ...animation.translation import rpt_
from ..clean_keys import Keys, still
from ..conversion import blend_of, lens_of
from ..report import Exchanged
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
_ROLL_ENDS = ("to_min_z_rot", "to_max_z_rot")


@dataclass(frozen=True, eq=False)
class PropertyKeys:
    """The keys of a property. Without settings, the keys are not TCB keys and have this interpolation."""

    path: str
    keys: Keys
    settings: Settings | None = None
    interpolation: str = "BEZIER"


def apply(planned: PlannedObject, obj: Any, target: Any, axes: Any, report: Exchanged) -> None:
    """Apply the plan to the object, or to the world for an ambient light.

    `target` is the object at which it is aimed. `axes` is the object whose space, instead of the world, defines upright
    for cameras.
    """
    if planned.kind == "WORLD":
        _write(obj, obj.name, _set_vectors(obj, ["color"], planned, report), report)
        return
    animated = _set_vectors(obj, ["location", "scale"], planned, report)
    rotation, hidden = planned.rotation, planned.hidden
    if rotation is not None:
        obj.rotation_mode = rotation.mode
        setattr(obj, rotation.path, rotation.keys.values[0])
        interpolation = "LINEAR" if rotation.settings is None else "BEZIER"
        animated += _unless_still(rotation.path, rotation.keys, report, rotation.settings, interpolation)
    if hidden is not None:
        for path in ("hide_viewport", "hide_render"):
            setattr(obj, path, bool(hidden.values[0, 0]))
            animated += _unless_still(path, hidden, report, None, "CONSTANT")
    if target is not None:
        _aim(obj, target, axes)
        animated += _set_roll(planned, obj, target, report)
    _write(obj, planned.name, animated, report, planned.markers)
    if planned.kind == "CAMERA":
        _set_lens(planned, obj.data, report)
    elif planned.kind == "LIGHT":
        animated = _set_cones(planned, obj.data, report) + _set_vectors(obj.data, ["color"], planned, report)
        _write(obj.data, planned.name, animated, report)


def _set_vectors(
    datablock: bpy.types.ID, paths: Sequence[str], planned: PlannedObject, report: Exchanged
) -> list[PropertyKeys]:
    """Set the properties with these paths that have planned keys."""
    animated: list[PropertyKeys] = []
    for path in paths:
        if path in planned.keys:
            keys = planned.keys[path]
            setattr(datablock, path, keys.values[0])
            animated += _unless_still(path, keys, report, Settings(keys.cycle))
    return animated


def _unless_still(
    path: str, keys: Keys, report: Exchanged, settings: Settings | None, interpolation: str = "BEZIER"
) -> list[PropertyKeys]:
    """Return the keys to write. A single key without parameters is not written, but counted."""
    if keys.is_still:
        report.made["property_without_key"] += 1
        return []
    return [PropertyKeys(path, keys, settings, interpolation)]


def _add_quantity(datablock: Any, name: str, keys: Keys) -> list[PropertyKeys]:
    """Add a custom property with the file's own quantity, in degrees, to the datablock."""
    datablock[name] = float(keys.values[0, 0])
    description = rpt_("3D Studio's {:s}, in degrees, which drives Blender's property", name)
    datablock.id_properties_ui(name).update(description=description)
    return [] if keys.is_still else [PropertyKeys(f'["{name}"]', keys, Settings(keys.cycle))]


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


def _set_roll(planned: PlannedObject, obj: Any, target: object, report: Exchanged) -> list[PropertyKeys]:
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
        report.made["property_without_key"] += 1
        return []
    animated = _add_quantity(obj, "roll", keys)
    for end in _ROLL_ENDS:
        _drive(obj, f'constraints["{ROLL_CONSTRAINT}"].{end}', "radians(roll)", {"roll": (obj, '["roll"]')})
    return animated


def _set_lens(planned: PlannedObject, camera: bpy.types.Camera, report: Exchanged) -> None:
    """Set the lens of a camera from its field of view, with a driver if it has several keys."""
    keys = planned.keys.get("fov")
    if keys is None or not _is_not_driven(camera, {"lens": LENS}, report):
        return
    camera.sensor_fit = "HORIZONTAL"
    camera.lens = lens_of(float(keys.values[0, 0]), camera.sensor_width)
    if keys.is_still:
        report.made["property_without_key"] += 1
        return
    animated = _add_quantity(camera, "fov", keys)
    _drive(camera, "lens", f"{camera.sensor_width / 2.0!r}{LENS}", {"fov": (camera, '["fov"]')})
    _write(camera, planned.name, animated, report)


def _set_cones(planned: PlannedObject, light: Any, report: Exchanged) -> list[PropertyKeys]:
    """Set the size and blend of a spotlight from its two cones, with drivers if a cone has several keys."""
    cones: dict[str, Keys] = {name: planned.keys[name] for name in ("hotspot", "falloff") if name in planned.keys}
    if light.type != "SPOT" or not cones or not _is_not_driven(light, {"spot_size": SIZE, "spot_blend": BLEND}, report):
        return []
    degrees = {"hotspot": 0.0, "falloff": math.degrees(light.spot_size)}
    degrees |= {name: float(keys.values[0, 0]) for name, keys in cones.items()}
    light.spot_size = math.radians(degrees["falloff"])
    light.spot_blend = blend_of(math.radians(degrees["hotspot"]), light.spot_size)
    if all(keys.is_still for keys in cones.values()):
        report.made["property_without_key"] += len(cones)
        return []
    animated: list[PropertyKeys] = []
    for name, angle in degrees.items():
        animated += _add_quantity(light, name, cones.get(name, still(angle)))
    variables = {name: (light, f'["{name}"]') for name in degrees}
    _drive(light, "spot_size", SIZE, {"falloff": variables["falloff"]})
    _drive(light, "spot_blend", BLEND, variables)
    return animated


def _is_not_driven(datablock: Any, expressions: Mapping[str, str], report: Exchanged) -> bool:
    """Return whether the properties have no drivers except import drivers, which are removed. Note other drivers."""
    if datablock.animation_data is None:
        return True
    curves = [curve for curve in datablock.animation_data.drivers if curve.data_path in expressions]
    others = [curve for curve in curves if not curve.driver.expression.endswith(expressions[curve.data_path])]
    if others:
        paths = sorted({curve.data_path for curve in others})
        names = paths[0] if len(paths) == 1 else rpt_("{:s} and {:s}", *paths)
        note(report.notes, datablock.name, "DRIVER_DECIDES", names)
        return False
    for curve in curves:
        datablock.animation_data.drivers.remove(curve)
    return True


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


def _write(
    datablock: bpy.types.ID,
    name: str,
    animated: Sequence[PropertyKeys],
    report: Exchanged,
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
        report.made["track"] += 1
        report.made["key"] += len(prop.keys)
        report.made["key_with_parameters"] += int(prop.keys.has_parameters.sum())
    settings = {prop.path: prop.settings for prop in animated if prop.settings is not None}
    keys = {prop.path: prop.keys for prop in animated if prop.path in settings}
    tracks = [track for track in find_tracks(datablock, channels) if track.path in settings]
    parameters = [_parameters_to_set(keys[track.path]) for track in tracks]
    enable_tracks(channels, tracks, [settings[track.path] for track in tracks], parameters)
    if settings:
        report.animated.append(datablock)
    if any(keys_of_track.cycle != "SINGLE" for keys_of_track in keys.values()):
        ends = np.array([keys_of_track.frames[[0, -1]] for keys_of_track in keys.values()])
        report.cyclic[datablock] = float(ends[:, 0].min()), float(ends[:, 1].max())


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
