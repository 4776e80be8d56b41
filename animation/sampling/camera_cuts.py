# SPDX-License-Identifier: GPL-3.0-or-later
"""The camera of each frame: cameras bound to markers, or the active camera."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..fcurves.frames import SAME_FRAME
from .transforms import Frames

Cuts = tuple[tuple[int, int], ...]
"""Pairs of start frame and `session_uid` of cameras. The first camera also applies before its start frame."""


def cameras_of(scene: Any) -> Cuts:
    """Return the cameras of the scene's frames: cameras bound to markers, or else the active camera."""
    bound: dict[int, int] = {}
    for marker in scene.timeline_markers:
        # Blender ignores cameras that are hidden in renders. If several cameras are bound at a frame, Blender uses the
        # first.
        if marker.camera is not None and not marker.camera.hide_render:
            bound.setdefault(marker.frame, marker.camera.session_uid)
    if bound:
        cuts = sorted(bound.items())
        return (cuts[0], *(cut for before, cut in pairwise(cuts) if cut[1] != before[1]))
    return ((scene.frame_start, scene.camera.session_uid),) if scene.camera is not None else ()


def cut_rows(cuts: Cuts, frames: Frames) -> npt.NDArray[np.int64]:
    """Return the row in `cuts` of the camera at each frame."""
    starts = [start for start, _ in cuts]
    rows: npt.NDArray[np.int64] = np.maximum(np.searchsorted(starts, frames + SAME_FRAME, side="right") - 1, 0)
    return rows
