# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply a plan to a Blender object, and undo the changes of an import that fails.

The lens of a camera is not a linear function of the file's field of view, and the blend of a spotlight depends on two
cones. The file's value becomes a custom property with the file's keys. A driver computes Blender's property with a
simple expression, which works without the extension.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...animation.datablocks import HAS_SLOTS
from ...animation.fcurves.channels import Channels, new_action
from ...animation.fcurves.read_and_write import key_curve
from ...animation.store.find_tracks import find_tracks
from ...animation.store.record_keys import enable_tracks
from ...animation.store.table.rows import PARAMETERS
from ...animation.store.table.track_records import Settings
from ...animation.text import rpt_
from ..conversion import blend_of, lens_of
from ..keys import Keys, still
from ..report import ExchangeReport, note
from .imported_state import PROPERTIES as STATE_PROPERTIES
from .plan_objects import PlannedObject

# Undoing an import that fails


_PROPERTIES = (
    "matrix_parent_inverse",
    "location",
    "rotation_mode",
    "rotation_quaternion",
    "rotation_axis_angle",
    "rotation_euler",
    "scale",
    "hide_viewport",
    "hide_render",
    "sensor_fit",
    "lens",
    "spot_size",
    "spot_blend",
    "color",
)
"""Properties of objects, cameras, lights and worlds that an import sets."""
_CUSTOM_PROPERTIES = (*STATE_PROPERTIES, "roll", "fov", "hotspot", "falloff")


class Changes:
    """New and changed datablocks, which are removed or restored if the import fails."""

    def __init__(self, collection: bpy.types.Collection) -> None:
        self.collection = collection
        self._new_datablocks: list[bpy.types.ID] = []
        self._copies: dict[bpy.types.ID, Any] = {}
        """The copies of changed datablocks before the import. A copy shares the action and the slot."""
        self._had_fake_user: dict[bpy.types.Action, bool] = {}
        """The actions of changed datablocks before the import."""

    def add(self, datablock: bpy.types.ID) -> Any:
        """Add and return a new datablock."""
        self._new_datablocks.append(datablock)
        return datablock

    def new_object(self, name: str, data: bpy.types.ID | None) -> Any:
        """Return a new object in the collection. Without data, the object is an empty."""
        obj = self.add(bpy.data.objects.new(name, data))
        self.collection.objects.link(obj)
        return obj

    def record(self, datablock: bpy.types.ID) -> None:
        """Record the state of a datablock before the import changes it."""
        if datablock not in self._copies:
            self._copies[datablock] = datablock.copy()
            action = _action_of(datablock)
            if action is not None:
                self._had_fake_user.setdefault(action, action.use_fake_user)

    def undo(self) -> None:
        """Remove new datablocks with their actions, and restore changed ones."""
        new_actions = {_action_of(datablock) for datablock in (*self._new_datablocks, *self._copies)}
        new_actions -= {None, *self._had_fake_user}
        for datablock, copy in self._copies.items():
            _restore_animation(datablock, copy)
            _restore_properties(datablock, copy)
        for action, had_fake_user in self._had_fake_user.items():
            action.use_fake_user = had_fake_user
        bpy.data.batch_remove({*self._new_datablocks, *new_actions})
        self.finish()

    def finish(self) -> None:
        """Discard the recorded states."""
        bpy.data.batch_remove(list(self._copies.values()))
        self._copies.clear()


def _action_of(datablock: bpy.types.ID) -> bpy.types.Action | None:
    animation = getattr(datablock, "animation_data", None)
    return None if animation is None else animation.action


def _restore_animation(datablock: Any, copy: Any) -> None:
    """Restore the action and the drivers of a datablock from its copy."""
    if datablock.animation_data is not None:
        datablock.animation_data.action = None
        for driver in list(datablock.animation_data.drivers):
            datablock.animation_data.drivers.remove(driver)
    if copy.animation_data is None:
        datablock.animation_data_clear()
        return
    for driver in copy.animation_data.drivers:
        datablock.animation_data.drivers.from_existing(src_driver=driver)
    datablock.animation_data.action = copy.animation_data.action
    if HAS_SLOTS and copy.animation_data.action_slot is not None:
        datablock.animation_data.action_slot = copy.animation_data.action_slot


