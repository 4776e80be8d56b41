# SPDX-License-Identifier: GPL-3.0-or-later
"""Create objects for planned objects, and restore the previous state if an import fails."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import bpy

from ...animation.errors import Finding
from ...animation.steps import Steps
from ...formats.three_ds import Light, Mesh
from ...interp import rotations
from ..conversion import WATTS, Conversion
from ..imported_state import PROPERTIES as SOURCES
from ..mesh_import import make_mesh
from .plan_objects import note
from .planned import Planned

AXES = "3DS Axes"

_VALUES = (
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
_PROPERTIES = (*SOURCES, "roll", "fov", "hotspot", "falloff")


class Before:
    """A datablock's state, recorded as a copy and the data that a copy shares or loses."""

    def __init__(self, datablock: Any) -> None:
        self.datablock = datablock
        self.copy = datablock.copy()
        animation = datablock.animation_data
        self.is_animated = animation is not None
        self.action = animation.action if animation else None
        self.slot = getattr(animation, "action_slot_handle", 0)
        self.has_fake_user = self.action is not None and self.action.use_fake_user
        self.names = {obj.name for obj in datablock.tcb_tracks}

    def put_back(self) -> None:
        now, then = self.datablock, self.copy
        _animate_as(now, then, self.is_animated)
        if self.action is not None:
            now.animation_data.action = self.action
            if self.slot:
                slots = {slot.handle: slot for slot in self.action.slots}
                now.animation_data.action_slot = slots[self.slot]
            self.action.use_fake_user = self.has_fake_user
        for name in [obj.name for obj in now.tcb_tracks if obj.name not in self.names]:
            now.tcb_tracks.remove(now.tcb_tracks.find(name))
        for name in _PROPERTIES:
            if name in then:
                now[name] = then[name]
                now.id_properties_ui(name).update_from(then.id_properties_ui(name))
            elif name in now:
                del now[name]
        if isinstance(now, bpy.types.Object):
            now.constraints.clear()
            for constraint in then.constraints:
                now.constraints.copy(constraint)
        for name in _VALUES:
            if hasattr(then, name):
                setattr(now, name, getattr(then, name))


def _animate_as(now: Any, then: Any, is_animated: bool) -> None:
    """Remove the action and restore the drivers."""
    if now.animation_data is not None:
        now.animation_data.action = None
        for driver in list(now.animation_data.drivers):
            now.animation_data.drivers.remove(driver)
    if not is_animated:
        now.animation_data_clear()
        return
    for driver in then.animation_data.drivers:
        now.animation_data.drivers.from_existing(src_driver=driver)


class Made:
    """New and changed datablocks, which are removed or restored if the import fails."""

    def __init__(self, collection: bpy.types.Collection) -> None:
        self.collection = collection
        self.datablocks: list[bpy.types.ID] = []
        self._befores: dict[bpy.types.ID, Before] = {}

    def new(self, kind: str, name: str, data: bpy.types.ID | None) -> Any:
        """Add a new object to the collection."""
        obj: bpy.types.Object = bpy.data.objects.new(name, data)
        self.datablocks.append(obj)
        self.collection.objects.link(obj)
        if kind == "EMPTY":
            obj.empty_display_size = 1.0
        return obj

    def data(self, datablock: bpy.types.ID) -> Any:
        self.datablocks.append(datablock)
        return datablock

    def keep(self, datablock: bpy.types.ID) -> None:
        """Record the state of a datablock before the import changes it."""
        if datablock not in self._befores:
            self._befores[datablock] = Before(datablock)

    def take_back(self) -> None:
        """Remove new datablocks with their actions, and restore changed ones."""
        actions = {_action_of(datablock) for datablock in (*self.datablocks, *self._befores)}
        actions -= {None, *(before.action for before in self._befores.values())}
        for before in self._befores.values():
            before.put_back()
        bpy.data.batch_remove({*self.datablocks, *actions})
        self.finish()

    def finish(self) -> None:
        """Discard the recorded states."""
        bpy.data.batch_remove([before.copy for before in self._befores.values()])
        self._befores.clear()


def _action_of(datablock: bpy.types.ID) -> bpy.types.Action | None:
    animation = getattr(datablock, "animation_data", None)
    return None if animation is None else animation.action


def make_objects(planned: Sequence[Planned], made: Made, notes: list[Finding]) -> Steps[list[Any]]:
    """Create an object, not yet placed, for each planned object, or a world for an ambient light.

    After each object, yields the progress of the import, which is zero until objects are placed.
    """
    meshes: dict[tuple[bytes, bytes, bool], Any] = {}
    items = []
    for one in planned:
        if one.kind == "WORLD":
            items.append(made.data(bpy.data.worlds.new(one.name)))
        else:
            items.append(made.new(one.kind, one.name, _data(one, meshes, made, notes)))
        yield 0, 2 * len(planned)
    return items


def _data(planned: Planned, meshes: dict[tuple[bytes, bytes, bool], Any], made: Made, notes: list[Finding]) -> Any:
    name = planned.node.name.decode("latin-1")
    if planned.kind == "MESH" and isinstance(planned.content, Mesh) and planned.points is not None:
        pivot = b"" if planned.node.pivot is None else planned.node.pivot.tobytes()
        shared = planned.node.name, pivot, planned.mirrored
        if shared not in meshes:
            add_note = partial(note, notes, planned.name)
            meshes[shared] = made.data(make_mesh(name, planned.content, planned.points, add_note))
        return meshes[shared]
    if planned.kind == "CAMERA":
        return made.data(bpy.data.cameras.new(name))
    if planned.kind == "LIGHT":
        light: Any = bpy.data.lights.new(name, "SPOT" if planned.node.kind == "SPOTLIGHT" else "POINT")
        content = planned.content
        multiplier = content.multiplier if isinstance(content, Light) and content.multiplier is not None else 1.0
        light.energy = WATTS * multiplier
        return made.data(light)
    return None


def make_axes(conversion: Conversion, made: Made) -> Any:
    """Return an object with the axes of the file, in which cameras are upright."""
    obj = made.new("EMPTY", AXES, None)
    obj.rotation_mode = "QUATERNION"
    obj.rotation_quaternion = rotations.from_matrix(conversion.axes)
    return obj
