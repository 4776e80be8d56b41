# SPDX-License-Identifier: GPL-3.0-or-later
"""Diagram of the parameters of a key, as in Key Info of 3D Studio.

The diagram shows the curve between the previous and the next key, with dots at equal time steps, and the key's
tangents. On a side where Blender plays another interpolation, the spline ends at the key, and the neighbor is connected
by a straight line, or by a step if the interpolation is Constant. Curves of differing keys are overlaid in faint
colors.

The key is at (0, 1), between keys at (-1, 0) and (1, 0).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...animation.checks.shown_key import NOTHING, SPLINE, Sides
from ...animation.fcurves.keyframes import INTERPOLATION
from ...animation.store.table.rows import PARAMETERS
from ...interp import Keys
from ...interp.fitting.tcb_from_tangents import tangents_of
from ...interp.splines import tcb

Points = npt.NDArray[np.float64]
Color = Sequence[float]
"""Red, green, blue and alpha, from 0 to 1."""

_POSITIONS = ((-1.0, 0.0), (0.0, 1.0), (1.0, 0.0))
"""Positions of the previous key, the key and the next key."""
_TIME_STEPS = 10
"""Number of time steps, and therefore of dots, between keys."""
_FRAMES = (0.0, 1.0, 2.0)
_KEY = np.array(_POSITIONS[1])
_CHORDS = np.subtract(_POSITIONS[1], _POSITIONS[0]), np.subtract(_POSITIONS[2], _POSITIONS[1])
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
    rows = slice(1 if _is_played_by_blender(sides[0]) else 0, 2 if _is_played_by_blender(sides[1]) else 3)
    parameters_of_rows = {name: (0.0, parameters[name], 0.0)[rows] for name in PARAMETERS}
    spline = tcb.VectorSpline(Keys(_FRAMES[rows], _POSITIONS[rows], **parameters_of_rows))
    steps = _TIME_STEPS * (last - first)
    line, dots = (
        spline(np.linspace(_FRAMES[first], _FRAMES[last], count + 1)) for count in (_SEGMENTS_PER_STEP * steps, steps)
    )
    return line, dots


def _is_played_by_blender(side: int) -> bool:
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


def pixels_of(points: Points, size: int) -> Points:
    """Return the pixel coordinates of points, from the lower left, in a picture of `size` x `size` pixels."""
    pixels: Points = ((points - _CENTER) / _HALF_SIZE + 1.0) * (size / 2)
    return pixels


KEY_COLOR = (1.0, 0.75, 0.2, 1.0)
"""Color of a selected key in Blender's default theme, visible on dark and light backgrounds."""
INCOMING, OUTGOING = (0.35, 0.85, 0.6, 1.0), (0.95, 0.5, 0.75, 1.0)
"""Colors of the tangents, in the diagram and on paths."""

_CONSTANT, _LINEAR = INTERPOLATION["CONSTANT"], INTERPOLATION["LINEAR"]
_MIN_OPACITY = 0.25
"""Minimum opacity of each of several curves."""
_GRID_OPACITY = 0.2
_LINE_OPACITY = 0.55
_SIZE_OF_UNIT = 160
"""Size of the picture in pixels at which the following sizes are in pixels."""
_LINE_WIDTH = 1.5
_DOT_RADIUS = 2.2
_TANGENT_END_RADIUS = 4.0
_KEY_RADIUS = 7.0
_NEIGHBOR_RADIUS = 5.0
_KEY_MARGIN = 1.5
_CORNER_RADIUS = 4.0


def render(
    parameters_of_keys: Sequence[Mapping[str, float]],
    size: int,
    ink: Color,
    ground: Color,
    sides: Sides = (SPLINE, SPLINE),
    has_tangents: bool = True,
) -> Bitmap:
    """Draw the diagram of keys with these parameters, `size` x `size` pixels.

    The image is empty if there are no keys.
    """
    bitmap = Bitmap(size)
    unit = size / _SIZE_OF_UNIT
    bitmap.fill(_CORNER_RADIUS * unit, ground)
    before, key, _ = _key_pixels(size)
    grid_color = _faded(ink, _GRID_OPACITY)
    bitmap.line(np.array([[0.0, before[1]], [size, before[1]]]), unit, grid_color)
    if not parameters_of_keys:
        return bitmap
    bitmap.line(np.array([[key[0], 0.0], [key[0], size]]), unit, grid_color)
    # The more curves there are, the fainter they are drawn.
    opacity = max(_MIN_OPACITY, 1.0 / len(parameters_of_keys))
    for parameters in parameters_of_keys:
        line, dots = (pixels_of(points, size) for points in curve(parameters, sides))
        bitmap.line(line, _LINE_WIDTH * unit, _faded(ink, _LINE_OPACITY * opacity))
        bitmap.dots(dots[1:-1], _DOT_RADIUS * unit, _faded(ink, ink[3] * opacity))
    _draw_other_segments(bitmap, ink, sides)
    if has_tangents and len(parameters_of_keys) == 1:
        _draw_tangents(bitmap, parameters_of_keys[0], sides)
    _draw_keys(bitmap, KEY_COLOR if has_tangents else ink, ink, ground, sides)
    return bitmap


def _key_pixels(size: int) -> list[Points]:
    return [pixels_of(np.array(position), size) for position in _POSITIONS]


def _faded(color: Color, opacity: float) -> Color:
    return (*color[:3], opacity)


