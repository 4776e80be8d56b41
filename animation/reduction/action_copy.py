# SPDX-License-Identifier: GPL-3.0-or-later
"""Write into a copy of an action, so that the original action stays unchanged."""

from __future__ import annotations

import bpy

from ..datablocks import name_of
from ..errors import Finding
from ..fcurves.channels import Channels, assign, channels_in, channels_of, users_of_channels
from ..store.actions.live_switch import switch_off


class ActionCopy:
    """The copies of a datablock's action into which a reduction writes. At most one copy is assigned at a time.

    Attributes
    ----------
    original : Channels
        The F-curves of the original action.
    """

    def __init__(self, datablock: bpy.types.ID, original: Channels) -> None:
        self._datablock = datablock
        self.original = original

    def assign(self) -> Channels:
        """Assign a new copy of the action, without Live, to the datablock, and return the copy's F-curves."""
        action, slot = self.original.action, self.original.slot_handle
        copy = action.copy()
        copy.name = f"{action.name}.reduced"
        switch_off(copy)
        assign(self._datablock, copy, slot)
        return next(channels for channels in channels_in(copy) if channels.slot_handle == slot)

    def remove(self) -> None:
        """Assign the original action to the datablock again, and remove the copy, if there is one."""
        original, assigned = self.original.action, channels_of(self._datablock).action
        if assigned != original:
            assign(self._datablock, original, self.original.slot_handle)
            bpy.data.actions.remove(assigned)

    def keep_original(self) -> list[Finding]:
        """Give the original action a fake user so that it is saved with the file, and return a note."""
        original = self.original.action
        if original.library is not None:
            return []
        original.use_fake_user = True
        return [Finding("REDUCE_KEPT", name_of(self._datablock), arguments=(original.name,))]

    def other_users(self) -> list[Finding]:
        """Return a note on each other datablock that uses the original action."""
        (users,) = users_of_channels([self.original])
        return [
            Finding("REDUCE_SHARED", name_of(user), arguments=(self.original.action.name,))
            for user in users
            if user != self._datablock
        ]