def _restore_properties(datablock: Any, copy: Any) -> None:
    """Restore the properties and constraints of a datablock from its copy."""
    for name in {track.name for track in datablock.tcb_tracks} - {track.name for track in copy.tcb_tracks}:
        datablock.tcb_tracks.remove(datablock.tcb_tracks.find(name))
    for name in _CUSTOM_PROPERTIES:
        if name in copy:
            datablock[name] = copy[name]
            datablock.id_properties_ui(name).update_from(copy.id_properties_ui(name))
        elif name in datablock:
            del datablock[name]
    if isinstance(datablock, bpy.types.Object):
        datablock.constraints.clear()
        for constraint in copy.constraints:
            datablock.constraints.copy(constraint)
    for name in _PROPERTIES:
        if hasattr(copy, name):
            setattr(datablock, name, getattr(copy, name))


# Applying a plan


LENS = " / tan(radians(max(fov, 0.01)) / 2)"
"""End of the expression of a lens. Half the sensor width precedes it as a number, because Blender would detect a
dependency cycle for a variable."""
SIZE = "radians(falloff)"
"""Expression of the size of a spotlight."""
BLEND = "(cos(radians(hotspot) / 2) - cos(radians(falloff) / 2)) / (1 - cos(radians(falloff) / 2))"
"""Expression of the blend of a spotlight, as in `blend_of`."""
AIM, ROLL_CONSTRAINT = "3DS Aim", "3DS Roll"
"""Names of the constraints of aimed objects."""
_ROLL_PATHS = tuple(f'constraints["{ROLL_CONSTRAINT}"].{end}' for end in ("to_min_z_rot", "to_max_z_rot"))
"""Paths of the roll in an object."""


def apply_plan(planned: PlannedObject, obj: Any, target: Any, axes: Any, report: ExchangeReport) -> None:
    """Apply the plan to the object, or to the world for an ambient light.

    `target` is the object at which it is aimed. `axes` is the object whose space, instead of the world, defines upright
    for cameras.
    """
    if planned.kind == "WORLD":
        _write_action(obj, obj.name, _set_vectors(obj, ["color"], planned), report)
        return
    animated = _set_vectors(obj, ["location", "scale"], planned)
    rotation, hidden = planned.rotation, planned.keys.get("hide")
    if rotation is not None:
        obj.rotation_mode = rotation.mode
        setattr(obj, rotation.path, rotation.keys.values[0])
        interpolation = "LINEAR" if rotation.settings is None else "BEZIER"
        animated.append(PropertyKeys(rotation.path, rotation.keys, rotation.settings, interpolation))
    if hidden is not None:
        for path in ("hide_viewport", "hide_render"):
            setattr(obj, path, bool(hidden.values[0, 0]))
            animated.append(PropertyKeys(path, hidden, None, "CONSTANT"))
    if target is not None:
        _aim(obj, target, axes)
        animated += _set_roll(planned, obj, target, report)
    _write_action(obj, planned.name, animated, report, planned.markers)
    if planned.kind == "CAMERA":
        _write_action(obj.data, planned.name, _set_lens(planned, obj.data, report), report)
    elif planned.kind == "LIGHT":
        animated = _set_cones(planned, obj.data, report) + _set_vectors(obj.data, ["color"], planned)
        _write_action(obj.data, planned.name, animated, report)


def _set_vectors(datablock: bpy.types.ID, paths: Sequence[str], planned: PlannedObject) -> list[PropertyKeys]:
    """Set the properties with these paths that have planned keys. Return their keys."""
    animated: list[PropertyKeys] = []
    for path in paths:
        if path in planned.keys:
            keys = planned.keys[path]
            setattr(datablock, path, keys.values[0])
            animated.append(PropertyKeys(path, keys, Settings(keys.cycle)))
    return animated


