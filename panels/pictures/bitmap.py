# SPDX-License-Identifier: GPL-3.0-or-later
"""Antialiased lines and dots in an array of pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]
Colour = Sequence[float]
"""Red, green, blue and alpha, 0 to 1."""


class Bitmap:
    """An empty image of `size` x `size` pixels. Points are in pixels from the lower left corner, x first.

    What is drawn covers what was drawn before. A pixel that a shape covers in part is tinted by that part.
    """

    def __init__(self, size: int) -> None:
        self._pixels = np.zeros((size, size, 4), dtype=np.float32)
        """Row 0 is the lowest; red, green and blue are multiplied by alpha, as Blender draws icons."""

    @property
    def size(self) -> int:
        return len(self._pixels)

    @property
    def pixels(self) -> npt.NDArray[np.float32]:
        """Return red, green, blue and alpha of the pixels, shape (size, size, 4), the lowest row first."""
        return self._pixels

    def packed(self) -> npt.NDArray[np.int32]:
        """Return the pixels, shape (size * size,), as Blender's `image_pixels` takes them: a byte for each of RGBA."""
        return (self._pixels * 255.0 + 0.5).astype(np.uint8).reshape(-1).view(np.int32)

    def fill(self, radius: float, colour: Colour) -> None:
        """Fill the image but for round corners."""
        half = self.size / 2
        away = np.maximum(np.abs(np.arange(self.size) + 0.5 - half) - (half - radius), 0.0)
        self._cover((slice(None), slice(None)), radius - np.hypot(away[:, np.newaxis], away), colour)

    def line(self, points: Points, width: float, colour: Colour) -> None:
        """Draw a line through the points, shape (n, 2)."""
        inside = np.full((self.size, self.size), -1.0)
        for start, end in pairwise(points):
            window, x, y = self._window(np.minimum(start, end), np.maximum(start, end), width)
            chord = end - start
            along = (x - start[0]) * chord[0] + (y - start[1]) * chord[1]
            along = np.minimum(np.maximum(along / max(float(chord @ chord), 1e-12), 0.0), 1.0)
            distance = np.hypot(x - start[0] - along * chord[0], y - start[1] - along * chord[1])
            np.maximum(inside[window], width / 2 - distance, out=inside[window])
        self._cover((slice(None), slice(None)), inside, colour)

    def dots(self, points: Points, radius: float, colour: Colour) -> None:
        """Draw round dots at the points, shape (n, 2)."""
        for point in points:
            window, x, y = self._window(point, point, radius)
            self._cover(window, radius - np.hypot(x - point[0], y - point[1]), colour)

    def diamond(self, point: Points, radius: float, colour: Colour) -> None:
        """Draw a key, as animation editors do."""
        window, x, y = self._window(point, point, radius)
        self._cover(window, (radius - np.abs(x - point[0]) - np.abs(y - point[1])) / np.sqrt(2.0), colour)

    def turn_over(self) -> None:
        """Exchange above and below."""
        self._pixels = self._pixels[::-1].copy()

    def _window(self, low: Points, high: Points, margin: float) -> tuple[tuple[slice, slice], Points, Points]:
        """Return the slices of the pixels from `low` to `high` with a margin, and these pixels' x and y."""
        left, bottom = (min(max(math.floor(each - margin - 1.0), 0), self.size) for each in low.tolist())
        right, top = (min(max(math.ceil(each + margin + 1.0), 0), self.size) for each in high.tolist())
        window = slice(bottom, top), slice(left, right)
        return window, np.arange(left, right) + 0.5, np.arange(bottom, top)[:, np.newaxis] + 0.5

    def _cover(self, window: tuple[slice, slice], inside: Points, colour: Colour) -> None:
        """Paint where pixels lie `inside` the shape, in pixels from its edge."""
        part = (np.clip(inside + 0.5, 0.0, 1.0) * colour[3])[..., np.newaxis]
        pixels = self._pixels[window]
        pixels *= 1.0 - part
        pixels += part * (*colour[:3], 1.0)
