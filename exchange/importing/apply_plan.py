# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply a plan to a Blender object: values, keys, constraints and drivers.

Some Blender properties are not linear functions of file values. For example, the lens depends on the field of view, and
the blend of a spotlight on two cones. The file's value then becomes a custom property with the file's keys. A driver
computes Blender's property with a simple expression, which works without the extension.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np

from ...animation.errors import Finding
from ...animation.store.table.settings import Settings
from ...animation.translation import rpt_
from ..clean_keys import Keys, still
from .plan_objects import Planned, note
from .write_keys import Animated, write_action

LENS = " / tan(radians(max(fov, 0.01)) / 2)"
"""This follows half the sensor width, which is not a variable because Blender would detect a dependency cycle."""
ROLL = "radians(roll)"
SIZE = "radians(falloff)"
BLEND = "(cos(radians(hotspot) / 2) - cos(radians(falloff) / 2)) / (1 - cos(radians(falloff) / 2))"
AIM, ROLL_CONSTRAINT = "3DS Aim", "3DS Roll"
_ROLL_ENDS = ("to_min_z_rot", "to_max_z_rot")


class Applied:
    """Collect datablocks with new TCB tracks, and count the applied data."""

    def __init__(self) -> None:
        self.datablocks: list[bpy.types.ID] = []
        self.counts: Counter[str] = Counter()
        self.cyclic: dict[bpy.types.ID, tuple[float, float]] = {}
        """The datablocks with cyclic tracks, and the frames of their first and last keys."""
        self.notes: list[Finding] = []

    def hold(self) -> None:
        """Count a track with a single key without parameters, which sets the property without a key."""
        self.counts["property_without_key"] += 1

    def write(
        self, datablock: bpy.types.ID, name: str, animated: list[Animated], markers: list[tuple[float, str]]
    ) -> None:
        if not animated and not markers:
            return
        channels = write_action(datablock, name, animated)
        action: bpy.types.Action = channels.action
        for frame, shown in markers:
            action.pose_markers.new(shown).frame = round(frame)
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


def apply(planned: Planned, obj: Any, target: Any, axes: Any, applied: Applied) -> None:
    """Apply the plan to the object, or to the world for an ambient light.

    `target` is the object it looks at. `axes` is the object whose space defines upright for cameras, if not the world.
    """
    if planned.kind == "WORLD":
        _color(planned, obj, obj.name, applied)
        return
    animated = []
    for path in ("location", "scale"):
        if path in planned.keys:
            animated += _vector(obj, path, planned.keys[path], applied)
    if planned.rotation is not None:
        turned = planned.rotation
        obj.rotation_mode = turned.mode
        animated += _property(obj, turned.path, turned.keys, applied, turned.settings)
    if planned.hidden is not None:
        for path in ("hide_viewport", "hide_render"):
            animated += _visibility(obj, path, planned.hidden, applied)
    if target is not None:
        _aim(obj, target, axes)
        animated += _roll(planned, obj, target, applied)
    applied.write(obj, planned.name, animated, planned.markers)
    if planned.kind == "CAMERA":
        _lens(planned, obj.data, applied)
    elif planned.kind == "LIGHT":
        _cones_and_color(planned, obj.data, applied)


def _vector(datablock: bpy.types.ID, path: str, keys: Keys, applied: Applied) -> list[Animated]:
    return _property(datablock, path, keys, applied, Settings(keys.cycle))


def _property(
    datablock: bpy.types.ID, path: str, keys: Keys, applied: Applied, settings: Settings | None
) -> list[Animated]:
    """Set a property to its first value, and add keys if there are several. Without settings the keys are samples."""
    value = keys.values[0]
    setattr(datablock, path, value if len(value) > 1 else float(value[0]))
    if keys.is_still:
        applied.hold()
        return []
    return [Animated(path, keys, settings, "BEZIER" if settings else "LINEAR")]


def _quantity(datablock: Any, name: str, keys: Keys) -> list[Animated]:
    """Add a custom property with the file's own quantity, in degrees, to the datablock."""
    datablock[name] = float(keys.values[0, 0])
    description = rpt_("3D Studio's {:s}, in degrees, which drives Blender's property", name)
    datablock.id_properties_ui(name).update(description=description)
    return [] if keys.is_still else [Animated(f'["{name}"]', keys, Settings(keys.cycle))]


def _visibility(obj: bpy.types.Object, path: str, keys: Keys, applied: Applied) -> list[Animated]:
    setattr(obj, path, bool(keys.values[0, 0]))
    if keys.is_still:
        applied.hold()
        return []
    return [Animated(path, keys, None, "CONSTANT")]


