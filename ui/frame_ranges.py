# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties for a range of frames: all keys, the scene's range or a custom one."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import FloatProperty

RANGE_ITEMS = [
    ("KEYS", "All Keys", "From the first to the last key of each track"),
    ("SCENE", "Scene Range", "The scene's frame range"),
    ("CUSTOM", "Custom Range", "From a start frame to an end frame"),
]


def range_start() -> Any:
    """Return the property of the first frame of a custom range."""
    return FloatProperty(name="Start", description="First frame of a custom range", default=1.0)


def range_end() -> Any:
    """Return the property of the last frame of a custom range."""
    return FloatProperty(name="End", description="Last frame of a custom range", default=250.0)


class CustomRange:
    """First and last frame of a custom range."""

    frame_start: range_start()
    frame_end: range_end()


def frame_range(settings: Any, scene: bpy.types.Scene) -> tuple[float, float] | None:
    """Return the first and last frame of the chosen range; None means from the first to the last key."""
    if settings.frames == "SCENE":
        return float(scene.frame_start), float(scene.frame_end)
    return (settings.frame_start, settings.frame_end) if settings.frames == "CUSTOM" else None
