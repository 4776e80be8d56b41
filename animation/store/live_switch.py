# SPDX-License-Identifier: GPL-3.0-or-later
"""Access to the Live property of an action.

`ui/live/switch.py` registers the property. In scripts that import only `animation`, no action is live.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..report import Finding


def is_live(action: bpy.types.Action) -> bool:
    """Return whether the action is updated automatically after every edit."""
    return bool(getattr(action, "tcb_live", False))


def switch_on(action: Any) -> None:
    """Turn Live on for the action, if the property is registered."""
    if hasattr(action, "tcb_live"):
        action.tcb_live = True


def switch_off(action: Any) -> list[Finding]:
    """Turn Live off for the action. Return a note if Live was on."""
    was_live = is_live(action)
    if was_live:
        action.tcb_live = False
    if hasattr(action, "tcb_live"):
        # An action that was never live does not have the property. A stored value of 0 would be exported.
        action.property_unset("tcb_live")
    return [Finding("LIVE_OFF", arguments=(action.name,))] if was_live else []