def _aim(obj: Any, target: Any, axes: Any) -> None:
    """Aim the object at its target along -Z, upright."""
    for end in _ROLL_ENDS:
        obj.driver_remove(f'constraints["{ROLL_CONSTRAINT}"].{end}')
    for constraint in [each for each in obj.constraints if each.name in (AIM, ROLL_CONSTRAINT)]:
        obj.constraints.remove(constraint)
    aim = obj.constraints.new("TRACK_TO")
    aim.name = AIM
    aim.target = target
    aim.track_axis, aim.up_axis = "TRACK_NEGATIVE_Z", "UP_Y"
    if axes is not None:
        aim.owner_space = aim.target_space = "CUSTOM"
        aim.space_object = axes


def _roll(planned: Planned, obj: Any, target: object, applied: Applied) -> list[Animated]:
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
        applied.hold()
        return []
    animated = _quantity(obj, "roll", keys)
    for end in _ROLL_ENDS:
        drive(obj, f'constraints["{ROLL_CONSTRAINT}"].{end}', -1, ROLL, {"roll": (obj, '["roll"]')})
    return animated


def _lens(planned: Planned, camera: bpy.types.Camera, applied: Applied) -> None:
    keys = planned.keys.get("fov")
    if keys is None or not _is_free(camera, {"lens": LENS}, applied):
        return
    camera.sensor_fit = "HORIZONTAL"
    camera.lens = lens_of(float(keys.values[0, 0]), camera.sensor_width)
    if keys.is_still:
        applied.hold()
        return
    animated = _quantity(camera, "fov", keys)
    drive(camera, "lens", -1, f"{camera.sensor_width / 2.0!r}{LENS}", {"fov": (camera, '["fov"]')})
    applied.write(camera, planned.name, animated, [])


def lens_of(fov: float, width: float) -> float:
    """Return the focal length for a horizontal field of view in degrees, within Blender's limits."""
    return width / 2.0 / math.tan(math.radians(min(max(fov, 0.01), 179.9)) / 2.0)


def _cones_and_color(planned: Planned, light: Any, applied: Applied) -> None:
    animated = []
    cones: dict[str, Keys] = {name: planned.keys[name] for name in ("hotspot", "falloff") if name in planned.keys}
    if light.type == "SPOT" and cones and _is_free(light, {"spot_size": SIZE, "spot_blend": BLEND}, applied):
        degrees = {"hotspot": 0.0, "falloff": math.degrees(light.spot_size)}
        degrees |= {name: float(keys.values[0, 0]) for name, keys in cones.items()}
        light.spot_size = math.radians(degrees["falloff"])
        light.spot_blend = blend_of(math.radians(degrees["hotspot"]), light.spot_size)
        if all(keys.is_still for keys in cones.values()):
            for _ in cones:
                applied.hold()
        else:
            paths = {name: (light, f'["{name}"]') for name in degrees}
            for name, number in degrees.items():
                animated += _quantity(light, name, cones.get(name, still(number)))
            drive(light, "spot_size", -1, SIZE, {"falloff": paths["falloff"]})
            drive(light, "spot_blend", -1, BLEND, paths)
    _color(planned, light, planned.name, applied, animated)


def _is_free(datablock: Any, expressions: Mapping[str, str], applied: Applied) -> bool:
    """Check that the properties have only import drivers with these expressions, and remove them."""
    if datablock.animation_data is None:
        return True
    drivers = datablock.animation_data.drivers
    found = [driver for driver in drivers if driver.data_path in expressions]
    others = [driver for driver in found if not driver.driver.expression.endswith(expressions[driver.data_path])]
    if others:
        paths = sorted({driver.data_path for driver in others})
        decided = paths[0] if len(paths) == 1 else rpt_("{:s} and {:s}", *paths)
        note(applied.notes, datablock.name, "DRIVER_DECIDES", decided)
        return False
    for driver in found:
        drivers.remove(driver)
    return True


def blend_of(hotspot: float, size: float) -> float:
    """Return the blend for a cone of this size, in radians, with which the light begins to fade at the hotspot."""
    whole = 1.0 - math.cos(size / 2.0)
    return (math.cos(hotspot / 2.0) - math.cos(size / 2.0)) / whole if whole else 0.0


def _color(
    planned: Planned, datablock: bpy.types.ID, name: str, applied: Applied, animated: list[Animated] | None = None
) -> None:
    written = list(animated or [])
    if "color" in planned.keys:
        written += _vector(datablock, "color", planned.keys["color"], applied)
    applied.write(datablock, name, written, [])


def drive(datablock: Any, path: str, index: int, expression: str, variables: Mapping[str, tuple[Any, str]]) -> None:
    """Drive a property by an expression of other properties."""
    datablock.driver_remove(path, index)
    driver = datablock.driver_add(path, index).driver
    driver.type = "SCRIPTED"
    for name, (source, source_path) in variables.items():
        variable = driver.variables.new()
        variable.name = name
        variable.targets[0].id_type = source.id_type
        variable.targets[0].id = source
        variable.targets[0].data_path = source_path
    driver.expression = expression
