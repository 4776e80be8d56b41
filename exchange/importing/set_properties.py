# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply a plan to a Blender object: values, keys and constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ...animation.store.table.track_records import Settings
from ..keys import Keys
from ..report import ExchangeReport
from .driven_properties import AIM, ROLL_CONSTRAINT, ROLL_PATHS, set_cones, set_lens, set_roll
from .plan_objects import PlannedObject
from .write_action import PropertyKeys, write_action


def apply_plan(planned: PlannedObject, obj: Any, target: Any, axes: Any, report: ExchangeReport) -> None:
    """Apply the plan to the object, or to the world for an ambient light.

    `target` is the object at which it is aimed. `axes` is the object whose space, instead of the world, defines upright
    for cameras.
    """
    if planned.kind == "WORLD":
        write_action(obj, obj.name, _set_vectors(obj, ["color"], planned, report), report)
        return
    animated = _set_vectors(obj, ["location", "scale"], planned, report)
    rotation, hidden = planned.rotation, planned.hidden
    if rotation is not None:
        obj.rotation_mode = rotation.mode
        setattr(obj, rotation.path, rotation.keys.values[0])
        interpolation = "LINEAR" if rotation.settings is None else "BEZIER"
        animated += _keys_to_write(rotation.path, rotation.keys, report, rotation.settings, interpolation)
    if hidden is not None:
        for path in ("hide_viewport", "hide_render"):
            setattr(obj, path, bool(hidden.values[0, 0]))
            animated += _keys_to_write(path, hidden, report, None, "CONSTANT")
    if target is not None:
        _aim(obj, target, axes)
        animated += set_roll(planned, obj, target, report)
    write_action(obj, planned.name, animated, report, planned.markers)
    if planned.kind == "CAMERA":
        write_action(obj.data, planned.name, set_lens(planned, obj.data, report), report)
    elif planned.kind == "LIGHT":
        animated = set_cones(planned, obj.data, report) + _set_vectors(obj.data, ["color"], planned, report)
        write_action(obj.data, planned.name, animated, report)


def _set_vectors(
    datablock: bpy.types.ID, paths: Sequence[str], planned: PlannedObject, report: ExchangeReport
) -> list[PropertyKeys]:
    """Set the properties with these paths that have planned keys. Return the keys to write."""
    animated: list[PropertyKeys] = []
    for path in paths:
        if path in planned.keys:
            keys = planned.keys[path]
            setattr(datablock, path, keys.values[0])
            animated += _keys_to_write(path, keys, report, Settings(keys.cycle))
    return animated


def _keys_to_write(
    path: str, keys: Keys, report: ExchangeReport, settings: Settings | None, interpolation: str = "BEZIER"
) -> list[PropertyKeys]:
    """Return the keys to write. A single key without parameters is not written, but counted."""
    if keys.is_still:
        report.counts["property_without_key"] += 1
        return []
    return [PropertyKeys(path, keys, settings, interpolation)]


def _aim(obj: Any, target: Any, axes: Any) -> None:
    """Aim the object at its target along -Z, upright."""
    for path in ROLL_PATHS:
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
