# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how smooth a spline is: the jumps of its value and derivatives at its keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import rotations
from .batch import Spline, evaluate_many
from .keys import Float64Array

SMALLEST = 1e-9
"""Relative to the size of the derivative: rounding makes smaller jumps where there are none."""


@dataclass(frozen=True)
class Jump:
    """The largest difference, at any key, of one derivative of the value between the key's two sides."""

    size: float
    """Euclidean norm, in the value's units, or radians for rotations, per frame to the power of the order."""
    frame: float | None
    """The frame of the key; None where the spline has no key with segments on both sides."""
    is_seen: bool
    """Whether the jump is larger than rounding."""


def jumps(spline: Spline, is_rotation: bool) -> list[Jump]:
    """Measure the jumps of the value and of each of its derivatives.

    Parameters
    ----------
    spline : a spline of any method
        The spline. Its inner keys are measured, and of cycles the seam, which counts as the last key's.
    is_rotation : bool
        Whether its values are quaternions.

    Returns
    -------
    list of Jump
        Of the value (of a rotation the angle, turned to the shorter way), then of the derivatives in their order: up to
        the spline's highest, and at most the second.

    Notes
    -----
    The left side of a key is evaluated at the last float64 before it, the right one at the key, so a jump is as
    exact as the spline's derivatives are there.
    """
    frames = spline.keys.frames
    right, left, at = frames[1:-1], np.nextafter(frames[1:-1], -np.inf), frames[1:-1]
    if spline.cycle != "SINGLE" and len(frames) > 1:
        right, left, at = (np.append(a, b) for a, b in ((right, frames[0]), (left, frames[-1]), (at, frames[-1])))
    span = float(np.ptp(spline.keys.values, axis=0).max())
    scale = 0.0
    found = []
    for order in range(min(spline.derivatives, 2) + 1):
        sides = [evaluate_many([spline], side, order)[0] for side in (left, right)]
        size = np.linalg.norm(sides[1] - sides[0], axis=1)
        if is_rotation and order == 0:
            size = rotations.angle_between(*sides)
        own = max(float(np.abs(side).max(initial=0.0)) for side in sides)
        scale = max(own, (span if order == 1 else scale) / _shortest(frames) if order else 0.0)
        largest = int(np.argmax(size)) if len(size) else None
        found.append(
            Jump(0.0, None, False)
            if largest is None
            else Jump(float(size[largest]), float(at[largest]), float(size[largest]) > SMALLEST * scale)
        )
    return found


def _shortest(frames: Float64Array) -> float:
    """Return the length of the shortest segment."""
    return float(np.diff(frames).min()) if len(frames) > 1 else 1.0


def continuity(found: list[Jump]) -> str:
    """Return the measured continuity class, C0, C1 or C2; an empty string where the value jumps."""
    smooth = next((order for order, jump in enumerate(found) if jump.is_seen), len(found))
    return f"C{smooth - 1}" if smooth else ""
