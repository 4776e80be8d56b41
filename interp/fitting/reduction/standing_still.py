# SPDX-License-Identifier: GPL-3.0-or-later
"""Find points at rest, such as a foot on the ground, and limit their deviation."""

from __future__ import annotations

import numpy as np

from ...key_batch import BoolArray
from ...keys import Float64Array

STILL_FRAMES = 8
"""The minimum number of frames for which a point is at rest."""


def stand_still(points: Float64Array, radius: float) -> BoolArray:
    """Return a mask (p, frames) of the frames at which points (p, frames, 3) are at rest.

    A point is at rest if, for at least `STILL_FRAMES`, it stays within a ball of the given radius around the center of
    the bounding box of its positions.
    """
    is_at_rest: BoolArray = np.zeros((len(points), points.shape[1]), dtype=np.bool_)
    if points.shape[1] < STILL_FRAMES:
        return is_at_rest
    for positions, is_point_at_rest in zip(points, is_at_rest, strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(positions, STILL_FRAMES, axis=0)
        center = (windows.max(axis=2) + windows.min(axis=2)) / 2.0
        stays_in_ball = np.linalg.norm(windows - center[..., np.newaxis], axis=1).max(axis=1) <= radius
        for shift in range(STILL_FRAMES):
            is_point_at_rest[shift : shift + len(stays_in_ball)] |= stays_in_ball
    return is_at_rest


def limits_while_still(limits: Float64Array, points: Float64Array, still: tuple[float, float] | None) -> Float64Array:
    """Return error limits (p, frames), lowered where points (p, frames, 3) are at rest.

    `still` gives the radius of the ball and the maximum deviation of the points in it. If None, the limits are not
    lowered.
    """
    if still is None:
        return limits
    radius, largest_deviation = still
    return np.where(stand_still(points, radius), np.minimum(limits, largest_deviation), limits)
