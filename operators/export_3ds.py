# SPDX-License-Identifier: GPL-3.0-or-later
"""Export animation to a 3D Studio file."""

from __future__ import annotations

import math
import time
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, orientation_helper

from ..animation import Refusal
from ..animation.translation import iface_, rpt_, told
from ..exchange.conversion import Conversion, axes_of, stretch_of
from ..exchange.exporting.exporter import EXPORT_STEPS, SAMPLE_LIMIT, ExportOptions, export_steps
from ..formats import three_ds
from ..ui.files import path_of, write_file
from ..ui.reporting import Status
from .bake import Progress
from .import_3ds import TIMING_ITEMS, draw_options, tell_of

_AT_ONCE = 1.0
"""Seconds of an export by hand after which Blender can be used and Esc is heeded."""
_SLICE, _PAUSE = 0.2, 0.01
"""Seconds: of work at a time, and between."""
OTHERS_ITEMS = (
    ("SAMPLE", "Sample", "A key every frame, of what they play"),
    ("REFUSE", "Refuse", "Write nothing where there are any"),
)


@orientation_helper(axis_forward="Y", axis_up="Z")
class EXPORT_ANIM_OT_tcb_3ds(bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export objects and their animation to a 3D Studio file, with the keys' tension, continuity, bias and ease"""

    bl_idname = "export_anim.tcb_3ds"
    bl_label = "Export 3D Studio Animation"
    bl_options = {"PRESET"}

    filename_ext = ".3ds"
    filter_glob: StringProperty(default="*.3ds", options={"HIDDEN"})

    use_selection: BoolProperty(name="Selected Only", description="Only the selected objects, and what they look at")
    global_scale: FloatProperty(
        name="Scale", description="Units of the file a Blender unit", default=1.0, min=1e-6, max=1e6
    )
    frame_start: FloatProperty(
        name="Start Frame", description="The frame that becomes frame 0 of the file", default=0.0
    )
    timing: EnumProperty(name="Timing", description="What becomes of the frames of the keys", items=TIMING_ITEMS)
    frame_rate: FloatProperty(
        name="File Rate",
        description="Frames a second in the file, which does not say it",
        default=30.0,
        min=1,
        max=1000,
    )
    others: EnumProperty(name="Other Tracks", description="What to do with tracks that are not TCB", items=OTHERS_ITEMS)
    sample_limit: IntProperty(
        name="Sample Limit",
        description="Write no file that would have more samples than this, objects times frames",
        default=SAMPLE_LIMIT,
        min=1,
    )
    _is_by_hand = False
    """An export by hand that takes long goes on in steps, between which Esc ends it."""

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
        given: Any = self
        scene: Any = context.scene
        objects = context.selected_objects if self.use_selection else scene.objects
        stretch = stretch_of(scene, self.frame_rate) if self.timing == "TIME" else 1.0
        axes = axes_of(given.axis_forward, given.axis_up)
        conversion = Conversion(axes, 1.0 / self.global_scale, self.frame_start, stretch)
        options = ExportOptions(conversion, self.others == "SAMPLE", self.sample_limit)
        self._steps = export_steps(objects, scene, options)
        self._progress = Progress(context.window_manager, EXPORT_STEPS)
        self._timer: bpy.types.Timer | None = None
        if bpy.app.background or not self._is_by_hand:
            return self._go_on(context, math.inf)
        status = self._go_on(context, _AT_ONCE)
        if status == {"RUNNING_MODAL"}:
            window_manager: Any = context.window_manager
            window_manager.modal_handler_add(self)
            self._timer = window_manager.event_timer_add(_PAUSE, window=context.window)
            workspace: Any = context.workspace
            workspace.status_text_set(iface_("Esc cancels the export"))
        return status

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"WARNING"}, rpt_("The export was cancelled: no file was written"))
            return {"CANCELLED"}
        # All other events are kept from the scene that is being exported.
        return self._go_on(context, _SLICE) if event.type == "TIMER" else {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        self._steps.close()
        self._end(context)

    def _go_on(self, context: bpy.types.Context, seconds: float) -> Status:
        """Export for that many seconds; RUNNING_MODAL says that more is left."""
        given: Any = self
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                self._progress(*next(self._steps))
        except StopIteration as stop:
            made, report = stop.value
        except Refusal as refusal:
            return self._failed(context, refusal)
        except BaseException:
            self._end(context)
            raise
        else:
            return {"RUNNING_MODAL"}
        try:
            write_file(path_of(given.filepath), three_ds.write(made))
        except (OSError, three_ds.ThreeDSError) as error:
            return self._failed(context, error)
        self._end(context)
        tell_of(self, report)
        return {"FINISHED"}

    def _failed(self, context: bpy.types.Context, error: Exception) -> Status:
        self._end(context)
        self.report({"ERROR"}, told(error))
        return {"CANCELLED"}

    def _end(self, context: bpy.types.Context) -> None:
        """Remove the signs of a running export."""
        self._progress.end()
        if self._timer is not None:
            window_manager: Any = context.window_manager
            workspace: Any = context.workspace
            window_manager.event_timer_remove(self._timer)
            workspace.status_text_set(None)
