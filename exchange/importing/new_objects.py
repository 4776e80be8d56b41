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
from ..imported_state import PROPERTIES as STATE_PROPERTIES
from ..meshes import make_mesh
from .plan_objects import PlannedObject, note

AXES = "3DS Axes"

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


class PreviousState:
    """A datablock's state, recorded as a copy and the data that a copy shares or loses."""

    def __init__(self, datablock: Any) -> None:
        self.datablock = datablock
        self.copy = datablock.copy()
        animation = datablock.animation_data
        self.is_animated = animation is not None
        self.action = animation.action if animation else None
        self.slot = getattr(animation, "action_slot_handle", 0)
        self.has_fake_user = self.action is not None and self.action.use_fake_user
        self.track_names = {track.name for track in datablock.tcb_tracks}

    def restore(self) -> None:
        """Restore the recorded state."""
        now, then = self.datablock, self.copy
        _restore_drivers(now, then, self.is_animated)
        if self.action is not None:
            now.animation_data.action = self.action
            if self.slot:
                slots = {slot.handle: slot for slot in self.action.slots}
                now.animation_data.action_slot = slots[self.slot]
            self.action.use_fake_user = self.has_fake_user
        for name in [track.name for track in now.tcb_tracks if track.name not in self.track_names]:
            now.tcb_tracks.remove(now.tcb_tracks.find(name))
        for name in _CUSTOM_PROPERTIES:
            if name in then:
                now[name] = then[name]
                now.id_properties_ui(name).update_from(then.id_properties_ui(name))
            elif name in now:
                del now[name]
        if isinstance(now, bpy.types.Object):
            now.constraints.clear()
            for constraint in then.constraints:
                now.constraints.copy(constraint)
        for name in _PROPERTIES:
            if hasattr(then, name):
                setattr(now, name, getattr(then, name))


def _restore_drivers(now: Any, then: Any, is_animated: bool) -> None:
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


class Changes:
    """New and changed datablocks, which are removed or restored if the import fails."""

    def __init__(self, collection: bpy.types.Collection) -> None:
        self.collection = collection
        self.datablocks: list[bpy.types.ID] = []
        self._previous_states: dict[bpy.types.ID, PreviousState] = {}

    def new_object(self, kind: str, name: str, data: bpy.types.ID | None) -> Any:
        """Add a new object to the collection."""
        obj: bpy.types.Object = bpy.data.objects.new(name, data)
        self.datablocks.append(obj)
        self.collection.objects.link(obj)
        if kind == "EMPTY":
            obj.empty_display_size = 1.0
        return obj

    def add(self, datablock: bpy.types.ID) -> Any:
        """Add and return a new datablock, which is removed if the import fails."""
        self.datablocks.append(datablock)
        return datablock

    def record(self, datablock: bpy.types.ID) -> None:
        """Record the state of a datablock before the import changes it."""
        if datablock not in self._previous_states:
            self._previous_states[datablock] = PreviousState(datablock)

    def undo(self) -> None:
        """Remove new datablocks with their actions, and restore changed ones."""
        actions = {_action_of(datablock) for datablock in (*self.datablocks, *self._previous_states)}
        actions -= {None, *(state.action for state in self._previous_states.values())}
        for state in self._previous_states.values():
            state.restore()
        bpy.data.batch_remove({*self.datablocks, *actions})
        self.finish()

    def finish(self) -> None:
        """Discard the recorded states."""
        bpy.data.batch_remove([state.copy for state in self._previous_states.values()])
        self._previous_states.clear()


def _action_of(datablock: bpy.types.ID) -> bpy.types.Action | None:
    animation = getattr(datablock, "animation_data", None)
    return None if animation is None else animation.action


def make_objects(plans: Sequence[PlannedObject], changes: Changes, notes: list[Finding]) -> Steps[list[Any]]:
    """Create an object, not yet placed, for each planned object, or a world for an ambient light.

    After each object, yields the progress of the import, which is zero until objects are placed.
    """
    meshes: dict[tuple[bytes, bytes, bool], Any] = {}
    objects = []
    for planned in plans:
        if planned.kind == "WORLD":
            objects.append(changes.add(bpy.data.worlds.new(planned.name)))
        else:
            data = _new_data(planned, meshes, changes, notes)
            objects.append(changes.new_object(planned.kind, planned.name, data))
        yield 0, 2 * len(plans)
    return objects


def _new_data(
    planned: PlannedObject, meshes: dict[tuple[bytes, bytes, bool], Any], changes: Changes, notes: list[Finding]
) -> Any:
    """Return the data of a new object. Instances share meshes, by name, pivot and mirroring in the file."""
    name = planned.node.name.decode("latin-1")
    if planned.kind == "MESH" and isinstance(planned.content, Mesh) and planned.points is not None:
        pivot = b"" if planned.node.pivot is None else planned.node.pivot.tobytes()
        instance = planned.node.name, pivot, planned.mirrored
        if instance not in meshes:
            add_note = partial(note, notes, planned.name)
            meshes[instance] = changes.add(make_mesh(name, planned.content, planned.points, add_note))
        return meshes[instance]
    if planned.kind == "CAMERA":
        return changes.add(bpy.data.cameras.new(name))
    if planned.kind == "LIGHT":
        light: Any = bpy.data.lights.new(name, "SPOT" if planned.node.kind == "SPOTLIGHT" else "POINT")
        content = planned.content
        multiplier = content.multiplier if isinstance(content, Light) and content.multiplier is not None else 1.0
        light.energy = WATTS * multiplier
        return changes.add(light)
    return None


def make_axes(conversion: Conversion, changes: Changes) -> Any:
    """Return an object with the axes of the file, in which cameras are upright."""
    obj = changes.new_object("EMPTY", AXES, None)
    obj.rotation_mode = "QUATERNION"
    obj.rotation_quaternion = rotations.from_matrix(conversion.axes)
    return obj
