# SPDX-License-Identifier: GPL-3.0-or-later
"""Set the choices of a track: its method, cycle, ends, construction, way of turning."""

from __future__ import annotations

import bpy
from bpy.props import StringProperty

from ..animation import choose
from ..animation.options import TRACK
from ..animation.store.table.settings import CHOICES
from ..animation.translation import rpt_
from ..ui import selection
from ..ui.option_properties import property_of
from ..ui.reporting import Status, finish, for_each_track, poll_selection


class TCB_OT_track_choose(bpy.types.Operator):
    """Set method, cycle and turns of a TCB track of the selection"""

    bl_idname = "tcb.track_choose"
    bl_label = "Set TCB Track"
    bl_options = {"REGISTER", "UNDO"}

    track: StringProperty(
        name="Track", description="Path of the animated property. 'rotation': that of the rotation mode"
    )
    method: property_of(TRACK["method"])
    angles: property_of(TRACK["angles"])
    cycle: property_of(TRACK["cycle"])
    ends: property_of(TRACK["ends"])
    construction: property_of(TRACK["construction"])
    path: property_of(TRACK["path"])

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_selection(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        given = {name: getattr(self, name) for name in CHOICES if self.properties.is_property_set(name)}
        if not given:
            names = ", ".join(CHOICES)
            self.report({"ERROR"}, rpt_("Nothing to set: give one of {:s}", names))
            return {"CANCELLED"}

        owners = selection.owners_of(context, self.track)
        work = for_each_track(owners, self.track, lambda datablock, path: choose(datablock, path, **given), keys=0)
        return finish(self, work, rpt_("Set {:s}", work.counts))
