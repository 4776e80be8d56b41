# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that show a track, set its method, cycle and turns, and write velocities as custom properties."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.translations import pgettext_tip
from bpy.props import StringProperty

from ..animation import write_velocities_many
from ..animation.edit.track_settings import choose_settings
from ..animation.options import TRACK, VELOCITIES
from ..animation.store.table.track_records import CHOICES
from ..animation.translation import n_, rpt_
from ..ui import selection, sidebar_tracks
from ..ui.operator_results import Status, finish, for_named_track, refuse
from ..ui.option_properties import property_of
from ..ui.scene import defaults_of
from ..ui.track_text import shown_state
from .on_selection import OnSelection, poll_selection


class TCB_OT_track_select(bpy.types.Operator):
    """Show the keys of this track"""

    bl_idname = "tcb.track_select"
    bl_label = "Show Track"
    bl_options = {"INTERNAL"}

    track: StringProperty(name="Track", description="Datablock and path of the track")

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        """Return the state of the track as the tooltip."""
        for datablock, track in sidebar_tracks.active_tracks(context):
            if sidebar_tracks.track_identifier(datablock, track.path) == properties.track:
                return shown_state(datablock, track).tooltip
        return str(pgettext_tip(cls.__doc__ or ""))

    def execute(self, context: Any) -> Status:
        context.window_manager.tcb_track = self.track
        return {"FINISHED"}


class TCB_OT_track_choose(bpy.types.Operator):
    """Set the method, cycle and turns of a track in the selection"""

    bl_idname = "tcb.track_choose"
    bl_label = "Set TCB Track"
    bl_options = {"REGISTER", "UNDO"}

    track: StringProperty(
        name="Track",
        description="Data path of the animated property, or 'rotation' for the current rotation mode",
    )
    method: property_of(TRACK["method"])
    angles: property_of(TRACK["angles"])
    cycle: property_of(TRACK["cycle"])
    ends: property_of(TRACK["ends"])
    construction: property_of(TRACK["construction"])
    path: property_of(TRACK["path"])

    poll = classmethod(poll_selection)

    def execute(self, context: bpy.types.Context) -> Status:
        settings = {name: getattr(self, name) for name in CHOICES if self.properties.is_property_set(name)}
        if not settings:
            names = ", ".join(CHOICES)
            return refuse(self, rpt_("Nothing to set. Give one of {:s}", names))

        defaults = defaults_of(context.scene)
        report = for_named_track(
            selection.owners_of(context, self.track),
            self.track,
            lambda datablock, path: choose_settings(datablock, path, settings, defaults),
            keys=0,
        )
        return finish(self, report, rpt_("Changed the settings of {:s}", report.counts))


class TCB_OT_velocities_write(OnSelection, bpy.types.Operator):
    """Write velocities of TCB tracks as animated custom properties, or remove these properties"""

    bl_idname = "tcb.velocities_write"
    bl_label = "Write Velocities"

    remove: property_of(VELOCITIES["remove"])

    def execute(self: Any, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, self.use_data)
        report = write_velocities_many(selected, defaults=defaults_of(context.scene), remove=self.remove)
        done = n_("Removed velocities of {:s}") if self.remove else n_("Wrote velocities of {:s}")
        return finish(self, report, rpt_(done, report.counts))
