# SPDX-License-Identifier: GPL-3.0-or-later
"""Diagram of the parameters of a key, as in Key Info of 3D Studio.

It shows the curve between the previous and the next key, with dots at equal steps of time, and the key's tangents. The
spline ends at the key on a side where Blender plays another interpolation. Keys that differ are overlaid faintly. A key
below its neighbors is drawn as a valley.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import bpy
import bpy.utils.previews
import numpy as np
import numpy.typing as npt

from ...animation.checks.key_info import NOTHING, Sides
from ...animation.fcurves import easing
from ...animation.fcurves.keyframes import INTERPOLATION
from ...animation.store.table.rows import PARAMETERS
from ...interp import Keys
from ...interp.batch import IndexArray
from ...interp.fitting.tcb_from_tangents import tangents_of
from ...interp.piecewise import PiecewiseSpline
from ...interp.splines import tcb
from .bitmap import Bitmap, Colour, Points

_FRAMES = (0.0, 1.0, 2.0)
_VALUES = ((-1.0, 0.0), (0.0, 1.0), (1.0, 0.0))
_STEPS = 10
"""Number of dots between keys."""
_FINE = 4
"""Minimum number of curve segments between dots."""
_CENTRE = np.array((0.0, 0.74))
_REACH = np.array((1.26, 1.02))
"""Half the size of the picture around its center. All splines are within -1.12 to 1.12 by -0.12 to 1.6. Segments that
Blender plays may leave the picture."""
_CONSTANT, _LINEAR, _BEZIER = (INTERPOLATION[name] for name in ("CONSTANT", "LINEAR", "BEZIER"))
_ROUNDED = 200
"""Parameters are drawn in steps of 1/200, because smaller steps do not move a pixel."""
_FEWEST_KEPT = 128
"""Minimum number of cached pictures: more than the diagrams of all windows, and some for reuse."""
_UNITS = 8.0
"""Height of the picture, in button heights."""
KEY_COLOUR = (1.0, 0.75, 0.2, 1.0)
"""Color of a selected key in Blender's default theme. It is visible on dark and light backgrounds."""

INCOMING, OUTGOING = (0.35, 0.85, 0.6, 1.0), (0.95, 0.5, 0.75, 1.0)
"""Colors of the tangents, in the diagram and on paths."""
THIRD = 3.0
"""Tangents are drawn at a third of their length, like Bezier handles."""
KEY = np.array(_VALUES[1])
CHORDS = np.subtract(_VALUES[1], _VALUES[0]), np.subtract(_VALUES[2], _VALUES[1])
"""Incoming and outgoing tangents."""
_INSIDE = 0.94
"""Maximum distance of the end of a tangent, in half sizes of the picture."""

_FAINTEST = 0.25
"""Minimum opacity of each of several curves."""

Rounded = tuple[int, ...]
Picture = tuple[tuple[Rounded, ...], Sides, bool, int, bool, tuple[float, ...], tuple[float, ...]]
"""Parameters of the curves, sides, whether the key is a valley, size, whether there are tangents, colors."""
_previews: Any = None
_shown: OrderedDict[Picture, str] = OrderedDict()
_kept = _FEWEST_KEPT
"""Cached pictures: at least twice as many as in a list, because Blender shows an entire list at the same time."""


def draw_diagram(
    layout: bpy.types.UILayout, parameters: Sequence[Mapping[str, float]], sides: Sides, is_valley: bool
) -> None:
    """Draw keys with these parameters, overlaid, and adjacent segments that Blender plays."""
    row = layout.row()
    row.alignment = "CENTER"
    row.template_icon(icon_value=icon_of(parameters, sides, is_valley, has_tangents=True), scale=_UNITS)


def icon_of(
    every: Sequence[Mapping[str, float]],
    sides: Sides = (None, None),
    is_valley: bool = False,
    has_tangents: bool = False,
) -> int:
    """Return the icon ID of the picture of these parameters."""
    rounded = tuple(
        tuple(round(parameters[name] * _ROUNDED) for name in PARAMETERS)
        for parameters in every
        if np.isfinite([parameters[name] for name in PARAMETERS]).all()
    )
    return _icon((rounded, sides, is_valley, size_drawn(), has_tangents, *_theme_colours()))


