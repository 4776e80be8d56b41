# SPDX-License-Identifier: GPL-3.0-or-later
"""Record the states of objects that an import animates, and restore them if it fails."""

from __future__ import annotations

from typing import Any

import bpy

from ..imported_state import PROPERTIES as SOURCES

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
    """Record a datablock's state in a copy, and store the data that a copy shares or loses."""

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
