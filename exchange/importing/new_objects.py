# SPDX-License-Identifier: GPL-3.0-or-later
"""Create objects for planned objects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import bpy

from ...animation.errors import Finding
from ...animation.steps import Steps
from ...formats.three_ds import Light, Mesh
from ...interp import rotations
from ..cameras_and_lights import WATTS
from ..conversion import Conversion
from ..meshes import make_mesh
from ..report import note
from .changes import Changes
from .plan_objects import PlannedObject

_Instance = tuple[bytes, bytes, bool]
"""The name, the pivot and the mirroring of a mesh in the file. Objects for which these are equal share the mesh."""


def make_objects(plans: Sequence[PlannedObject], changes: Changes, notes: list[Finding]) -> Steps[list[Any]]:
    """Create an object, not yet placed, for each planned object, or a world for an ambient light.

    After each object, yields the progress of the import, which is zero until objects are placed.
    """
    meshes: dict[_Instance, Any] = {}
    objects = []
    for planned in plans:
        if planned.kind == "WORLD":
            objects.append(changes.add(bpy.data.worlds.new(planned.name)))
        else:
            objects.append(changes.new_object(planned.name, _data_of(planned, meshes, changes, notes)))
        yield 0, 2 * len(plans)
    return objects


def _data_of(planned: PlannedObject, meshes: dict[_Instance, Any], changes: Changes, notes: list[Finding]) -> Any:
    """Return the data for a new object. Instances share meshes."""
    name = planned.node.name.decode("latin-1")
    if planned.kind == "CAMERA":
        return changes.add(bpy.data.cameras.new(name))
    if planned.kind == "LIGHT":
        light = changes.add(bpy.data.lights.new(name, "SPOT" if planned.node.kind == "SPOTLIGHT" else "POINT"))
        multiplier = planned.content.multiplier if isinstance(planned.content, Light) else None
        light.energy = WATTS * (1.0 if multiplier is None else multiplier)
        return light
    if planned.points is None or not isinstance(planned.content, Mesh):
        return None
    pivot = b"" if planned.node.pivot is None else planned.node.pivot.tobytes()
    instance = planned.node.name, pivot, planned.mirrored
    if instance not in meshes:
        add_note = partial(note, notes, planned.name)
        meshes[instance] = changes.add(make_mesh(name, planned.content, planned.points, add_note))
    return meshes[instance]


def make_axes(conversion: Conversion, changes: Changes) -> Any:
    """Return an object with the axes of the file, in which cameras are upright."""
    obj = changes.new_object("3DS Axes", None)
    obj.rotation_mode = "QUATERNION"
    obj.rotation_quaternion = rotations.from_matrix(conversion.axes)
    return obj
