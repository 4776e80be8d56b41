# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that reduce dense curves to few keys, and count the keys for several errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import bpy
from bpy.props import BoolProperty

from ..animation.edit.track_keys import any_selected
from ..animation.report import Finding
from ..animation.steps import Steps
from ..animation.text import n_, rpt_
from ..ui import selection
from ..ui.chosen_keys import editable_fcurves, in_animation_editor, selected_paths
from ..ui.layouts import draw_properties, layout_of
from ..ui.live import switch
from ..ui.operator_results import Status, keep_result_notes, refuse, report_notes
from ..ui.option_properties import ReduceOptions
from ..ui.redraw import redraw_editors
from ..ui.scene import length_text
from ..ui.sidebar_tracks import active_action_names
from .on_selection import InSteps, Progress, WithData, poll_selection

if TYPE_CHECKING:
    from ..animation import KeyCount, Reduction
    from ..animation.reduction.reduce import Selected

_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Errors to compare, as factors of the current error."""


class _ReduceBase(ReduceOptions, WithData, InSteps):
    """Base class for operators on the keys to reduce."""

    work: ClassVar[Any]
    """Static function that takes the paths and the requested reduction of each datablock, and returns Steps."""
    more_options: ClassVar[tuple[str, ...]] = ("use_data",)
    """Properties that are not in the Reduce panel."""

    @classmethod
    def poll(cls: Any, context: bpy.types.Context) -> bool:
        fcurves = editable_fcurves(context) if in_animation_editor(context) else []
        return any_selected(fcurves) or poll_selection(cls, context)

    def draw(self: Any, context: bpy.types.Context) -> None:
        draw_properties(layout_of(self), self, (*self.used_options(context), *self.more_options))

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Any:
        self._is_by_hand = True
        return self.execute(context)

    def execute(self: Any, context: bpy.types.Context) -> Any:
        scene: Any = context.scene
        try:
            request = self.request(scene)
        except ValueError as error:
            return refuse(self, error)
        if self.frames == "SELECTED":
            paths_by_datablock, ranges = selected_paths(context, self.use_data)
        else:
            paths_by_datablock, ranges = selection.selected_datablocks(context, self.use_data), {}
        if not paths_by_datablock:
            return refuse(self, rpt_("Select keys"))
        requests = {
            datablock: (paths, replace(request, frame_range=ranges.get(datablock, request.frame_range)))
            for datablock, paths in paths_by_datablock.items()
        }
        progress = Progress(context.window_manager, n_("{:d} of {:d} steps"))
        return self.start(context, self.work(requests), progress, self.finish)

    def report_errors(self: Any, errors: Iterable[Finding], has_results: bool) -> None:
        """Report the errors. With results, a datablock with nothing to do is not an error."""
        texts = [str(error) for error in errors if not (error.has_nothing_to_do and has_results)]
        if texts:
            self.report({"ERROR"}, "\n".join(texts))


class TCB_OT_reduce(_ReduceBase, bpy.types.Operator):
    """Replace dense curves with few keys in a copy of the action"""

    bl_idname = "tcb.reduce"
    bl_label = "Reduce to TCB Keys"
    bl_options = {"REGISTER", "UNDO"}

    live: BoolProperty(
        name="Live",
        description="Update the new action after each edit. On by default, except in scripts",
        options={"SKIP_SAVE"},
    )

    more_options = ("use_data", "live")
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

    def finish(self, context: bpy.types.Context, result: tuple[list[Reduction], list[Finding]]) -> Status:
        reductions, errors = result
        manager: Any = context.window_manager
        manager.tcb_reductions.clear()
        in_unit = partial(length_text, context.scene)
        headlines = []
        for reduction in reductions:
            row = manager.tcb_reductions.add()
            row.name = reduction.action
            row.text = f'"{reduction.name}": {reduction.summary_in(in_unit)}'
            code = "REDUCED" if reduction.reached else "NOT_REACHED"
            headline = Finding(code, reduction.name, arguments=(reduction.headline_in(in_unit),))
            row.headline = str(headline)
            headlines.append(headline)
            report_notes(self, reduction.notes)
            if row.text != row.headline:
                self.report({"INFO"}, row.text)
            # The status bar shows the last report.
            self.report({"INFO"} if reduction.is_within else {"WARNING"}, row.headline)
        if self.live:
            reduced = [reduction.action for reduction in reductions if not reduction.is_minimal]
            switch.go_live([bpy.data.actions[name] for name in reduced])
        # Turning Live on clears the notes.
        keep_result_notes([*headlines, *(note for reduction in reductions for note in reduction.notes)])
        self.report_errors(errors, has_results=bool(reductions))
        redraw_editors()
        return {"FINISHED"} if reductions else {"CANCELLED"}


class TCB_OT_reduce_compare(_ReduceBase, bpy.types.Operator):
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

    def finish(self, context: bpy.types.Context, result: tuple[list[KeyCount], list[Finding]]) -> Status:
        counts, errors = result
        manager: Any = context.window_manager
        manager.tcb_key_counts.clear()
        for count in counts:
            row = manager.tcb_key_counts.add()
            row.name = active_action_names(context)
            row.error, row.key_count, row.before = count.error, count.keys, count.before
        text = ", ".join(
            rpt_("{:s}: {:,} keys", length_text(context.scene, count.error), count.keys) for count in counts
        )
        if counts:
            self.report({"INFO"}, rpt_("{:s}, now {:,}", text, counts[0].before))
        self.report_errors(errors, has_results=bool(counts))
        redraw_editors()
        return {"FINISHED"} if counts else {"CANCELLED"}
