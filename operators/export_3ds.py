# SPDX-License-Identifier: GPL-3.0-or-later
"""Export animation to a 3D Studio file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, orientation_helper

from ..animation.translation import n_, translated
from ..exchange.options import EXPORT
from ..ui.option_properties import property_of
from ..ui.reporting import Status
from .files import path_of, write_file
from .import_3ds import FileTiming, draw_options, report_exchange
from .in_steps import InSteps, Progress

if TYPE_CHECKING:
    from ..exchange.report import Exchanged
    from ..formats import three_ds


@orientation_helper(axis_forward="Y", axis_up="Z")
class EXPORT_ANIM_OT_tcb_3ds(InSteps, FileTiming, bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export objects with their keys and TCB parameters to a 3D Studio file"""

    bl_idname = "export_anim.tcb_3ds"
    bl_label = "Export 3D Studio Animation"
    bl_options = {"PRESET"}

    filename_ext = ".3ds"
    filter_glob: StringProperty(default="*.3ds", options={"HIDDEN"})

    use_selection: BoolProperty(name="Selected Only", description="Export selected objects and their targets only")
    global_scale: property_of(EXPORT["global_scale"])
    frame_start: property_of(EXPORT["frame_start"])
    others: property_of(EXPORT["others"])
    sample_limit: property_of(EXPORT["sample_limit"])
    hint = n_("Esc: cancel the export")
    cancelled = n_("Export canceled. No file was written")

    def draw(self, _context: bpy.types.Context) -> None:
        draw_options(
            self.layout,
            self,
            ("use_selection",),
            ("global_scale", "axis_forward", "axis_up"),
            ("frame_start", "timing", "frame_rate"),
            ("others", "sample_limit"),
        )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:  # type: ignore[override]
        self._is_by_hand = True
        return super().invoke(context, event)

    def execute(self, context: bpy.types.Context) -> Status:
        # Not with the extension: few sessions export such files.
        from ..exchange.conversion import conversion_of
        from ..exchange.exporting.exporter import EXPORT_STEPS, ExportOptions, export_steps

        given: Any = self
        scene: Any = context.scene
        objects = context.selected_objects if self.use_selection else scene.objects
        rate = self.frame_rate if self.timing == "TIME" else None
        axes = given.axis_forward, given.axis_up
        try:
            conversion = conversion_of(scene, *axes, 1.0 / self.global_scale, self.frame_start, rate)
        except ValueError as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        options = ExportOptions(conversion, self.others == "SAMPLE", self.sample_limit)
        return self.start(
            context, export_steps(objects, scene, options), Progress(context.window_manager, EXPORT_STEPS), self._finish
        )

    def _finish(self, context: bpy.types.Context, result: tuple[three_ds.Scene, Exchanged]) -> Status:
        from ..formats import three_ds

        given: Any = self
        made, report = result
        try:
            write_file(path_of(given.filepath), three_ds.write(made))
        except (OSError, three_ds.ThreeDSError) as error:
            return self._failed(context, error)
        report_exchange(self, report)
        return {"FINISHED"}
