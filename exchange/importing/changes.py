# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes of an import to the open file, which are undone if the import fails."""

from __future__ import annotations

from typing import Any

import bpy

from ...animation.datablocks import HAS_SLOTS
from ..imported_state import PROPERTIES as STATE_PROPERTIES

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
