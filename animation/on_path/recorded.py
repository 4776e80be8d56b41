# SPDX-License-Identifier: GPL-3.0-or-later
"""Record the keys of an object's or bone's tracks and the table of their action, and restore them bit for bit.

For a linked action, record the action itself, because edits create a copy.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..fcurves.channels import Channels, assign, channels_of, evaluate_anew
from ..fcurves.keyframes import Keyframes, extrapolate, read, write
from ..records import record
from ..store.table.custom_property import PROPERTY

_Content = dict[str, Any]


@record()
class Recorded:
    """Record the F-curves with a common path prefix and the table, and restore both."""

    datablock: bpy.types.ID
    channels: Channels
    prefix: str
    keys: dict[tuple[str, int], tuple[Keyframes, Any]]
    table: _Content | None

    @classmethod
    def of(cls, datablock: bpy.types.ID, prefix: str) -> Recorded:
        """Record the datablock's F-curves with this path prefix. Raise AnimationError if it has none."""
        channels = channels_of(datablock)
        keys = {
            (fcurve.data_path, fcurve.array_index): (read(fcurve), fcurve.extrapolation)
            for fcurve in channels
            if fcurve.data_path.startswith(prefix)
        }
        return cls(datablock, channels, prefix, keys, _content(channels.action))

    def put_back(self) -> None:
        """Restore the keys and the table. Remove everything that was added."""
        channels = channels_of(self.datablock)
        action: Any = channels.action
        if channels.identity != self.channels.identity:
            assign(self.datablock, self.channels.action, self.channels.slot_handle)
            if not action.users:
                bpy.data.actions.remove(action)
            return
        for fcurve in list(channels):
            if not fcurve.data_path.startswith(self.prefix):
                continue
            kept = self.keys.get((fcurve.data_path, fcurve.array_index))
            if kept is None:
                channels.remove(fcurve)
                continue
            extrapolate(fcurve, kept[1])
            write(fcurve, kept[0])
        # Blender crashes when a larger array replaces a smaller one.
        if PROPERTY in action:
            del action[PROPERTY]
        if self.table is not None:
            action[PROPERTY] = {}
            stored = action[PROPERTY]
            for name, value in self.table.items():
                stored[name] = value
        evaluate_anew(action)


def _content(action: Any) -> _Content | None:
    if PROPERTY not in action:
        return None
    stored = action[PROPERTY]
    # Copy, because Blender frees the memory with the property.
    return {name: np.array(value) if hasattr(value, "typecode") else value for name, value in stored.items()}
