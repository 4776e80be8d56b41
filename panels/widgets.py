# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel elements shared by the 3D Viewport and the animation editors."""

from __future__ import annotations

import bisect
import itertools
import math
import re
import textwrap
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

import bpy

from ..animation.store.table.rows import PARAMETERS
from ..animation.text import number_text
from ..ui.sliders.parameter_sliders import slider_names

_CHARACTER_WIDTH = 6.4
"""Mean width of a character, in pixels at a resolution scale of 1."""
_TEXT_MARGIN = 70.0
"""Width of the icon, the margins and the tabs next to a text, in pixels at a resolution scale of 1."""
_SLIDER_MARGIN = 60.0
"""Width of the margins, gaps and tabs around a slider and its range, in pixels at a resolution scale of 1."""
_BUTTON_HEIGHT = 20.0
"""Height of a button, in pixels at a resolution scale of 1."""
_MIN_CHARACTERS = 20
"""Minimum number of characters per line. In narrower regions, lines are cut off."""
_FILLER = "\N{WORD JOINER}"
"""Placeholder after each double-width character during line breaking."""
_NO_BREAK = "\N{NO-BREAK SPACE}"
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=[^\W\d]{1,2}\b)")
_CLOSING = "、。，．：；？！）」”ー"  # noqa: RUF001
"""Characters that cannot start a line."""
_SLIDER = 0.62
"""Fraction of a row for a slider next to a text."""


def sidebar_settings(context: Any) -> Any:
    """Return the properties of the sidebar tab."""
    return context.scene.tcb


def draw_parameters(
    layout: bpy.types.UILayout,
    context: bpy.types.Context,
    owner: bpy.types.bpy_struct,
    ranges: Mapping[str, str] | None = None,
    played: Collection[str] = PARAMETERS,
) -> None:
    """Draw a slider for each parameter, with its range if it differs between keys.

    `played`: parameters that affect the motion. The other sliders are gray.
    """
    for name, slider in slider_names(context).items():
        row = layout.row()
        row.active = name in played
        slider_row(row, (ranges or {}).get(name, "")).prop(owner, slider, slider=True)


def slider_row(layout: bpy.types.UILayout, text: str) -> bpy.types.UILayout:
    """Return a row for a slider, with a text next to it if the text is not empty."""
    if not text:
        return layout.row()
    columns = layout.split(factor=_SLIDER, align=True)
    row = columns.row()
    columns.label(text=text, translate=False)
    return row


def range_text(context: bpy.types.Context, low: float, high: float, decimals: int) -> str:
    """Return the range of mixed values, with the number of decimals that fits next to a slider, at least 1."""
    width = _width(context) - _SLIDER_MARGIN
    # A hidden region has no width.
    room = (1.0 - _SLIDER) * width / _CHARACTER_WIDTH if width > 0.0 else math.inf
    ends = [(number_text(low, n), number_text(high, n)) for n in range(decimals, 0, -1)]
    # Values that differ only in hidden decimals are one number.
    *longer, shortest = (f"{first} … {last}" if first != last else f"≈ {first}" for first, last in ends)
    return next((text for text in longer if len(text) <= room), shortest)


def draw_text(layout: Any, context: bpy.types.Context, text: str, icon: str = "INFO", units: int = 0) -> None:
    """Draw a sentence with an icon (or "NONE"), wrapped at the width of the region.

    `units`: width of a popover, in button heights.
    """
    column = layout.column(align=True)
    width = units * _BUTTON_HEIGHT if units else _width(context)
    for number, line in enumerate(lines(text, _characters(width))):
        column.label(text=line, icon="BLANK1" if number and icon != "NONE" else icon, translate=False)


def cut_text(context: bpy.types.Context, text: str, reserved: int) -> str:
    """Return a sentence, truncated to fit on one line of the region next to `reserved` other characters.

    Blender would cut the sentence in the middle.
    """
    width = _width(context)
    if width <= 0.0:
        return text
    room = max(_MIN_CHARACTERS, _characters(width) - reserved)
    widths = list(itertools.accumulate(map(_columns, text)))
    if not widths or widths[-1] <= room:
        return text
    return text[: bisect.bisect_left(widths, room)].rstrip(" .,;:") + "…"


def lines(text: str, columns: int) -> list[str]:
    """Return the lines of a text.

    Chinese and Japanese characters have double width and are not separated by spaces. A unit, such as "s", stays on
    the line of its number.
    """
    with_fillers = "".join(character + _FILLER if _columns(character) == 2 else character for character in text)
    with_fillers = _BEFORE_UNIT.sub(_NO_BREAK, with_fillers)
    wrapped_lines = [line.replace(_FILLER, "").replace(_NO_BREAK, " ") for line in textwrap.wrap(with_fillers, columns)]
    for number in range(1, len(wrapped_lines)):
        # Move closing punctuation to the previous line.
        remaining = wrapped_lines[number].lstrip(_CLOSING)
        wrapped_lines[number - 1] += wrapped_lines[number].removesuffix(remaining)
        wrapped_lines[number] = remaining
    return [line for line in wrapped_lines if line]


def _columns(character: str) -> int:
    """Return the width of a character in columns. Chinese and Japanese characters have two."""
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _characters(width: float) -> int:
    """Return the number of characters that fit next to an icon, for a width in pixels at a resolution scale of 1."""
    return max(_MIN_CHARACTERS, int((width - _TEXT_MARGIN) / _CHARACTER_WIDTH))


def _width(context: bpy.types.Context) -> float:
    """Return the width of the region, in pixels at a resolution scale of 1."""
    region, preferences = context.region, context.preferences
    # Without a window there is no scale and perhaps no region.
    scale = (preferences and preferences.system.ui_scale) or 1.0
    return region.width / scale if region is not None else 0.0
