# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the diagram stands in a sidebar: Blender tells no script where it draws, so its pixels are looked for."""

from __future__ import annotations

from typing import Any

import bpy
import gpu
import numpy as np
import numpy.typing as npt

from ...ui.redraw import SPACES
from . import diagram
from .diagram import KEY_COLOUR

_NEAR = 0.012
"""Colours nearer than three of 255 steps are the same."""

Pixels = npt.NDArray[np.float32]
"""Red, green, blue and alpha of rows from the lowest, shape (height, width, 4)."""


class Search:
    """Read the pixels of a region when it is drawn next."""

    def __init__(self, region: bpy.types.Region) -> None:
        self._region = region.as_pointer()
        self.pixels: Pixels | None = None
        """What the region shows; None before it was drawn."""

    def read_pixels(self, region: bpy.types.Region) -> None:
        if region.as_pointer() != self._region:
            return
        size = region.width, region.height
        state: Any = gpu.state
        read = state.active_framebuffer_get().read_color(0, 0, *size, 4, 0, "FLOAT")
        read.dimensions = size[0] * size[1] * 4
        self.pixels = np.array(read, dtype=np.float32).reshape(size[1], size[0], 4)


_search: Search | None = None
_showing: set[int] = set()
"""The regions that showed the diagram when they were drawn last."""
_handlers: list[tuple[Any, Any]] = []


def search(region: bpy.types.Region) -> Search:
    """Look at the region's next redraw, which begins when Blender gets to it."""
    global _search
    _search = Search(region)
    region.tag_redraw()
    return _search


def find(pixels: Pixels, picture: Pixels) -> tuple[int, int] | None:
    """Return the column and the row of the picture's lower left in the pixels, by its key; None where it is not."""
    wanted, there = _has_the_keys_colour(picture), _has_the_keys_colour(pixels)
    rows, columns = np.nonzero(wanted)
    if not len(rows):
        return None
    height, width = there.shape
    bottoms, lefts = (found - first for found, first in zip(np.nonzero(there), (rows[0], columns[0]), strict=True))
    is_inside = (bottoms >= 0) & (lefts >= 0)
    is_inside &= (bottoms + len(picture) <= height) & (lefts + picture.shape[1] <= width)
    for bottom, left in zip(bottoms[is_inside].tolist(), lefts[is_inside].tolist(), strict=True):
        if there[rows + bottom, columns + left].all():
            return left, bottom
    return None


def _has_the_keys_colour(pixels: Pixels) -> npt.NDArray[np.bool_]:
    alike: npt.NDArray[np.bool_] = np.abs(pixels - np.array(KEY_COLOUR, dtype=np.float32)).max(axis=2) <= _NEAR
    return alike


def is_shown(region: bpy.types.Region) -> bool:
    """Return whether the diagram was drawn in the region when that was drawn last."""
    return region.as_pointer() in _showing


def _on_drawn() -> None:
    global _search
    region: Any = bpy.context.region
    (_showing.add if diagram.take_drawn() else _showing.discard)(region.as_pointer())
    if _search is None:
        return
    try:
        _search.read_pixels(region)
    finally:
        if _search.pixels is not None:
            _search = None


def register() -> None:
    for space in SPACES:
        _handlers.append((space, space.draw_handler_add(_on_drawn, (), "UI", "POST_PIXEL")))


def unregister() -> None:
    global _search
    _search = None
    for space, handler in _handlers:
        space.draw_handler_remove(handler, "UI")
    _handlers.clear()
    _showing.clear()
