# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake again what was edited of live actions."""

from __future__ import annotations

import bpy

from ..animation.translation import n_, rpt_
from ..ui.live import handlers
from ..ui.live.editing import is_editing
from ..ui.reporting import Status, finish


class TCB_OT_sync(bpy.types.Operator):
    """Update live actions now, for scripts that have edited keys"""

    bl_idname = "tcb.sync"
    bl_label = "Sync TCB"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, _context: bpy.types.Context) -> Status:
        if is_editing():
            self.report({"ERROR"}, "Keys are being moved. Finish the move first")
            return {"CANCELLED"}
        report = handlers.flush_all()
        finish(self, report, rpt_("Synced {:s}", report.counts), n_("All live actions are up to date"))
        return {"FINISHED"} if report.tracks else {"CANCELLED"}
