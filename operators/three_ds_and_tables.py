# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that import and export 3D Studio files and tables of keys."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper, orientation_helper

from ..animation import AnimationError, TableKeys, export_table, import_table
from ..animation.options import IMPORT_TABLE
from ..animation.scene_time import frame_rate
from ..animation.steps import IMPORT_STEPS
from ..animation.store.paths import bone_path
from ..animation.text import n_, rpt_, translated
from ..exchange.options import EXPORT, IMPORT
from ..formats import table
from ..ui import selection
from ..ui.layouts import draw_properties
from ..ui.operator_results import Status, finish, keep_result_notes, refuse, report_notes
from ..ui.option_properties import property_of
from ..ui.redraw import redraw_editors
from .on_selection import InSteps, Progress, poll_active

if TYPE_CHECKING:
    from ..exchange.importing.importer import ImportOptions
    from ..exchange.report import ExchangeReport
    from ..formats import three_ds


# Entire files, with errors that name the file


def path_of(filepath: str) -> Path:
    """Return the absolute path of an operator's file path, which may be relative to the .blend file (`//run.csv`)."""
    return Path(bpy.path.abspath(filepath))


def read_file(path: Path) -> bytes:
    """Return the content of a file.

    Raises an OSError that names the file. The system's error, with its number, is the cause.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise OSError(rpt_("{} cannot be read: {}", path, error.strerror)) from error


def write_file(path: Path, content: bytes) -> None:
    """Write a file in one step. An existing file is kept until the new one is complete.

    The new file has default permissions, and replaces a symbolic link instead of its target. Raises an OSError that
    names the file, whose cause is the system's error with its number, or an OSError if the path has no file name.
    """
    if not path.name:
        raise OSError(rpt_("No file name. Enter one and export again"))
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as error:
        raise OSError(rpt_("{} cannot be written: {}", path, error.strerror)) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


# 3D Studio files


_TARGET_ITEMS = (
    ("CREATE", "New Objects", "Create the file's meshes, cameras, lights and hierarchy"),
    ("MATCH", "Existing Objects", "Animate scene objects with matching names"),
)


class _FileTiming:
    timing: property_of(IMPORT["timing"])
    frame_rate: property_of(IMPORT["frame_rate"])


@orientation_helper(axis_forward="Y", axis_up="Z")
class IMPORT_ANIM_OT_tcb_3ds(InSteps, _FileTiming, bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Import scenes from 3D Studio files, with their keys and TCB parameters"""

    bl_idname = "import_anim.tcb_3ds"
    bl_label = "Import 3D Studio"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".3ds"
    filter_glob: StringProperty(default="*.3ds", options={"HIDDEN"})
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options={"HIDDEN", "SKIP_SAVE"})
    directory: StringProperty(subtype="DIR_PATH", options={"HIDDEN", "SKIP_SAVE"})

    target: EnumProperty(name="Animate", description="Objects to animate", items=_TARGET_ITEMS)
    global_scale: property_of(IMPORT["global_scale"])
    frame_start: property_of(IMPORT["frame_start"])
    use_scene_range: BoolProperty(
        name="Set Scene Range",
        description="Set the scene's frame range, and the frame rate if nothing else is animated",
        default=True,
    )
    rotations: property_of(IMPORT["rotations"])
    use_shorter_turns: property_of(IMPORT["use_shorter_turns"])
    between: property_of(IMPORT["between"])
    output: property_of(IMPORT["output"])
    sample_limit: property_of(IMPORT["sample_limit"])
    use_live: BoolProperty(
        name="Live",
        description="Update the motion after each edit. On by default, except in scripts",
        options={"SKIP_SAVE"},
    )

    hint = n_("Esc: cancel the import")
    cancelled = n_("Import canceled. All changes were undone")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Status:  # type: ignore[override]
        self._is_by_hand = True
        if not self.properties.is_property_set("use_live"):
            self.use_live = True
        # Dropped files open a dialog instead of the file browser.
        return cast(Status, self.invoke_popup(context))

    def draw(self, _context: bpy.types.Context) -> None:
        _draw_options(
            self.layout,
            self,
            ("target",),
            ("global_scale", "axis_forward", "axis_up"),
            ("frame_start", "timing", "frame_rate", "use_scene_range"),
            ("rotations", "between", "use_shorter_turns"),
            ("output", "sample_limit", "use_live"),
        )

    def execute(self, context: Any) -> Status:
        # Imported here, because few sessions import 3D Studio files.
        from ..exchange.importing.importer import import_steps, set_playback_range
        from ..formats import three_ds

        try:
            options = self._options(context)
        except ValueError as error:
            return refuse(self, error)
        file_scenes: dict[str, three_ds.Scene] = {}
        for path in self._paths():
            try:
                file_scenes[path.name] = three_ds.read(read_file(path))
            except OSError as error:
                return refuse(self, error)
            except three_ds.ThreeDSError as error:
                return refuse(self, rpt_("{:s}: {:s}", path.name, translated(error)))
        set_mode: Any = bpy.ops.object.mode_set
        if context.mode != "OBJECT" and set_mode.poll():
            set_mode(mode="OBJECT")
        scene: Any = context.scene
        is_animated = any(obj.animation_data and obj.animation_data.action for obj in scene.objects)
        new_rate = self.frame_rate if self.timing == "FRAMES" and not is_animated else None
        shows_objects = self._is_by_hand and self.target == "CREATE"

        def finish(context: bpy.types.Context, report: ExchangeReport) -> Status:
            if self.use_scene_range:
                set_playback_range(scene, list(file_scenes.values()), options.conversion, new_rate)
                text = n_("Scene range: frames {:d} to {:d} at {:g} fps")
                self.report({"INFO"}, rpt_(text, scene.frame_start, scene.frame_end, frame_rate(scene)))
            return self._finish(context, report, shows_objects)

        steps = import_steps(file_scenes, scene, context.collection, options)
        return self.start(context, steps, Progress(context.window_manager, IMPORT_STEPS), finish)

    def _finish(self, context: bpy.types.Context, report: ExchangeReport, shows_objects: bool) -> Status:
        if self.use_live:
            for datablock in report.animated_datablocks:
                datablock.animation_data.action.tcb_live = True
        _select(context, report.objects)
        if shows_objects:
            _frame_selected(context)
        _report_exchange(self, report, "MADE")
        redraw_editors()
        return {"FINISHED"}

    def _paths(self: Any) -> list[Path]:
        """Return the chosen files. Several files are names in a folder."""
        if self.files and self.directory:
            return [Path(self.directory, file.name) for file in self.files]
        return [path_of(self.filepath)]

    def _options(self: Any, context: Any) -> ImportOptions:
        from ..exchange.conversion import conversion_of
        from ..exchange.importing.importer import ImportOptions
        from ..exchange.rotation_modes import RotationOptions

        rate = self.frame_rate if self.timing == "TIME" else None
        axes = self.axis_forward, self.axis_up
        conversion = conversion_of(context.scene, *axes, self.global_scale, self.frame_start, rate)
        rotation_options = RotationOptions(self.rotations == "EULER", self.use_shorter_turns, self.between)
        return ImportOptions(conversion, rotation_options, self.target == "MATCH", self.output, self.sample_limit)


