# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw antialiased lines and dots into an array of pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Color = Sequence[float]
"""Red, green, blue and alpha, from 0 to 1."""

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
