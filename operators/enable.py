# SPDX-License-Identifier: GPL-3.0-or-later
"""Make tracks TCB."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty

from .. import animation, selection, words
from .on_selection import OnSelection
from .reporting import Status, finish


class TCB_OT_enable(OnSelection):
    """Give the keys of the selected objects (in Pose mode: bones) tension, continuity, bias and ease"""

    bl_idname = "tcb.enable"
    bl_label = "Enable TCB"

    keep_look: BoolProperty(
        name="Keep Look",
        description="Give keys with Bezier handles the parameters with which they play most as they do now; "
        "otherwise all are 0",
        default=True,
    )

    done = "Enabled"
    otherwise = "Everything that is selected is TCB already"

    def execute(self, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, self.use_data)
        report = animation.enable_many(selected, self.keep_look, selection.default_parameters(context))
        status = finish(self, report, self.done, self.otherwise)
        if report.looks_changed:
            warning = (
                "{:d} of them will play visibly otherwise once baked, named in the Info editor: undo, or adjust them"
            )
            self.report({"WARNING"}, words.report(warning, report.looks_changed))
        return status
