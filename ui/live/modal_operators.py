# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's running operators that hold pointers to keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

_KEY_EDITING_OPERATORS = ("TRANSFORM_OT_", "ANIM_OT_", "ACTION_OT_", "GRAPH_OT_", "NLA_OT_", "POSE_OT_")
"""Prefixes of operators that may hold keys."""


def is_editing() -> bool:
    """Return whether a modal operator holds keys, which must then not be written."""
    return any(operator.startswith(_KEY_EDITING_OPERATORS) for operator in running_operators())


def running_operators() -> Iterator[str]:
    """Yield the identifiers of the modal operators in all windows."""
    context: Any = bpy.context
    for window in context.window_manager.windows:
        for operator in window.modal_operators:
            yield operator.bl_idname
