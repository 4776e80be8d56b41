# SPDX-License-Identifier: GPL-3.0-or-later
"""The chosen keys in the tabs of all editors: sliders, tools, frame, value and diagram, in rows at fixed positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy
import numpy as np

from ..animation import AnimationError
from ..animation.bake.plans.splines import bends_by_parameters
from ..animation.checks.key_info import SPLINE, turn_now, values_now
from ..animation.checks.parameters_played import PlayedParameters
from ..animation.edit.track_keys import TrackKeys
from ..animation.number_text import angle_text, number_text
from ..animation.store.parameters import Numbers
from ..animation.store.table.rows import PARAMETERS
from ..animation.store.tracks import Track
from ..animation.translation import iface_
from ..ui import preferences, selection
from ..ui.chosen_keys import chosen_keys, in_animation_editor
from ..ui.chosen_parameters import chosen_parameters, chosen_played, chosen_sides, chosen_velocities, is_valley
from ..ui.gray_sliders import parameters_text
from ..ui.sliders.frame_field import playhead
from ..ui.sliders.key_fields import SLIDERS_OF_VALUE, SLIDERS_OF_VELOCITY, value_component, velocity_component
from ..ui.sliders.numbers_of_50 import of_50
from ..ui.sliders.shared_number import is_mixed
from ..ui.sliders.slider_drag import once_a_drag
from ..ui.track_text import component_label, editing_blocked_by, settings_error
from .pictures.diagram import draw_diagram
from .widgets import SLIDER, draw_key_tools, draw_parameters, draw_velocity, range_text, sidebar_settings

_TEXT = {"HANDLES": 0.7, "INTERPOLATION": 0.64, "METHOD": 0.64}
"""Fraction of a row for the reason why sliders are gray. The rest is the button."""
_MOST_CURVES = 12
"""Maximum number of overlaid curves in the diagram."""


def draw_key_heading(layout: bpy.types.UILayout, text: str, can_make: bool | None = None) -> None:
    """Draw a heading between buttons for the previous and the next key.

    `can_make` is true if the button Make TCB Key is enabled. None hides the button.
    """
    row = layout.row(align=True)
    row.operator("tcb.key_jump", text="", icon="PREV_KEYFRAME").direction = "PREVIOUS"
    label = row.row()
    label.alignment = "CENTER"
    label.label(text=text, translate=False)
    if can_make is not None:
        make = row.row(align=True)
        make.enabled = can_make
        make.operator("tcb.make_key", text="", icon="KEY_HLT")
    row.operator("tcb.key_jump", text="", icon="NEXT_KEYFRAME").direction = "NEXT"


def draw_chosen_keys(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the sliders and buttons of the chosen keys. At least one key must be chosen."""
    chosen, settings = chosen_keys(context), sidebar_settings(context)
    refusals = _refusals(context)
    numbers = chosen_parameters(context)
    ranges = {name: _range(context, name, own) for name, own in numbers.items() if is_mixed(own)}
    played = chosen_played(context)
    _draw_reason(layout, context, played, chosen, next(filter(None, refusals), ""))
    column = layout.column(align=True)
    column.enabled = not all(refusals)
    draw_parameters(column, context, settings, ranges, played.names)
    mixed = _draw_velocity(column, context) or bool(ranges)
    draw_key_tools(layout, context, mixed)