def icons_of(every: Sequence[Mapping[str, float] | None]) -> list[int]:
    """Return the icon IDs of the pictures of a list. They remain valid until the next list."""
    global _kept
    _kept = max(_FEWEST_KEPT, 2 * len(every))
    return [icon_of([] if parameters is None else [parameters]) for parameters in every]


def curve(parameters: Mapping[str, float], sides: Sides = (None, None)) -> tuple[Points, Points]:
    """Return the curve of a key at (0, 1) between keys at (-1, 0) and (1, 0).

    The result is the points of the curve, shape (m, 2), and its dots, shape (2 * steps + 1, 2). `sides`: interpolation
    that Blender plays before and after the key. A side without playback has no curve.
    """
    first, last = (_FRAMES[1 if side == NOTHING else end] for side, end in zip(sides, (0, 2), strict=True))
    sides = _played(sides)
    keys = Keys(_FRAMES, _VALUES, **{name: (0.0, parameters[name], 0.0) for name in PARAMETERS})
    bounds = [0, *(row + 1 for row, side in enumerate(sides) if side is not None), len(keys)]
    runs = [
        tcb.VectorSpline(Keys(keys.frames[own], keys.values[own], *keys.parameters[:, own]))
        for own in (slice(*ends) for ends in pairwise(bounds))
    ]
    spline = PiecewiseSpline(runs, _Beside(sides))
    dots = np.linspace(_FRAMES[0], _FRAMES[-1], 2 * _STEPS + 1)
    fine = np.linspace(_FRAMES[0], _FRAMES[-1], 2 * _STEPS * _FINE + 1)
    # A constant segment jumps at its end.
    steps = [row + 1.0 for row, side in enumerate(sides) if side is not None and side.interpolation == _CONSTANT]
    times = np.sort(np.concatenate((fine, np.nextafter(steps, 0.0))))
    line, dots = (spline(each[(each >= first) & (each <= last)]) for each in (times, dots))
    return line, dots


def _played(sides: Sides) -> Sides:
    """Return the sides, with the key's spline on sides without playback."""
    before, after = (None if side == NOTHING else side for side in sides)
    return before, after


class _Beside:
    """Segments of the diagram that Blender plays: linear in x, and interpolated in y."""

    def __init__(self, sides: Sides) -> None:
        self._segments = [(row, side) for row, side in enumerate(sides) if side is not None]

    def evaluate(self, segment: IndexArray, u: Points, nu: int) -> Points:
        points = np.empty((2, len(u)))
        for number, (row, side) in enumerate(self._segments):
            own = segment == number
            start, way = np.array(_VALUES[row]), np.subtract(_VALUES[row + 1], _VALUES[row])
            numbers = (np.array([number]) for number in (way[1], 1.0, side.back, side.amplitude, side.period))
            eases = np.array([side.easing], dtype=np.uint8)
            # The handles of Bezier segments are unknown here.
            kind = _LINEAR if side.interpolation == _BEZIER else side.interpolation
            gone, _, _ = easing.gone(kind, eases, u[own], easing.Segments(*numbers))
            points[:, own] = start[0] + way[0] * u[own], start[1] + gone
        return points


def ends_of_tangents(
    parameters: Mapping[str, float], sides: Sides = (None, None)
) -> tuple[Points | None, Points | None]:
    """Return the ends of both tangents of the key, None on a side that Blender plays or without playback."""
    numbers = np.array([[parameters[name]] for name in ("tension", "continuity", "bias")])
    incoming, outgoing = tangents_of(numbers, CHORDS[0][np.newaxis], CHORDS[1][np.newaxis], np.array([0.5]))
    before, after = (
        None if side is not None else KEY + tangent[0] / THIRD
        for side, tangent in zip(sides, (-incoming, outgoing), strict=True)
    )
    return before, after


