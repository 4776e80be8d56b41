# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that reduce dense curves to few keys, and count the keys for several errors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import bpy
from bpy.props import BoolProperty

from ..animation.edit.selected_keys import any_selected
from ..animation.number_text import number_text
from ..animation.steps import Steps
from ..animation.translation import n_, rpt_, translated
from ..ui import selection
from ..ui.chosen_keys import editable_fcurves, in_animation_editor, selected_paths
from ..ui.live import handlers
from ..ui.operator_results import Status, poll_selection, report_notes
from ..ui.properties import ReduceOptions
from ..ui.redraw import layout_of, redraw_editors
from ..ui.result_notes import keep_result_notes
from .in_steps import InSteps, Progress
from .on_selection import WithData

if TYPE_CHECKING:
    from ..animation import KeyCount, Reduction
    from ..animation.errors import Finding
    from ..animation.reduction.reduce import Selected
    from ..animation.reduction.reduce_request import ReduceRequest

_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Errors to compare, as factors of the current error."""


class _Reducing(ReduceOptions, WithData, InSteps):
    """Base class for both operators."""

    work: ClassVar[Any]
    """Static function that takes the selection and the requested reduction, and returns Steps."""
    others: ClassVar[tuple[str, ...]] = ("use_data",)
    """Properties that are not in the Reduce panel."""

    @classmethod
    def poll(cls: Any, context: bpy.types.Context) -> bool:
        shown = editable_fcurves(context) if in_animation_editor(context) else []
        return any_selected(shown) or poll_selection(cls, context)

    def draw(self: Any, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        for name in (*self.used(context), *self.others):
            layout.prop(self, name)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Any:
        self._is_by_hand = True
        return self.execute(context)

    def execute(self: Any, context: bpy.types.Context) -> Any:
        scene: Any = context.scene
        try:
            request = self.request(scene)
        except ValueError as error:
            self.report({"ERROR"}, translated(error))
            return {"CANCELLED"}
        if self.frames == "SELECTED":
            selected, ranges = selected_paths(context, self.use_data)
        else:
            selected, ranges = selection.selected_datablocks(context, self.use_data), {}
        if not selected:
            self.report({"ERROR"}, rpt_("Select keys of animated properties"))
            return {"CANCELLED"}
        work = {datablock: (paths, _within(request, ranges.get(datablock))) for datablock, paths in selected.items()}
        progress = Progress(context.window_manager, n_("{:d} of {:d} steps"))
        return self.start(context, self.work(work), progress, self.finish)


class TCB_OT_reduce(_Reducing, bpy.types.Operator):
    """Replace dense curves with few keys in a copy of the action"""

    bl_idname = "tcb.reduce"
    bl_label = "Reduce to TCB Keys"
    bl_options = {"REGISTER", "UNDO"}

    live: BoolProperty(
        name="Live",
        description="Update the new action after each edit. On by default, except in scripts",
        options={"SKIP_SAVE"},
    )

    others = ("use_data", "live")
    hint = n_("Reducing. Esc: cancel without changes")
    cancelled = n_("Reduce canceled. Nothing was changed")

    @staticmethod
    def work(selected: Selected) -> Steps[tuple[list[Reduction], list[Finding]]]:
        from ..animation.reduction.reduce import reduce_steps

        return reduce_steps(selected)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        if not self.properties.is_property_set("live"):
            self.live = True
        return super().invoke(context, event)

    def finish(self, context: bpy.types.Context, found: tuple[list[Reduction], list[Finding]]) -> Status:
        results, refused = found
        manager: Any = context.window_manager
        manager.tcb_reduction = "\n".join(map(str, results))
        for result in results:
            report_notes(self, result.notes)
            self.report({"INFO"} if result.is_within else {"WARNING"}, str(result))
        if self.live:
            handlers.go_live([bpy.data.actions[result.action] for result in results if not result.is_minimal])
        keep_result_notes(note for result in results for note in result.notes)
        faults = [str(each) for each in refused if not (each.has_nothing_to_do and results)]
        if faults:
            self.report({"ERROR"}, "\n".join(faults))
        redraw_editors()
        return {"FINISHED"} if results else {"CANCELLED"}


class TCB_OT_reduce_compare(_Reducing, bpy.types.Operator):
    """Count keys for five maximum errors, from a quarter to four times the current value"""

    bl_idname = "tcb.reduce_compare"
    bl_label = "Compare Errors"
    bl_options = {"REGISTER"}

    hint = n_("Counting keys. Esc: cancel")
    cancelled = n_("Counting canceled")

    @staticmethod
    def work(selected: Selected) -> Steps[tuple[list[KeyCount], list[Finding]]]:
        from ..animation.reduction.reduce import keys_by_error_steps

        return keys_by_error_steps(selected, _FACTORS)

    def finish(self, context: bpy.types.Context, found: tuple[list[KeyCount], list[Finding]]) -> Status:
        counts, refused = found
        manager: Any = context.window_manager
        manager.tcb_key_counts.clear()
        for count in counts:
            row = manager.tcb_key_counts.add()
            row.error, row.key_count, row.before = count.error, count.keys, count.before
        text = ", ".join(rpt_("{:s}: {:,} keys", number_text(count.error, 6), count.keys) for count in counts)
        if counts:
            self.report({"INFO"}, rpt_("{:s}, now {:,}", text, counts[0].before))
        faults = [str(each) for each in refused if not (each.has_nothing_to_do and counts)]
        if faults:
            self.report({"ERROR"}, "\n".join(faults))
        redraw_editors()
        return {"FINISHED"} if counts else {"CANCELLED"}


def _within(request: ReduceRequest, frame_range: tuple[float, float] | None) -> ReduceRequest:
    """Return the requested reduction, limited to a range of keys if a range is given."""
    return request if frame_range is None else replace(request, frame_range=frame_range)