def _select(context: bpy.types.Context, objects: Sequence[bpy.types.Object]) -> None:
    selected = selection.select_only(context, objects)
    layer: Any = context.view_layer
    if selected and layer.objects.active not in selected:
        layer.objects.active = selected[0]


def _frame_selected(context: bpy.types.Context) -> None:
    screen = context.screen
    for area in screen.areas if screen is not None else ():
        if area.type == "VIEW_3D":
            region = next(region for region in area.regions if region.type == "WINDOW")
            override: Any = context.temp_override(area=area, region=region)
            with override:
                bpy.ops.view3d.view_selected()


def _draw_options(layout: Any, operator: bpy.types.Operator, *groups: Sequence[str]) -> None:
    for names in groups:
        draw_properties(layout.column(), operator, names)


def _report_exchange(operator: bpy.types.Operator, report: ExchangeReport, code: str) -> None:
    """Report the notes and the result, and keep the notes for the message line. The status bar shows the last line."""
    keep_result_notes([*report.damage, *report.notes])
    report_notes(operator, report.damage, "WARNING")
    report_notes(operator, report.notes)
    if report.baked.tracks:
        operator.report({"INFO"}, rpt_("Baked {:s}", report.baked.counts))
    for line in reversed(report.summary(code)):
        operator.report({"INFO"}, str(line))


