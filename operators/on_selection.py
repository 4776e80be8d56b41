# SPDX-License-Identifier: GPL-3.0-or-later
"""Base classes for operators on selected objects, bones or keys."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.props import BoolProperty

from ..animation.translation import n_, rpt_
from ..ui import selection
from ..ui.chosen_keys import shown_and_selected_keys
from ..ui.operator_results import NO_OWN_KEY_SELECTED, Status, finish, for_each, for_each_of, poll_keys, poll_selection

NOTHING_IS_TCB = n_("No selected track is TCB")
"""Message of grayed-out buttons that need TCB tracks."""


class WithData:
    """Option to include object data."""

    use_data: BoolProperty(
        name="Object Data",
        description="Include cameras, lights, shape keys, materials and nodes of the objects",
        default=True,
    )


class OnSelection(WithData):
    """Base class for operators that apply a function of `animation` to each selected datablock.

    This class is not an operator, because Blender's translation tools look only at registered operators and their
    subclasses.
    """

    bl_options: ClassVar[Any] = {"REGISTER", "UNDO"}

    work: ClassVar[Any]
    """Static function that takes a datablock and an iterable of path prefixes, or None, and returns a Report."""
    done: ClassVar[str]
    """Message on success, with a placeholder for the counts."""
    otherwise: ClassVar[str] = ""
    """Message if there was nothing to do and no error occurred."""
    works_on: ClassVar[str] = ""
    """Required state of tracks: "TCB", "PLAYED" (with handles or baked), "BAKED", or "" for any."""
    nothing: ClassVar[str] = ""
    """Tooltip of the grayed-out button if no selected track has this state."""

    @classmethod
    def poll(cls: Any, context: bpy.types.Context) -> bool:
        if not poll_selection(cls, context):
            return False
        if selection.has_tracks(context, cls.works_on):
            return True
        cls.poll_message_set(cls.nothing)
        return False

    def execute(self: Any, context: bpy.types.Context) -> Status:
        report = for_each(selection.selected_datablocks(context, self.use_data), type(self).work)
        return finish(self, report, rpt_(self.done, report.counts), self.otherwise)


class OnKeys:
    """Base class for operators on the chosen keys: the keys selected in an animation editor, or the sidebar's key."""

    bl_options: Any = {"REGISTER", "UNDO"}

    poll = classmethod(poll_keys)


class OnShownAndSelectedKeys(OnKeys):
    """Base class for operators that apply a function to the chosen keys and the selected keys of all listed tracks."""

    work: ClassVar[Any]
    """Static function that takes the keys of a track."""
    done: ClassVar[str]
    """Message on success, with a placeholder for the counts."""

    def execute(self: Any, context: bpy.types.Context) -> Status:
        report = for_each_of(shown_and_selected_keys(context), type(self).work)
        return finish(self, report, rpt_(self.done, report.counts), NO_OWN_KEY_SELECTED)
