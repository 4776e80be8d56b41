# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake the motion of the selected objects or bones."""

from __future__ import annotations

import time
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..animation import SAMPLE_LIMIT, Options, enable_and_bake
from ..animation.edit.enable import plain_among
from ..animation.translation import n_, rpt_, told
from ..ui import selection
from ..ui.properties import OUTPUT_ITEMS, RANGE_ITEMS, TARGET_ITEMS, rotation_tolerance, value_tolerance
from ..ui.reporting import Status, finish
from .enable import warn_of_looks
from .on_selection import OnSelection

_SECONDS_BETWEEN_LINES = 2.0


class TCB_OT_bake(OnSelection, bpy.types.Operator):
    """Write the TCB motion of the selected objects (in Pose mode: bones) into F-curves that any Blender plays"""

    bl_idname = "tcb.bake"
    bl_label = "Bake TCB"

    output: EnumProperty(name="Output", description="What the baked curves are made of", items=OUTPUT_ITEMS)
    target: EnumProperty(name="Target", description="Where the baked keys go", items=TARGET_ITEMS)
    step: FloatProperty(
        name="Step", description="Frames from sample to sample", default=1.0, soft_min=0.05, soft_max=10
    )
    value_tolerance: value_tolerance()
    rotation_tolerance: rotation_tolerance()
    frames: EnumProperty(name="Frames", description="What to bake", items=RANGE_ITEMS)
    frame_start: FloatProperty(name="Start", description="First frame of a custom range", default=1.0)
    frame_end: FloatProperty(name="End", description="Last frame of a custom range", default=250.0)
    keep_look: BoolProperty(
        name="Keep Look",
        description="Where no track is TCB yet all become so: with the parameters with which keys play most as they do "
        "now, as Enable TCB gives them; otherwise with the defaults. On where you press a button, off in scripts",
        options={"SKIP_SAVE"},
    )
    sample_limit: IntProperty(
        name="Sample Limit", description="Refuse to make more samples than this", default=SAMPLE_LIMIT, min=1
    )

    def draw(self, _context: bpy.types.Context) -> None:
        layout: Any = self.layout
        layout.use_property_split = True
        shape = ("step",) if self.output == "SAMPLES" else ("value_tolerance", "rotation_tolerance")
        for name in ("output", *shape, "target", "frames"):
            layout.prop(self, name)
        if self.frames == "CUSTOM":
            layout.prop(self, "frame_start")
            layout.prop(self, "frame_end")
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
        given: Any = self
        try:
            options = Options(
                target=given.target,
                step=self.step,
                frame_range=self._frame_range(context),
                sample_limit=self.sample_limit,
                output=given.output,
                value_tolerance=self.value_tolerance or None,
                rotation_tolerance=self.rotation_tolerance,
                defaults=selection.default_parameters(context),
            )
        except ValueError as error:
            self.report({"ERROR"}, told(error))
            return {"CANCELLED"}
        plain = plain_among(selected) if self.keep_look else {}
        progress = Progress(context.window_manager)
        try:
            report = enable_and_bake(selected, plain, options, keep_look=True, progress=progress)
        finally:
            progress.end()
        status = finish(self, report, rpt_("Baked {:s}", report.counts))
        warn_of_looks(self, report)
        return status

    def _frame_range(self, context: bpy.types.Context) -> tuple[float, float] | None:
        scene: Any = context.scene
        if self.frames == "SCENE":
            return float(scene.frame_start), float(scene.frame_end)
        return (self.frame_start, self.frame_end) if self.frames == "CUSTOM" else None


class Progress:
    """Progress of a bake: at the mouse pointer, and without a window in lines."""

    def __init__(self, window_manager: Any, line: str = n_("{:d} of {:d} tracks baked")) -> None:
        self.window_manager = window_manager
        self.line = line
        self.said = time.monotonic()
        window_manager.progress_begin(0, 100)

    def __call__(self, done: int, total: int) -> None:
        self.window_manager.progress_update(100 * done // max(1, total))
        if bpy.app.background and time.monotonic() - self.said > _SECONDS_BETWEEN_LINES:
            self.said = time.monotonic()
            print(f"TCB: {rpt_(self.line, done, total)}", flush=True)

    def end(self) -> None:
        self.window_manager.progress_end()
