# SPDX-License-Identifier: GPL-3.0-or-later
"""Base classes and polls for operators on selected objects, bones or keys."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.props import BoolProperty

from ..animation.translation import n_, rpt_
from ..ui import selection
from ..ui.chosen_keys import reason_no_key_is_chosen, shown_and_selected_keys
from ..ui.operator_results import Status, finish, for_each_edited_track, for_each_track
from ..ui.scene import defaults_of

NOTHING_IS_TCB = n_("No selected track is TCB")
"""Message of grayed-out buttons that need TCB tracks."""
NO_OWN_KEY_SELECTED = n_("Generated keys have no parameters. Select your own keys")


def poll_selection(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Return whether the selection can be used. Otherwise, the grayed-out button shows the reason."""
    reason = selection.reason_nothing_is_selected(context)
    if reason:
        operator.poll_message_set(reason)
    return not reason


def poll_keys(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Return whether there is a key to use: a selected key in an animation editor, or else the sidebar's key."""
    reason = reason_no_key_is_chosen(context)
    if reason:
        operator.poll_message_set(reason)
    return not reason


def poll_active(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Return whether there is an active object, or an active bone in Pose Mode."""
    if context.object is None:
        operator.poll_message_set("No active object")
        return False
    if context.mode == "POSE" and selection.active_bone(context) is None:
        operator.poll_message_set("No active bone. Click a bone")
        return False
    return True


class WithData:
    """Option to include object data."""

    use_data: BoolProperty(
        name="Object Data",
        description="Include cameras, lights, shape keys, materials and nodes of the objects",
        default=True,
    )


class OnSelection(WithData):
    """Base class for operators that call a function of `animation` with the selected datablocks.

    This class is not an operator, because Blender's translation tools look only at registered operators and their
    subclasses.
    """

    bl_options: ClassVar[Any] = {"REGISTER", "UNDO"}

    work: ClassVar[Any]
    """Static function that takes a mapping from datablocks to path prefixes, or None, and returns a Report."""
    done: ClassVar[str]
    """Message on success, with a placeholder for the counts."""
    otherwise: ClassVar[str] = ""
    """Message if there was nothing to do and no error occurred."""
    works_on: ClassVar[str] = ""
    """Required tracks, as for `selection.has_tracks`."""
    nothing: ClassVar[str] = ""
    """Tooltip of the grayed-out button if the selection has no such tracks."""

    @classmethod
    def poll(cls: Any, context: bpy.types.Context) -> bool:
        if not poll_selection(cls, context):
            return False
        if selection.has_tracks(context, cls.works_on):
            return True
        cls.poll_message_set(cls.nothing)
        return False

    def execute(self: Any, context: bpy.types.Context) -> Status:
        report = type(self).work(selection.selected_datablocks(context, self.use_data))
        return finish(self, report, rpt_(self.done, report.counts), self.otherwise)


class OnKeys:
    """Base class for operators on the chosen keys: the keys selected in an animation editor, or the sidebar's key."""

    bl_options: Any = {"REGISTER", "UNDO"}

    poll = classmethod(poll_keys)


class OnShownAndSelectedKeys(OnKeys):
    """Base class for operators on the chosen keys and the selected keys of all TCB tracks of the selection."""

    work: ClassVar[Any]
    """Static function that takes the keys of a track."""
    done: ClassVar[str]
    """Message on success, with a placeholder for the counts."""
    makes_tcb: ClassVar[bool] = False
    """True if the function makes plain tracks TCB. They are then enabled first, as *Enable TCB* does."""

    def execute(self: Any, context: bpy.types.Context) -> Status:
        keys, work = shown_and_selected_keys(context), type(self).work
        if self.makes_tcb:
            report = for_each_edited_track(keys, defaults_of(context.scene), work)
        else:
            report = for_each_track(keys, work)
        return finish(self, report, rpt_(self.done, report.counts), NO_OWN_KEY_SELECTED)
