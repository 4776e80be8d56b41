# SPDX-License-Identifier: GPL-3.0-or-later
"""The chosen keys in the tabs of all editors: sliders, tools, frame, value and diagram, in rows at fixed positions.

A row explains why sliders have no effect, with a button for the solution.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import bpy
from bpy.app.translations import contexts

from ..animation import AnimationError
from ..animation.checks.shown_key import SPLINE, Obstacle, PlayedParameters, turn_now, values_now
from ..animation.checks.track_state import state
from ..animation.store.parameters import Numbers, velocity_size
from ..animation.store.table.rows import PARAMETERS
from ..animation.store.table_upkeep import is_live
from ..animation.store.tracks import Track, bends_by_parameters
from ..animation.text import angle_text, iface_, n_, number_text
from ..interp.splines import METHODS
from ..ui import selection, sidebar_tracks
from ..ui.chosen_keys import (
    chosen_keys,
    chosen_parameters,
    chosen_played,
    chosen_sides,
    chosen_velocities,
    different_parameters,
    in_animation_editor,
)
from ..ui.scene import action_frame, defaults_of, playhead
from ..ui.sidebar_tracks import component_label, editing_blocked_by
from ..ui.sliders.key_fields import MAX_COMPONENTS, value_component, velocity_component
from ..ui.sliders.parameter_sliders import DESCRIPTIONS, displayed, is_mixed
from ..ui.sliders.slider_drag import once_a_drag
from .pictures.diagram_icons import draw_diagram, draw_presets
from .widgets import draw_parameters, range_text, sidebar_settings, slider_row


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
    refusals = _reasons_not_editable(context)
    played = chosen_played(context)
    tracks = [(keys.datablock, keys.track) for keys in chosen_keys(context)]
    _draw_reason(layout, played, tracks, next(filter(None, refusals), ""))
    column = layout.column(align=True)
    column.enabled = not all(refusals)
    ranges = {
        name: _parameter_range(context, name, numbers)
        for name, numbers in chosen_parameters(context).items()
        if is_mixed(numbers)
    }
    draw_parameters(column, context, sidebar_settings(context), ranges, played.names)
    has_mixed_velocities = _draw_velocity(column, context)
    _draw_key_tools(layout, context, is_mixed=has_mixed_velocities or bool(ranges))


@once_a_drag
def _reasons_not_editable(context: bpy.types.Context) -> list[str]:
    """Return, for each track, the reason why keys cannot be edited, or an empty string."""
    return [editing_blocked_by(keys.datablock, keys.track) for keys in chosen_keys(context)]


def _parameter_range(context: bpy.types.Context, name: str, numbers: Numbers) -> str:
    low, decimals = displayed(context, name, float(numbers.min()))
    high, _ = displayed(context, name, float(numbers.max()))
    return range_text(context, low, high, decimals)


def _draw_velocity(layout: bpy.types.UILayout, context: bpy.types.Context) -> bool:
    """Draw velocity sliders for keys whose method uses velocities, and return whether the velocities differ."""
    tracks = [(keys.datablock, keys.track) for keys, _ in chosen_velocities(context)]
    if not tracks:
        return False
    if len({track.is_rotation for _, track in tracks}) > 1:
        layout.label(text="Velocity: select only values or only rotations", icon="INFO")
        return False
    layout.label(text="Velocity per frame:")
    is_any_mixed = False
    component_count = max(velocity_size(track) for _, track in tracks)
    for component in range(min(MAX_COMPONENTS, component_count)):
        _, numbers = velocity_component(context, component)
        text = _value_range(context, numbers)
        is_any_mixed = is_any_mixed or bool(text)
        labels = {
            "XYZ"[component] if track.is_rotation else component_label(datablock, track, component)
            for datablock, track in tracks
            if component < velocity_size(track)
        }
        label = labels.pop() if len(labels) == 1 else str(component)
        row = slider_row(layout, text)
        row.prop(sidebar_settings(context), "velocity", index=component, text=label, translate=False)
    return is_any_mixed


def _draw_key_tools(layout: bpy.types.UILayout, context: bpy.types.Context, is_mixed: bool) -> None:
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


class FrameAndValuesPanel:
    """Frame and values of the keys, and the motion at the current frame"""

    bl_label = "Frame and Values"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(chosen_keys(context))

    def draw(self: Any, context: bpy.types.Context) -> None:
        column = self.layout.column(align=True)
        column.enabled = not all(_reasons_not_editable(context))
        active = None if in_animation_editor(context) else sidebar_tracks.active_key(context)
        if active is None:
            _draw_fields(column, context, {})
            return
        datablock, track, key = active
        shows_values = key.where != "AT" and not track.is_rotation
        values = values_now(track, action_frame(context, datablock)) if shows_values else {}
        _draw_fields(column, context, values)
        if track.is_rotation:
            _draw_turn(self.layout, context, datablock, track)


def _draw_fields(layout: bpy.types.UILayout, context: bpy.types.Context, current_values: Mapping[int, float]) -> None:
    """Draw the frame and value fields. Keys of different properties have only the frame field.

    `current_values`: components of the motion at the current frame, drawn next to the fields.
    """
    settings = sidebar_settings(context)
    field = slider_row(layout, iface_("at {:g}:", playhead(context)) if current_values else "").row(align=True)
    field.prop(settings, "key_frame")
    if not in_animation_editor(context):
        field.prop(settings, "whole_column", text="", icon="ACTION")
    tracks = [keys.track for keys in chosen_keys(context)]
    if len({(track.kind, track.path.rpartition(".")[2], len(track.rest)) for track in tracks}) == 1:
        for component in range(min(MAX_COMPONENTS, len(tracks[0].rest))):
            _draw_value_field(layout, context, component, current_values)


def _draw_value_field(
    layout: bpy.types.UILayout, context: bpy.types.Context, component: int, current_values: Mapping[int, float]
) -> None:
    first = chosen_keys(context)[0]
    _, numbers = value_component(context, component)
    current = number_text(current_values[component]) if component in current_values else ""
    field = slider_row(layout, _value_range(context, numbers) or current)
    field.enabled = len(numbers) > 0
    name = "key_angles" if first.track.kind == "EULER" else "key_value"
    label = component_label(first.datablock, first.track, component)
    field.prop(sidebar_settings(context), name, index=component, text=label, translate=False)


def _value_range(context: bpy.types.Context, numbers: Numbers) -> str:
    """Return the range of the values, or an empty string if all are equal."""
    if not len(numbers) or not is_mixed(numbers):
        return ""
    return range_text(context, numbers.min(), numbers.max(), 3)


def _draw_turn(layout: bpy.types.UILayout, context: bpy.types.Context, datablock: bpy.types.ID, track: Track) -> None:
    """Draw the turn of a rotation from the last key to the current frame, as in Key Info of 3D Studio."""
    box = layout.box().column(align=True)
    frame = action_frame(context, datablock)
    try:
        turn = turn_now(track, frame, defaults_of(context.scene))
    except AnimationError as error:
        box.label(text=error.message, icon="ERROR", translate=False)
        return
    text = iface_(
        "Turn from frame {:g} to {:g}: {:s}", round(turn.start, 2), round(turn.end, 2), angle_text(turn.angle)
    )
    box.label(text=text, translate=False)
    box.label(text=iface_("Axis {:s}, {:s}, {:s}", *map(number_text, turn.axis)), translate=False)


class DiagramPanel:
    """Curve through the keys, with dots at equal time steps"""

    bl_label = "Diagram"
    bl_options: ClassVar[Any] = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        tracks = [keys.track for keys in chosen_keys(context)]
        return any(bends_by_parameters(track, track.settings) for track in tracks)

    def draw(self: Any, context: bpy.types.Context) -> None:
        """Draw the diagram of the chosen keys. Curves of differing keys are overlaid in faint colors."""
        sides = chosen_sides(context)
        parameters = [] if sides is None else different_parameters(context)
        draw_diagram(self.layout, parameters, sides or (SPLINE, SPLINE))


_SOLUTIONS = {
    "HANDLES": (0.7, "tcb.handles_free"),
    "INTERPOLATION": (0.64, "tcb.key_bezier"),
    "METHOD": (0.64, "tcb.key_use_tcb"),
}
"""Fraction of a row for the reason why sliders are gray, by its cause, and the operator of the button in the rest."""


def _draw_reason(
    layout: bpy.types.UILayout, played: PlayedParameters, tracks: Sequence[tuple[bpy.types.ID, Track]], refusal: str
) -> None:
    """Draw one row with the reason why sliders are gray and a solution. The row is always visible.

    `refusal`: reason why the keys cannot be edited, or an empty string.
    """
    cause = played.obstacle.cause if played.obstacle is not None and not refusal else ""
    factor, operator = _SOLUTIONS.get(cause, (1.0, ""))
    row = layout.split(factor=factor) if operator else layout.row()
    text = refusal or _parameters_text(played, tracks)
    icon: Any = "LOCKED" if refusal else "INFO" if text else "BLANK1"
    row.label(text=text, icon=icon, translate=False)
    if operator:
        row.operator(operator)


def _parameters_text(played: PlayedParameters, tracks: Sequence[tuple[bpy.types.ID, Track]]) -> str:
    """Return the reason why sliders have no effect, a note that a slider enables TCB, or an empty string."""
    owners_of_off_tracks = [datablock for datablock, track in tracks if state(track) == "TCB"]
    if owners_of_off_tracks and (played.obstacle is None or played.obstacle.cause == "END"):
        has_live = any(map(is_live, selection.actions_of(owners_of_off_tracks[:1])))
        return iface_("Off: bake to play") if has_live else iface_("Off: turn on Live or bake")
    if played.obstacle is not None:
        return _obstacle_text(played.obstacle, played.names)
    return "" if any(track.enabled for _, track in tracks) else iface_("Moving a slider enables TCB")


def _obstacle_text(obstacle: Obstacle, effective: Collection[str]) -> str:
    """Return the reason. `effective`: parameters whose sliders have an effect."""
    # Blender's tool for translations joins all texts in one call, so labels are not arguments of nested calls.
    match obstacle.cause:
        case "END":
            return _end_text(obstacle.names[0], effective)
        case "METHOD":
            labels = ", ".join(iface_(METHODS[name].label) for name in obstacle.names)
            return iface_("Method: {:s}", labels)
        case "HANDLES":
            labels = _enum_labels("handle_left_type", obstacle.names)
            return iface_("Handles: {:s}", labels)
        case _:
            labels = _enum_labels("interpolation", obstacle.names)
            return iface_("Keys: {:s}", labels)


_ENDS_WITHOUT = {
    "FIRST": n_("First key: no {:s}"),
    "LAST": n_("Last key: no {:s}"),
    "": n_("Curve end: no {:s}"),
}
_ENDS_WITH = {
    "FIRST": n_("First key: only {:s}"),
    "LAST": n_("Last key: only {:s}"),
    "": n_("Curve end: only {:s}"),
}


def _end_text(end: str, effective: Collection[str]) -> str:
    if not effective:
        return iface_("No segment next to this key")
    gray = [name for name in PARAMETERS if name not in effective]
    # The shorter list fits into the default width of the sidebar.
    if len(gray) < len(effective):
        return iface_(_ENDS_WITHOUT[end], _labels(gray))
    return iface_(_ENDS_WITH[end], _labels(name for name in PARAMETERS if name in effective))


def _labels(names: Iterable[str]) -> str:
    return ", ".join(iface_(DESCRIPTIONS[name][0], msgctxt=contexts.id_action) for name in names)


def _enum_labels(property_name: str, identifiers: Iterable[str]) -> str:
    prop: Any = bpy.types.Keyframe.bl_rna.properties[property_name]
    return ", ".join(iface_(prop.enum_items[identifier].name) for identifier in identifiers)
