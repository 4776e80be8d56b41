# SPDX-License-Identifier: GPL-3.0-or-later
"""Panel elements shared by the 3D Viewport and the animation editors."""

from __future__ import annotations

import bisect
import itertools
import math
import textwrap
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import bpy

from ..animation.number_text import number_text
from ..animation.store.parameters import velocity_size
from ..animation.store.table.rows import PARAMETERS
from ..animation.store.tracks import Track
from ..ui import preferences, redraw
from ..ui.sliders.key_fields import SLIDERS_OF_VELOCITY, shown_names
from ..ui.track_text import component_label
from .pictures.preset_pictures import draw_presets

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
_CLOSING = "、。，．：；？！）」”ー"  # noqa: RUF001
"""Characters that cannot start a line."""
SLIDER = 0.62
"""Fraction of a row for a slider next to the range of mixed values."""


def sidebar_settings(context: bpy.types.Context) -> Any:
    """Return the properties of the sidebar tab."""
    scene: Any = context.scene
    return scene.tcb


def draw_text(layout: Any, context: bpy.types.Context, text: str, icon: str = "INFO", units: int = 0) -> None:
    """Draw a sentence with an icon (or "NONE"), wrapped at the width of the region.

    `units`: width of a popover, in button heights.
    """
    column = layout.column(align=True)
    for number, line in enumerate(wrapped(context, text, units)):
        column.label(text=line, icon="BLANK1" if number and icon != "NONE" else icon, translate=False)


def wrapped(context: bpy.types.Context, text: str, units: int = 0) -> list[str]:
    """Return the lines of a sentence next to an icon, wrapped at the width of the region or of a popover."""
    width = units * _BUTTON_HEIGHT if units else _width(context)
    return lines(text, max(_MIN_CHARACTERS, int((width - _TEXT_MARGIN) / _CHARACTER_WIDTH)))


def cut_text(context: bpy.types.Context, text: str, reserved: int) -> str:
    """Return a sentence, truncated to fit on one line of the region next to `reserved` other characters.

    Blender would cut the sentence in the middle.
    """
    width = _width(context)
    if width <= 0.0:
        return text
    room = max(_MIN_CHARACTERS, int((width - _TEXT_MARGIN) / _CHARACTER_WIDTH) - reserved)
    widths = list(itertools.accumulate(map(_columns, text)))
    if not widths or widths[-1] <= room:
        return text
    return text[: bisect.bisect_left(widths, room)].rstrip(" .,;:") + "…"


def _columns(character: str) -> int:
    """Return the width of a character in columns. Chinese and Japanese characters have two."""
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def lines(text: str, columns: int) -> list[str]:
    """Return the lines of a text.

    Chinese and Japanese characters have double width and are not separated by spaces.
    """
    with_fillers = "".join(character + _FILLER if _columns(character) == 2 else character for character in text)
    wrapped_lines = [line.replace(_FILLER, "") for line in textwrap.wrap(with_fillers, columns)]
    for number in range(1, len(wrapped_lines)):
        # Move closing punctuation to the previous line.
        remaining = wrapped_lines[number].lstrip(_CLOSING)
        wrapped_lines[number - 1] += wrapped_lines[number].removesuffix(remaining)
        wrapped_lines[number] = remaining
    return [line for line in wrapped_lines if line]


def range_text(context: bpy.types.Context, low: float, high: float, decimals: int) -> str:
    """Return the range of mixed values, with the number of decimals that fits next to a slider, at least 1."""
    width = _width(context) - _SLIDER_MARGIN
    # A hidden region has no width.
    room = (1.0 - SLIDER) * width / _CHARACTER_WIDTH if width > 0.0 else math.inf
    *longer, shortest = (f"{number_text(low, n)} … {number_text(high, n)}" for n in range(decimals, 0, -1))
    return next((text for text in longer if len(text) <= room), shortest)


def _width(context: bpy.types.Context) -> float:
    """Return the width of the region, in pixels at a resolution scale of 1."""
    region, preferences = context.region, context.preferences
    # Without a window there is no scale and perhaps no region.
    scale = (preferences and preferences.system.ui_scale) or 1.0
    return region.width / scale if region is not None else 0.0


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
    for name, slider in shown_names(context).items():
        row = layout.row()
        row.active = name in played
        range_of_name = (ranges or {}).get(name)
        if range_of_name is None:
            row.prop(owner, slider, slider=True)
        else:
            columns = row.split(factor=SLIDER, align=True)
            columns.prop(owner, slider, slider=True)
            columns.label(text=range_of_name, translate=False)


def draw_velocity(
    layout: bpy.types.UILayout,
    owner: bpy.types.bpy_struct,
    tracks: Sequence[tuple[bpy.types.ID, Track]],
    ranges: Mapping[int, str] | None = None,
) -> None:
    """Draw a slider for each component of the velocities, with ranges as in `draw_parameters`."""
    layout.label(text="Velocity per frame:")
    component_count = max(velocity_size(track) for _, track in tracks)
    for index in range(min(SLIDERS_OF_VELOCITY, component_count)):
        labels = {
            "XYZ"[index] if track.is_rotation else component_label(datablock, track, index)
            for datablock, track in tracks
            if index < velocity_size(track)
        }
        label = labels.pop() if len(labels) == 1 else str(index)
        range_of_component = (ranges or {}).get(index)
        row = layout.row() if range_of_component is None else layout.split(factor=SLIDER, align=True)
        row.prop(owner, "velocity", index=index, text=label, translate=False)
        if range_of_component is not None:
            row.label(text=range_of_component, translate=False)


def draw_key_tools(layout: bpy.types.UILayout, context: bpy.types.Context, is_mixed: bool) -> None:
    """Draw the buttons for key parameters: presets, copy, paste, reset, and Relative for mixed values."""
    outer_row = layout.row(align=True)
    draw_presets(outer_row.row(), context)
    column = outer_row.column(align=True)
    column.menu("TCB_MT_presets", text="Presets", icon="PRESET")
    row = column.row(align=True)
    row.operator("tcb.key_copy", text="Copy")
    row.operator("tcb.key_paste", text="Paste")
    row.operator("tcb.key_reset", text="", icon="LOOP_BACK")
    relative = row.row(align=True)
    relative.enabled = is_mixed
    relative.prop(sidebar_settings(context), "relative", text="", icon="ARROW_LEFTRIGHT")


class Advanced:
    """Base class for panels that are visible if the Advanced preference is on, or while they are in use."""

    bl_space_type: ClassVar[Any] = "VIEW_3D"
    bl_region_type: ClassVar[Any] = "UI"
    bl_category = "TCB"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        # Blender polls before it draws the first panel.
        redraw.begin()
        return preferences.shows_advanced(context) or cls.is_in_use(context)

    @classmethod
    def is_in_use(cls, _context: bpy.types.Context) -> bool:
        """Return whether settings of the panel affect the motion, or the panel shows results."""
        return False
