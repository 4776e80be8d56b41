# SPDX-License-Identifier: GPL-3.0-or-later
"""The switch `Action.tcb_live`, and turning it on for actions that are enabled, imported or reduced."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
from bpy.props import BoolProperty

from ...animation import Report
from ...animation.datablocks import users_of
from ...animation.edit.enable import turn_live_on
from ...animation.fcurves.channels import layered_reason, layered_refusals
from ...animation.store.table.custom_property import read_table
from ...animation.store.table_upkeep import is_live, play_restored, switch_off
from ..operator_results import keep_result_notes
from ..scene import default_parameters
from . import updates
from .updates import watches


def go_live(actions: Iterable[bpy.types.Action]) -> Report:
    """Turn Live on for actions with TCB tracks. Tracks that are off are then played by handles."""
    report = turn_live_on(actions, updates.handle_options)
    report.notes += updates.flush().notes
    return report


def _on_switch(action: bpy.types.Action, _context: bpy.types.Context) -> None:
    """Enable and update an action when Live is turned on. Turn Live off again for an action with several layers."""
    for key in [key for key in watches if key[0] == action.session_uid]:
        del watches[key]
    keep_result_notes(())
    if is_live(action) and layered_reason(action):
        switch_off(action)
        keep_result_notes(layered_refusals(action))
    elif is_live(action) and action.is_editable:
        _enable_plain(action)
        play_restored(action)
        updates.mark(action)


def _enable_plain(action: bpy.types.Action) -> None:
    """If no track of an action is TCB, enable all tracks and preserve the motion, as the buttons do."""
    if read_table(action).tracks:
        return
    # Imported here, because few sessions enable tracks by turning on Live.
    from ...animation import enable_many

    users = users_of(action)
    report = enable_many(users, defaults=default_parameters(users))
    keep_result_notes([*report.refused, *report.notes])


def register() -> None:
    live = BoolProperty(
        name="Live",
        description="Update the motion after each edit to the keys or parameters of this action",
        update=_on_switch,
    )
    setattr(bpy.types.Action, "tcb_live", live)  # noqa: B010


def unregister() -> None:
    delattr(bpy.types.Action, "tcb_live")
