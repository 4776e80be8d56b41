# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a key of the motion at the current frame."""

from __future__ import annotations

import bpy

from ..animation import AnimationError, Report
from ..animation.edit.make_key import make_key
from ..animation.translation import rpt_
from ..ui import selection
from ..ui.reporting import Status, finish


class TCB_OT_make_key(bpy.types.Operator):
    """Insert a key on the motion at the current frame, in all TCB tracks listed"""

    bl_idname = "tcb.make_key"
    bl_label = "Make TCB Key"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if any(track.enabled for _, track in selection.active_tracks(context)):
            return True
        cls.poll_message_set("The active object has no TCB track")
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        report = Report()
        for datablock, track in selection.active_tracks(context):
            if not track.enabled:
                continue
            try:
                make_key(datablock, track, selection.action_frame(context, datablock))
            except AnimationError as error:
                report.errors += error.findings
                continue
            report.tracks += 1
            report.keys += 1
        return finish(self, report, rpt_("Made {:s}", report.counts))
