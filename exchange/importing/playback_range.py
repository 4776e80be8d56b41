# SPDX-License-Identifier: GPL-3.0-or-later
"""The playback range of files."""

from __future__ import annotations

import math
from collections.abc import Iterable

import bpy
import numpy as np

from ...animation.fcurves.frames import LAST_FRAME
from ...animation.fcurves.keyframes import Float64Array
from ...formats import three_ds
from ..conversion import Conversion


def set_playback_range(
    scene: bpy.types.Scene, file_scenes: Iterable[three_ds.Scene], conversion: Conversion, rate: float | None
) -> None:
    """Set the scene's playback range from the files, and the frame rate if `rate` is given."""
    ends = np.clip(playback_ranges(file_scenes, conversion), -LAST_FRAME, LAST_FRAME)
    scene.frame_start, scene.frame_end = math.floor(ends.min()), math.ceil(ends.max())
    if rate is not None:
        # Blender stores the rate as a whole number and a divisor.
        scene.render.fps = max(1, round(rate))
        scene.render.fps_base = scene.render.fps / rate


def playback_ranges(file_scenes: Iterable[three_ds.Scene], conversion: Conversion) -> Float64Array:
    """Return the first and last frames of each file's playback range in the scene, shape (n, 2)."""
    return conversion.frames(np.array([_file_range(file_scene) for file_scene in file_scenes]))


def _file_range(file_scene: three_ds.Scene) -> tuple[int, int]:
    """Return the stored range or, without one, the range from frame 0 to the stored length and all keys."""
    keyframer = file_scene.keyframer
    if keyframer is not None and keyframer.segment is not None and keyframer.segment[0] < keyframer.segment[1]:
        return keyframer.segment
    length = 0 if keyframer is None or keyframer.header is None else keyframer.header.length
    frames = [int(track.frames.max()) for node in file_scene.nodes for track in node.tracks if len(track.frames)]
    return 0, max([length, *frames])
