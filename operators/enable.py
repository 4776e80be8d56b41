# SPDX-License-Identifier: GPL-3.0-or-later
"""Make tracks TCB."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from .. import animation
from ..animation.options import ENABLE
from ..animation.report import Report
from ..animation.translation import counted, n_, rpt_
from ..ui import selection
from ..ui.live import handlers
from ..ui.option_properties import property_of
from ..ui.reporting import Status, finish
from .on_selection import OnSelection


class TCB_OT_enable(OnSelection, bpy.types.Operator):
    """Give keys of selected objects, in Pose mode of bones, TCB parameters"""

    bl_idname = "tcb.enable"
    bl_label = "Enable TCB"

    keep_look: property_of(ENABLE["keep_look"])
    live: BoolProperty(
        name="Live",
        description="Play by handles and update after each edit. On for buttons, off for scripts",
        options={"SKIP_SAVE"},
    )

    done = n_("Enabled {:s}")
    otherwise = n_("All selected tracks are TCB already")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Status:
        if not self.properties.is_property_set("live"):
            self.live = True
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, self.use_data)
        first = handlers.without_tcb(selected) if self.live else []
        defaults = selection.default_parameters(context)
        report = animation.enable_many(selected, None, self.keep_look, defaults)
        played = handlers.go_live(first)
        # A track that handles can't play is TCB all the same, and its note says what to do.
        report.notes += [*played.notes, *played.refused]
        status = finish(self, report, rpt_(self.done, report.counts), self.otherwise)
        warn_of_changes(self, report)
        return status


def warn_of_changes(operator: bpy.types.Operator, report: Report) -> None:
    """Report the largest change of the motion, as a warning where it can be seen."""
    for place in report.farthest_off:
        operator.report({"INFO"}, rpt_("Largest change: {:s}", str(place)))
    if report.looks_changed:
        warning = counted(
            report.looks_changed,
            n_("The motion of {:d} track changes visibly. Undo, or adjust the track named in the Info editor"),
            n_("The motion of {:d} tracks changes visibly. Undo, or adjust those named in the Info editor"),
        )
        operator.report({"WARNING"}, warning)