def shown_at(end: Points) -> Points:
    """Return the displayed end of a tangent, which is inside the picture."""
    away = end - KEY
    low, high = _CENTRE - _INSIDE * _REACH - KEY, _CENTRE + _INSIDE * _REACH - KEY
    room = np.where(away < 0.0, low, high)
    parts = np.divide(room, away, out=np.ones(2), where=away != 0.0)
    inside: Points = KEY + min(1.0, float(parts.min())) * away
    return inside


def bitmap(
    every: Sequence[Mapping[str, float]],
    size: int,
    ink: Colour,
    ground: Colour,
    sides: Sides = (None, None),
    is_valley: bool = False,
    has_tangents: bool = True,
) -> Bitmap:
    """Draw the diagram of keys with these parameters, `size` x `size` pixels. Without keys it is empty."""
    picture = Bitmap(size)
    unit = size / 160
    picture.fill(4 * unit, ground)
    before, key, after = (placed(np.array(value), size) for value in _VALUES)
    faint = (*ink[:3], 0.2)
    picture.line(np.array([[0.0, before[1]], [size, before[1]]]), unit, faint)
    if not every:
        return picture
    picture.line(np.array([[key[0], 0.0], [key[0], size]]), unit, faint)
    # Many curves are drawn fainter.
    opacity = max(_FAINTEST, 1.0 / len(every))
    for parameters in every:
        line, dots = (placed(points, size) for points in curve(parameters, sides))
        picture.line(line, 1.5 * unit, (*ink[:3], 0.55 * opacity))
        picture.dots(dots[1:-1], 2.2 * unit, (*ink[:3], ink[3] * opacity))
    ends = ends_of_tangents(every[0], sides) if has_tangents and len(every) == 1 else (None, None)
    for end, tint in zip(ends, (INCOMING, OUTGOING), strict=True):
        if end is not None:
            at = placed(shown_at(end), size)
            picture.line(np.array([key, at]), 1.5 * unit, tint)
            picture.dots(at[np.newaxis], 4.0 * unit, tint)
    keys_colour = KEY_COLOUR if has_tangents else ink
    others = [(point, 5.0, ink) for point, side in zip((before, after), sides, strict=True) if side != NOTHING]
    for point, radius, colour in (*others, (key, 7.0, keys_colour)):
        picture.diamond(point, (radius + 1.5) * unit, ground)
        picture.diamond(point, radius * unit, colour)
    if is_valley:
        picture.turn_over()
    return picture


def size_drawn() -> int:
    """Return the width of the picture in pixels on screen. Another width would be scaled and blurred."""
    preferences: Any = bpy.context.preferences
    system = preferences.system
    button: int = round(18.0 * system.ui_scale) + 2 * int(system.pixel_size)
    return max(1, int((_UNITS - 0.3) * button))


def placed(points: npt.NDArray[np.float64], size: int) -> Points:
    """Return the pixel coordinates of points, from the lower left, in a picture of this size."""
    pixels: Points = ((points - _CENTRE) / _REACH + 1.0) * (size / 2)
    return pixels


def _theme_colours() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the theme's text and background colors of a text field."""
    preferences: Any = bpy.context.preferences
    field = preferences.themes[0].user_interface.wcol_text
    return (*field.text, 1.0), tuple(field.inner)


def _icon(picture: Picture) -> int:
    """Return the icon ID of the picture. It is drawn if it is not cached."""
    if picture in _shown:
        _shown.move_to_end(picture)
        return int(_previews[_shown[picture]].icon_id)
    rounded, sides, is_valley, size, has_tangents, ink, ground = picture
    every = [dict(zip(PARAMETERS, (n / _ROUNDED for n in numbers), strict=True)) for numbers in rounded]
    name = repr(picture)
    preview = _previews.new(name)
    preview.image_size = (size, size)
    made = bitmap(every, size, ink, ground, sides, is_valley, has_tangents)
    preview.image_pixels.foreach_set(made.packed())
    _shown[picture] = name
    while len(_shown) > _kept:
        del _previews[_shown.popitem(last=False)[1]]
    return int(preview.icon_id)


def register() -> None:
    global _previews
    _previews = bpy.utils.previews.new()


def unregister() -> None:
    _shown.clear()
    bpy.utils.previews.remove(_previews)
