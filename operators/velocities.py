# SPDX-License-Identifier: GPL-3.0-or-later
"""Operator that writes velocities as animated custom properties."""

from __future__ import annotations

from typing import Any

import bpy

from ..animation import write_velocities_many
from ..animation.options import VELOCITIES
from ..animation.translation import n_, rpt_
from ..ui import selection
from ..ui.operator_results import Status, finish
from ..ui.option_properties import property_of
from ..ui.scene import defaults_of
from .on_selection import OnSelection


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
