# SPDX-License-Identifier: GPL-3.0-or-later
"""When points stand still, such as a foot on the ground, and how far they may be off then."""

from __future__ import annotations

import numpy as np

from ...batch import BoolArray
from ...keys import Float64Array

STILL_FRAMES = 8
"""The frames over which a point that stands still does so."""


def stand_still(points: Float64Array, radius: float) -> BoolArray:
    """Return at which frames points (p, frames, 3) stand still, shape (p, frames).

    They do where they keep within a ball of that radius, about the middle of their box, for `STILL_FRAMES` or more.
    """
    still: BoolArray = np.zeros((len(points), points.shape[1]), dtype=np.bool_)
    if points.shape[1] < STILL_FRAMES:
        return still
    for place, own in zip(points, still, strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(place, STILL_FRAMES, axis=0)
        middle = (windows.max(axis=2) + windows.min(axis=2)) / 2.0
        stays = np.linalg.norm(windows - middle[..., np.newaxis], axis=1).max(axis=1) <= radius
        for shift in range(STILL_FRAMES):
            own[shift : shift + len(stays)] |= stays
    return still


def limits_while_still(limits: Float64Array, points: Float64Array, still: tuple[float, float] | None) -> Float64Array:
    """Return limits of errors (p, frames), lowered where points (p, frames, 3) stand still.

    `still`: the radius of the ball, and the maximum deviation in it. None does not lower it.
    """
    if still is None:
        return limits
    radius, most = still
    return np.where(stand_still(points, radius), np.minimum(limits, most), limits)
