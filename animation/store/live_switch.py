# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an action is live: a property of its own, which the extension registers where it bakes live actions again."""

from __future__ import annotations

from typing import Any

import bpy

from ..translation import rpt_


def is_live(action: bpy.types.Action) -> bool:
    """Whether the action is baked again by itself after every edit."""
    return bool(getattr(action, "tcb_live", False))


def switch_off(action: Any) -> str:
    """Let the action no longer be baked by itself; returns what was done, in words."""
    was_live = is_live(action)
    if was_live:
        action.tcb_live = False
    if hasattr(action, "tcb_live"):
        # An action that was never live has no such number either: one of 0 would be exported.
        action.property_unset("tcb_live")
    return rpt_('Live is now off for the action "{:s}"', action.name) if was_live else ""
