# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that enable, bake, free, restore, apply and remove TCB motion on the selection."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from typing import Any

import bpy
from bpy.app.translations import pgettext_tip
from bpy.props import BoolProperty

from .. import animation
from ..animation import Report, bake_in_world, bake_many
from ..animation.datablocks import name_of
from ..animation.options import BAKE, ENABLE, FREE
from ..animation.report import Finding
from ..animation.store.table_upkeep import is_live
from ..animation.text import counted, n_, rpt_
from ..ui import selection
from ..ui.layouts import draw_properties, layout_of
from ..ui.live import attempts_to_edit_baked, switch, updates
from ..ui.operator_results import Status, errors_in, finish, refuse, report_notes
from ..ui.option_properties import BakeOptions, property_of
from ..ui.scene import defaults_of
from .on_selection import NOTHING_IS_TCB, OnSelection, Progress, poll_selection

_MAX_MISS = 10.0
"""Error of handles, in degrees, above which Enable suggests another way to play an Euler rotation."""


class TCB_OT_enable(OnSelection, bpy.types.Operator):
    """Add TCB parameters to keys of selected objects, or selected bones in Pose Mode"""

    bl_idname = "tcb.enable"
    bl_label = "Enable TCB"

    keep_look: property_of(ENABLE["keep_look"])
    live: BoolProperty(
        name="Live",
        description="Play the motion with handles. Update after each edit. On by default, except in scripts",
        options={"SKIP_SAVE"},
    )

    done = n_("Enabled {:s}")
    otherwise = n_("All selected tracks are already TCB")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Status:
        if not self.properties.is_property_set("live"):
            self.live = True
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, self.use_data)
        defaults = defaults_of(context.scene)
        report = animation.enable_many(selected, keep_look=self.keep_look, defaults=defaults)
        actions = selection.actions_of(selected) if self.live else []
        played = switch.go_live(action for action in actions if action.is_editable)
        # A track that handles cannot play is still enabled. Its note describes the solution.
        report.notes += [*played.notes, *played.refused]
        locked = _notes_on_gimbal_lock(played)
        report.notes = [*locked, *_without_useless_advice(report.notes, locked, selected)]
        if not report.tracks:
            # All tracks were TCB, but some of them were off.
            report.add(replace(played, errors=[], notes=[]))
        status = finish(self, report, rpt_(self.done, report.counts), self.otherwise)
        _warn_of_changes(self, report)
        # The status bar shows the last report.
        report_notes(self, locked, "WARNING")
        return status


def _notes_on_gimbal_lock(report: Report) -> list[Finding]:
    """Return a note for each Euler rotation that its handles miss by far, which happens near gimbal lock."""
    return [
        Finding("GIMBAL_LOCK", error["datablock"], error["track"], round(error["frame"], 1), ((error["error"], "°"),))
        for error in report.handles
        if error["track"].endswith("rotation_euler") and error["frame"] is not None and error["error"] > _MAX_MISS
    ]


def _without_useless_advice(
    notes: list[Finding], locked: list[Finding], datablocks: Iterable[bpy.types.ID]
) -> list[Finding]:
    """Return the notes without those on long turns near gimbal lock, where handles need another solution."""
    names = {note.object for note in notes if note.code == "TURNS_KEPT"}
    places = {(note.object, note.track) for note in locked}
    for datablock in datablocks:
        if name_of(datablock) in names:
            faults = animation.find_rotation_faults(datablock)
            places |= {(fault.datablock, fault.track) for fault in faults if fault.kind == "GIMBAL"}
    return [note for note in notes if note.code != "TURNS_KEPT" or (note.object, note.track) not in places]


def _warn_of_changes(operator: bpy.types.Operator, report: Report) -> None:
    """Report the largest change to the motion, and warn if it is visible."""
    places = "; ".join(map(str, report.farthest_off))
    if report.looks_changed:
        warning = counted(
            report.looks_changed,
            n_("The motion of {:d} track changes visibly. Largest change: {:s}. Undo, or adjust its keys"),
            n_("The motion of {:d} tracks changes visibly. Largest change: {:s}. Undo, or adjust their keys"),
            places,
        )
        operator.report({"WARNING"}, warning)
    elif places:
        operator.report({"INFO"}, rpt_("Largest change: {:s}", places))


_BY_HANDLES = n_("Free the bake if there is one, and play the motion with handles")


