# SPDX-License-Identifier: GPL-3.0-or-later
"""Switch the motion of TCB off."""

from __future__ import annotations

import bpy

from .. import animation
from ..animation.store.actions.live_switch import is_live
from ..animation.translation import n_, rpt_
from ..ui import selection
from ..ui.reporting import Status, finish, for_each
from .on_selection import OnSelection


class TCB_OT_restore(OnSelection, bpy.types.Operator):
    """Switch TCB motion off, so that your own curves play, and keep parameters"""

    bl_idname = "tcb.restore"
    bl_label = "Restore"

    work = staticmethod(animation.restore)
    done = n_("Restored {:s}")
    works_on = "PLAYED"
    nothing = n_("Nothing selected plays TCB motion")

    def execute(self, context: bpy.types.Context) -> Status:
        live = [action for action in bpy.data.actions if is_live(action)]
        report = for_each(selection.selected_datablocks(context, self.use_data), self.work)
        done = self.done if all(map(is_live, live)) else n_("Restored {:s}. Live is off now")
        return finish(self, report, rpt_(done, report.counts))
