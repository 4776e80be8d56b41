# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties for a custom frame range."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import FloatProperty


class CustomRange:
    """First and last frame of a custom range."""

    frame_start: FloatProperty(name="Start", description="First frame of a custom range", default=1.0)
    frame_end: FloatProperty(name="End", description="Last frame of a custom range", default=250.0)


def frame_range(settings: Any, scene: bpy.types.Scene) -> tuple[float, float] | None:
    """Return the first and last frames of the chosen range. None means the range of all keys."""
    if settings.frames == "SCENE":
        return float(scene.frame_start), float(scene.frame_end)
    return (settings.frame_start, settings.frame_end) if settings.frames == "CUSTOM" else None
