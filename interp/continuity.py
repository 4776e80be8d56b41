# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how smooth a spline is: the jumps in its value and derivatives at its keys."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import rotations
from .base_spline import Spline

_SMALLEST = 1e-9
"""The minimum size of a visible jump, relative to the size of the derivative. Rounding causes smaller jumps."""


class Jump(NamedTuple):
    """The largest difference in one derivative between the two sides of a key."""

    size: float
    """Euclidean norm, in units of the value (radians for rotations) per frame to the power of the order."""
    frame: float | None
    """Frame of the key. None if the spline has no key with segments on both sides."""
    is_seen: bool
    """True if the jump is larger than rounding."""


def jumps(spline: Spline, is_rotation: bool) -> list[Jump]:
    """Measure the jumps in the value and in each derivative, at inner keys and at the seam of a cycle.

    The left side of a key is evaluated at the last float64 before it, and the right side at the key. `is_rotation` is
    true if the values are quaternions. The jump of their value is an angle of at most half a turn.
    """
    orders = range(spline.derivatives + 1)
    frames = spline.keys.frames
    keys = frames_after = frames[1:-1]
    frames_before = np.nextafter(keys, -np.inf)
    if spline.cycle != "SINGLE" and len(frames) > 1:
        # At the seam of a cycle, the last key continues at the first.
        keys, frames_after = frames[1:], np.append(frames_after, frames[0])
        frames_before = np.append(frames_before, frames[-1])
    if not len(keys):
        return [Jump(0.0, None, False) for _ in orders]
    shortest_length = float(np.diff(frames).min())
    value_range = float(np.ptp(spline.keys.values, axis=0).max())
    measured: list[Jump] = []
    typical = 0.0
    for order in orders:
        before, after = spline(frames_before, order), spline(frames_after, order)
        is_angle = is_rotation and order == 0
        sizes = rotations.angle_between(before, after) if is_angle else np.linalg.norm(after - before, axis=1)
        # A derivative that is small at the keys has the rounding error of a typical derivative between keys.
        scale = max(float(np.abs(before).max()), float(np.abs(after).max()), typical)
        row = int(np.argmax(sizes))
        measured.append(Jump(float(sizes[row]), float(keys[row]), float(sizes[row]) > _SMALLEST * scale))
        typical = (scale if order else value_range) / shortest_length
    return measured


def continuity(measured: list[Jump]) -> str:
    """Return the measured continuity class, C0, C1 or C2, or an empty string if the value jumps."""
    first_jump = next((order for order, jump in enumerate(measured) if jump.is_seen), len(measured))
    return f"C{first_jump - 1}" if first_jump else ""
