# SPDX-License-Identifier: GPL-3.0-or-later
"""Detect running operators that hold keys."""

from __future__ import annotations

from typing import Any

import bpy

_EDITORS = ("TRANSFORM_OT_", "ANIM_OT_", "ACTION_OT_", "GRAPH_OT_", "NLA_OT_", "POSE_OT_")


def is_editing() -> bool:
    """Return whether a modal operator holds keys, which must then not be written."""
    context: Any = bpy.context
    windows = context.window_manager.windows
    return any(operator.bl_idname.startswith(_EDITORS) for window in windows for operator in window.modal_operators)
