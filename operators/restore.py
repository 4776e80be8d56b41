# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a bake away."""

from __future__ import annotations

import bpy

from .. import animation
from ..animation.store.actions.live_switch import is_live
from ..animation.translation import n_, rpt_
from ..ui import selection
from ..ui.reporting import Status, finish, for_each
from .on_selection import OnSelection


class TCB_OT_restore(OnSelection, bpy.types.Operator):
    """Take the motion of TCB away and put your own curves back, with what you changed since; parameters stay"""

    bl_idname = "tcb.restore"
    bl_label = "Restore"

    work = staticmethod(animation.restore)
    done = n_("Restored {:s}")
    works_on = "BAKED"
    nothing = n_("Nothing that is selected is baked")

    def execute(self, context: bpy.types.Context) -> Status:
        live = [action for action in bpy.data.actions if is_live(action)]
        report = for_each(selection.selected_datablocks(context, self.use_data), self.work)
        done = self.done if all(map(is_live, live)) else n_("Restored {:s}; Live is off now")
        return finish(self, report, rpt_(done, report.counts))
