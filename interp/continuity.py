# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how smooth a spline is: the jumps in its value and derivatives at its keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from . import rotations
from .base_spline import Spline
from .keys import Float64Array
from .spline_batch import evaluate_many

_HIGHEST_ORDER = 2
"""Order of the highest derivative that is measured."""
_SMALLEST = 1e-9
"""The minimum size of a visible jump, relative to the size of the derivative. Rounding causes smaller jumps."""


@dataclass(frozen=True)
class Jump:
    """The largest difference in one derivative between the two sides of a key.

    Attributes
    ----------
    size : float
        Euclidean norm of the difference, in units of the value (radians for rotations) per frame to the power of the
        order.
    frame : float or None
        Frame of the key. None if the spline has no key with segments on both sides.
    is_seen : bool
        True if the jump is larger than rounding.
    """

    size: float
    frame: float | None
    is_seen: bool


def jumps(spline: Spline, is_rotation: bool) -> list[Jump]:
    """Measure the jumps in the value and in each derivative.

    Parameters
    ----------
    spline : a spline of any method
        The spline to measure, at its inner keys and, for a cycle, at the seam.
    is_rotation : bool
        True if the values are quaternions.

    Returns
    -------
    list of Jump
        The jumps in the value and its derivatives, in order, up to the second derivative if the spline has it. The jump
        of a rotation is an angle of at most half a turn.

    Notes
    -----
    The left side of a key is evaluated at the last float64 before it, and the right side at the key. A jump is as
    accurate as the spline's derivatives there.
    """
    orders = range(min(spline.derivatives, _HIGHEST_ORDER) + 1)
    sides = _sides_of_keys(spline)
    if not len(sides.keys):
        return [Jump(0.0, None, False) for _ in orders]
    shortest_length = float(np.diff(spline.keys.frames).min())
    value_range = float(np.ptp(spline.keys.values, axis=0).max())
    measured: list[Jump] = []
    scale = 0.0
    for order in orders:
        before = evaluate_many([spline], sides.before, order)[0]
        after = evaluate_many([spline], sides.after, order)[0]
        is_angle = is_rotation and order == 0
        sizes = rotations.angle_between(before, after) if is_angle else np.linalg.norm(after - before, axis=1)
        largest = max(float(np.abs(before).max()), float(np.abs(after).max()))
        # A derivative that is small at the keys has the rounding error of a typical derivative between keys.
        typical = (value_range if order == 1 else scale) / shortest_length if order else 0.0
        scale = max(largest, typical)
        row = int(np.argmax(sizes))
        size = float(sizes[row])
        measured.append(Jump(size, float(sides.keys[row]), size > _SMALLEST * scale))
    return measured


class _Sides(NamedTuple):
    """The frames of keys with segments on both sides, and frames to evaluate immediately before and after them."""

    keys: Float64Array
    before: Float64Array
    after: Float64Array


def _sides_of_keys(spline: Spline) -> _Sides:
    """Return the sides of the inner keys and, for a cycle, of the seam."""
    frames = spline.keys.frames
    inner = frames[1:-1]
    sides = _Sides(inner, np.nextafter(inner, -np.inf), inner)
    if spline.cycle == "SINGLE" or len(frames) == 1:
        return sides
    # At the seam of a cycle, the last key continues at the first.
    return _Sides(frames[1:], np.append(sides.before, frames[-1]), np.append(inner, frames[0]))


def continuity(measured: list[Jump]) -> str:
    """Return the measured continuity class, C0, C1 or C2, or an empty string if the value jumps."""
    first_jump = next((order for order, jump in enumerate(measured) if jump.is_seen), len(measured))
    return f"C{first_jump - 1}" if first_jump else ""
