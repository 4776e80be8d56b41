# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose which track the sidebar shows."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.translations import pgettext_tip
from bpy.props import StringProperty

from ..ui import selection
from ..ui.reporting import Status
from ..ui.track_text import shown_state


class TCB_OT_track_select(bpy.types.Operator):
    """Show this track's keys below"""

    bl_idname = "tcb.track_select"
    bl_label = "Show Track"
    bl_options = {"INTERNAL"}

    track: StringProperty(name="Track", description="Datablock and path of the track")

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        """Return the state of the track."""
        for datablock, track in selection.active_tracks(context):
            if selection.track_identifier(datablock, track) == properties.track:
                return shown_state(datablock, track).tooltip
        return str(pgettext_tip(cls.__doc__ or ""))

    def execute(self, context: bpy.types.Context) -> Status:
        window_manager: Any = context.window_manager
        window_manager.tcb_track = self.track
        return {"FINISHED"}
