# SPDX-License-Identifier: GPL-3.0-or-later
"""Import and export tables of keys, motion and velocities."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..animation import AnimationError
from ..animation.datablocks import bone_path
from ..animation.options import EXPORT_TABLE, IMPORT_TABLE, VELOCITIES
from ..animation.steps import IMPORT_STEPS
from ..animation.tables.export_table import TableContent, export_table
from ..animation.tables.import_table import TableKeys, import_table
from ..animation.tables.velocities import Velocities, has_velocities, velocity_table, write_velocities
from ..animation.translation import n_, rpt_, translated
from ..formats import table
from ..ui import selection
from ..ui.frame_ranges import RANGE_ITEMS, CustomRange, frame_range, range_end, range_start
from ..ui.option_properties import property_of
from ..ui.redraw import layout_of
from ..ui.reporting import Status, finish, for_each, poll_selection
from .files import path_of, read_file, write_file
from .in_steps import Progress
from .on_selection import NOTHING_IS_TCB, OnSelection, WithData


class IMPORT_ANIM_OT_tcb_table(bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Import a table (CSV) as keys of the active object, or bone in Pose mode"""

    bl_idname = "import_anim.tcb_table"
    bl_label = "Import Table of Keys"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv;*.tsv;*.txt", options={"HIDDEN"})

    frame_start: property_of(IMPORT_TABLE["frame_start"])
    rotation: property_of(IMPORT_TABLE["rotation"])
    use_tcb: property_of(IMPORT_TABLE["use_tcb"])
    use_replace: property_of(IMPORT_TABLE["replace"])
    use_known_only: property_of(IMPORT_TABLE["known_only"])

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_active(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        given: Any = self
        path = path_of(given.filepath)
        try:
            how = TableKeys(
                self.frame_start, rate_of(context), self.use_tcb, self.use_replace, given.rotation, self.use_known_only
            )
            read = table.read(read_file(path))
        except table.TableError as error:
            self.report({"ERROR"}, rpt_("{:s}: {:s}", path.name, translated(error)))
            return {"CANCELLED"}
        except (ValueError, OSError) as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        obj = context.object
        assert obj is not None
        progress = Progress(context.window_manager, IMPORT_STEPS)
        try:
            report = import_table(obj, read, how, active_bone(context), progress)
        except AnimationError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        finally:
            progress.end()
        return finish(self, report, rpt_("Imported {:s}", report.counts))


def poll_active(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Check for an active object, in Pose mode an active bone; the greyed button says that there is none."""
    if context.object is None or (context.mode == "POSE" and context.active_pose_bone is None):
        operator.poll_message_set("No active bone" if context.mode == "POSE" else "No active object")
        return False
    return True


def active_bone(context: bpy.types.Context) -> str:
    """Return the path of the active bone in Pose mode; else empty."""
    bone = context.active_pose_bone if context.mode == "POSE" else None
    return bone_path(bone) if bone else ""


def rate_of(context: bpy.types.Context) -> float:
    """Return the scene's frames a second."""
    scene: Any = context.scene
    return float(scene.render.fps / scene.render.fps_base)


class EXPORT_ANIM_OT_tcb_table(bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export tracks of the active object, or bone in Pose mode, as a table (CSV)"""

    bl_idname = "export_anim.tcb_table"
    bl_label = "Export Table of Keys"
    bl_options = {"PRESET"}

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"})

    content: property_of(EXPORT_TABLE["content"])
    step: property_of(EXPORT_TABLE["step"])
    frames: EnumProperty(name="Frames", description="Range of the motion to write", items=RANGE_ITEMS)
    # Here `frame_start` is the frame that the table begins with.
    range_start: range_start()
    range_end: range_end()
    rotation: property_of(EXPORT_TABLE["rotation"])
    unit: property_of(EXPORT_TABLE["unit"])
    frame_start: property_of(EXPORT_TABLE["frame_start"])

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_active(cls, context)

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "content")
        if self.content == "MOTION":
            layout.prop(self, "step")
            layout.prop(self, "frames")
            if self.frames == "CUSTOM":
                layout.prop(self, "range_start")
                layout.prop(self, "range_end")
        layout.prop(self, "rotation")
        layout.prop(self, "unit")
        layout.prop(self, "frame_start")

    def execute(self, context: bpy.types.Context) -> Status:
        given: Any = self
        obj = context.object
        assert obj is not None
        try:
            how = TableContent(
                given.content,
                self.step,
                self._range(context),
                given.unit,
                rate_of(context),
                self.frame_start,
                given.rotation,
            )
            made, report = export_table(obj, how, active_bone(context), context.scene)
            write_file(path_of(given.filepath), table.write(made))
        except (AnimationError, ValueError, OSError) as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        return finish(self, report, rpt_("Exported {:s}", report.counts))

    def _range(self, context: bpy.types.Context) -> tuple[float, float] | None:
        scene: Any = context.scene
        if self.frames == "SCENE":
            return float(scene.frame_start), float(scene.frame_end)
        return (self.range_start, self.range_end) if self.frames == "CUSTOM" else None


_OPTIONS = ("quantities", "unit", "step", "frames")


class _Options(CustomRange):
    """Options of both operators."""

    quantities: property_of(VELOCITIES["quantities"])
    unit: property_of(VELOCITIES["unit"])
    step: property_of(VELOCITIES["step"])
    frames: EnumProperty(name="Frames", description="Quantities to write", items=RANGE_ITEMS)

    def draw(self, _context: bpy.types.Context) -> None:
        given: Any = self
        layout: bpy.types.UILayout = given.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in _OPTIONS:
            layout.prop(self, name)
        if given.frames == "CUSTOM":
            layout.prop(self, "frame_start")
            layout.prop(self, "frame_end")
        layout.prop(self, "use_data")

    def how(self, context: bpy.types.Context) -> Velocities:
        """Return the quantities and scale. Raises ValueError where the options make no sense."""
        given: Any = self
        scene: Any = context.scene
        return Velocities(
            frozenset(given.quantities),
            given.step,
            given.unit,
            rate_of(context),
            frame_range(given, scene),
            selection.default_parameters(context),
        )


class TCB_OT_velocities_write(_Options, OnSelection, bpy.types.Operator):
    """Write velocities of TCB tracks as animated custom properties, or remove them"""

    bl_idname = "tcb.velocities_write"
    bl_label = "Write Velocities"

    works_on = "TCB"
    nothing = NOTHING_IS_TCB

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Allow objects from which TCB was removed, too: what was written can still be removed."""
        selected = selection.selected_datablocks(context, use_data=True)
        return super().poll(context) or any(
            has_velocities(*datablock_and_paths) for datablock_and_paths in selected.items()
        )

    def execute(self, context: bpy.types.Context) -> Status:
        try:
            how = self.how(context)
        except ValueError as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        report = for_each(
            selection.selected_datablocks(context, self.use_data),
            lambda datablock, prefixes: write_velocities(datablock, prefixes, how),
        )
        done = n_("Wrote velocities of {:s}") if how.quantities else n_("Removed velocities of {:s}")
        return finish(self, report, rpt_(done, report.counts))


class EXPORT_ANIM_OT_tcb_velocities(_Options, WithData, bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export velocities of selected objects' TCB tracks, in Pose mode of bones, as a table"""

    bl_idname = "export_anim.tcb_velocities"
    bl_label = "Export Velocities"
    bl_options = {"PRESET"}

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll_selection(cls, context)

    def execute(self, context: bpy.types.Context) -> Status:
        given: Any = self
        try:
            made, report = velocity_table(selection.selected_datablocks(context, self.use_data), self.how(context))
            write_file(path_of(given.filepath), table.write(made))
        except (AnimationError, ValueError, OSError) as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        return finish(self, report, rpt_("Exported velocities of {:s}", report.counts))
