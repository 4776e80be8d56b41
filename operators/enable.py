# SPDX-License-Identifier: GPL-3.0-or-later
"""Make tracks TCB."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from .. import animation
from ..animation.report import Report
from ..animation.translation import n_, rpt_
from ..ui import selection
from ..ui.live import handlers
from ..ui.reporting import Status, finish
from .on_selection import OnSelection


class TCB_OT_enable(OnSelection, bpy.types.Operator):
    """Give the keys of the selected objects (in Pose mode: bones) tension, continuity, bias and ease"""

    bl_idname = "tcb.enable"
    bl_label = "Enable TCB"

    keep_look: BoolProperty(
        name="Keep Look",
        description="Fit parameters so that Bezier keys move almost as before. Other keys stay Blender's, except in "
        "tracks of linear keys alone. Off: parameters are 0, and linear and easing keys become TCB",
        default=True,
    )

    live: BoolProperty(
        name="Live",
        description="Let the handles of the keys play the motion, and keep it up to date with every edit, where an "
        "action had no TCB tracks before. On where you press a button, off in scripts",
        options={"SKIP_SAVE"},
    )

    done = n_("Enabled {:s}")
    otherwise = n_("Everything that is selected is TCB already")

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
        operator.report({"INFO"}, rpt_("Farthest from its look is {:s}", place))
    if report.looks_changed:
        warning = n_("{:d} of them play visibly otherwise when baked, named in the Info editor: undo, or adjust them")
        operator.report({"WARNING"}, rpt_(warning, report.looks_changed))
