# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake the motion of the selected objects or bones."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.translations import pgettext_tip

from ..animation.options import BAKE, ENABLE
from ..animation.translation import n_, rpt_, translated
from ..ui import bake_options, selection
from ..ui.bake_options import BakeOptions
from ..ui.option_properties import property_of
from ..ui.redraw import layout_of
from ..ui.reporting import Status, finish
from .enable import warn_of_changes
from .in_steps import Progress
from .on_selection import OnSelection

_BY_HANDLES = n_("Play the motion by handles of your own keys, after freeing a bake")


class TCB_OT_bake(OnSelection, BakeOptions, bpy.types.Operator):
    """Write exact motion of selected objects, in Pose mode of bones, into locked F-curves"""

    bl_idname = "tcb.bake"
    bl_label = "Bake TCB"

    keep_look: property_of(ENABLE["keep_look"], default=False, options={"SKIP_SAVE"})
    sample_limit: property_of(BAKE["sample_limit"])

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """Return the tooltip; handles have one of their own."""
        if properties.output == "HANDLES":
            return str(pgettext_tip(_BY_HANDLES))
        return str(pgettext_tip(cls.__doc__ or ""))

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        for name in bake_options.used(self):
            layout.prop(self, name)
        layout.prop(self, "keep_look")
        layout.prop(self, "use_data")
        if self.output != "HANDLES":
            layout.prop(self, "sample_limit")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Status:
        if not self.properties.is_property_set("keep_look"):
            self.keep_look = True
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, self.use_data)
        defaults = selection.default_parameters(context)
        try:
            options = bake_options.options(self, context.scene, defaults, sample_limit=self.sample_limit)
        except ValueError as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        from ..animation import enable_and_bake
        from ..animation.edit.enable import plain_among

        # The bake itself makes all tracks TCB where none is, with the defaults.
        plain = plain_among(selected) if self.keep_look else {}
        progress = Progress(context.window_manager)
        try:
            report = enable_and_bake(selected, plain, options, self.keep_look, progress)
        finally:
            progress.end()
        status = finish(self, report, rpt_("Baked {:s}", report.counts))
        warn_of_changes(self, report)
        return status
