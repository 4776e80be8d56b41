# SPDX-License-Identifier: GPL-3.0-or-later
"""The property "Live" of an action: read, and switched off.

`ui/properties.py` registers it, so a script that imports `animation` alone finds every action not live.
"""

from __future__ import annotations

from typing import Any

import bpy

from ...errors import Finding


def is_live(action: bpy.types.Action) -> bool:
    """Return whether the action is baked again automatically after every edit."""
    return bool(getattr(action, "tcb_live", False))


def switch_off(action: Any) -> list[Finding]:
    """Switch Live off for the action; return a note, unless it was off."""
    was_live = is_live(action)
    if was_live:
        action.tcb_live = False
    if hasattr(action, "tcb_live"):
        # An action that was never live does not have the property; a stored value of 0 would be exported.
        action.property_unset("tcb_live")
    return [Finding("LIVE_OFF", arguments=(action.name,))] if was_live else []
