# SPDX-License-Identifier: GPL-3.0-or-later
"""Set the lens of cameras, the cones of spotlights, and the roll of both, which are driven by values of the file.

The lens is not a linear function of the file's field of view, and the blend of a spotlight depends on two cones. The
file's value becomes a custom property with the file's keys. A driver computes Blender's property with a simple
expression, which works without the extension.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import bpy

from ...animation.store.table.track_records import Settings
from ...animation.translation import rpt_
from ..cameras_and_lights import blend_of, lens_of
from ..keys import Keys, still
from ..notes import note
from ..report import ExchangeReport
from .plan_objects import PlannedObject
from .write_action import PropertyKeys

LENS = " / tan(radians(max(fov, 0.01)) / 2)"
"""End of the expression of a lens. Half the sensor width precedes it as a number, because Blender would detect a
dependency cycle for a variable."""
SIZE = "radians(falloff)"
"""Expression of the size of a spotlight."""
BLEND = "(cos(radians(hotspot) / 2) - cos(radians(falloff) / 2)) / (1 - cos(radians(falloff) / 2))"
"""Expression of the blend of a spotlight, as in `blend_of`."""
AIM, ROLL_CONSTRAINT = "3DS Aim", "3DS Roll"
"""Names of the constraints of aimed objects."""
ROLL_PATHS = tuple(f'constraints["{ROLL_CONSTRAINT}"].{end}' for end in ("to_min_z_rot", "to_max_z_rot"))
"""Paths of the roll in an object."""


def set_roll(planned: PlannedObject, obj: Any, target: object, report: ExchangeReport) -> list[PropertyKeys]:
    """Roll the object about its line of sight. Return the keys of custom properties."""
    keys = planned.keys.get("roll")
    if keys is None or (keys.is_still and keys.values[0, 0] == 0.0):
        return []
    # A Transformation constraint with equal values at both ends of its range sets the roll for any target motion.
    constraint = obj.constraints.new("TRANSFORM")
    constraint.name = ROLL_CONSTRAINT
    constraint.target = target
    constraint.owner_space = constraint.target_space = "LOCAL"
    constraint.map_to, constraint.mix_mode_rot = "ROTATION", "AFTER"
    constraint.to_min_z_rot = constraint.to_max_z_rot = math.radians(keys.values[0, 0])
    return _drive_by_quantities(obj, {"roll": keys}, dict.fromkeys(ROLL_PATHS, "radians(roll)"), report)


def set_lens(planned: PlannedObject, camera: bpy.types.Camera, report: ExchangeReport) -> list[PropertyKeys]:
    """Set the lens of a camera from its field of view. Return the keys of custom properties."""
    keys = planned.keys.get("fov")
    if keys is None or not _is_not_driven(camera, {"lens": LENS}, report):
        return []
    camera.sensor_fit = "HORIZONTAL"
    camera.lens = lens_of(float(keys.values[0, 0]), camera.sensor_width)
    return _drive_by_quantities(camera, {"fov": keys}, {"lens": f"{camera.sensor_width / 2.0!r}{LENS}"}, report)


def set_cones(planned: PlannedObject, light: Any, report: ExchangeReport) -> list[PropertyKeys]:
    """Set the size and blend of a spotlight from its two cones. Return the keys of custom properties."""
    names = ("hotspot", "falloff")
    keys_of_cones: dict[str, Keys] = {name: planned.keys[name] for name in names if name in planned.keys}
    expressions = {"spot_size": SIZE, "spot_blend": BLEND}
    if light.type != "SPOT" or not keys_of_cones or not _is_not_driven(light, expressions, report):
        return []
    degrees = {"hotspot": 0.0, "falloff": math.degrees(light.spot_size)}
    degrees |= {name: float(keys.values[0, 0]) for name, keys in keys_of_cones.items()}
    light.spot_size = math.radians(degrees["falloff"])
    light.spot_blend = blend_of(math.radians(degrees["hotspot"]), light.spot_size)
    if any(not keys.is_still for keys in keys_of_cones.values()):
        # The blend depends on both cones.
        keys_of_cones = {name: keys_of_cones.get(name, still(angle)) for name, angle in degrees.items()}
    return _drive_by_quantities(light, keys_of_cones, expressions, report)


def _drive_by_quantities(
    datablock: Any, quantities: Mapping[str, Keys], expressions: Mapping[str, str], report: ExchangeReport
) -> list[PropertyKeys]:
    """Add custom properties with the file's quantities, in degrees, and drivers. Return the keys of the properties.

    `expressions` contains the drivers' expressions of the quantities, by property path. If all quantities are constant,
    nothing is added, and the quantities are counted.
    """
    if all(keys.is_still for keys in quantities.values()):
        report.counts["property_without_key"] += len(quantities)
        return []
    for name, keys in quantities.items():
        datablock[name] = float(keys.values[0, 0])
        description = rpt_("3D Studio's {:s}, in degrees, which drives Blender's property", name)
        datablock.id_properties_ui(name).update(description=description)
    for path, expression in expressions.items():
        _drive(datablock, path, expression, [name for name in quantities if name in expression])
    moving = {name: keys for name, keys in quantities.items() if not keys.is_still}
    return [PropertyKeys(f'["{name}"]', keys, Settings(keys.cycle)) for name, keys in moving.items()]


def _drive(datablock: Any, path: str, expression: str, names: Iterable[str]) -> None:
    """Drive a property with an expression of the datablock's custom properties of these names."""
    datablock.driver_remove(path)
    driver = datablock.driver_add(path).driver
    driver.type = "SCRIPTED"
    for name in names:
        variable = driver.variables.new()
        variable.name = name
        variable.targets[0].id_type = datablock.id_type
        variable.targets[0].id = datablock
        variable.targets[0].data_path = f'["{name}"]'
    driver.expression = expression


def _is_not_driven(datablock: Any, expressions: Mapping[str, str], report: ExchangeReport) -> bool:
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