@orientation_helper(axis_forward="Y", axis_up="Z")
class EXPORT_ANIM_OT_tcb_3ds(InSteps, _FileTiming, bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export objects with their keys and TCB parameters to a 3D Studio file"""

    bl_idname = "export_anim.tcb_3ds"
    bl_label = "Export 3D Studio"
    bl_options = {"PRESET"}

    filename_ext = ".3ds"
    filter_glob: StringProperty(default="*.3ds", options={"HIDDEN"})

    use_selection: BoolProperty(name="Selected Only", description="Export only selected objects and their targets")
    global_scale: property_of(EXPORT["global_scale"])
    frame_start: property_of(EXPORT["frame_start"])
    sample_limit: property_of(EXPORT["sample_limit"])
    hint = n_("Esc: cancel the export")
    cancelled = n_("Export canceled. No file was written")

    def draw(self, _context: bpy.types.Context) -> None:
        _draw_options(
            self.layout,
            self,
            ("use_selection",),
            ("global_scale", "axis_forward", "axis_up"),
            ("frame_start", "timing", "frame_rate"),
            ("sample_limit",),
        )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Status:  # type: ignore[override]
        self._is_by_hand = True
        return super().invoke(context, event)

    def execute(self: Any, context: bpy.types.Context) -> Any:
        # Imported here, because few sessions export 3D Studio files.
        from ..exchange.conversion import conversion_of
        from ..exchange.exporting.exporter import EXPORT_STEPS, export_steps

        scene: Any = context.scene
        objects = context.selected_objects if self.use_selection else scene.objects
        rate = self.frame_rate if self.timing == "TIME" else None
        axes = self.axis_forward, self.axis_up
        try:
            conversion = conversion_of(scene, *axes, 1.0 / self.global_scale, self.frame_start, rate)
        except ValueError as error:
            return refuse(self, error)
        steps = export_steps(objects, scene, conversion, self.sample_limit)
        return self.start(context, steps, Progress(context.window_manager, EXPORT_STEPS), self._finish)

    def _finish(self: Any, context: bpy.types.Context, result: tuple[three_ds.Scene, ExchangeReport]) -> Any:
        from ..formats import three_ds

        file_scene, report = result
        try:
            write_file(path_of(self.filepath), three_ds.write(file_scene))
        except (OSError, three_ds.ThreeDSError) as error:
            return self._fail(context, error)
        _report_exchange(self, report, "EXPORTED")
        return {"FINISHED"}


# Tables of keys


class IMPORT_ANIM_OT_tcb_table(bpy.types.Operator, ImportHelper):  # type: ignore[misc]
    """Import a table (CSV) as keys of the active object, or bone in Pose Mode"""

    bl_idname = "import_anim.tcb_table"
    bl_label = "Import Table of Keys"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv;*.tsv;*.txt", options={"HIDDEN"})

    frame_start: property_of(IMPORT_TABLE["frame_start"])
    use_tcb: property_of(IMPORT_TABLE["use_tcb"])
    use_replace: property_of(IMPORT_TABLE["replace"])

    poll = classmethod(poll_active)

    def execute(self: Any, context: bpy.types.Context) -> Status:
        path = path_of(self.filepath)
        try:
            options = TableKeys(self.frame_start, frame_rate(context.scene), self.use_tcb, self.use_replace)
            content = table.read(read_file(path))
        except table.TableError as error:
            return refuse(self, rpt_("{:s}: {:s}", path.name, translated(error)))
        except (ValueError, OSError) as error:
            return refuse(self, error)
        obj, bone = _object_and_bone_path(context)
        try:
            with closing(Progress(context.window_manager, IMPORT_STEPS)) as progress:
                report = import_table(obj, content, options, bone, progress)
        except AnimationError as refusal:
            return refuse(self, refusal)
        return finish(self, report, rpt_("Imported {:s}", report.counts))


def _object_and_bone_path(context: bpy.types.Context) -> tuple[Any, str]:
    """Return the active object or, in Pose Mode, the object and the path of the bone in the tab."""
    bone = selection.active_bone(context)
    return (bone.id_data, bone_path(bone)) if bone else (context.object, "")


class EXPORT_ANIM_OT_tcb_table(bpy.types.Operator, ExportHelper):  # type: ignore[misc]
    """Export keys of the active object, or bone in Pose Mode, as a table (CSV)"""

    bl_idname = "export_anim.tcb_table"
    bl_label = "Export Table of Keys"

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"})

    poll = classmethod(poll_active)

    def execute(self: Any, context: bpy.types.Context) -> Status:
        try:
            content, report = export_table(*_object_and_bone_path(context))
            write_file(path_of(self.filepath), table.write(content))
        except (AnimationError, ValueError, OSError) as error:
            return refuse(self, error)
        return finish(self, report, rpt_("Exported {:s}", report.counts))
