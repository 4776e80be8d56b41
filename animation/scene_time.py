# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert between scene frames and the frames of an action in tweak mode, and read the frame rate of a scene."""

from __future__ import annotations

from typing import Any

import bpy

from .datablocks import animation_data


def action_time(datablock: bpy.types.ID, frame: float) -> float:
    """Convert a scene frame to action time, which differs if an NLA strip of the datablock is in tweak mode."""
    return _through_strip(datablock, frame, invert=True)


def scene_frame(datablock: bpy.types.ID, frame: float) -> float:
    """Convert a frame of the datablock's action to scene time."""
    return _through_strip(datablock, frame, invert=False)


def _through_strip(datablock: bpy.types.ID, frame: float, invert: bool) -> float:
    animation = animation_data(datablock)
    if animation is None or not animation.use_tweak_mode:
        return frame
    return float(animation.nla_tweak_strip_time_to_scene(frame, invert=invert))


def frame_rate(scene: Any) -> float:
    """Return the scene's frames per second."""
    return float(scene.render.fps / scene.render.fps_base)
