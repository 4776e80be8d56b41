# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of the operators on selected objects or bones."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.props import BoolProperty

from ..animation.translation import n_, rpt_
from ..ui import selection
from ..ui.reporting import Status, finish, for_each, poll_selection

NOTHING_IS_TCB = n_("Nothing selected is TCB")
"""The message of grayed buttons for what is TCB."""


class WithData:
    """Let an operator work on the data of objects, too."""

    use_data: BoolProperty(
        name="Object Data",
        description="Include the objects' cameras, lights, shape keys, materials and nodes",
        default=True,
    )


class OnSelection(WithData):
    """One verb of `animation`, applied to each datablock that is selected.

    It is not an operator itself: Blender's tools look for messages to translate only in operators that are registered,
    and in what derives from these.
    """

    bl_options: ClassVar[Any] = {"REGISTER", "UNDO"}

    work: ClassVar[Any]
    """A static function of a datablock, and the paths that its tracks must start with or None; returns a Report."""
    done: ClassVar[str]
    """The report, with a place for the counts."""
    otherwise: ClassVar[str] = ""
    """The report where there was nothing to do and no error."""
    works_on: ClassVar[str] = ""
    """State of tracks to work on: "TCB", "PLAYED" (with handles or baked), "BAKED", or any, ""."""
    nothing: ClassVar[str] = ""
    """The message of the grayed button where no selected track is in that state."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        operator: Any = cls
        if not poll_selection(operator, context):
            return False
        if selection.has_tracks(context, cls.works_on):
            return True
        operator.poll_message_set(cls.nothing)
        return False

    def execute(self, context: bpy.types.Context) -> Status:
        operator: Any = self
        report = for_each(selection.selected_datablocks(context, operator.use_data), type(self).work)
        return finish(operator, report, rpt_(self.done, report.counts), self.otherwise)
