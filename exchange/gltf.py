# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's glTF export: which actions of a file it leaves out."""

from __future__ import annotations

from typing import Any

from ..animation.store.actions.original_actions import is_set_aside


def leave_out_originals(actions: Any) -> None:
    """Remove actions that are set aside from those that the exporter has gathered for an object.

    They are lists by the `id` of an action, each of what is exported of its slots; in 4.2 one list, of actions.
    """
    if hasattr(actions, "blender_actions"):
        actions.blender_actions = [action for action in actions.blender_actions if not is_set_aside(action)]
        return
    for number, parts in list(actions.actions.items()):
        if is_set_aside(parts[0].action):
            del actions.actions[number]
