# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's running operators that hold pointers to keys."""

from __future__ import annotations

from typing import Any

import bpy

_KEY_EDITING_OPERATORS = ("TRANSFORM_OT_", "ANIM_OT_", "ACTION_OT_", "GRAPH_OT_", "NLA_OT_", "POSE_OT_")
"""Prefixes of operators that may hold keys."""


def is_editing() -> bool:
    """Return whether a modal operator holds keys, which must then not be written."""
    context: Any = bpy.context
    return any(
        operator.bl_idname.startswith(_KEY_EDITING_OPERATORS)
        for window in context.window_manager.windows
        for operator in window.modal_operators
    )
