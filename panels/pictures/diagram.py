# SPDX-License-Identifier: GPL-3.0-or-later
"""Diagram of the parameters of a key, as in Key Info of 3D Studio.

The diagram shows the curve between the previous and the next key, with dots at equal time steps, and the key's
tangents. On a side where Blender plays another interpolation, the spline ends at the key, and the neighbor is connected
by a straight line, or by a step if the interpolation is Constant. Curves of differing keys are overlaid in faint
colors. A key below its neighbors is drawn as a valley.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import bpy.utils.previews
import numpy as np
import numpy.typing as npt

from ...animation.checks.key_info import NOTHING, SPLINE, Sides
from ...animation.fcurves.keyframes import INTERPOLATION
from ...animation.store.table.rows import PARAMETERS
from ...interp import Keys
from ...interp.fitting.tcb_from_tangents import tangents_of
from ...interp.splines import tcb
from .bitmap import Bitmap, Color, Points

_FRAMES = (0.0, 1.0, 2.0)
_VALUES = ((-1.0, 0.0), (0.0, 1.0), (1.0, 0.0))
"""Points of the previous key, the key and the next key."""
_KEY = np.array(_VALUES[1])
_CHORDS = np.subtract(_VALUES[1], _VALUES[0]), np.subtract(_VALUES[2], _VALUES[1])
"""Vectors from the previous key to the key, and from the key to the next key."""
_STEPS = 10
"""Number of time steps, and therefore of dots, between keys."""
_FINE = 4
"""Minimum number of curve segments between dots."""
_CENTER = np.array((0.0, 0.74))
_REACH = np.array((1.26, 1.02))
"""Half the width and height of the picture. All splines are within -1.12 to 1.12 by -0.12 to 1.6."""
_INSIDE = 0.94
"""Maximum distance of a tangent's end from the center, as a fraction of half the picture's size."""
_FAINTEST = 0.25
"""Minimum opacity of each of several curves."""
_UNITS = 8.0
"""Height of the picture, in button heights."""
_CONSTANT, _LINEAR = INTERPOLATION["CONSTANT"], INTERPOLATION["LINEAR"]

KEY_COLOR = (1.0, 0.75, 0.2, 1.0)
"""Color of a selected key in Blender's default theme, visible on dark and light backgrounds."""
INCOMING, OUTGOING = (0.35, 0.85, 0.6, 1.0), (0.95, 0.5, 0.75, 1.0)
"""Colors of the tangents, in the diagram and on paths."""

_ROUNDED = 200
"""Parameters are rounded to steps of 1/200, because smaller steps do not move any pixel."""
_FEWEST_CACHED = 128
"""Minimum number of cached pictures, more than the diagrams that all windows show together."""


_previews: Any = None
_icon_names: OrderedDict[tuple[Any, ...], str] = OrderedDict()
"""Names of the cached pictures in `_previews`, in order of their last use."""
_cache_size = _FEWEST_CACHED
"""Maximum number of cached pictures: at least twice the length of a list, because Blender shows an entire list at
once."""


def draw_diagram(
    layout: bpy.types.UILayout, parameters: Sequence[Mapping[str, float]], sides: Sides, is_valley: bool
) -> None:
    """Draw overlaid curves of keys with these parameters, and adjacent segments that Blender plays."""
    row = layout.row()
    row.alignment = "CENTER"
    row.template_icon(icon_value=icon_of(parameters, sides, is_valley, has_tangents=True), scale=_UNITS)


def icon_of(
    parameters_of_keys: Sequence[Mapping[str, float]],
    sides: Sides = (SPLINE, SPLINE),
    is_valley: bool = False,
    has_tangents: bool = False,
) -> int:
    """Return the icon ID of the picture of these parameters. Draw the picture if it is not cached."""
    rounded = tuple(
        tuple(round(parameters[name] * _ROUNDED) for name in PARAMETERS)
        for parameters in parameters_of_keys
        if np.isfinite([parameters[name] for name in PARAMETERS]).all()
    )
    size, colors = size_drawn(), _theme_colors()
    # Everything that determines the pixels.
    picture = (rounded, size, *colors, sides, is_valley, has_tangents)
    if picture in _icon_names:
        _icon_names.move_to_end(picture)
        return int(_previews[_icon_names[picture]].icon_id)
    drawn_parameters = [dict(zip(PARAMETERS, (step / _ROUNDED for step in steps), strict=True)) for steps in rounded]
    drawn = bitmap(drawn_parameters, size, *colors, sides, is_valley, has_tangents)
    name = repr(picture)
    preview = _previews.new(name)
    preview.image_size = (size, size)
    preview.image_pixels.foreach_set(drawn.packed())
    _icon_names[picture] = name
    while len(_icon_names) > _cache_size:
        del _previews[_icon_names.popitem(last=False)[1]]
    return int(preview.icon_id)


def icons_of(parameters_of_keys: Sequence[Mapping[str, float] | None]) -> list[int]:
    """Return the icon IDs of the pictures in a list. The IDs remain valid until the next list."""
    global _cache_size
    _cache_size = max(_FEWEST_CACHED, 2 * len(parameters_of_keys))
    return [icon_of([] if parameters is None else [parameters]) for parameters in parameters_of_keys]


