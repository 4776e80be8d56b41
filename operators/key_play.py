# SPDX-License-Identifier: GPL-3.0-or-later
"""Let TCB play the chosen keys where handle types or an interpolation keep their parameters from acting."""

from __future__ import annotations

import bpy

from ..animation.edit.play_keys import free_handles, make_bezier
from ..animation.translation import rpt_
from ..ui import selection
from ..ui.reporting import NO_OWN_KEY_SELECTED, Status, finish, for_each_of, poll_keys


class TCB_OT_handles_free(bpy.types.Operator):
    """Make the handles of these keys Free, so that sliders act"""

    bl_idname = "tcb.handles_free"
    bl_label = "Make Free"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_keys(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        report = for_each_of(selection.chosen_keys(context), free_handles)
        return finish(self, report, rpt_("Made the handles of {:s} Free", report.counts), NO_OWN_KEY_SELECTED)


class TCB_OT_key_bezier(bpy.types.Operator):
    """Make these keys and those before them Bezier, so that sliders act"""

    bl_idname = "tcb.key_bezier"
    bl_label = "Make Bezier"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_keys(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        report = for_each_of(selection.chosen_keys(context), make_bezier)
        return finish(self, report, rpt_("Made {:s} Bezier", report.counts), NO_OWN_KEY_SELECTED)