def _aim(obj: Any, target: Any, axes: Any) -> None:
    """Aim the object at its target along -Z, upright."""
    for path in _ROLL_PATHS:
        obj.driver_remove(path)
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


def _set_roll(planned: PlannedObject, obj: Any, target: object, report: ExchangeReport) -> list[PropertyKeys]:
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
    return _drive_by_quantities(obj, {"roll": keys}, dict.fromkeys(_ROLL_PATHS, "radians(roll)"), report)


def _set_lens(planned: PlannedObject, camera: bpy.types.Camera, report: ExchangeReport) -> list[PropertyKeys]:
    """Set the lens of a camera from its field of view. Return the keys of custom properties."""
    keys = planned.keys.get("fov")
    if keys is None or not _is_not_driven(camera, {"lens": LENS}, report):
        return []
    camera.sensor_fit = "HORIZONTAL"
    camera.lens = lens_of(float(keys.values[0, 0]), camera.sensor_width)
    return _drive_by_quantities(camera, {"fov": keys}, {"lens": f"{camera.sensor_width / 2.0!r}{LENS}"}, report)


def _set_cones(planned: PlannedObject, light: Any, report: ExchangeReport) -> list[PropertyKeys]:
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


@dataclass(frozen=True, eq=False)
class PropertyKeys:
    """The keys of a property. Without settings, the keys are not TCB keys and have this interpolation."""

    path: str
    keys: Keys
    settings: Settings | None = None
    interpolation: str = "BEZIER"


def _write_action(
    datablock: bpy.types.ID,
    name: str,
    animated: Sequence[PropertyKeys],
    report: ExchangeReport,
    markers: Sequence[tuple[float, str]] = (),
) -> None:
    """Assign a new action with these keys and markers. Properties with settings become TCB tracks.

    A single key without parameters is not written, but counted.
    """
    still_count = sum(prop.keys.is_still for prop in animated)
    if still_count:
        report.counts["property_without_key"] += still_count
        animated = [prop for prop in animated if not prop.keys.is_still]
    if not animated and not markers:
        return
    channels = new_action(datablock, name)
    action: bpy.types.Action = channels.action
    for frame, label in markers:
        action.pose_markers.new(label).frame = round(frame)
    for prop in animated:
        _write_curves(channels, prop)
        report.counts["track"] += 1
        report.counts["key"] += len(prop.keys)
        report.counts["key_with_parameters"] += int(prop.keys.has_parameters.sum())
    with_tcb = {prop.path: (prop.keys, prop.settings) for prop in animated if prop.settings is not None}
    if with_tcb:
        _enable(datablock, channels, with_tcb)
        report.animated_datablocks.append(datablock)
    if any(keys.cycle != "SINGLE" for keys, _ in with_tcb.values()):
        frames = np.concatenate([keys.frames for keys, _ in with_tcb.values()])
        report.ends_of_cycles[datablock] = float(frames.min()), float(frames.max())


def _enable(datablock: bpy.types.ID, channels: Channels, with_tcb: Mapping[str, tuple[Keys, Settings]]) -> None:
    """Enable TCB on properties, given by their paths, with these keys and settings."""
    tracks = [track for track in find_tracks(datablock, channels) if track.path in with_tcb]
    settings, parameters = [], []
    for track in tracks:
        keys, settings_of_track = with_tcb[track.path]
        settings.append(settings_of_track)
        # Parameters with the default are NaN.
        own_parameters = np.where(keys.parameters != 0.0, keys.parameters, np.nan)
        parameters.append(dict(zip(PARAMETERS, own_parameters, strict=True)))
    enable_tracks(channels, tracks, settings, parameters)


def _write_curves(channels: Channels, prop: PropertyKeys) -> None:
    group = None
    if prop.path.startswith(("location", "rotation", "scale")):
        # Blender's group for these properties.
        group = channels.bag.groups.get("Object Transforms") or channels.bag.groups.new("Object Transforms")
    for component, values in enumerate(prop.keys.values.T):
        key_curve(channels.new(prop.path, component, group), prop.keys.frames, values, prop.interpolation)
