# SPDX-License-Identifier: GPL-3.0-or-later
"""Set the parameters of one key."""

from __future__ import annotations

import bpy
from bpy.props import FloatProperty, StringProperty

from .. import selection
from ..animation import key_set
from ..animation.companions import PARAMETERS
from ..properties import parameter
from .reporting import Status, finish, for_each_track, poll_selection


class TCB_OT_key_set(bpy.types.Operator):
    """Set tension, continuity, bias and ease of the key at a frame, on the selected objects (in Pose mode: bones)"""

    bl_idname = "tcb.key_set"
    bl_label = "Set TCB Key"
    bl_options = {"REGISTER", "UNDO"}

    track: StringProperty(
        name="Track", description="Path of the animated property; 'rotation' means that of the rotation mode"
    )
    frame: FloatProperty(name="Frame", description="Where the key stands; left out: the current frame")
    tension: parameter("tension")
    continuity: parameter("continuity")
    bias: parameter("bias")
    ease_to: parameter("ease_to")
    ease_from: parameter("ease_from")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_selection(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        given = {name: getattr(self, name) for name in PARAMETERS if self.properties.is_property_set(name)}
        if not given:
            self.report({"ERROR"}, f"none of {', '.join(PARAMETERS)} is given")
            return {"CANCELLED"}

        def set_on(datablock: bpy.types.ID, path: str) -> None:
            given_frame = self.properties.is_property_set("frame")
            frame = self.frame if given_frame else selection.action_frame(context, datablock)
            key_set(datablock, path, frame, **given)

        owners = selection.owners_of(context, self.track)
        return finish(self, for_each_track(owners, self.track, set_on, keys=1), "Set")