def curve(parameters: Mapping[str, float], sides: Sides = (SPLINE, SPLINE)) -> tuple[Points, Points]:
    """Return the spline of a key at (0, 1) between keys at (-1, 0) and (1, 0).

    Returns the points of the curve, shape (m, 2), and its dots at equal time steps, at most 2 * steps + 1, shape
    (d, 2). `sides`: interpolations before and after the key. Sides that are not of the spline have no points. The
    spline ends at the key on a side that Blender plays, but not on a missing side.
    """
    first, last = (row if side == SPLINE else 1 for row, side in zip((0, 2), sides, strict=True))
    keys = Keys(_FRAMES, _VALUES, **{name: (0.0, parameters[name], 0.0) for name in PARAMETERS})
    run = slice(1 if is_played_by_blender(sides[0]) else 0, 2 if is_played_by_blender(sides[1]) else 3)
    spline = tcb.VectorSpline(Keys(keys.frames[run], keys.values[run], *keys.parameters[:, run]))
    steps = _STEPS * (last - first)
    line, dots = (spline(np.linspace(_FRAMES[first], _FRAMES[last], count + 1)) for count in (_FINE * steps, steps))
    return line, dots


def is_played_by_blender(side: int) -> bool:
    return side not in (SPLINE, NOTHING)


def ends_of_tangents(
    parameters: Mapping[str, float], sides: Sides = (SPLINE, SPLINE)
) -> tuple[Points | None, Points | None]:
    """Return the ends of both tangents of the key, or None on a missing side or a side that Blender plays."""
    numbers = np.array([[parameters[name]] for name in ("tension", "continuity", "bias")])
    before_key, after_key = _CHORDS
    incoming, outgoing = tangents_of(numbers, before_key[np.newaxis], after_key[np.newaxis], np.array([0.5]))
    before, after = (
        _KEY + tangent[0] / 3.0 if side == SPLINE else None  # as long as a Bezier handle
        for side, tangent in zip(sides, (-incoming, outgoing), strict=True)
    )
    return before, after


def shown_at(end: Points) -> Points:
    """Return the displayed end of a tangent, limited to the picture."""
    tangent = end - _KEY
    low, high = _CENTER - _INSIDE * _REACH - _KEY, _CENTER + _INSIDE * _REACH - _KEY
    room = np.where(tangent < 0.0, low, high)
    parts = np.divide(room, tangent, out=np.ones(2), where=tangent != 0.0)
    inside: Points = _KEY + min(1.0, float(parts.min())) * tangent
    return inside


def bitmap(
    parameters_of_keys: Sequence[Mapping[str, float]],
    size: int,
    ink: Color,
    ground: Color,
    sides: Sides = (SPLINE, SPLINE),
    is_valley: bool = False,
    has_tangents: bool = True,
) -> Bitmap:
    """Draw the diagram of keys with these parameters, `size` x `size` pixels.

    The image is empty if there are no keys.
    """
    picture = Bitmap(size)
    unit = size / 160
    picture.fill(4 * unit, ground)
    before, key, after = (placed(np.array(value), size) for value in _VALUES)
    faint = (*ink[:3], 0.2)
    picture.line(np.array([[0.0, before[1]], [size, before[1]]]), unit, faint)
    if not parameters_of_keys:
        return picture
    picture.line(np.array([[key[0], 0.0], [key[0], size]]), unit, faint)
    # The more curves there are, the fainter they are drawn.
    opacity = max(_FAINTEST, 1.0 / len(parameters_of_keys))
    for parameters in parameters_of_keys:
        line, dots = (placed(points, size) for points in curve(parameters, sides))
        picture.line(line, 1.5 * unit, (*ink[:3], 0.55 * opacity))
        picture.dots(dots[1:-1], 2.2 * unit, (*ink[:3], ink[3] * opacity))
    for left, right, side in ((before, key, sides[0]), (key, after, sides[1])):
        if is_played_by_blender(side):
            points = [left, np.array([right[0], left[1]]), right] if side == _CONSTANT else [left, right]
            picture.line(np.array(points), 1.5 * unit, (*ink[:3], 0.55))
            if side in (_CONSTANT, _LINEAR):
                picture.dots(np.linspace(points[0], points[1], _STEPS + 1)[1:-1], 2.2 * unit, ink)
    if has_tangents and len(parameters_of_keys) == 1:
        for end, tint in zip(ends_of_tangents(parameters_of_keys[0], sides), (INCOMING, OUTGOING), strict=True):
            if end is not None:
                point = placed(shown_at(end), size)
                picture.line(np.array([key, point]), 1.5 * unit, tint)
                picture.dots(point[np.newaxis], 4.0 * unit, tint)
    key_color = KEY_COLOR if has_tangents else ink
    others = [(point, 5.0, ink) for point, side in zip((before, after), sides, strict=True) if side != NOTHING]
    for point, radius, color in (*others, (key, 7.0, key_color)):
        picture.diamond(point, (radius + 1.5) * unit, ground)
        picture.diamond(point, radius * unit, color)
    if is_valley:
        picture.turn_over()
    return picture


def size_drawn() -> int:
    """Return the width of the picture in screen pixels.

    A picture with a different width would be scaled and blurred.
    """
    preferences: Any = bpy.context.preferences
    system = preferences.system
    button: int = round(18.0 * system.ui_scale) + 2 * int(system.pixel_size)
    return max(1, int((_UNITS - 0.3) * button))


def placed(points: npt.NDArray[np.float64], size: int) -> Points:
    """Return the pixel coordinates of points, from the lower left, in a picture of this size."""
    pixels: Points = ((points - _CENTER) / _REACH + 1.0) * (size / 2)
    return pixels


def _theme_colors() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the theme's text and background colors for a text field."""
    preferences: Any = bpy.context.preferences
    field = preferences.themes[0].user_interface.wcol_text
    return (*field.text, 1.0), tuple(field.inner)


def register() -> None:
    global _previews
    _previews = bpy.utils.previews.new()


def unregister() -> None:
    _icon_names.clear()
    bpy.utils.previews.remove(_previews)