class TCB_OT_bake(OnSelection, BakeOptions, bpy.types.Operator):
    """Write the exact motion of selected objects, or bones in Pose Mode, into locked F-curves"""

    bl_idname = "tcb.bake"
    bl_label = "Bake TCB"

    keep_look: property_of(ENABLE["keep_look"], options={"SKIP_SAVE"})
    sample_limit: property_of(BAKE["sample_limit"])

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """Return the tooltip, which is different for handles."""
        if properties.output == "HANDLES":
            return str(pgettext_tip(_BY_HANDLES))
        return str(pgettext_tip(cls.__doc__ or ""))

    def draw(self, _context: bpy.types.Context) -> None:
        limits = () if self.output == "HANDLES" else ("sample_limit",)
        draw_properties(layout_of(self), self, (*self.used_options(), "keep_look", "use_data", *limits))

    def execute(self, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, self.use_data)
        defaults = defaults_of(context.scene)
        try:
            options = self.bake_options(context.scene, defaults, sample_limit=self.sample_limit)
        except ValueError as error:
            return refuse(self, error)
        with closing(Progress(context.window_manager)) as progress:
            report = bake_many(selected, options, keep_look=self.keep_look, progress=progress)
        status = finish(self, report, rpt_("Baked {:s}", report.counts))
        _warn_of_changes(self, report)
        return status


class TCB_OT_bake_in_world(bpy.types.Operator):
    """Bake with interpolation in world space instead of parent space"""

    bl_idname = "tcb.bake_in_world"
    bl_label = "Bake in World Space"
    bl_options = {"REGISTER", "UNDO"}

    step: property_of(BAKE["step"])

    poll = classmethod(poll_selection)

    def execute(self, context: bpy.types.Context) -> Status:
        report = Report()
        defaults = defaults_of(context.scene)
        for obj, bones in _objects_and_bones(context).items():
            try:
                with errors_in(report):
                    report.add(bake_in_world(obj, bones, step=self.step, defaults=defaults))
            except ValueError as error:
                # All objects get the same arguments, so the first object raises any error, before any change.
                return refuse(self, error)
        return finish(self, report, rpt_("Baked in world space {:s}", report.counts))


def _objects_and_bones(context: bpy.types.Context) -> dict[Any, list[str]]:
    """Return the selected objects with their selected bones in Pose Mode, parents before children."""
    if context.mode == "POSE":
        bones: dict[Any, list[str]] = {}
        for bone in context.selected_pose_bones or ():
            bones.setdefault(bone.id_data, []).append(bone.name)
        return bones
    return {obj: [] for obj in sorted(context.selected_objects, key=_depth)}


def _depth(obj: bpy.types.Object) -> int:
    return 0 if obj.parent is None else 1 + _depth(obj.parent)


class TCB_OT_free(OnSelection, bpy.types.Operator):
    """Replace baked curves of the selection with your own keys, unlocked"""

    bl_idname = "tcb.free"
    bl_label = "Free Bake"

    discard_edits: property_of(FREE["discard_edits"], options={"SKIP_SAVE"})

    works_on = "BAKED"
    nothing = n_("No selected track is baked")

    def draw(self, _context: bpy.types.Context) -> None:
        draw_properties(layout_of(self), self, ("discard_edits", "use_data"))

    def execute(self, context: bpy.types.Context) -> Status:
        selected = selection.selected_datablocks(context, self.use_data)
        report = animation.free_many(selected, discard_edits=self.discard_edits)
        if report.tracks:
            attempts_to_edit_baked.clear()
        return finish(self, report, rpt_("Freed {:s}", report.counts))


class TCB_OT_restore(OnSelection, bpy.types.Operator):
    """Restore your own curves, and keep the TCB parameters for a later bake"""

    bl_idname = "tcb.restore"
    bl_label = "Restore"

    works_on = "PLAYED"
    nothing = n_("No selected track plays TCB motion")

    def execute(self, context: bpy.types.Context) -> Status:
        live_actions = [action for action in bpy.data.actions if is_live(action)]
        report = animation.restore_many(selection.selected_datablocks(context, self.use_data))
        done = n_("Restored {:s}") if all(map(is_live, live_actions)) else n_("Restored {:s}. Live is now off")
        return finish(self, report, rpt_(done, report.counts))


class TCB_OT_apply(OnSelection, bpy.types.Operator):
    """Keep the motion as plain animation and delete all TCB data"""

    bl_idname = "tcb.apply"
    bl_label = "Apply TCB"

    work = staticmethod(animation.apply_many)
    done = n_("Applied {:s}")
    works_on = "TCB"
    nothing = NOTHING_IS_TCB


class TCB_OT_remove(OnSelection, bpy.types.Operator):
    """Restore your own curves, and delete the TCB parameters and settings"""

    bl_idname = "tcb.remove"
    bl_label = "Remove TCB"

    work = staticmethod(animation.remove_many)
    done = n_("Removed TCB from {:s}")
    works_on = "TCB"
    nothing = NOTHING_IS_TCB


class TCB_OT_sync(bpy.types.Operator):
    """Update live actions after a script has edited keys"""

    bl_idname = "tcb.sync"
    bl_label = "Sync TCB"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, _context: bpy.types.Context) -> Status:
        if updates.is_editing():
            return refuse(self, rpt_("Keys are being moved. Finish moving them first"))
        report = updates.flush_all()
        return finish(self, report, rpt_("Synced {:s}", report.counts), n_("All live actions are up to date"))
