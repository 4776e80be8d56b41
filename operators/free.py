# SPDX-License-Identifier: GPL-3.0-or-later
"""Free baked tracks: their own keys come back, unlocked."""

from __future__ import annotations

from functools import partial

import bpy

from .. import animation
from ..animation.options import FREE
from ..animation.translation import n_, rpt_
from ..ui import selection
from ..ui.live import attempts
from ..ui.option_properties import property_of
from ..ui.redraw import layout_of
from ..ui.reporting import Status, finish, for_each
from .on_selection import OnSelection


class TCB_OT_free(OnSelection, bpy.types.Operator):
    """Replace baked curves of the selection by your own keys, unlocked"""

    bl_idname = "tcb.free"
    bl_label = "Free Bake"

    discard_edits: property_of(FREE["discard_edits"], options={"SKIP_SAVE"})

    done = n_("Freed {:s}")
    works_on = "BAKED"
    nothing = n_("Nothing selected is baked")

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        layout.prop(self, "discard_edits")
        layout.prop(self, "use_data")

    def execute(self, context: bpy.types.Context) -> Status:
        work = partial(animation.free, discard_edits=self.discard_edits)
        selected = selection.selected_datablocks(context, self.use_data)
        report = for_each(selected, work)
        if report.tracks:
            attempts.answer(selected)
        return finish(self, report, rpt_(self.done, report.counts))
