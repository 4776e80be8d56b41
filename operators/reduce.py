# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce dense curves to few keys."""

from __future__ import annotations

import bpy

from ..animation import AnimationError, Reduction
from ..animation.reduction.reduce import reduce_steps
from ..animation.translation import n_
from ..ui import selection
from ..ui.properties import reduce_angle, reduce_error
from ..ui.redraw import redraw_editors
from ..ui.reporting import Status, poll_selection, report_notes
from .in_steps import InSteps, Progress
from .on_selection import WithData


class TCB_OT_reduce(WithData, InSteps, bpy.types.Operator):
    """Find the fewest keys, with velocities, whose handles play the dense curves of the selected objects (in Pose mode: bones) within an error. They go into a new action; the present one is kept"""  # noqa: E501  Blender shows it as it is

    bl_idname = "tcb.reduce"
    bl_label = "Reduce to TCB Keys"
    bl_options = {"REGISTER", "UNDO"}

    error: reduce_error()
    angle: reduce_angle()

    hint = n_("Reduce goes on: Esc leaves everything as it was")
    cancelled = n_("Reduce was ended: everything is as it was")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_selection(cls, context)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Status:
        self._is_by_hand = True
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, self.use_data)
        progress = Progress(context.window_manager, n_("{:d} of {:d} steps"))
        return self.start(context, reduce_steps(selected, self.error, self.angle), progress, self._finish)

    def _finish(self, _context: bpy.types.Context, found: tuple[list[Reduction], list[AnimationError]]) -> Status:
        results, refused = found
        for result in results:
            report_notes(self, result.notes)
            self.report({"INFO"} if result.reached else {"WARNING"}, str(result))
        faults = [str(each) for each in refused if not (each.nothing_to_do and results)]
        if faults:
            self.report({"ERROR"}, "\n".join(faults))
        redraw_editors()
        return {"FINISHED"} if results else {"CANCELLED"}
