# SPDX-License-Identifier: GPL-3.0-or-later
"""Watched actions, and the states of their tracks at the last update."""

from __future__ import annotations

import bpy

from ...animation.live.update import Watch
from ...animation.store.actions.live_switch import is_live
from ...animation.store.table.custom_property import has_baked_tracks

watches: dict[tuple[int, int], Watch] = {}
"""Tracks at their last update, by the `session_uid` of the action and the handle of its slot."""


def watched_actions() -> list[bpy.types.Action]:
    """Return the editable actions whose edits are watched."""
    return [action for action in bpy.data.actions if action.is_editable and is_watched(action)]


def is_watched(action: bpy.types.Action) -> bool:
    """Return whether edits to an editable action are watched.

    In a window, baked tracks that are not live are also watched.
    """
    return is_live(action) or (not bpy.app.background and has_baked_tracks(action))
