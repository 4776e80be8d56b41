# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose which track the sidebar shows."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import StringProperty

from ..ui.reporting import Status


class TCB_OT_track_select(bpy.types.Operator):
    """Show this track's keys below"""

    bl_idname = "tcb.track_select"
    bl_label = "Show Track"
    bl_options = {"INTERNAL"}

    track: StringProperty(name="Track", description="As selection.track_identifier names it")

    def execute(self, context: bpy.types.Context) -> Status:
        window_manager: Any = context.window_manager
        window_manager.tcb_track = self.track
        return {"FINISHED"}