def _draw_other_segments(bitmap: Bitmap, ink: Color, sides: Sides) -> None:
    """Draw the segments that Blender plays, with dots where their speed is known."""
    unit = bitmap.size / _SIZE_OF_UNIT
    before, key, after = _key_pixels(bitmap.size)
    for left, right, side in ((before, key, sides[0]), (key, after, sides[1])):
        if not _is_played_by_blender(side):
            continue
        points = [left, np.array([right[0], left[1]]), right] if side == _CONSTANT else [left, right]
        bitmap.line(np.array(points), _LINE_WIDTH * unit, _faded(ink, _LINE_OPACITY))
        if side in (_CONSTANT, _LINEAR):
            dots = np.linspace(points[0], points[1], _TIME_STEPS + 1)
            bitmap.dots(dots[1:-1], _DOT_RADIUS * unit, ink)


def _draw_tangents(bitmap: Bitmap, parameters: Mapping[str, float], sides: Sides) -> None:
    unit = bitmap.size / _SIZE_OF_UNIT
    _, key, _ = _key_pixels(bitmap.size)
    for end, color in zip(ends_of_tangents(parameters, sides), (INCOMING, OUTGOING), strict=True):
        if end is not None:
            end_pixel = pixels_of(shown_at(end), bitmap.size)
            bitmap.line(np.array([key, end_pixel]), _LINE_WIDTH * unit, color)
            bitmap.dots(end_pixel[np.newaxis], _TANGENT_END_RADIUS * unit, color)


def _draw_keys(bitmap: Bitmap, key_color: Color, ink: Color, ground: Color, sides: Sides) -> None:
    """Draw the key above its neighbors, each as a diamond with a margin in the background color."""
    unit = bitmap.size / _SIZE_OF_UNIT
    before, key, after = _key_pixels(bitmap.size)
    neighbors = [position for position, side in ((before, sides[0]), (after, sides[1])) if side != NOTHING]
    diamonds = [(position, _NEIGHBOR_RADIUS, ink) for position in neighbors]
    for position, radius, color in (*diamonds, (key, _KEY_RADIUS, key_color)):
        bitmap.diamond(position, (radius + _KEY_MARGIN) * unit, ground)
        bitmap.diamond(position, radius * unit, color)


_EVERYWHERE = slice(None), slice(None)
_MIN_SQUARE = 1e-12
"""Minimum squared length of a segment in pixels, to avoid division by 0."""


class Bitmap:
    """Empty image of `size` x `size` pixels. Points are (x, y) in pixels from the lower left corner.

    Each shape covers earlier shapes. A partly covered pixel is blended in proportion to the covered fraction.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.pixels = np.zeros((size, size, 4), dtype=np.float32)
        """Pixels, with the lowest row first. Colors are multiplied by alpha, as in Blender's icons."""

    def packed(self) -> npt.NDArray[np.int32]:
        """Return the pixels in the format of Blender's `image_pixels`: shape (size * size,), one byte per channel."""
        return (self.pixels * 255.0 + 0.5).astype(np.uint8).reshape(-1).view(np.int32)

    def fill(self, radius: float, color: Color) -> None:
        """Fill the image except for rounded corners."""
        half = self.size / 2
        beyond_corner_center = np.maximum(np.abs(np.arange(self.size) + 0.5 - half) - (half - radius), 0.0)
        distances = np.hypot(beyond_corner_center[:, np.newaxis], beyond_corner_center)
        self._cover(_EVERYWHERE, radius - distances, color)

    def line(self, points: Points, width: float, color: Color) -> None:
        """Draw a line through the points, shape (n, 2)."""
        inside = np.full((self.size, self.size), -1.0)
        for start, end in pairwise(points):
            window, x, y = self._window(np.minimum(start, end), np.maximum(start, end), width)
            chord = end - start
            projection = (x - start[0]) * chord[0] + (y - start[1]) * chord[1]
            fraction = np.minimum(np.maximum(projection / max(float(chord @ chord), _MIN_SQUARE), 0.0), 1.0)
            distance = np.hypot(x - start[0] - fraction * chord[0], y - start[1] - fraction * chord[1])
            np.maximum(inside[window], width / 2 - distance, out=inside[window])
        self._cover(_EVERYWHERE, inside, color)

    def dots(self, points: Points, radius: float, color: Color) -> None:
        """Draw round dots at the points, shape (n, 2)."""
        for point in points:
            window, x, y = self._window(point, point, radius)
            self._cover(window, radius - np.hypot(x - point[0], y - point[1]), color)

    def diamond(self, point: Points, radius: float, color: Color) -> None:
        """Draw a diamond, like a key in animation editors."""
        window, x, y = self._window(point, point, radius)
        self._cover(window, (radius - np.abs(x - point[0]) - np.abs(y - point[1])) / np.sqrt(2.0), color)

    def _window(self, low: Points, high: Points, margin: float) -> tuple[tuple[slice, slice], Points, Points]:
        """Return the slices of the pixels from `low` to `high` with a margin, and the pixels' x and y coordinates."""
        left, bottom = (self._clamped(math.floor(coordinate - margin - 1.0)) for coordinate in low.tolist())
        right, top = (self._clamped(math.ceil(coordinate + margin + 1.0)) for coordinate in high.tolist())
        x: Points = np.arange(left, right, dtype=np.float64) + 0.5
        y: Points = np.arange(bottom, top, dtype=np.float64)[:, np.newaxis] + 0.5
        return (slice(bottom, top), slice(left, right)), x, y

    def _clamped(self, pixel: int) -> int:
        return min(max(pixel, 0), self.size)

    def _cover(self, window: tuple[slice, slice], inside: Points, color: Color) -> None:
        """Paint the pixels of a shape. `inside` is the distance inside its edge, in pixels."""
        opacity = (np.clip(inside + 0.5, 0.0, 1.0) * color[3])[..., np.newaxis]
        pixels = self.pixels[window]
        pixels *= 1.0 - opacity
        pixels += opacity * (*color[:3], 1.0)