def draw_place(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw frame and value fields of the chosen keys, and in the viewport the motion at the current frame."""
    chosen = chosen_keys(context)
    column = layout.column(align=True)
    column.enabled = not all(editing_blocked_by(keys.datablock, keys.track) for keys in chosen)
    shown = None if in_animation_editor(context) else selection.active_key(context)
    now: Mapping[int, float] = {}
    if shown is not None and shown[2].where != "AT" and not shown[1].is_rotation:
        now = values_now(shown[1], selection.action_frame(context, shown[0]))
    _draw_place(column, context, chosen, now)
    if shown is not None and shown[1].is_rotation:
        _draw_turn(context, layout, shown[0], shown[1])


def _draw_turn(context: bpy.types.Context, layout: bpy.types.UILayout, datablock: bpy.types.ID, track: Track) -> None:
    """Draw the turn of a rotation from the last key to the current frame, as in Key Info of 3D Studio."""
    box = layout.box().column(align=True)
    frame = selection.action_frame(context, datablock)
    try:
        turn = turn_now(track, frame, selection.default_parameters(context))
    except AnimationError as error:
        box.label(text=error.message, icon="ERROR", translate=False)
        return
    text = iface_(
        "Turn from frame {:g} to {:g}: {:s}", round(turn.start, 2), round(turn.end, 2), angle_text(turn.angle)
    )
    box.label(text=text, translate=False)
    box.label(text=iface_("Axis {:s}, {:s}, {:s}", *map(number_text, turn.axis)), translate=False)


@once_a_drag
def _refusals(context: bpy.types.Context) -> list[str]:
    """Return, for each track, the reason why keys cannot be edited, or an empty string."""
    return [editing_blocked_by(keys.datablock, keys.track) for keys in chosen_keys(context)]


def draw_chosen_diagram(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw the diagram of the chosen keys. Curves of differing keys are overlaid in faint colors."""
    numbers, sides = chosen_parameters(context), chosen_sides(context)
    different = np.unique(np.stack([numbers[name] for name in PARAMETERS], axis=1).round(3), axis=0)
    parameters = [dict(zip(PARAMETERS, row, strict=True)) for row in different[:_MOST_CURVES].tolist()]
    draw_diagram(layout, parameters if sides is not None else [], sides or (SPLINE, SPLINE), is_valley(context))


def has_diagram(context: bpy.types.Context) -> bool:
    """Return whether keys are chosen and their parameters affect the curve."""
    tracks = [keys.track for keys in chosen_keys(context)]
    return any(settings_error(track) or bends_by_parameters(track, track.settings) for track in tracks)


def _draw_reason(
    layout: bpy.types.UILayout,
    context: bpy.types.Context,
    played: PlayedParameters,
    chosen: Sequence[TrackKeys],
    refusal: str,
) -> None:
    """Draw one row with the reason why sliders are gray and a solution. The row is always visible."""
    causes = [] if refusal else [obstacle.cause for obstacle in played.obstacles]
    cause = causes[0] if causes else ""
    row = layout.split(factor=_TEXT[cause]) if cause in _TEXT else layout.row()
    text = refusal or parameters_text(played, [(keys.datablock, keys.track) for keys in chosen])
    icon: Any = "LOCKED" if refusal else "INFO" if text else "BLANK1"
    row.label(text=text, icon=icon, translate=False)
    match cause:
        case "HANDLES":
            row.operator("tcb.handles_free")
        case "INTERPOLATION":
            row.operator("tcb.key_bezier")
        case "METHOD":
            row.operator("tcb.key_use_tcb")


def _draw_velocity(layout: bpy.types.UILayout, context: bpy.types.Context) -> bool:
    """Draw velocity sliders for keys whose method uses velocities, and return whether the velocities differ."""
    tracks = [(keys.datablock, keys.track) for keys, _ in chosen_velocities(context)]
    if not tracks:
        return False
    if len({track.is_rotation for _, track in tracks}) > 1:
        layout.label(text="Velocity: select only values or only rotations", icon="INFO")
        return False
    components = [velocity_component(context, component)[1] for component in range(SLIDERS_OF_VELOCITY)]
    texts = {component: _mixed(context, numbers) for component, numbers in enumerate(components)}
    ranges = {component: text for component, text in texts.items() if text}
    draw_velocity(layout, sidebar_settings(context), tracks, ranges)
    return bool(ranges)


def _draw_place(
    layout: bpy.types.UILayout, context: bpy.types.Context, chosen: Sequence[TrackKeys], now: Mapping[int, float]
) -> None:
    """Draw the frame and value fields. Keys of different properties have only the frame field."""
    settings = sidebar_settings(context)
    row = layout.split(factor=SLIDER, align=True) if now else layout.row()
    field = row.row(align=True)
    field.prop(settings, "key_frame")
    if not in_animation_editor(context):
        field.prop(settings, "whole_column", text="", icon="ACTION")
    if now:
        row.label(text=iface_("at {:g}:", playhead(context)), translate=False)
    first = chosen[0]
    kinds = {(keys.track.kind, keys.track.path.rpartition(".")[2], len(keys.track.rest)) for keys in chosen}
    if len(kinds) > 1:
        return
    name = "key_angles" if first.track.kind == "EULER" else "key_value"
    for component in range(min(SLIDERS_OF_VALUE, len(first.track.rest))):
        numbers = value_component(context, component)[1]
        beside = _mixed(context, numbers) or (number_text(now[component]) if component in now else "")
        row = layout.split(factor=SLIDER, align=True) if beside else layout.row()
        field = row.row()
        field.enabled = len(numbers) > 0
        label = component_label(first.datablock, first.track, component)
        field.prop(settings, name, index=component, text=label, translate=False)
        if beside:
            row.label(text=beside, translate=False)


def _mixed(context: bpy.types.Context, numbers: Numbers) -> str:
    """Return the range of the values, or an empty string if all are equal."""
    if not len(numbers) or not is_mixed(numbers):
        return ""
    return range_text(context, numbers.min(), numbers.max(), 3)


def _range(context: bpy.types.Context, name: str, numbers: Numbers) -> str:
    """Return the range of a mixed parameter."""
    low, high = float(numbers.min()), float(numbers.max())
    if preferences.shows_numbers_of_50(context):
        return range_text(context, of_50(name, low), of_50(name, high), 1)
    return range_text(context, low, high, 3)
