# SPDX-License-Identifier: GPL-3.0-or-later
"""Curve and tangents of a key with given parameters, between two other keys, for the diagram.

The key is at (0, 1), between keys at (-1, 0) and (1, 0).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ...animation.checks.key_info import NOTHING, SPLINE, Sides
from ...animation.store.table.rows import PARAMETERS
from ...interp import Keys
from ...interp.fitting.tcb_from_tangents import tangents_of
from ...interp.splines import tcb
from .bitmap import Points

POSITIONS = ((-1.0, 0.0), (0.0, 1.0), (1.0, 0.0))
"""Positions of the previous key, the key and the next key."""
TIME_STEPS = 10
"""Number of time steps, and therefore of dots, between keys."""
_FRAMES = (0.0, 1.0, 2.0)
_KEY = np.array(POSITIONS[1])
_CHORDS = np.subtract(POSITIONS[1], POSITIONS[0]), np.subtract(POSITIONS[2], POSITIONS[1])
"""Vectors from the previous key to the key, and from the key to the next key."""
_SEGMENTS_PER_STEP = 4
"""Number of line segments between dots."""
_CENTER = np.array((0.0, 0.74))
_HALF_SIZE = np.array((1.26, 1.02))
"""Half the width and height of the picture. All splines are within -1.12 to 1.12 by -0.12 to 1.6."""
_INSIDE = 0.94
"""Maximum distance of a tangent's end from the center, as a fraction of half the picture's size."""


def curve(parameters: Mapping[str, float], sides: Sides = (SPLINE, SPLINE)) -> tuple[Points, Points]:
    """Return the spline of the key.

    Returns the points of the curve, shape (m, 2), and its dots at equal time steps, shape (d, 2). `sides`:
    interpolations before and after the key. Sides that are not of the spline have no points. The spline ends at the key
    on a side that Blender plays, but not on a missing side.
    """
    first = 0 if sides[0] == SPLINE else 1
    last = 2 if sides[1] == SPLINE else 1
    keys = Keys(_FRAMES, POSITIONS, **{name: (0.0, parameters[name], 0.0) for name in PARAMETERS})
    rows = slice(1 if is_played_by_blender(sides[0]) else 0, 2 if is_played_by_blender(sides[1]) else 3)
    spline = tcb.VectorSpline(Keys(keys.frames[rows], keys.values[rows], *keys.parameters[:, rows]))
    steps = TIME_STEPS * (last - first)
    line, dots = (
        spline(np.linspace(_FRAMES[first], _FRAMES[last], count + 1)) for count in (_SEGMENTS_PER_STEP * steps, steps)
    )
    return line, dots


def is_played_by_blender(side: int) -> bool:
    """Return whether Blender plays another interpolation on this side of the key."""
    return side not in (SPLINE, NOTHING)


def ends_of_tangents(
    parameters: Mapping[str, float], sides: Sides = (SPLINE, SPLINE)
) -> tuple[Points | None, Points | None]:
    """Return the ends of both tangents of the key, or None on a missing side or a side that Blender plays."""
    numbers = np.array([[parameters[name]] for name in ("tension", "continuity", "bias")])
    before_key, after_key = _CHORDS
    incoming, outgoing = tangents_of(numbers, before_key[np.newaxis], after_key[np.newaxis], np.array([0.5]))
    # Tangents are as long as Bezier handles.
    before, after = (
        _KEY + tangent[0] / 3.0 if side == SPLINE else None
        for side, tangent in zip(sides, (-incoming, outgoing), strict=True)
    )
    return before, after


def shown_at(end: Points) -> Points:
    """Return the displayed end of a tangent, limited to the picture."""
    tangent = end - _KEY
    low, high = _CENTER - _INSIDE * _HALF_SIZE - _KEY, _CENTER + _INSIDE * _HALF_SIZE - _KEY
    room = np.where(tangent < 0.0, low, high)
    fractions = np.divide(room, tangent, out=np.ones(2), where=tangent != 0.0)
    inside: Points = _KEY + min(1.0, float(fractions.min())) * tangent
    return inside


def pixels_of(points: npt.NDArray[np.float64], size: int) -> Points:
    """Return the pixel coordinates of points, from the lower left, in a picture of `size` x `size` pixels."""
    pixels: Points = ((points - _CENTER) / _HALF_SIZE + 1.0) * (size / 2)
    return pixels
