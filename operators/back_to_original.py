# SPDX-License-Identifier: GPL-3.0-or-later
"""Assign the action again that a new one was baked from."""

from __future__ import annotations

from typing import Any

import bpy

from .. import animation
from ..animation.store.actions.original_actions import originals
from ..animation.translation import n_
from ..ui import selection
from ..ui.reporting import poll_selection
from .on_selection import OnSelection


class TCB_OT_back_to_original(OnSelection, bpy.types.Operator):
    """Play the action again that the present one was baked from, as it was; the baked one goes where nothing uses it"""

    bl_idname = "tcb.back_to_original"
    bl_label = "Back to Original"

    work = staticmethod(animation.back_to_original)
    done = n_("Brought back {:s}")
    nothing = n_("Nothing that is selected plays an action that was baked or reduced from another")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not poll_selection(cls, context):
            return False
        datablocks: list[Any] = list(selection.selected_datablocks(context, use_data=True))
        animations = [datablock.animation_data for datablock in datablocks]
        baked = originals()
        if any(data is not None and data.action in baked for data in animations):
            return True
        cls.poll_message_set(cls.nothing)
        return False
